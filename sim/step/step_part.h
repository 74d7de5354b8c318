#pragma once

#include <array>
#include <cstddef>

#include "sim/step/layer_time.h"
#include "sim/step/step_time.h"

namespace stagewright {

/// Everything that the parts of the formula share.
struct Pieces {
  const TrainingSetup* setup;
  const StepConstants* constants;
  TimingClass timing;
  RunChoices choices;
  KernelRates rates;

  [[nodiscard]] double get(StepConstant constant) const { return (*constants)[constant]; }
  [[nodiscard]] const TrainingRun& run() const { return setup->run; }
};

[[nodiscard]] Pieces pieces_of(const TrainingSetup& setup, const StepConstants& constants);

/// One micro-batch through a stage's part, by term.
struct Part {
  std::array<double, kStepTermCount> terms{};
  double forward = 0;
  double backward = 0;

  double& operator[](StepTerm term) { return terms[static_cast<std::size_t>(term)]; }
  [[nodiscard]] double total() const { return forward + backward; }
  Part& add(const Part& other, double count) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] += count * other.terms[i];
    }
    forward += count * other.forward;
    backward += count * other.backward;
    return *this;
  }
};

/// A transformer block, with experts or dense.
[[nodiscard]] Part layer_part(const Pieces& pieces, const LayerTime& layer, bool experts);
/// Embedding or output layer, with so many tensor-parallel collectives.
[[nodiscard]] Part end_part(const Pieces& pieces, const LayerTime& end, int collectives);

}  // namespace stagewright
