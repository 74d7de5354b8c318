#pragma once

#include "runtime/compute/kernels/image_window.h"

/// Row kernels that lay out the windows of a convolution as rows of a matrix, and add such rows to
/// images.  Images lie as OpKind::kConvolution says.
namespace stagewright::kernels {

/// patches[row] = the window of output pixel `first + row`, counted through all images; 0 beyond
/// the border.  Shapes: x [images, height * width * channels]; patches [rows, kernel^2 channels].
template <class T>
struct LayOutPatches {
  const T* x;
  T* patches;
  ImageWindow window;
  Index first = 0;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index pixel = (first + row) % window.out_pixels();
    const T* image = x + (first + row) / window.out_pixels() * window.in_elements();
    const WindowPart rows = inside(window, pixel / window.out_width, window.height);
    const WindowPart cols = inside(window, pixel % window.out_width, window.width);
    const Index line = window.kernel * window.channels;
    const Index before = cols.first * window.channels;
    const Index copied = cols.end > cols.first ? (cols.end - cols.first) * window.channels : 0;
    for (Index r = 0; r < window.kernel; ++r) {
      T* out = patches + row * window.patch() + r * line;
      if (r < rows.first || r >= rows.end || copied == 0) {
        team.each(line, [=](Index i) { out[i] = static_cast<T>(0.0F); });
        continue;
      }
      const T* in = image + ((rows.at + r - rows.first) * window.width + cols.at) * window.channels;
      const Index behind = line - before - copied;
      team.each(before, [=](Index i) { out[i] = static_cast<T>(0.0F); });
      team.each(copied, [=](Index i) { out[before + i] = in[i]; });
      team.each(behind, [=](Index i) { out[before + copied + i] = static_cast<T>(0.0F); });
    }
  }
};

/// Adds rows `first` to `end` of all patches, those of image `first_image + row`, to that image:
/// the transpose of LayOutPatches.  `patches` begins with row `first`.
template <class T>
struct AddPatches {
  const T* patches;
  T* x;
  ImageWindow window;
  Index first;
  Index end;
  Index first_image;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index pixels = window.out_pixels();
    const Index number = first_image + row;
    const Index begin = number * pixels > first ? number * pixels : first;
    const Index stop = (number + 1) * pixels < end ? (number + 1) * pixels : end;
    T* image = x + number * window.in_elements();
    for (Index at = begin; at < stop; ++at) {
      const Index pixel = at - number * pixels;
      const WindowPart rows = inside(window, pixel / window.out_width, window.height);
      const WindowPart cols = inside(window, pixel % window.out_width, window.width);
      const Index added = cols.end > cols.first ? (cols.end - cols.first) * window.channels : 0;
      for (Index r = rows.first; r < rows.end; ++r) {
        const T* in = patches + (at - first) * window.patch() +
                      (r * window.kernel + cols.first) * window.channels;
        T* out = image + ((rows.at + r - rows.first) * window.width + cols.at) * window.channels;
        team.each(added, [=](Index i) {
          out[i] = static_cast<T>(static_cast<float>(out[i]) + static_cast<float>(in[i]));
        });
        team.sync();
      }
    }
  }
};

void lay_out_patches(const LayOutPatches<float>& kernel, Index rows);
void add_patches(const AddPatches<float>& kernel, Index images);

}  // namespace stagewright::kernels
