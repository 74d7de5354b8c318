#include "gui/models/words.h"

#include <QtCore/QCoreApplication>

#include "core/base/check.h"

namespace stagewright::gui {
namespace {

class Words {
  Q_DECLARE_TR_FUNCTIONS(stagewright::gui::Words)
};

QString time_text(std::int64_t time) {
  return QString::fromStdString(to_string(Duration(time)));
}

/// With its micro-batch, where it has one.
QString work_of(const ActionStore& store, ActionIndex action) {
  const ActionKind kind = store.kind[action];
  const bool of_micro_batch = is_compute(kind) || is_send(kind) || is_receive(kind);
  return of_micro_batch
             ? Words::tr("%1 of micro-batch %2").arg(word_for(kind)).arg(store.micro_batch[action])
             : word_for(kind);
}

}  // namespace

QString word_for(ActionKind kind) {
  switch (kind) {
    case ActionKind::kLoadMicroBatch:
      return Words::tr("load-micro-batch");
    case ActionKind::kForward:
      return Words::tr("forward");
    case ActionKind::kBackward:
      return Words::tr("backward");
    case ActionKind::kBackwardInput:
      return Words::tr("backward-input");
    case ActionKind::kBackwardWeight:
      return Words::tr("backward-weight");
    case ActionKind::kRecompute:
      return Words::tr("recompute");
    case ActionKind::kSendActivation:
      return Words::tr("send-activation");
    case ActionKind::kRecvActivation:
      return Words::tr("recv-activation");
    case ActionKind::kSendGradient:
      return Words::tr("send-gradient");
    case ActionKind::kRecvGradient:
      return Words::tr("recv-gradient");
    case ActionKind::kReduceGradients:
      return Words::tr("reduce-gradients");
    case ActionKind::kGatherParameters:
      return Words::tr("gather-parameters");
    case ActionKind::kOptimizerStep:
      return Words::tr("optimizer-step");
    case ActionKind::kUpdateParameters:
      return Words::tr("update-parameters");
  }
  SW_CHECK(false, "a known action kind");
}

QString word_for(BubbleCause cause) {
  switch (cause) {
    case BubbleCause::kWarmUp:
      return Words::tr("warm-up");
    case BubbleCause::kCoolDown:
      return Words::tr("cool-down");
    case BubbleCause::kOrder:
      return Words::tr("order");
    case BubbleCause::kImbalance:
      return Words::tr("imbalance");
    case BubbleCause::kTransfer:
      return Words::tr("transfer");
    case BubbleCause::kCollective:
      return Words::tr("collective");
    case BubbleCause::kOptimizer:
      return Words::tr("optimizer", "cause of idle time");
    case BubbleCause::kPeer:
      return Words::tr("peer");
  }
  SW_CHECK(false, "a cause that is listed");
}

QString word_for(TensorClass tensor_class) {
  switch (tensor_class) {
    case TensorClass::kParameter:
      return Words::tr("parameter");
    case TensorClass::kGradient:
      return Words::tr("gradient");
    case TensorClass::kOptimizer:
      return Words::tr("optimizer", "part of memory");
    case TensorClass::kActivation:
      return Words::tr("activation");
    case TensorClass::kWorkspace:
      return Words::tr("workspace");
    case TensorClass::kCommunication:
      return Words::tr("communication");
    case TensorClass::kInput:
      return Words::tr("input");
  }
  SW_CHECK(false, "a known tensor class");
}

QString word_for(FileKind kind) {
  switch (kind) {
    case FileKind::kTrace:
      return Words::tr("trace");
    case FileKind::kPlan:
      return Words::tr("plan");
    case FileKind::kSchedule:
      return Words::tr("schedule");
    case FileKind::kTokenList:
      return Words::tr("pipeline order");
  }
  SW_CHECK(false, "a kind of file that is listed");
}

QString word_for_context() {
  return Words::tr("context");
}

QString describe(const ActionStore& store, ActionIndex action) {
  const Lane& lane = store.lanes[store.lane_of(action)];
  QString took = time_text(store.duration(action).count());
  if (lane.use == LaneUse::kError) {
    took += Words::tr(", %1 % of the first")
                .arg(QString::asprintf("%+.1f", 100.0 * static_cast<double>(store.error[action])));
  }
  return Words::tr("rank %1 stage %2: %3, %4 to %5 (%6)")
      .arg(lane.rank.value())
      .arg(store.stage[action])
      .arg(work_of(store, action),
           time_text(store.start[action]),
           time_text(store.end[action]),
           took);
}

}  // namespace stagewright::gui
