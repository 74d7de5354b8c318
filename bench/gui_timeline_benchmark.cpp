// What the desktop application promises of large steps: painting on the thread of the window, turns
// of its event loop, and opening a trace.  Times are of the processor, for machines that do other
// things meanwhile.

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <QtCore/QElapsedTimer>
#include <QtCore/QTemporaryDir>
#include <QtCore/QThread>
#include <QtGui/QPaintEvent>
#include <QtWidgets/QApplication>
#include <benchmark/benchmark.h>

#include "core/base/file.h"
#include "gui/app/main_window.h"
#include "gui/models/document.h"
#include "gui/models/selection_statistics.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "planner/schedules/registry.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_check.h"

namespace stagewright::gui {
namespace {

using namespace std::chrono_literals;

double cpu_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Zero-bubble pipelines of 64 ranks side by side: 2 rows a rank.
Trace large_trace(std::int32_t micro_batches, std::int32_t copies) {
  constexpr std::int32_t kRanks = 64;
  const PipelineOrder order =
      find_schedule("zb-h1")
          ->generate({.ranks = kRanks, .virtual_stages = 1, .micro_batches = micro_batches})
          .value();
  const TokenList list = token_list(order);
  const PipelineCosts costs = costs_per_stage({.forward = 1ms,
                                               .backward = 2ms,
                                               .backward_input = 1ms,
                                               .backward_weight = 1ms,
                                               .recompute = 1ms,
                                               .transfer = 50us},
                                              list.stages);
  Trace trace = list_trace(list, costs, time_list(list, costs));
  const std::size_t events = trace.events.size();
  for (std::int32_t copy = 1; copy < copies; ++copy) {
    for (std::size_t i = 0; i < events; ++i) {
      trace.events.push_back(trace.events[i]);
      trace.events.back().rank = RankId(trace.events[i].rank.value() + copy * kRanks);
    }
  }
  trace.ranks = kRanks * copies;
  return trace;
}

const std::string& large_file(std::int64_t copies) {
  static std::map<std::int64_t, std::string> files;
  std::string& content = files[copies];
  if (content.empty()) {
    content = to_binary(large_trace(432, static_cast<std::int32_t>(copies)));
  }
  return content;
}

/// Measures each of its paintings.
class MeasuredView : public TimelineView {
 public:
  using TimelineView::TimelineView;
  std::vector<double> paintings;

 protected:
  void paintEvent(QPaintEvent* event) override {
    const double before = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    TimelineView::paintEvent(event);
    paintings.push_back(cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before);
  }
};

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values.empty()
             ? 0
             : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void zoom_and_pan(benchmark::State& state) {
  Document document;
  Selection selection;
  MeasuredView view(&document, &selection);
  view.resize(1600, 900);
  view.show();
  document.show(open_content(large_file(state.range(0)), "large.swtrace", {}).value());
  view.set_row_height(static_cast<double>(state.range(1)) / 100);
  std::vector<double> turns;
  for (auto _ : state) {
    QElapsedTimer time;
    time.start();
    int i = 0;
    while (time.elapsed() < 3000) {
      const double before = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
      view.zoom(i % 40 < 20 ? 1.08 : 1 / 1.08);
      view.pan(i % 2 == 0 ? 0.02 : -0.015);
      QApplication::processEvents();
      turns.push_back(cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before);
      ++i;
    }
  }
  state.counters["actions"] = static_cast<double>(document.actions()->size());
  state.counters["rows"] = static_cast<double>(document.actions()->lanes.size());
  state.counters["paint_median_ms"] = quantile(view.paintings, 0.5);
  state.counters["paint_p99_ms"] = quantile(view.paintings, 0.99);
  state.counters["turn_median_ms"] = quantile(turns, 0.5);
  state.counters["turn_most_ms"] = quantile(turns, 1);
  state.counters["turns"] = static_cast<double>(turns.size());
}
BENCHMARK(zoom_and_pan)
    ->ArgNames({"copies", "row_height_x100"})
    ->Args({8, 88})
    ->Args({8, 400})
    ->Args({8, 2000})
    ->Args({73, 88})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

void draw_whole(benchmark::State& state) {
  const OpenedFile file = open_content(large_file(8), "large.swtrace", {}).value();
  const auto actions = std::make_shared<const ActionStore>(file.shown.actions);
  const TimelineColours colours;
  TimelinePicture picture{.actions = actions,
                          .paint = std::make_shared<const ActionPaint>(ColourBy::kAction, actions),
                          .rows = std::make_shared<const RowLayout>(lay_out_rows(
                              *actions, {}, {.height = static_cast<double>(state.range(0)) / 100})),
                          .analysis = nullptr,
                          .paints = paints_for(ColourBy::kAction, colours),
                          .colours = colours,
                          .window = {0, static_cast<double>(actions->length)},
                          .width = 1600,
                          .height = 900};
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_timeline(picture));
  }
}
BENCHMARK(draw_whole)
    ->ArgName("row_height_x100")
    ->Arg(88)
    ->Arg(400)
    ->Arg(1800)
    ->Unit(benchmark::kMillisecond);

void open_trace(benchmark::State& state) {
  const std::string& content = large_file(8);
  for (auto _ : state) {
    benchmark::DoNotOptimize(open_content(content, "large.swtrace", {}));
  }
}
BENCHMARK(open_trace)->Unit(benchmark::kMillisecond);

/// What the window does while a file is opened, searched and left: turns of its event loop.
void use_window(benchmark::State& state) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("large.swtrace"));
  if (!write_file(path.toStdString(), large_file(state.range(0)))) {
    state.SkipWithError("the trace could not be written");
    return;
  }
  MainWindow window;
  window.show();
  QApplication::processEvents();
  const auto worst_turn = [&](const std::function<void()>& act, const auto& done) {
    double worst = 0;
    bool first = true;
    for (int quiet = 0; quiet < 50;) {
      const double before = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
      if (std::exchange(first, false)) {
        act();
      }
      QApplication::processEvents(QEventLoop::AllEvents, 1);
      worst = std::max(worst, cpu_ms(CLOCK_THREAD_CPUTIME_ID) - before);
      quiet = done() ? quiet + 1 : 0;
      QThread::msleep(1);
    }
    return worst;
  };
  Document& document = *window.document();
  const auto always = [] { return true; };
  for (auto _ : state) {
    state.counters["open_ms"] =
        worst_turn([&] { window.open(path); },
                   [&] { return !document.is_busy() && document.analysis() != nullptr; });
    state.counters["search_ms"] = worst_turn(
        [&] { window.search()->search(QStringLiteral("kind:B mb:3-5 rank:2-90")); }, always);
    state.counters["group_ms"] =
        worst_turn([&] { window.timeline()->group_by_next_axis(); }, always);
    state.counters["select_ms"] =
        worst_turn([&] { window.timeline()->select_neighbour(Direction::kForth); }, always);
    state.counters["follow_ms"] = worst_turn([&] { window.timeline()->toggle_follow(); }, always);
    state.counters["range_ms"] = worst_turn(
        [&] { window.selection()->select_range(everything(*document.actions())); }, always);
    state.counters["path_ms"] = worst_turn([&] { window.timeline()->set_show_path(true); }, always);
    state.counters["close_ms"] = worst_turn([&] { document.close(); }, always);
  }
}
BENCHMARK(use_window)->ArgName("copies")->Arg(8)->Arg(73)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace stagewright::gui

int main(int argc, char** argv) {
  const QTemporaryDir folder;  // for settings of its own
  for (const char* const variable : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}) {
    qputenv(variable, folder.path().toLocal8Bit());
  }
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  stagewright::gui::apply_theme(application, stagewright::gui::Theme::kLight);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
