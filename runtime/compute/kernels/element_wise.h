#pragma once

#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// y[i] = value.
template <class T>
struct Fill {
  T* y;
  float value;
  SW_HOST_DEVICE void operator()(Index i) const { y[i] = static_cast<T>(value); }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.write(y);
  }
};

/// y[i] = a[i] + b[i]; y may be a or b.
template <class T>
struct Add {
  const T* a;
  const T* b;
  T* y;
  SW_HOST_DEVICE void operator()(Index i) const {
    y[i] = static_cast<T>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
  }
  template <class Visitor>
  SW_HOST_DEVICE void operands(Visitor& visit) {
    visit.read(a);
    visit.read(b);
    visit.write(y);
  }
};

/// y[i] = factor * x[i]; y may be x.
template <class T>
struct Scale {
  const T* x;
  T* y;
  float factor;
  SW_HOST_DEVICE void operator()(Index i) const {
    y[i] = static_cast<T>(factor * static_cast<float>(x[i]));
  }
};

/// sum[i] += factor * x[i]: accumulation into a float buffer.
template <class T>
struct Accumulate {
  const T* x;
  float* sum;
  float factor = 1.0F;
  SW_HOST_DEVICE void operator()(Index i) const { sum[i] += factor * static_cast<float>(x[i]); }
};

void fill(const Fill<float>& kernel, Index count);
void add(const Add<float>& kernel, Index count);
void scale(const Scale<float>& kernel, Index count);
void accumulate(const Accumulate<float>& kernel, Index count);

}  // namespace stagewright::kernels
