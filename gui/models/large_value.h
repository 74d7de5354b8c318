#pragma once

/// Values so large that freeing them takes tens of milliseconds: columns of millions of actions.

#include <memory>
#include <utility>

#include <QtCore/QThreadPool>

namespace stagewright::gui {

/// Shares a value whose last owner may be the window's thread.  Another thread frees it, so that
/// closing a file does not stop the window.
template <class T>
[[nodiscard]] std::shared_ptr<const T> share_large(T value) {
  auto owned = std::make_unique<const T>(std::move(value));
  return std::shared_ptr<const T>(owned.release(), [](const T* large) {
    QThreadPool::globalInstance()->start([large] { delete large; });
  });
}

}  // namespace stagewright::gui
