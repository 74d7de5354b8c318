#pragma once

#include <atomic>
#include <memory>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "gui/models/model_outline.h"
#include "gui/models/plan_setup.h"

namespace stagewright::gui {

/// What a setup stands for, as far as it stands for anything.
struct CheckedSetup {
  Result<ModelOutline> outline;
  Result<Cluster> cluster;
  QString problem;  ///< in the way of a search; empty: none
};
[[nodiscard]] CheckedSetup check_setup(const DataFiles& files, const PlanSetup& setup);

/// Checks setups on a thread, and tells of the newest alone.
class SetupCheck : public QObject {
  Q_OBJECT

 public:
  explicit SetupCheck(DataFiles files, QObject* parent = nullptr);
  ~SetupCheck() override;
  SetupCheck(const SetupCheck&) = delete;
  SetupCheck& operator=(const SetupCheck&) = delete;
  SetupCheck(SetupCheck&&) = delete;
  SetupCheck& operator=(SetupCheck&&) = delete;

  void start(const PlanSetup& setup);
  /// The same, done before it returns.
  void check_now(const PlanSetup& setup);
  [[nodiscard]] bool is_busy() const { return busy_; }

 signals:
  /// On the thread of this object.
  void checked(const CheckedSetup& setup);

 private:
  std::shared_ptr<const DataFiles> files_;
  std::shared_ptr<std::atomic<int>> generation_;
  bool busy_ = false;
  QThreadPool threads_;  ///< ends first
};

}  // namespace stagewright::gui
