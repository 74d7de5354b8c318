#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Row kernels around the experts of a layer: which of them each token visits, and the way of its
/// rows there and back.  "Counted rows" are described at OpKind.
namespace stagewright::kernels {

/// Each row chooses the `chosen` experts with the highest scores, of equal ones the first; its
/// gates are the softmax of their scores.  Shapes: scores [rows, experts]; gates, choices [rows,
/// chosen].
template <class T>
struct ChooseExperts {
  const T* scores;
  float* gates;
  std::int32_t* choices;
  Index experts;
  Index chosen;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    team.once([&] {
      const T* s = scores + row * experts;
      float* gate = gates + row * chosen;
      std::int32_t* choice = choices + row * chosen;
      float sum = 0.0F;
      for (Index c = 0; c < chosen; ++c) {
        Index best = -1;
        for (Index e = 0; e < experts; ++e) {
          // Behind the one chosen last, in the order of falling scores and rising numbers.
          const bool left =
              c == 0 || s[e] < s[choice[c - 1]] || (s[e] == s[choice[c - 1]] && e > choice[c - 1]);
          best = left && (best < 0 || s[e] > s[best]) ? e : best;
        }
        choice[c] = static_cast<std::int32_t>(best < 0 ? c : best);  // NaN: any
        gate[c] = std::exp(static_cast<float>(s[choice[c]]) - static_cast<float>(s[choice[0]]));
        sum += gate[c];
      }
      for (Index c = 0; c < chosen; ++c) {
        gate[c] /= sum;
      }
    });
  }
};

/// Gives each choice its place among the counted rows, in the order of the rows, and counts them.
/// One team does it all.  Shapes: choices, places [rows * chosen]; counts [parts * experts].
struct PlaceRows {
  const std::int32_t* choices;
  std::int32_t* places;
  std::int32_t* counts;
  Index choice_count;
  Index parts;
  Index experts;  ///< of a part
  Index largest;  ///< rows of a part
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index /*row*/) const {
    team.once([&] {
      for (Index e = 0; e < parts * experts; ++e) {
        counts[e] = 0;
      }
      for (Index i = 0; i < choice_count; ++i) {
        places[i] = counts[choices[i]]++;
      }
      for (Index i = 0; i < choice_count; ++i) {
        const Index part = choices[i] / experts;
        Index before = part * largest;
        for (Index e = part * experts; e < choices[i]; ++e) {
          before += counts[e];
        }
        places[i] += static_cast<std::int32_t>(before);
      }
    });
  }
};

/// y[place of each choice of r] = x[r].  Shapes: x [rows, width]; places [rows, chosen].
template <class T>
struct DispatchRows {
  const T* x;
  const std::int32_t* places;
  T* y;
  Index width;
  Index chosen;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    for (Index c = 0; c < chosen; ++c) {
      T* out = y + places[row * chosen + c] * width;
      const auto copy = [](Index i, const T* from, T* to) { to[i] = from[i]; };
      team.each(width, over(copy, reads(in), writes(out)));
    }
  }
};

/// x[r] = sum over its choices of y[place], times the gate if there are gates.
template <class T>
struct CombineRows {
  const T* y;
  const std::int32_t* places;
  const float* gates;  ///< may be null
  T* x;
  Index width;
  Index chosen;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    T* out = x + row * width;
    for (Index c = 0; c < chosen; ++c) {
      const T* in = y + places[row * chosen + c] * width;
      const float gate = gates == nullptr ? 1.0F : gates[row * chosen + c];
      const bool first = c == 0;
      team.each(width, [=](Index i) {
        const float sum = first ? 0.0F : static_cast<float>(out[i]);
        out[i] = static_cast<T>(sum + gate * static_cast<float>(in[i]));
      });
    }
  }
};

/// dy[place] = gate * dx[r] and dgates[r] = <dx[r], y[place]> for each choice.
template <class T>
struct CombineRowsBackward {
  const T* dx;
  const T* y;
  const std::int32_t* places;
  const float* gates;
  T* dy;
  float* dgates;
  Index width;
  Index chosen;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = dx + row * width;
    for (Index c = 0; c < chosen; ++c) {
      const Index at = row * chosen + c;
      const Index place = places[at] * width;
      const T* made = y + place;
      T* out = dy + place;
      const float gate = gates[at];
      const float sum = team.sum(
          width, [=](Index i) { return static_cast<float>(in[i]) * static_cast<float>(made[i]); });
      const auto scale = [=](Index i, const T* from, T* to) {
        to[i] = static_cast<T>(gate * static_cast<float>(from[i]));
      };
      team.each(width, over(scale, reads(in), writes(out)));
      team.once([&] { dgates[at] = sum; });
    }
  }
};

/// Gradient of the scores from that of the gates: gate * (dgate - <gates, dgates>) for the chosen
/// ones, 0 for the others.
template <class T>
struct ChooseExpertsBackward {
  const float* dgates;
  const float* gates;
  const std::int32_t* choices;
  T* dscores;
  Index experts;
  Index chosen;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    T* out = dscores + row * experts;
    team.each(experts, [=](Index i) { out[i] = static_cast<T>(0.0F); });
    team.sync();
    team.once([&] {
      const float* gate = gates + row * chosen;
      const float* dgate = dgates + row * chosen;
      float mean = 0.0F;
      for (Index c = 0; c < chosen; ++c) {
        mean += gate[c] * dgate[c];
      }
      for (Index c = 0; c < chosen; ++c) {
        out[choices[row * chosen + c]] = static_cast<T>(gate[c] * (dgate[c] - mean));
      }
    });
  }
};

/// Adds the gradient of the balance term (Fedus et al. 2022, equation 4, over one sequence, and
/// for several choices): scale * sum over tokens of experts * sum over experts of share * p, p the
/// softmax of the token's scores and `share` the expert's part of the sequence's choices, which
/// counts as a constant.  Rows of the launch: sequences.  At most 512 experts.
template <class T>
struct BalanceGradient {
  const T* scores;
  const std::int32_t* choices;
  T* dscores;
  Index sequence;
  Index experts;
  Index chosen;
  float scale;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    float* share = team.scratch();
    float* p = share + experts;
    team.once([&] {
      for (Index e = 0; e < experts; ++e) {
        share[e] = 0.0F;
      }
      const Index first = row * sequence * chosen;
      const float each = 1.0F / static_cast<float>(sequence * chosen);
      for (Index i = 0; i < sequence * chosen; ++i) {
        share[choices[first + i]] += each;
      }
      for (Index token = row * sequence; token < (row + 1) * sequence; ++token) {
        const T* s = scores + token * experts;
        T* out = dscores + token * experts;
        auto largest = static_cast<float>(s[0]);
        for (Index e = 1; e < experts; ++e) {
          largest = static_cast<float>(s[e]) > largest ? static_cast<float>(s[e]) : largest;
        }
        float sum = 0.0F;
        float weighted = 0.0F;
        for (Index e = 0; e < experts; ++e) {
          p[e] = std::exp(static_cast<float>(s[e]) - largest);
          sum += p[e];
          weighted += share[e] * p[e];
        }
        const float factor = scale * static_cast<float>(experts) / sum;
        for (Index e = 0; e < experts; ++e) {
          out[e] = static_cast<T>(static_cast<float>(out[e]) +
                                  factor * p[e] * (share[e] - weighted / sum));
        }
      }
    });
  }
};

void choose_experts(const ChooseExperts<float>& kernel, Index rows);
/// One row: all choices.
void place_rows(const PlaceRows& kernel, Index teams);
void choose_experts_backward(const ChooseExpertsBackward<float>& kernel, Index rows);
void balance_gradient(const BalanceGradient<float>& kernel, Index sequences);
void dispatch_rows(const DispatchRows<float>& kernel, Index rows);
void combine_rows(const CombineRows<float>& kernel, Index rows);
void combine_rows_backward(const CombineRowsBackward<float>& kernel, Index rows);

}  // namespace stagewright::kernels
