#pragma once

#include <memory>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include "gui/models/exporters.h"

namespace stagewright::gui {

/// Writes exports on a thread, one after the other: a trace of millions of actions takes seconds.
/// What was started is written to the end, also while the object goes.
class FileExport : public QObject {
  Q_OBJECT

 public:
  explicit FileExport(QObject* parent = nullptr);
  ~FileExport() override;
  FileExport(const FileExport&) = delete;
  FileExport& operator=(const FileExport&) = delete;
  FileExport(FileExport&&) = delete;
  FileExport& operator=(FileExport&&) = delete;

  /// The exporter's suffix is added where the path lacks it.  REQUIRES: the exporter applies.
  void start(std::shared_ptr<const OpenedFile> file,
             std::shared_ptr<const ShownStep> step,
             const Exporter& exporter,
             const QString& path);
  /// Exports that are not yet written.
  [[nodiscard]] int pending() const { return pending_; }

 signals:
  /// Both on the thread of this object.
  void written(const QString& path);
  void failed(const QString& message);

 private:
  int pending_ = 0;
  QThreadPool threads_;  ///< ends first
};

}  // namespace stagewright::gui
