#pragma once

#include <memory>

#include <QtCore/QLockFile>
#include <QtCore/QObject>
#include <QtCore/QTimer>

namespace stagewright::gui {

class MainWindow;

/// Keeps a copy of a changed plan beside the settings, for when the program ends unexpectedly.  Of
/// several programs at once only the first does.
class Autosave : public QObject {
  Q_OBJECT

 public:
  /// Copies every half minute.  Belongs to the window.
  explicit Autosave(MainWindow* window);

  /// Copies the plan if it has changes that are in no file; forgets the copy if not.
  void save();
  /// Opens what another run of the program has left; false where there is nothing.
  bool recover();
  /// The program ends as it should.
  void forget();

 private:
  [[nodiscard]] static QString path(const char* name);

  MainWindow* window_;
  QTimer timer_;
  std::unique_ptr<QLockFile> lock_;  ///< null where another program has it
};

}  // namespace stagewright::gui
