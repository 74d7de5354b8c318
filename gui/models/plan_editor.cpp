#include "gui/models/plan_editor.h"

#include <utility>

#include "core/base/file.h"
#include "gui/models/memory_guard.h"
#include "gui/models/plan_file.h"

namespace stagewright::gui {

/// Two drafts, between which undo and redo go.
class PlanEditor::Edit : public QUndoCommand {
 public:
  Edit(PlanEditor* editor, PlanDraft before, Step step)
      : QUndoCommand(step.text),
        editor_(editor),
        before_(std::move(before)),
        after_(std::move(step.draft)),
        merge_id_(step.merge_id) {}

  void undo() override { show(before_); }
  void redo() override {
    // The first time it is shown already.
    if (std::exchange(fresh_, false)) {
      return;
    }
    show(after_);
  }
  [[nodiscard]] int id() const override { return merge_id_; }
  bool mergeWith(const QUndoCommand* other) override {
    after_ = static_cast<const Edit*>(other)->after_;
    return true;
  }

 private:
  void show(const PlanDraft& draft) {
    editor_->submit({.draft = draft, .text = text(), .merge_id = -1, .recorded = true});
  }

  PlanEditor* editor_;
  PlanDraft before_;
  PlanDraft after_;
  int merge_id_;
  bool fresh_ = true;
};

PlanEditor::PlanEditor(Document* document, QObject* parent)
    : QObject(parent), document_(document), generation_(std::make_shared<std::atomic<int>>(0)) {
  constexpr int kMostEdits = 200;
  undo_.setUndoLimit(kMostEdits);
  threads_.setMaxThreadCount(1);
  connect(document_, &Document::changed, this, &PlanEditor::take_document);
  take_document();
}

PlanEditor::~PlanEditor() {
  ++*generation_;
  threads_.waitForDone();
}

void PlanEditor::take_document() {
  if (document_->shows_revision()) {
    return;
  }
  ++*generation_;
  pending_.clear();
  undo_.clear();
  draft_.reset();
  opened_summary_.reset();
  saved_.reset();
  costs_ = std::make_shared<DraftCosts>(document_->profiles());
  const OpenedFile* const file = document_->file();
  if (file != nullptr && file->plan) {
    draft_ = PlanDraft{.inputs = *file->plan, .what_if = {}, .order = {}};
    saved_ = draft_;
    opened_summary_ = file->summary;
    where_ = file->path;
  }
  emit changed();
}

bool PlanEditor::has_unsaved() const {
  return draft_ && (is_busy() || !saved_ || draft_->inputs.plan != saved_->inputs.plan ||
                    draft_->order != saved_->order);
}

void PlanEditor::note_saved() {
  saved_ = draft_;
  undo_.setClean();
  emit changed();
}

void PlanEditor::note_unsaved() {
  saved_.reset();
  emit changed();
}

std::optional<Summary> PlanEditor::shown_summary() const {
  return document_->file() == nullptr ? std::nullopt : document_->file()->summary;
}

Result<DataFiles> PlanEditor::data_files() const {
  return document_->profiles().empty() ? Result<DataFiles>(DataFiles::embedded())
                                       : DataFiles::with_overrides(document_->profiles());
}

void PlanEditor::change(const QString& text, const Change& change, int merge_id) {
  if (!draft_) {
    emit refused(tr("Only a plan can be changed; open one."));
    return;
  }
  auto changed = change(pending_.empty() ? *draft_ : pending_.back().draft);
  if (!changed) {
    emit refused(QString::fromStdString(changed.error().to_string()));
    return;
  }
  submit({.draft = *std::move(changed), .text = text, .merge_id = merge_id});
}

void PlanEditor::submit(Step step) {
  pending_.push_back(std::move(step));
  start();
}

void PlanEditor::start() {
  const int generation = ++*generation_;
  OpenOptions options;
  options.progress = [newest = generation_, generation](std::string_view) {
    return newest->load() == generation;
  };
  threads_.start([this,
                  generation,
                  newest = generation_,
                  costs = costs_,
                  draft = pending_.back().draft,
                  where = where_,
                  options] {
    if (newest->load() != generation) {
      return;
    }
    auto result = std::make_shared<Result<OpenedFile>>(
        within_memory(where, "change the plan to fewer ranks or micro-batches", [&] {
          return simulate_draft(*costs, draft, where, options);
        }));
    QMetaObject::invokeMethod(this, [this, generation, newest, result] {
      if (newest->load() == generation) {
        take(std::move(*result));
      }
    });
  });
}

void PlanEditor::take(Result<OpenedFile> result) {
  Step step = std::move(pending_.back());
  pending_.pop_back();
  if (!result) {
    emit refused(QString::fromStdString(result.error().to_string()));
    if (!pending_.empty()) {  // what it was built on may work
      start();
    } else {
      emit changed();  // controls go back to what is shown
    }
    return;
  }
  PlanDraft before = std::exchange(*draft_, step.draft);
  for (Step& overtaken : pending_) {
    if (overtaken.recorded) {  // undone, but never shown
      before = std::move(overtaken.draft);
    }
  }
  pending_.clear();
  document_->revise(*std::move(result));
  if (!step.recorded) {
    undo_.push(new Edit(this, std::move(before), std::move(step)));
  }
  emit changed();
}

Result<void> PlanEditor::change_now(const QString& text, const Change& change) {
  if (!draft_) {
    return fail(ErrorCode::kInvalidInput, "only a plan can be changed");
  }
  auto changed = change(*draft_);
  if (!changed) {
    return pass_on(std::move(changed));
  }
  ++*generation_;
  pending_.clear();
  auto file = simulate_draft(*costs_, *changed, where_, {});
  if (!file) {
    return pass_on(std::move(file));
  }
  pending_.push_back({.draft = *std::move(changed), .text = text});
  take(std::move(file));
  return {};
}

Result<void> PlanEditor::save_schedule(const std::string& path) const {
  const OpenedFile* const file = document_->file();
  if (file == nullptr || !file->schedule) {
    return fail(ErrorCode::kInvalidInput, "nothing with a schedule is open; open a plan", path);
  }
  return write_file(path, to_json_text(*file->schedule));
}

Result<void> PlanEditor::save_plan(const std::string& path) const {
  if (!draft_) {
    return fail(ErrorCode::kInvalidInput, "no plan is open", path);
  }
  const auto files = data_files();
  return files ? save_plan_file(*files, draft_->inputs, path)
               : Result<void>(tl::unexpected<Error>(files.error()));
}

}  // namespace stagewright::gui
