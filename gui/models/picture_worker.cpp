#include "gui/models/picture_worker.h"

#include <new>
#include <utility>

namespace stagewright::gui {

namespace {

/// Null where memory does not hold it: an exception that leaves a thread would end the program.
QImage drawn_within_memory(const TimelinePicture& picture) {
  try {
    return draw_timeline(picture);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

PictureWorker::PictureWorker(QObject* parent) : QObject(parent), thread_([this] { run(); }) {}

PictureWorker::~PictureWorker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void PictureWorker::request(TimelinePicture picture, quint64 number) {
  {
    const std::lock_guard lock(mutex_);
    next_ = Request{std::move(picture), number};
  }
  wake_.notify_one();
}

void PictureWorker::run() {
  while (true) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stop_ || next_; });
    if (stop_) {
      return;
    }
    const Request request = *std::exchange(next_, std::nullopt);
    lock.unlock();
    const QImage image = drawn_within_memory(request.picture);
    QMetaObject::invokeMethod(
        this,
        [this,
         image,
         window = request.picture.window,
         scroll = request.picture.scroll,
         number = request.number] { emit drawn(image, window, scroll, number); });
  }
}

}  // namespace stagewright::gui
