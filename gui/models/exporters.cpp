#include "gui/models/exporters.h"

#include <array>
#include <iterator>

#include <QtCore/QtGlobal>
#include <fmt/format.h>

#include "formats/pytorch_csv.h"
#include "formats/timeline_svg.h"
#include "gui/models/schedule_order.h"
#include "gui/models/timeline_png.h"

namespace stagewright::gui {
namespace {

bool always(const OpenedFile&) {
  return true;
}

bool has_schedule(const OpenedFile& file) {
  return file.schedule.has_value();
}

bool has_plan(const OpenedFile& file) {
  return file.plan.has_value();
}

Result<std::string> svg(const OpenedFile& file, const ShownStep& step) {
  return write_timeline_svg(make_timeline(file.trace, step.step), file.unit, file.title, "");
}

Result<std::string> perfetto(const OpenedFile& file, const ShownStep&) {
  return to_chrome_json(signed_trace(file));
}

Result<std::string> compact(const OpenedFile& file, const ShownStep&) {
  return to_binary(signed_trace(file));
}

Result<std::string> table(const OpenedFile&, const ShownStep& step) {
  const ActionStore& store = step.actions;
  std::string text = "rank,place,action,stage,micro_batch,start_ps,end_ps\n";
  for (const Lane& lane : store.lanes) {
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      fmt::format_to(std::back_inserter(text),
                     "{},{},{},{},{},{},{}\n",
                     lane.rank.value(),
                     store.place[i],
                     name_of(store.kind[i]),
                     store.stage[i],
                     store.micro_batch[i],
                     store.start[i],
                     store.end[i]);
    }
  }
  return text;
}

Result<std::string> plan(const OpenedFile& file, const ShownStep&) {
  return to_json_text(file.plan->plan);
}

Result<std::string> schedule(const OpenedFile& file, const ShownStep&) {
  return to_json_text(*file.schedule);
}

Result<std::string> pytorch(const OpenedFile& file, const ShownStep&) {
  return write_pytorch_csv(compute_order(*file.schedule));
}

constexpr std::array<Exporter, 8> kExporters{{
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Picture of the timeline (vector)"),
     ".svg",
     always,
     svg},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Picture of the timeline (pixels)"),
     ".png",
     always,
     write_timeline_png},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Trace for Perfetto and Chrome"),
     ".trace.json",
     always,
     perfetto},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Compact trace"),
     ".swtrace",
     always,
     compact},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Table of actions"), ".csv", always, table},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Plan"), ".plan.json", has_plan, plan},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Schedule that 'stagewright run' executes"),
     ".schedule.json",
     has_schedule,
     schedule},
    {QT_TRANSLATE_NOOP("stagewright::gui::MainWindow", "Order for torch.distributed.pipelining"),
     ".order.csv",
     has_schedule,
     pytorch},
}};

}  // namespace

std::span<const Exporter> exporters() {
  return kExporters;
}

}  // namespace stagewright::gui
