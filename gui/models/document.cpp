#include "gui/models/document.h"

#include <new>
#include <utility>

#include <QtCore/QFile>

namespace stagewright::gui {
namespace {

tl::unexpected<Error> too_large(const std::string& path) {
  return fail(ErrorCode::kUnsupported,
              "does not fit in this machine's memory; record fewer steps or ranks",
              path);
}

/// What the file said, or that it was too much for this machine.
Result<OpenedFile> open_guarded(const std::string& path, const OpenOptions& options) {
  try {
    // What is part of the program, such as examples.
    if (path.starts_with(':')) {
      QFile file(QString::fromStdString(path));
      if (!file.open(QIODevice::ReadOnly)) {
        return fail(ErrorCode::kNotFound, "is not part of this program", path);
      }
      return open_content(file.readAll().toStdString(), path.substr(path.rfind('/') + 1), options);
    }
    return open_file(path, options);
  } catch (const std::bad_alloc&) {
    return too_large(path);
  }
}

}  // namespace

Document::Document(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(2);
}

Document::~Document() {
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

void Document::compare_with(const QString& path) {
  read(path, [this](OpenedFile file) { take_other(std::move(file)); });
}

void Document::read(const QString& path, Take take_file) {
  work(
      tr("Reading %1").arg(path),
      [path = path.toStdString()](const OpenOptions& options) {
        return open_guarded(path, options);
      },
      std::move(take_file));
}

Document::Make Document::simulation_of(PlanInputs inputs, const QString& name) const {
  return [inputs = std::move(inputs), profiles = profiles_, name = name.toStdString()](
             const OpenOptions& options) -> Result<OpenedFile> {
    const auto files = profiles.empty() ? Result<DataFiles>(DataFiles::embedded())
                                        : DataFiles::with_overrides(profiles);
    if (!files) {
      return tl::unexpected<Error>(files.error());
    }
    try {
      return open_plan(*files, inputs, name, options);
    } catch (const std::bad_alloc&) {
      return too_large(name);
    }
  };
}

void Document::simulate(PlanInputs inputs, const QString& name) {
  work(tr("Simulating %1").arg(name),
       simulation_of(std::move(inputs), name),
       [this](OpenedFile file) { take(std::move(file)); });
}

Result<void> Document::simulate_now(PlanInputs inputs, const QString& name) {
  Result<OpenedFile> file = simulation_of(std::move(inputs), name)({});
  if (!file) {
    return pass_on(std::move(file));
  }
  take(*std::move(file));
  return {};
}

void Document::work(const QString& what, Make make, Take take_file) {
  cancel();
  auto job = std::make_shared<Job>();
  reading_ = job;
  busy_ = true;
  emit working(what);
  threads_.start([this, job, make, take_file, options = options_for(job)] {
    auto result = std::make_shared<Result<OpenedFile>>(make(options));
    QMetaObject::invokeMethod(this, [this, job, take_file, result] {
      if (job->given_up) {
        return;
      }
      busy_ = false;
      reading_.reset();
      if (*result) {
        take_file(*std::move(*result));
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
  take_other(*std::move(file));
  return {};
}

void Document::take_other(OpenedFile file) {
  other_ = std::make_shared<const OpenedFile>(std::move(file));
  compare();
}

void Document::set_alignment(Alignment alignment) {
  alignment_ = alignment;
  if (other_) {
    compare();
  }
}

void Document::compare() {
  // What was analysed numbers the actions of one step alone.
  if (analysing_) {
    analysing_->given_up = true;
    analysing_.reset();
  }
  analysis_.reset();
  compared_ = std::make_shared<const ComparedSteps>(
      compare_steps(step_->actions, other_->shown.actions, alignment_));
  emit changed();
}

void Document::stop_comparing() {
  if (other_) {
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

void Document::cancel() {
  if (analysing_) {
    analysing_->given_up = true;
    analysing_.reset();
  }
  if (reading_) {
    reading_->given_up = true;
    reading_.reset();
    busy_ = false;
    emit idle();
  }
}

void Document::close() {
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
  file_ = std::make_shared<const OpenedFile>(std::move(file));
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
  step_ = std::make_shared<const ShownStep>(stagewright::gui::show_step(*file_, step));
  analysis_.reset();
  if (other_) {
    compare();
    return;
  }
  emit changed();
  analyse();
}

void Document::analyse() {
  if (analysing_) {
    analysing_->given_up = true;
  }
  auto job = std::make_shared<Job>();
  analysing_ = job;
  threads_.start([this, job, file = file_, step = step_] {
    auto analysis =
        std::make_shared<const StepAnalysis>(analyse_step(file->trace, step->step, step->actions));
    QMetaObject::invokeMethod(this, [this, job, analysis] {
      if (!job->given_up) {
        analysing_.reset();
        analysis_ = analysis;
        emit analysed();
      }
    });
  });
}

void Document::analyse_now() {
  if (file_ && !analysis_ && !compared_) {
    if (analysing_) {
      analysing_->given_up = true;
      analysing_.reset();
    }
    analysis_ = std::make_shared<const StepAnalysis>(
        analyse_step(file_->trace, step_->step, step_->actions));
    emit analysed();
  }
}

}  // namespace stagewright::gui
