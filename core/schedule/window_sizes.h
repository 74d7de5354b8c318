#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/model/op.h"

namespace stagewright {

/// The sizes of a window as files and keys name them; those that are as in OpWindow{} are left out.
inline constexpr std::array<std::pair<std::string_view, std::int32_t OpWindow::*>, 6> kWindowSizes{
    {{"height", &OpWindow::height},
     {"width", &OpWindow::width},
     {"channels", &OpWindow::channels},
     {"kernel", &OpWindow::kernel},
     {"stride", &OpWindow::stride},
     {"padding", &OpWindow::padding}}};

}  // namespace stagewright
