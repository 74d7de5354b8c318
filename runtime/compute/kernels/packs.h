#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/compute/kernels/operands_in_packs.h"
#include "runtime/compute/kernels/portable.h"

#if defined(__CUDACC__)
#define SW_UNROLL _Pragma("unroll")
#else
#define SW_UNROLL
#endif

/// Runs bodies that list their operands on packs of neighbouring elements, moved 16 bytes at a
/// time: for the threads of a GPU.  On the CPU it is only tested.
namespace stagewright::kernels {

/// What one instruction of a GPU moves; it may hold elements of any type.
#if defined(__CUDACC__)
using SixteenBytes = uint4;
#else
struct alignas(16) [[gnu::may_alias]] SixteenBytes {
  std::uint32_t words[4];
};
#endif

/// Whether all operands begin where 16 bytes can be moved at once.
struct AlignedOperands {
  bool all = true;
  template <class T>
  SW_HOST_DEVICE void read(const T*& array) {
    look(array);
  }
  template <class T>
  SW_HOST_DEVICE void write(T*& array) {
    look(array);
  }
  template <class T>
  SW_HOST_DEVICE void change(T*& array) {
    look(array);
  }

 private:
  SW_HOST_DEVICE void look(const void* array) {
    all = all && reinterpret_cast<std::uintptr_t>(array) % sizeof(SixteenBytes) == 0;
  }
};

template <class Body>
[[nodiscard]] SW_HOST_DEVICE bool can_take_packs(Body body) {
  AlignedOperands aligned;
  body.operands(aligned);
  return aligned.all;
}

/// A pack of each operand in registers; the body's pointers lead there.
template <Index kPack>
class PackedOperands {
 public:
  /// The pack that begins with element `first`.
  SW_HOST_DEVICE explicit PackedOperands(Index first) : first_(first) {}

  template <class T>
  SW_HOST_DEVICE void read(const T*& array) {
    T* const here = place<T>();
    move(here, array + first_);
    array = here;
  }
  template <class T>
  SW_HOST_DEVICE void write(T*& array) {
    T* const here = place<T>();
    to_[used_ - 1] = array + first_;
    bytes_[used_ - 1] = kPack * sizeof(T);
    array = here;
  }
  template <class T>
  SW_HOST_DEVICE void change(T*& array) {
    const T* from = array;
    T* const to = array;
    read(from);
    to_[used_ - 1] = to + first_;
    bytes_[used_ - 1] = kPack * sizeof(T);
    array = const_cast<T*>(from);
  }

  /// What was written goes to where it belongs.
  SW_HOST_DEVICE void put_back() const {
    SW_UNROLL
    for (int i = 0; i < kMost; ++i) {
      if (i < used_ && to_[i] != nullptr) {
        SW_UNROLL
        for (int part = 0; part < kParts; ++part) {
          if (static_cast<std::size_t>(part) * sizeof(SixteenBytes) < bytes_[i]) {
            static_cast<SixteenBytes*>(to_[i])[part] =
                reinterpret_cast<const SixteenBytes*>(registers_[i])[part];
          }
        }
      }
    }
  }

 private:
  static constexpr int kMost = 8;  ///< operands
  static constexpr int kParts =
      static_cast<int>(kPack * sizeof(float) / sizeof(SixteenBytes));  ///< of the widest

  template <class T>
  [[nodiscard]] SW_HOST_DEVICE T* place() {
    to_[used_] = nullptr;
    return reinterpret_cast<T*>(registers_[used_++]);
  }
  template <class T>
  static SW_HOST_DEVICE void move(T* to, const T* from) {
    SW_UNROLL
    for (int part = 0; part < static_cast<int>(kPack * sizeof(T) / sizeof(SixteenBytes)); ++part) {
      reinterpret_cast<SixteenBytes*>(to)[part] = reinterpret_cast<const SixteenBytes*>(from)[part];
    }
  }

  Index first_;
  int used_ = 0;  // a constant wherever it is asked, since everything is inlined
  alignas(16) unsigned char registers_[kMost][kParts * sizeof(SixteenBytes)];
  void* to_[kMost];
  std::size_t bytes_[kMost];
};

/// body(i) for the pack of neighbours that begins at `first`.
template <class Body>
SW_HOST_DEVICE void run_pack(Body body, Index first) {
  constexpr Index kPack = kPackOf<Body>;
  PackedOperands<kPack> packed(first);
  body.operands(packed);
  SW_UNROLL
  for (Index i = 0; i < kPack; ++i) {
    body(i);
  }
  packed.put_back();
}

/// total = join(total, term(i)) for the pack, in order.
template <class Term, class Join>
[[nodiscard]] SW_HOST_DEVICE float join_pack(Term term, Index first, float total, Join join) {
  constexpr Index kPack = kPackOf<Term>;
  PackedOperands<kPack> packed(first);
  term.operands(packed);
  SW_UNROLL
  for (Index i = 0; i < kPack; ++i) {
    total = join(total, term(i));
  }
  packed.put_back();
  return total;
}

/// body(i) for i in [0, count) by `threads` threads, of which this is number `thread`.
template <class Body>
SW_HOST_DEVICE void run_each(Index count, Index thread, Index threads, Body body) {
  Index done = 0;
  if constexpr (kListsOperands<Body>) {
    if (can_take_packs(body)) {
      constexpr Index kPack = kPackOf<Body>;
      const Index packs = count / kPack;
      for (Index pack = thread; pack < packs; pack += threads) {
        run_pack(body, pack * kPack);
      }
      done = packs * kPack;
    }
  }
  for (Index i = done + thread; i < count; i += threads) {
    body(i);
  }
}

/// What this thread's share of join(..., term(i)) comes to.
template <class Term, class Join>
[[nodiscard]] SW_HOST_DEVICE float join_each(
    Index count, Index thread, Index threads, float total, Term term, Join join) {
  Index done = 0;
  if constexpr (kListsOperands<Term>) {
    if (can_take_packs(term)) {
      constexpr Index kPack = kPackOf<Term>;
      const Index packs = count / kPack;
      for (Index pack = thread; pack < packs; pack += threads) {
        total = join_pack(term, pack * kPack, total, join);
      }
      done = packs * kPack;
    }
  }
  for (Index i = done + thread; i < count; i += threads) {
    total = join(total, term(i));
  }
  return total;
}

}  // namespace stagewright::kernels
