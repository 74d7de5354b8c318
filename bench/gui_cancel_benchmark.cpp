// How long a search of plans goes on after somebody has stopped it: until the window says so, and
// until no thread works for it any more.  It is stopped at many moments, so that it is met in all
// of its parts.

#include <algorithm>
#include <ctime>
#include <vector>

#include <QtCore/QCoreApplication>
#include <QtCore/QElapsedTimer>
#include <QtCore/QThread>
#include <benchmark/benchmark.h>

#include "gui/models/plan_search.h"

namespace stagewright::gui {
namespace {

double process_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

void cancel_search(benchmark::State& state) {
  const PlanSetup setup{.model = "gpt3-175b",
                        .cluster = {.nodes = 128, .devices = 8, .device = "a100-80gb-sxm"},
                        .global_batch = 1536};
  constexpr int kStep = 60;   // milliseconds
  constexpr int kStops = 24;  // over a second and a half
  double told_most = 0;
  double ended_most = 0;
  double cpu_most = 0;
  int stopped = 0;
  for (auto _ : state) {
    for (int stop = 1; stop <= kStops; ++stop) {
      PlanSearch search;
      QElapsedTimer time;
      search.start(setup);
      time.start();
      while (time.elapsed() < stop * kStep && search.state() == PlanSearch::State::kRunning) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        QThread::msleep(1);
      }
      if (search.state() != PlanSearch::State::kRunning) {
        continue;  // it was done before
      }
      ++stopped;
      const double cpu = process_cpu_ms();
      time.restart();
      search.cancel();
      told_most = std::max(told_most, static_cast<double>(time.nsecsElapsed()) * 1e-6);
      while (!search.threads_ended()) {
        QThread::usleep(200);
      }
      ended_most = std::max(ended_most, static_cast<double>(time.nsecsElapsed()) * 1e-6);
      cpu_most = std::max(cpu_most, process_cpu_ms() - cpu);
    }
  }
  state.counters["stops"] = stopped;
  state.counters["window_told_most_ms"] = told_most;
  state.counters["threads_ended_most_ms"] = ended_most;
  state.counters["cpu_after_most_ms"] = cpu_most;
}
BENCHMARK(cancel_search)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace stagewright::gui

int main(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
