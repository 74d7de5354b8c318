#include "gui/app/main_window.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

#include <QtCore/QMimeData>
#include <QtCore/QSettings>
#include <QtCore/QUrl>
#include <QtGui/QAccessible>
#include <QtGui/QAction>
#include <QtGui/QDragEnterEvent>
#include <QtGui/QDropEvent>
#include <QtTest/QTest>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QListView>
#include <QtWidgets/QStatusBar>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/app/keys_dialog.h"
#include "gui/app/screenshot.h"
#include "gui/widgets/cause_bars.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/compare_panel.h"
#include "gui/widgets/memory_view.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/statistics_panel.h"
#include "gui/widgets/timeline/timeline_layout.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/gui/broken_files.h"
#include "tests/unit/gui/widgets/shown_trace.h"

namespace stagewright::gui {
namespace {

class MainWindowTest : public testing::Test {
 protected:
  void SetUp() override {
    window_.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window_));
  }
  void open(const std::string& path) {
    window_.open(QString::fromStdString(path));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  }
  void open_trace() {
    ASSERT_TRUE(write_file(trace_path(), to_binary(test::pipeline_trace("1f1b", 4, 8))));
    open(trace_path());
    ASSERT_NE(window_.document()->file(), nullptr) << window_.message()->text().toStdString();
    window_.document()->analyse_now();
    QApplication::setActiveWindow(&window_);
    window_.timeline()->setFocus();
  }
  [[nodiscard]] std::string trace_path() const { return (folder_.path() / "t.swtrace").string(); }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(window_.timeline(), key, modifiers);
  }
  void drop(const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window_, &enter);
    QDropEvent event(
        QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier, QEvent::Drop);
    QApplication::sendEvent(&window_, &event);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  }

  TemporaryFolder folder_;
  MainWindow window_;
};

TEST_F(MainWindowTest, KeysMoveThroughTheTimelineAndTheTextSaysWhatIsSelected) {
  open_trace();
  press(Qt::Key_Right);
  press(Qt::Key_Right);
  EXPECT_TRUE(window_.statistics()->action_text().contains("forward of micro-batch 1"))
      << window_.statistics()->action_text().toStdString();
  const double length = window_.timeline()->window_shown().length;
  press(Qt::Key_W);
  EXPECT_LT(window_.timeline()->window_shown().length, length);
  press(Qt::Key_F);
  EXPECT_EQ(window_.timeline()->window_shown().length, length);
  press(Qt::Key_X);
  EXPECT_TRUE(window_.timeline()->shows_path());
  EXPECT_TRUE(window_.commands().find("path")->isChecked());
  press(Qt::Key_G);
  EXPECT_EQ(window_.timeline()->choices().group_by, "stage");
  press(Qt::Key_Escape);
  EXPECT_EQ(window_.selection()->action(), std::nullopt);
}

TEST_F(MainWindowTest, SearchesAsOneTypesAndEnterGoesOn) {
  open_trace();
  press(Qt::Key_Slash);
  auto* const text = window_.search()->findChild<QLineEdit*>();
  ASSERT_TRUE(text->isVisible());
  QTest::keyClicks(text, "F3");
  EXPECT_EQ(window_.selection()->hits().size(), 4U);
  EXPECT_EQ(window_.search()->verdict(), "4 found");
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_EQ(short_name(*window_.document()->actions(), *window_.selection()->action()), "F3");
  text->setText("speed:9");
  EXPECT_TRUE(window_.search()->verdict().contains("no condition"));
  EXPECT_TRUE(window_.selection()->hits().empty());
  QTest::keyClick(text, Qt::Key_Escape);
  EXPECT_FALSE(text->isVisible());
}

TEST_F(MainWindowTest, ThePaletteRunsWhatIsTyped) {
  open_trace();
  QTest::keyClick(&window_, Qt::Key_K, Qt::ControlModifier);
  CommandPalette* const palette = window_.palette_of_commands();
  ASSERT_TRUE(palette->isVisible());
  auto* const text = palette->findChild<QLineEdit*>();
  QTest::keyClicks(text, "crit path");
  EXPECT_EQ(palette->findChild<QListView*>()->model()->rowCount(), 1);
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_FALSE(palette->isVisible());
  EXPECT_TRUE(window_.timeline()->shows_path());
}

/// The key that is pressed for it, on a keyboard of the United States: Qt takes "{" for "Shift+[".
QKeySequence as_pressed(const QKeySequence& key) {
  constexpr std::string_view kShifted = "~!@#$%^&*()_+{}|:\"<>?";
  constexpr std::string_view kPlain = "`1234567890-=[]\\;',./";
  static_assert(kShifted.size() == kPlain.size());
  const QKeyCombination pressed = key[0];
  const std::size_t at = pressed.key() < 128 ? kShifted.find(static_cast<char>(pressed.key()))
                                             : std::string_view::npos;
  return at == std::string_view::npos
             ? key
             : QKeySequence(QKeyCombination(pressed.keyboardModifiers() | Qt::ShiftModifier,
                                            static_cast<Qt::Key>(kPlain[at])));
}

TEST_F(MainWindowTest, EveryCommandHasATextAndNoKeyServesTwo) {
  std::map<QString, QString> holders;
  for (const QAction* const command : window_.commands().actions()) {
    EXPECT_FALSE(command->text().isEmpty()) << command->objectName().toStdString();
    for (const QKeySequence& key : command->shortcuts()) {
      const QAction* const other = window_.commands().holder_of(key, command);
      EXPECT_EQ(other, nullptr) << command->objectName().toStdString() << " and "
                                << (other == nullptr ? "" : other->objectName().toStdString())
                                << " share " << key.toString().toStdString();
      const auto [holder, fresh] =
          holders.emplace(as_pressed(key).toString(), command->objectName());
      EXPECT_TRUE(fresh) << command->objectName().toStdString() << " and "
                         << holder->second.toStdString() << " share what is pressed for "
                         << key.toString().toStdString();
    }
  }
}

TEST_F(MainWindowTest, KeysCanBeChangedAndAreRemembered) {
  CommandSet& commands = window_.commands();
  KeysDialog dialog(&commands);
  const int fit = static_cast<int>(commands.actions().indexOf(commands.find("fit")));
  EXPECT_FALSE(dialog.set_key(fit, QKeySequence(Qt::Key_W)));
  EXPECT_TRUE(dialog.verdict().contains("Zoom in")) << dialog.verdict().toStdString();
  EXPECT_TRUE(dialog.set_key(fit, QKeySequence(Qt::Key_J)));
  const MainWindow other;
  EXPECT_EQ(const_cast<MainWindow&>(other).commands().find("fit")->shortcut(),
            QKeySequence(Qt::Key_J));
  commands.set_keys(commands.find("fit"), commands.default_keys(commands.find("fit")));
  EXPECT_FALSE(QSettings().contains("keys/fit"));
}

TEST_F(MainWindowTest, WhatIsDroppedOpensOrSaysWhyNot) {
  std::ofstream(folder_.path() / "foreign.json") << R"({"name": "someone's"})";
  std::ofstream(folder_.path() / "broken.swtrace") << "SWTR\x01\xFF\xFF";
  std::ofstream(folder_.path() / "empty.json") << "";
  for (const char* const name :
       {"foreign.json", "broken.swtrace", "empty.json", "missing.json", "."}) {
    drop({QUrl::fromLocalFile(QString::fromStdString((folder_.path() / name).string()))});
    EXPECT_TRUE(window_.message()->isVisible()) << name;
    EXPECT_TRUE(window_.message()->shows_error()) << name;
    EXPECT_FALSE(window_.message()->text().isEmpty()) << name;
    EXPECT_EQ(window_.document()->file(), nullptr) << name;
  }
  drop({QUrl("https://example.com/trace.json")});
  EXPECT_TRUE(window_.message()->text().contains("this machine"));
  ASSERT_TRUE(write_file(trace_path(), to_binary(test::pipeline_trace("1f1b", 2, 2))));
  drop({QUrl::fromLocalFile(QString::fromStdString(trace_path()))});
  EXPECT_NE(window_.document()->file(), nullptr);
  EXPECT_FALSE(window_.message()->isVisible());
}

TEST_F(MainWindowTest, EveryBrokenFileThatIsDroppedOpensOrSaysWhyNot) {
  for (const auto& [name, content] : test::files_of_every_kind()) {
    for (std::uint32_t seed = 1000; seed < 1012; ++seed) {
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const auto path = folder_.path() / name;
      std::ofstream(path, std::ios::binary) << test::broken(content, seed);
      window_.document()->close();
      drop({QUrl::fromLocalFile(QString::fromStdString(path.string()))});
      const bool opened = window_.document()->file() != nullptr;
      EXPECT_NE(opened, window_.message()->isVisible() && window_.message()->shows_error());
      window_.draw_now();
    }
  }
}

TEST_F(MainWindowTest, AHugeFileThatIsDroppedIsRefused) {
  const auto path = folder_.path() / "huge.swtrace";
  std::ofstream(path) << "SWTR";
  std::filesystem::resize_file(path, std::uintmax_t{5} << 30U);  // without a block on the disk
  drop({QUrl::fromLocalFile(QString::fromStdString(path.string()))});
  EXPECT_TRUE(window_.message()->text().contains("5.0 GiB"))
      << window_.message()->text().toStdString();
}

TEST_F(MainWindowTest, WhatIsOpenStaysWhenAnotherFileCannotBeOpened) {
  open_trace();
  const OpenedFile* const before = window_.document()->file();
  open("/no/such/file");
  EXPECT_TRUE(window_.message()->shows_error());
  EXPECT_EQ(window_.document()->file(), before);
}

TEST_F(MainWindowTest, OpeningCanBeCancelled) {
  window_.open(QString::fromStdString(
      (source_folder() / "examples/llama3-70b-128xh100.plan.json").string()));
  EXPECT_TRUE(window_.message()->isVisible());
  emit window_.message()->cancelled();
  EXPECT_FALSE(window_.document()->is_busy());
  EXPECT_FALSE(window_.message()->isVisible());
  EXPECT_EQ(window_.document()->file(), nullptr);
}

TEST_F(MainWindowTest, RemembersWhatWasOpen) {
  open_trace();
  EXPECT_EQ(QSettings().value("recent").toStringList().value(0).toStdString(), trace_path());
  window_.findChild<QDockWidget*>("dock_memory")->hide();
  window_.close();
  EXPECT_EQ(QSettings().value("session/file").toString().toStdString(), trace_path());
  MainWindow next;
  next.restore_session();
  next.document()->show(opened(test::pipeline_trace("1f1b", 2, 2)));
  EXPECT_TRUE(next.findChild<QDockWidget*>("dock_memory")->isHidden());
  EXPECT_FALSE(next.findChild<QDockWidget*>("dock_statistics")->isHidden());
}

TEST_F(MainWindowTest, ScreenReadersFindRowsAndTheSelectedAction) {
  open_trace();
  QAccessibleInterface* const chart = QAccessible::queryAccessibleInterface(window_.timeline());
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->role(), QAccessible::Chart);
  ASSERT_EQ(chart->childCount(), 8);
  EXPECT_EQ(chart->child(0)->text(QAccessible::Name), "rank 0");
  EXPECT_EQ(chart->child(1)->text(QAccessible::Name), "rank 0 transfers");
  EXPECT_EQ(chart->indexOfChild(chart->child(3)), 3);
  press(Qt::Key_Right);
  EXPECT_TRUE(
      chart->text(QAccessible::Value).startsWith("rank 0 stage 0: forward of micro-batch 0"))
      << chart->text(QAccessible::Value).toStdString();
  EXPECT_TRUE(chart->child(0)->state().selected);
  EXPECT_FALSE(chart->child(2)->state().selected);
}

TEST_F(MainWindowTest, ShowsMemoryWithItsLimitUnderThePointer) {
  open((source_folder() / "examples/gpt-demo-uneven.plan.json").string());
  ASSERT_NE(window_.document()->file(), nullptr) << window_.message()->text().toStdString();
  const QString text = window_.memory()->describe_at(QPointF(kGutterWidth + 200, 60));
  EXPECT_TRUE(text.startsWith("rank 0 at ")) << text.toStdString();
  EXPECT_TRUE(text.contains("parameter")) << text.toStdString();
  EXPECT_FALSE(window_.memory()->grab().isNull());
}

TEST_F(MainWindowTest, ComparesTwoFilesAndGoesToWhatDiffersMost) {
  open_trace();
  EXPECT_TRUE(window_.compare()->summary().contains("second file"));
  Trace slow = test::pipeline_trace("1f1b", 4, 8);
  const auto worst = std::ranges::find_if(slow.events, [](const TraceEvent& event) {
    return event.rank == RankId(2) && event.action == ActionKind::kForward &&
           event.micro_batch == MicroBatchId(5);
  });
  worst->end += std::chrono::milliseconds(1);
  ASSERT_TRUE(write_file(folder_.path() / "slow.swtrace", to_binary(slow)));
  window_.document()->compare_with(
      QString::fromStdString((folder_.path() / "slow.swtrace").string()));
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_.document()->comparison() != nullptr; }, 30'000));
  EXPECT_TRUE(window_.findChild<CauseBars*>("causes")->notice().contains("one file at a time"));
  EXPECT_FALSE(window_.compare()->summary().contains("ranks beside"));
  window_.compare()->choose(0);
  const ActionStore& both = *window_.document()->actions();
  const ActionIndex chosen = window_.selection()->action().value();
  EXPECT_EQ(short_name(both, chosen), "F5");
  EXPECT_EQ(both.lanes[both.lane_of(chosen)].rank, RankId(2));
  EXPECT_EQ(window_.timeline()->rows()->rows.size(), 12U);
  EXPECT_FALSE(window_.timeline()->grab().isNull());
  window_.document()->set_alignment(Alignment::kEnd);
  window_.document()->stop_comparing();
  EXPECT_EQ(window_.document()->comparison(), nullptr);
  EXPECT_EQ(window_.selection()->action(), std::nullopt);
  EXPECT_TRUE(window_.compare()->summary().contains("second file"));
}

TEST_F(MainWindowTest, UnlikeThingsAreNotComparedUnsaid) {
  open_trace();
  const auto compare = [&](const char* name, const std::string& content) {
    const std::string path = (folder_.path() / name).string();
    ASSERT_TRUE(write_file(path, content));
    window_.document()->compare_with(QString::fromStdString(path));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  };
  compare("order.csv", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(window_.document()->comparison(), nullptr);
  EXPECT_TRUE(window_.message()->text().contains("units of work"))
      << window_.message()->text().toStdString();
  EXPECT_FALSE(window_.document()->compare_now((folder_.path() / "order.csv").string()));
  compare("two.swtrace", to_binary(test::pipeline_trace("1f1b", 2, 8)));
  EXPECT_TRUE(window_.compare()->summary().contains("4 ranks beside 2"))
      << window_.compare()->summary().toStdString();
}

TEST_F(MainWindowTest, StepsAreCountedFromOneAndZeroHasTheUnitOfTheOtherEnd) {
  Trace trace = test::pipeline_trace("1f1b", 2, 2);
  const std::vector<TraceEvent> events = trace.events;
  trace.steps = 2;
  for (TraceEvent event : events) {
    event.step = 1;
    trace.events.push_back(event);
  }
  ASSERT_TRUE(write_file(trace_path(), to_binary(trace)));
  open(trace_path());
  ASSERT_NE(window_.document()->file(), nullptr) << window_.message()->text().toStdString();
  window_.document()->show_step(0);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  const auto says = [&](const char* text) {
    return std::ranges::any_of(window_.statusBar()->findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text().contains(text); });
  };
  EXPECT_TRUE(says("step 1 of 2"));
  window_.document()->show_step(1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.document()->is_busy(); }, 30'000));
  EXPECT_TRUE(says("step 2 of 2"));
  window_.timeline()->show_window({0, 5e9});
  EXPECT_TRUE(says("0 ms to 5 ms"));
}

TEST_F(MainWindowTest, TakesScreenshotsOfWhatTheOptionsSay) {
  ASSERT_TRUE(write_file(trace_path(), to_binary(test::pipeline_trace("zb-h1", 4, 8))));
  ProgramOptions options;
  options.files = {trace_path()};
  options.screenshot = QString::fromStdString((folder_.path() / "shot.png").string());
  options.size = QSize(1200, 700);
  options.range = TimeWindow{2e12, 6e12};
  options.search = "F3";
  options.group_by = "stage";
  ASSERT_TRUE(take_screenshot(options, window_));
  EXPECT_EQ(QImage(*options.screenshot).size(), options.size);
  EXPECT_EQ(window_.timeline()->window_shown(), *options.range);
  options.group_by = "planet";
  const auto refused = take_screenshot(options, window_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().to_string().find("known: stage"), std::string::npos);
}

TEST_F(MainWindowTest, AScreenshotShowsAChangedPlan) {
  const std::string plan = (source_folder() / "examples/gpt-demo-uneven.plan.json").string();
  ProgramOptions options;
  options.files = {plan};
  options.screenshot = QString::fromStdString((folder_.path() / "shot.png").string());
  ASSERT_TRUE(take_screenshot(options, window_));
  const Duration before = window_.document()->file()->summary->step_time;
  options.move_layers = {.from = 0, .to = 1, .count = 1};
  ASSERT_TRUE(take_screenshot(options, window_));
  EXPECT_LT(window_.document()->file()->summary->step_time, before);
  options.move_layers->to = 2;
  const auto refused = take_screenshot(options, window_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().to_string().find("stages are 0 to 1"), std::string::npos);
}

}  // namespace
}  // namespace stagewright::gui
