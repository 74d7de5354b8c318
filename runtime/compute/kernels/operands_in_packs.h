#pragma once

#include <type_traits>
#include <utility>

#include "runtime/compute/kernels/portable.h"

/// What lets a GPU move several elements at once.  A body (a kernel of elements, or what a team
/// runs for each element of a row) may list the arrays that it reads and writes at its index, and
/// nowhere else, by
///
///     template <class Visitor>
///     SW_HOST_DEVICE void operands(Visitor& visit) {
///       visit.read(x);     // a pointer to const
///       visit.write(y);    // every element that the body is run for
///       visit.change(p);   // read, then written
///     }
///
/// and must not use its index for anything else.  A thread then takes neighbouring elements into
/// registers, lets the body run on these, and puts back what it wrote (packs.h).  On the CPU
/// the compiler's vectors do that, and nobody calls it.
namespace stagewright::kernels {

/// Takes what operands() says; for asking whether there is one.
struct NoVisitor {
  template <class T>
  void read(const T*& /*array*/) {}
  template <class T>
  void write(T*& /*array*/) {}
  template <class T>
  void change(T*& /*array*/) {}
};

template <class Body, class = void>
inline constexpr bool kListsOperands = false;
template <class Body>
inline constexpr bool kListsOperands<
    Body,
    std::void_t<decltype(std::declval<Body&>().operands(std::declval<NoVisitor&>()))>> = true;

/// Neighbours that a thread takes: 16 bytes of floats; of kernels that read or write 16-bit
/// elements (Body::kPack) 16 bytes of these.
template <class Body, class = void>
inline constexpr Index kPackOf = 4;
template <class Body>
inline constexpr Index kPackOf<Body, std::void_t<decltype(Body::kPack)>> = Body::kPack;

/// An array of a body that is written as a lambda.
template <class T>
struct ReadArray {
  const T* array;
  template <class Visitor>
  SW_HOST_DEVICE void show(Visitor& visit) {
    visit.read(array);
  }
};
template <class T>
struct WrittenArray {
  T* array;
  template <class Visitor>
  SW_HOST_DEVICE void show(Visitor& visit) {
    visit.write(array);
  }
};

template <class T>
struct ChangedArray {
  T* array;
  template <class Visitor>
  SW_HOST_DEVICE void show(Visitor& visit) {
    visit.change(array);
  }
};

/// Arrays in the order in which the body takes them.
template <class... Arrays>
struct ArrayList {
  template <class Visitor>
  SW_HOST_DEVICE void show(Visitor& /*visit*/) {}
  template <class Body, class... Pointers>
  SW_HOST_DEVICE auto call(const Body& body, Index i, Pointers... pointers) const {
    return body(i, pointers...);
  }
};
template <class First, class... Rest>
struct ArrayList<First, Rest...> {
  First first;
  ArrayList<Rest...> rest;
  template <class Visitor>
  SW_HOST_DEVICE void show(Visitor& visit) {
    first.show(visit);
    rest.show(visit);
  }
  template <class Body, class... Pointers>
  SW_HOST_DEVICE auto call(const Body& body, Index i, Pointers... pointers) const {
    return rest.call(body, i, pointers..., first.array);
  }
};

template <class Body, class... Arrays>
struct BodyOver {
  /// 16 bytes of the narrowest elements.
  static constexpr Index kPack = ((sizeof(*Arrays::array) == 2) || ...) ? 8 : 4;
  Body body;
  ArrayList<Arrays...> arrays;
  SW_HOST_DEVICE auto operator()(Index i) const { return arrays.call(body, i); }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    arrays.show(visit);
  }
};

template <class T>
SW_HOST_DEVICE ReadArray<T> reads(const T* array) {
  return {array};
}
template <class T>
SW_HOST_DEVICE WrittenArray<T> writes(T* array) {
  return {array};
}

template <class T>
SW_HOST_DEVICE ChangedArray<T> changes(T* array) {
  return {array};
}

SW_HOST_DEVICE ArrayList<> list_of() {
  return {};
}
template <class First, class... Rest>
SW_HOST_DEVICE ArrayList<First, Rest...> list_of(First first, Rest... rest) {
  return {first, list_of(rest...)};
}

/// body(i, arrays...), which touches these arrays alone, at i:
///
///     team.each(width, over([=](Index i, const T* x, T* y) { y[i] = f(x[i]); }, reads(in),
///                           writes(out)));
template <class Body, class... Arrays>
SW_HOST_DEVICE BodyOver<Body, Arrays...> over(Body body, Arrays... arrays) {
  return {body, list_of(arrays...)};
}

}  // namespace stagewright::kernels
