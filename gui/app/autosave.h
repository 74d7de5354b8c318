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
  /// Opens what another run of the program has left, and says so; false where there is nothing.
  /// `asked`: what the command line wanted instead, which is named as not opened; empty: nothing.
  bool recover(const QString& asked = {});
  /// The program ends as it should.
  void forget();

 private:
  [[nodiscard]] static QString path(const char* name);
  /// Gives a file another name, in place of what bore that.
  static void set_aside(const char* name, const char* other);
  /// What recover() began to open is there, or could not be read; `problem`: why, if it is known.
  void take_recovered(bool moved, const QString& problem, const QString& asked);

  MainWindow* window_;
  QTimer timer_;
  std::unique_ptr<QLockFile> lock_;  ///< null where another program has it
};

}  // namespace stagewright::gui
