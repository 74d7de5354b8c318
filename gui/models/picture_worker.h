#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include <QtCore/QObject>
#include <QtGui/QImage>

#include "gui/models/timeline_image.h"

namespace stagewright::gui {

/// Draws timelines on a thread of its own.  Only the newest picture that was asked for counts: one
/// that waits is replaced.
class PictureWorker : public QObject {
  Q_OBJECT

 public:
  explicit PictureWorker(QObject* parent = nullptr);
  ~PictureWorker() override;
  PictureWorker(const PictureWorker&) = delete;
  PictureWorker& operator=(const PictureWorker&) = delete;
  PictureWorker(PictureWorker&&) = delete;
  PictureWorker& operator=(PictureWorker&&) = delete;

  /// Answers with drawn() on the thread of this object.
  void request(TimelinePicture picture, quint64 number);

 signals:
  /// What a request of that number asked for, and the view that it shows.  The image is null where
  /// this machine's memory does not hold it.
  void drawn(const QImage& image,
             const stagewright::gui::TimeWindow& window,
             double scroll,
             quint64 number);

 private:
  struct Request {
    TimelinePicture picture;
    quint64 number = 0;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Request> next_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace stagewright::gui
