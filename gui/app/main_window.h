#pragma once

#include <functional>
#include <initializer_list>
#include <optional>

#include <QtWidgets/QMainWindow>

#include "gui/app/command_set.h"
#include "gui/models/document.h"
#include "gui/models/file_export.h"
#include "gui/models/selection.h"
#include "gui/widgets/theme.h"

class QActionGroup;
class QLabel;
class QStackedWidget;

namespace stagewright::gui {

class Autosave;
class CauseBars;
class CommandPalette;
class ComparePanel;
class EditCommands;
class ExploreCommands;
class LayoutCommands;
class MemoryView;
class MessageBar;
class OverviewStrip;
class RowsPanel;
class RunCommands;
class SearchBar;
class StartPage;
class StatisticsPanel;
class TimelineView;
struct Exporter;

/// The window: the timeline in the middle, the other views in docks around it, and every command.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `profiles`: folder over the embedded data; empty: none.
  explicit MainWindow(const std::string& profiles = {}, QWidget* parent = nullptr);

  [[nodiscard]] Document* document() { return &document_; }
  [[nodiscard]] Selection* selection() { return &selection_; }
  [[nodiscard]] TimelineView* timeline() { return timeline_; }
  [[nodiscard]] MemoryView* memory() { return memory_; }
  [[nodiscard]] StatisticsPanel* statistics() { return statistics_; }
  [[nodiscard]] MessageBar* message() { return message_; }
  [[nodiscard]] SearchBar* search() { return search_; }
  [[nodiscard]] CommandPalette* palette_of_commands() { return palette_; }
  [[nodiscard]] EditCommands* edit() { return edit_; }
  [[nodiscard]] RunCommands* run() { return run_; }
  [[nodiscard]] ExploreCommands* explore() { return explore_; }
  [[nodiscard]] LayoutCommands* layouts() { return layouts_; }
  [[nodiscard]] Autosave* autosave() { return autosave_; }
  [[nodiscard]] const FileExport& exports() const { return exports_; }
  [[nodiscard]] CommandSet& commands() { return commands_; }

  void open(const QString& path);
  [[nodiscard]] ComparePanel* compare() { return compare_; }
  void set_theme(Theme theme);
  /// Starts to write what is open; the suffix is added where the path lacks it.  REQUIRES: a file
  /// to which the exporter applies.
  void export_to(const QString& path, const Exporter& exporter);
  /// Puts a file on top of the recent ones.
  void remember(const QString& path);
  /// Newest first, without runs that are not kept any more.
  [[nodiscard]] QStringList recent() const;
  /// Tells a user that a file is written.
  void note_written(const QString& path);
  /// Puts a view into a dock of the window, with a command to show and hide it.  `name` is stored
  /// in saved layouts.
  QDockWidget* add_dock(const QString& name,
                        const QString& title,
                        QWidget* view,
                        Qt::DockWidgetArea area);
  /// Draws what workers would draw, for pictures without an event loop.
  void draw_now();
  /// Window, docks and what was planned as they were when the program was last closed; a plan with
  /// changes if it was not closed.  Returns whether such a plan is being opened, and then says that
  /// `asked`, what the command line wanted, is not.
  bool restore_session(const QString& asked = {});

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build_centre();
  void build_docks();
  void build_commands();
  void add_file_commands();
  void add_view_commands();
  void add_theme_commands();
  void add_colour_commands();
  void add_moving_commands();
  void add_selecting_commands();
  void add_row_commands();
  void add_step_commands();
  /// A command of the timeline, whose keys work while that has the focus.
  void add_here(const char* id,
                const QString& text,
                std::initializer_list<const char*> keys,
                std::function<void()> run);
  void build_menus();
  void take_document();
  void show_docks(bool show);
  void update_status();
  void fill_recent_menu();
  void choose_file();
  void choose_comparison();
  void toggle_comparison();
  void open_example();
  void show_keys();
  void save_picture();
  void export_file();
  void show_step(int by);
  void reset_layout();
  QMenu* menu_of(const QString& title, const QStringList& commands);

  Document document_;
  FileExport exports_;
  Selection selection_;
  CommandSet commands_;
  TimelineView* timeline_ = nullptr;
  OverviewStrip* overview_ = nullptr;
  SearchBar* search_ = nullptr;
  MessageBar* message_ = nullptr;
  StartPage* start_ = nullptr;
  MemoryView* memory_ = nullptr;
  StatisticsPanel* statistics_ = nullptr;
  CauseBars* causes_ = nullptr;
  ComparePanel* compare_ = nullptr;
  RowsPanel* rows_ = nullptr;
  EditCommands* edit_ = nullptr;
  RunCommands* run_ = nullptr;
  ExploreCommands* explore_ = nullptr;
  LayoutCommands* layouts_ = nullptr;
  Autosave* autosave_ = nullptr;
  CommandPalette* palette_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QMenu* layout_menu_ = nullptr;
  QActionGroup* themes_ = nullptr;
  QLabel* status_file_ = nullptr;
  QLabel* status_view_ = nullptr;
  QLabel* status_pointer_ = nullptr;
  QByteArray first_state_;
  std::optional<QByteArray> state_with_file_;  ///< while none is open: how docks come back
};

}  // namespace stagewright::gui
