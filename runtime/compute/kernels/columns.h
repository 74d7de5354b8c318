#pragma once

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

/// Between a matrix and some neighbouring columns of it.
namespace stagewright::kernels {

/// part[r] = columns begin .. begin + width - 1 of whole[r].  Shapes: whole [rows, stride]; part
/// [rows, width].
template <class T>
struct CopyColumns {
  const T* whole;
  T* part;
  Index begin;
  Index width;
  Index stride;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = whole + row * stride + begin;
    T* out = part + row * width;
    const auto copy = [](Index i, const T* from, T* to) { to[i] = from[i]; };
    team.each(width, over(copy, reads(in), writes(out)));
  }
};

/// The same columns of whole[r] += part[r].
template <class T>
struct AddColumns {
  const T* part;
  T* whole;
  Index begin;
  Index width;
  Index stride;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const T* in = part + row * width;
    T* out = whole + row * stride + begin;
    const auto add = [](Index i, const T* from, T* to) {
      to[i] = static_cast<T>(static_cast<float>(to[i]) + static_cast<float>(from[i]));
    };
    team.each(width, over(add, reads(in), changes(out)));
  }
};

void copy_columns(const CopyColumns<float>& kernel, Index rows);
void add_columns(const AddColumns<float>& kernel, Index rows);

}  // namespace stagewright::kernels
