#pragma once

#include <cstdint>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"
#include "runtime/compute/kernels/token_places.h"

/// Token and learned position embeddings.  The token table may be one rank's
/// slice of a vocabulary that is divided by rows: tokens of other slices give
/// zeros, and the sum over the ranks is the whole lookup.
namespace stagewright::kernels {

/// y[r] = table[tokens[r] - vocab_begin], zeros when that is not one of the
/// `vocab_rows` rows.  Shapes: tokens [rows]; table [vocab_rows, width]; y [rows, width].
template <class T>
struct EmbeddingForward {
  const std::int32_t* tokens;
  const T* table;
  T* y;
  Index width;
  Index vocab_begin;
  Index vocab_rows;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index entry = tokens[row] - vocab_begin;
    T* out = y + row * width;
    if (entry >= 0 && entry < vocab_rows) {
      const T* in = table + entry * width;
      const auto copy = [](Index i, const T* from, T* to) { to[i] = from[i]; };
      team.each(width, over(copy, reads(in), writes(out)));
    } else {
      const auto clear = [](Index i, T* to) { to[i] = static_cast<T>(0.0F); };
      team.each(width, over(clear, writes(out)));
    }
  }
};

/// dtable[tokens[r] - vocab_begin] += dy[r] for the tokens of this slice.  A
/// team owns `columns_per_team` columns and walks the tokens in order: no
/// atomics, and the same sum in every run.  Rows of the launch: width /
/// columns_per_team, rounded up.
template <class T>
struct EmbeddingGradient {
  const std::int32_t* tokens;
  const T* dy;
  float* dtable;
  Index token_count;
  Index width;
  Index vocab_begin;
  Index vocab_rows;
  Index columns_per_team;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index tile) const {
    const Index first = tile * columns_per_team;
    const Index left = width - first;
    const Index columns = left < columns_per_team ? left : columns_per_team;
    for (Index r = 0; r < token_count; ++r) {
      const Index entry = tokens[r] - vocab_begin;
      if (entry >= 0 && entry < vocab_rows) {
        const T* in = dy + r * width + first;
        float* out = dtable + entry * width + first;
        const auto add = [](Index i, const T* from, float* to) {
          to[i] += static_cast<float>(from[i]);
        };
        team.each(columns, over(add, reads(in), changes(out)));
      }
    }
  }
};

/// y[r] = x[r] + positions[place of r in its sequence]; y may be x.  Shapes: x, y [rows, width];
/// positions [at least the whole sequence, width].
template <class T>
struct PositionForward {
  const T* x;
  const T* positions;
  T* y;
  Index width;
  TokenPlaces places;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = x + row * width;
    const T* shift = positions + places.in_sequence(row) * width;
    T* out = y + row * width;
    const auto add = [](Index i, const T* a, const T* b, T* to) {
      to[i] = static_cast<T>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
    };
    team.each(width, over(add, reads(in), reads(shift), writes(out)));
  }
};

/// dpositions[s] += sum of those dy[r] whose place in the sequence is s.  Rows of the launch:
/// places.tokens.
template <class T>
struct PositionGradient {
  const T* dy;
  float* dpositions;
  Index rows;  ///< of dy
  Index width;
  TokenPlaces places;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index token) const {
    float* out = dpositions + places.place(token) * width;
    const Index tokens = places.tokens;
    const Index first = (token - places.first_row % tokens + tokens) % tokens;
    for (Index row = first; row < rows; row += tokens) {
      const T* in = dy + row * width;
      const auto add = [](Index i, const T* from, float* to) {
        to[i] += static_cast<float>(from[i]);
      };
      team.each(width, over(add, reads(in), changes(out)));
    }
  }
};

struct EmbeddingTableGradient {
  const std::int32_t* tokens;
  const float* dy;
  float* dtable;
  Index width;
  Index vocab_begin;
  Index vocab_rows;
};

void embedding_forward(const EmbeddingForward<float>& kernel, Index tokens);
/// The same for 16-bit elements of any type in which all bits zero are 0.
void embedding_forward(const EmbeddingForward<std::uint16_t>& kernel, Index tokens);
/// Adds to dtable; shapes as in EmbeddingForward.
void embedding_gradient(const EmbeddingTableGradient& arguments, Index tokens);
void position_forward(const PositionForward<float>& kernel, Index tokens);
/// Adds to dpositions.
void position_gradient(const PositionGradient<float>& kernel);

}  // namespace stagewright::kernels
