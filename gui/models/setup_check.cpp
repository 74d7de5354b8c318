#include "gui/models/setup_check.h"

#include <utility>

#include <QtCore/QMetaObject>

#include "gui/models/memory_guard.h"

namespace stagewright::gui {

CheckedSetup check_setup(const DataFiles& files, const PlanSetup& setup) {
  auto checked = within_memory(
      "the setup", "choose a smaller model or cluster", [&]() -> Result<CheckedSetup> {
        CheckedSetup made{.outline = outline_of(files, setup),
                          .cluster = cluster_of(files, setup.cluster),
                          .problem = {}};
        if (const auto job = job_of(files, setup); !job) {
          made.problem = QString::fromStdString(job.error().to_string());
        }
        return made;
      });
  if (checked) {
    return *std::move(checked);
  }
  return {.outline = tl::unexpected<Error>(checked.error()),
          .cluster = tl::unexpected<Error>(checked.error()),
          .problem = QString::fromStdString(checked.error().to_string())};
}

SetupCheck::SetupCheck(DataFiles files, QObject* parent)
    : QObject(parent),
      files_(std::make_shared<const DataFiles>(std::move(files))),
      generation_(std::make_shared<std::atomic<int>>(0)) {
  threads_.setMaxThreadCount(1);
}

SetupCheck::~SetupCheck() {
  ++*generation_;
  threads_.waitForDone();
}

void SetupCheck::start(const PlanSetup& setup) {
  const int generation = ++*generation_;
  busy_ = true;
  threads_.start([this, generation, newest = generation_, files = files_, setup] {
    if (newest->load() != generation) {  // overtaken while it waited
      return;
    }
    const auto result = std::make_shared<const CheckedSetup>(check_setup(*files, setup));
    QMetaObject::invokeMethod(this, [this, generation, newest, result] {
      if (newest->load() == generation) {
        busy_ = false;
        emit checked(*result);
      }
    });
  });
}

void SetupCheck::check_now(const PlanSetup& setup) {
  ++*generation_;
  busy_ = false;
  emit checked(check_setup(*files_, setup));
}

}  // namespace stagewright::gui
