#include "gui/models/document.h"

#include <utility>

#include <QtCore/QFile>

#include "gui/models/large_value.h"
#include "gui/models/memory_guard.h"

namespace stagewright::gui {
namespace {

constexpr const char* kRemedy = "record fewer steps or ranks";

/// What the file said, or that it was too much for this machine.
Result<OpenedFile> open_guarded(const std::string& path, const OpenOptions& options) {
  return within_memory(path, kRemedy, [&]() -> Result<OpenedFile> {
    // What is part of the program, such as examples.
    if (path.starts_with(':')) {
      QFile file(QString::fromStdString(path));
      if (!file.open(QIODevice::ReadOnly)) {
        return fail(ErrorCode::kNotFound, "is not part of this program", path);
      }
      return open_content(file.readAll().toStdString(), path.substr(path.rfind('/') + 1), options);
    }
    return open_file(path, options);
  });
}

/// Whether times of the one mean something beside those of the other.
Result<void> check_comparable(const OpenedFile& first, const OpenedFile& second) {
  if (first.unit_costs == second.unit_costs) {
    return {};
  }
  return fail(
      ErrorCode::kInvalidInput,
      std::string(second.unit_costs ? "counts units of work, as an order without costs does, "
                                      "but what is open has times"
                                    : "has times, but what is open counts units of work, "
                                      "as an order without costs does") +
          "; compare two orders, or two files with times",
      second.path);
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(2);
}

Document::~Document() {
  give_up_analysis();
  cancel();
  threads_.waitForDone();
}

OpenOptions Document::options_for(const std::shared_ptr<Job>& job) {
  return {.profiles = profiles_, .step = {}, .progress = [this, job](std::string_view what) {
            const QString text =
                QString::fromUtf8(what.data(), static_cast<qsizetype>(what.size()));
            QMetaObject::invokeMethod(this, [this, job, text] {
              if (!job->given_up) {
                emit working(text);
              }
            });
            return !job->given_up;
          }};
}

void Document::open(const QString& path) {
  read(path, [this](OpenedFile file) { take(std::move(file)); });
}

void Document::reload(const QString& path) {
  read(path, [this](OpenedFile file) { revise(std::move(file)); });
}

void Document::compare_with(const QString& path) {
  work(tr("Reading %1").arg(path),
       [this, path = path.toStdString(), first = file_, step = step_, alignment = alignment_](
           const OpenOptions& options) -> Result<Finish> {
         auto file = open_guarded(path, options);
         if (!file) {
           return pass_on(std::move(file));
         }
         if (auto comparable = check_comparable(*first, *file); !comparable) {
           return pass_on(std::move(comparable));
         }
         auto other = share_large(*std::move(file));
         return [this, comparison = compare(std::move(other), step, alignment)] {
           take_comparison(comparison);
         };
       });
}

void Document::read(const QString& path, Take take_file) {
  work(tr("Reading %1").arg(path),
       [path = path.toStdString(), take_file](const OpenOptions& options) -> Result<Finish> {
         auto file = open_guarded(path, options);
         if (!file) {
           return pass_on(std::move(file));
         }
         const auto read = std::make_shared<OpenedFile>(*std::move(file));
         return [read, take_file] { take_file(std::move(*read)); };
       });
}

Document::Make Document::simulation_of(PlanInputs inputs, const QString& name) const {
  return [inputs = std::move(inputs), profiles = profiles_, name = name.toStdString()](
             const OpenOptions& options) -> Result<OpenedFile> {
    const auto files = profiles.empty() ? Result<DataFiles>(DataFiles::embedded())
                                        : DataFiles::with_overrides(profiles);
    if (!files) {
      return tl::unexpected<Error>(files.error());
    }
    return within_memory(name, kRemedy, [&] { return open_plan(*files, inputs, name, options); });
  };
}

void Document::simulate(PlanInputs inputs, const QString& name) {
  work(tr("Simulating %1").arg(name),
       [this, make = simulation_of(std::move(inputs), name)](
           const OpenOptions& options) -> Result<Finish> {
         auto file = make(options);
         if (!file) {
           return pass_on(std::move(file));
         }
         const auto made = std::make_shared<OpenedFile>(*std::move(file));
         return [this, made] { take(std::move(*made)); };
       });
}

Result<void> Document::simulate_now(PlanInputs inputs, const QString& name) {
  Result<OpenedFile> file = simulation_of(std::move(inputs), name)({});
  if (!file) {
    return pass_on(std::move(file));
  }
  take(*std::move(file));
  return {};
}

void Document::work(const QString& what, Work work) {
  cancel();
  auto job = std::make_shared<Job>();
  reading_ = job;
  busy_ = true;
  emit working(what);
  threads_.start([this, job, what, work = std::move(work), options = options_for(job)] {
    auto result = std::make_shared<Result<Finish>>(
        within_memory(what.toStdString(), kRemedy, [&] { return work(options); }));
    QMetaObject::invokeMethod(this, [this, job, result] {
      if (job->given_up) {
        return;
      }
      busy_ = false;
      reading_.reset();
      if (*result) {
        (**result)();
      } else {
        emit failed(QString::fromStdString(result->error().to_string()));
      }
      emit idle();
    });
  });
}

Result<void> Document::open_now(const std::string& path) {
  Result<OpenedFile> file = open_guarded(path, {.profiles = profiles_, .step = {}, .progress = {}});
  if (!file) {
    return pass_on(std::move(file));
  }
  take(*std::move(file));
  return {};
}

Result<void> Document::compare_now(const std::string& path) {
  Result<OpenedFile> file = open_guarded(path, {.profiles = profiles_, .step = {}, .progress = {}});
  if (!file) {
    return pass_on(std::move(file));
  }
  if (auto comparable = check_comparable(*file_, *file); !comparable) {
    return comparable;
  }
  take_comparison(compare(share_large(*std::move(file)), step_, alignment_));
  return {};
}

Document::Comparison Document::compare(std::shared_ptr<const OpenedFile> other,
                                       std::shared_ptr<const ShownStep> step,
                                       Alignment alignment) {
  auto compared = share_large(compare_steps(step->actions, other->shown.actions, alignment));
  return {std::move(other), std::move(step), alignment, std::move(compared)};
}

void Document::set_alignment(Alignment alignment) {
  alignment_ = alignment;
  if (other_) {
    compare_again();
  }
}

void Document::compare_again() {
  work(tr("Comparing"),
       [this, other = other_, step = step_, alignment = alignment_](
           const OpenOptions&) -> Result<Finish> {
         return
             [this, comparison = compare(other, step, alignment)] { take_comparison(comparison); };
       });
}

void Document::take_comparison(Comparison comparison) {
  // What was analysed numbers the actions of one step alone.
  give_up_analysis();
  analysis_.reset();
  other_ = std::move(comparison.other);
  step_ = std::move(comparison.step);
  compared_ = std::move(comparison.compared);
  emit changed();
  if (comparison.alignment != alignment_) {  // chosen meanwhile
    compare_again();
  }
}

void Document::stop_comparing() {
  if (other_) {
    cancel();
    other_.reset();
    compared_.reset();
    emit changed();
    analyse();
  }
}

void Document::show(OpenedFile file) {
  cancel();
  take(std::move(file));
}

void Document::revise(OpenedFile file) {
  revising_ = true;
  show(std::move(file));
  revising_ = false;
}

void Document::give_up_analysis() {
  if (analysing_) {
    analysing_->given_up = true;
    analysing_.reset();
  }
}

void Document::cancel() {
  if (reading_) {
    reading_->given_up = true;
    reading_.reset();
    busy_ = false;
    emit idle();
  }
}

void Document::close() {
  give_up_analysis();
  cancel();
  file_.reset();
  step_.reset();
  analysis_.reset();
  other_.reset();
  compared_.reset();
  emit changed();
}

std::shared_ptr<const ActionStore> Document::actions() const {
  if (compared_) {
    return {compared_, &compared_->actions};
  }
  return step_ ? std::shared_ptr<const ActionStore>(step_, &step_->actions) : nullptr;
}

void Document::take(OpenedFile file) {
  give_up_analysis();
  file_ = share_large(std::move(file));
  other_.reset();
  compared_.reset();
  step_ = std::shared_ptr<const ShownStep>(file_, &file_->shown);
  analysis_.reset();
  emit changed();
  analyse();
}

void Document::show_step(std::int32_t step) {
  if (step_ && step_->step == step) {
    return;
  }
  work(tr("Laying out step %1").arg(step + 1),
       [this, step, file = file_, other = other_, alignment = alignment_](
           const OpenOptions&) -> Result<Finish> {
         auto shown = share_large(stagewright::gui::show_step(*file, step));
         if (other) {
           return [this, comparison = compare(other, std::move(shown), alignment)] {
             take_comparison(comparison);
           };
         }
         return [this, shown] { take_step(shown); };
       });
}

void Document::take_step(std::shared_ptr<const ShownStep> step) {
  give_up_analysis();
  step_ = std::move(step);
  analysis_.reset();
  emit changed();
  analyse();
}

void Document::analyse() {
  give_up_analysis();
  auto job = std::make_shared<Job>();
  analysing_ = job;
  threads_.start([this, job, file = file_, step = step_] {
    using Analysis = Result<std::shared_ptr<const StepAnalysis>>;
    const Analysis analysis = within_memory(file->path, kRemedy, [&]() -> Analysis {
      return share_large(analyse_step(file->trace, step->step, step->actions));
    });
    QMetaObject::invokeMethod(this, [this, job, analysis] {
      if (job->given_up) {
        return;
      }
      analysing_.reset();
      if (!analysis) {
        emit failed(QString::fromStdString(analysis.error().to_string()));
        return;
      }
      analysis_ = *analysis;
      emit analysed();
    });
  });
}

void Document::analyse_now() {
  if (file_ && !analysis_ && !compared_) {
    give_up_analysis();
    analysis_ = share_large(analyse_step(file_->trace, step_->step, step_->actions));
    emit analysed();
  }
}

}  // namespace stagewright::gui
