#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QtCore/QObject>
#include <QtCore/QString>
#include <QtCore/QThreadPool>
#include <QtGui/QUndoStack>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "gui/models/document.h"
#include "gui/models/draft_costs.h"
#include "gui/models/plan_draft.h"

namespace stagewright::gui {

/// Changes the plan that is open.  Every change is simulated on a thread; when that worked, the
/// document shows the result as another version of the same plan, and the change can be undone.
/// One that does not work leaves everything as it was and says why.
class PlanEditor : public QObject {
  Q_OBJECT

 public:
  using Change = std::function<Result<PlanDraft>(PlanDraft)>;

  explicit PlanEditor(Document* document, QObject* parent = nullptr);
  ~PlanEditor() override;
  PlanEditor(const PlanEditor&) = delete;
  PlanEditor& operator=(const PlanEditor&) = delete;
  PlanEditor(PlanEditor&&) = delete;
  PlanEditor& operator=(PlanEditor&&) = delete;

  /// As the document shows it; null where what is open is no plan.
  [[nodiscard]] const PlanDraft* draft() const { return draft_ ? &*draft_ : nullptr; }
  /// As it was opened.
  [[nodiscard]] const std::optional<Summary>& opened_summary() const { return opened_summary_; }
  /// Of the draft that is shown.
  [[nodiscard]] std::optional<Summary> shown_summary() const;
  [[nodiscard]] QUndoStack* undo_stack() { return &undo_; }
  [[nodiscard]] bool is_busy() const { return !pending_.empty(); }
  /// Whether the plan or the order of its actions is in no file: neither as it was opened nor as it
  /// was saved.  What was only imagined of the cluster goes into none.
  [[nodiscard]] bool has_unsaved() const;

  /// Applies a change to what was asked for last.  Changes of one `merge_id` that follow each other
  /// are undone together; below 0, each alone.
  void change(const QString& text, const Change& change, int merge_id = -1);
  /// The same, simulated before it returns.
  [[nodiscard]] Result<void> change_now(const QString& text, const Change& change);

  /// The lowered schedule as a file that `stagewright run --schedule` executes.
  [[nodiscard]] Result<void> save_schedule(const std::string& path) const;
  /// The plan without the moved actions, which only a schedule holds.
  [[nodiscard]] Result<void> save_plan(const std::string& path) const;
  /// What is shown is in a file of the user's now: a schedule, or, without moved actions, a plan.
  void note_saved();
  /// What is shown is in no file of the user's, though it was opened from one.
  void note_unsaved();

 signals:
  /// Another draft is shown, or none.
  void changed();
  /// A change cannot be made; nothing was changed.
  void refused(const QString& why);

 private:
  class Edit;
  /// A draft that is on its way to be shown.
  struct Step {
    PlanDraft draft;
    QString text;
    int merge_id = -1;
    bool recorded = false;  ///< it comes from the undo stack
  };
  void take_document();
  void submit(Step step);
  void start();
  void take(Result<OpenedFile> result);
  [[nodiscard]] Result<DataFiles> data_files() const;

  Document* document_;
  std::optional<PlanDraft> draft_;
  std::optional<Summary> opened_summary_;
  std::optional<PlanDraft> saved_;  ///< what files hold, if they hold any of it
  std::shared_ptr<DraftCosts> costs_;
  std::string where_;
  std::vector<Step> pending_;  ///< the last is being simulated; those before it were overtaken
  std::shared_ptr<std::atomic<int>> generation_;
  QUndoStack undo_;
  QThreadPool threads_;  ///< ends first
};

}  // namespace stagewright::gui
