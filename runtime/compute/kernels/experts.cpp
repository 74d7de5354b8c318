#include "runtime/compute/kernels/experts.h"

#include "core/base/check.h"
#include "runtime/compute/kernels/cpu_launch.h"

namespace stagewright::kernels {

void choose_experts(const ExpertChoice& arguments, Index rows) {
  launch_rows(rows,
              ChooseExperts<float>{.scores = arguments.scores,
                                   .gates = arguments.gates,
                                   .choices = arguments.choices,
                                   .experts = arguments.parts * arguments.experts,
                                   .chosen = arguments.chosen});
  launch_rows(1,
              PlaceRows{.choices = arguments.choices,
                        .places = arguments.places,
                        .counts = arguments.counts,
                        .choice_count = rows * arguments.chosen,
                        .parts = arguments.parts,
                        .experts = arguments.experts,
                        .largest = arguments.largest});
}

void choose_experts_backward(const ChooseExpertsBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void balance_gradient(const BalanceGradient<float>& kernel, Index sequences) {
  SW_CHECK(2 * kernel.experts <= Lane::kScratch, "at most 512 experts");
  launch_rows(sequences, kernel);
}

void dispatch_rows(const DispatchRows<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void combine_rows(const CombineRows<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

void combine_rows_backward(const CombineRowsBackward<float>& kernel, Index rows) {
  launch_rows(rows, kernel);
}

}  // namespace stagewright::kernels
