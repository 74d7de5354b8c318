#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "kernel_cases.h"
#include "runtime/backend_error.h"
#include "runtime/compute/cuda_device.h"
#include "runtime/compute/kernels/convert.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

[[nodiscard]] std::vector<std::byte> narrow(const Doubles& values, DType type) {
  const auto width = static_cast<std::size_t>(size_of(type).count());
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    const auto whole = static_cast<std::int32_t>(values[i]);
    const std::uint16_t half =
        type == DType::kFloat16 ? kernels::to_float16(value) : kernels::to_bfloat16(value);
    const void* from = &value;
    if (type == DType::kInt32) {
      from = &whole;
    } else if (width == sizeof(half)) {
      from = &half;
    }
    std::memcpy(bytes.data() + i * width, from, width);
  }
  return bytes;
}

[[nodiscard]] Doubles widen(const std::vector<std::byte>& bytes, DType type) {
  const auto width = static_cast<std::size_t>(size_of(type).count());
  Doubles values(bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::byte* const at = bytes.data() + i * width;
    std::uint16_t half = 0;
    float value = 0;
    std::int32_t whole = 0;
    switch (type) {
      case DType::kBFloat16:
      case DType::kFloat16:
        std::memcpy(&half, at, sizeof(half));
        values[i] =
            type == DType::kFloat16 ? kernels::from_float16(half) : kernels::from_bfloat16(half);
        break;
      case DType::kInt32:
        std::memcpy(&whole, at, sizeof(whole));
        values[i] = whole;
        break;
      case DType::kFloat32:
      case DType::kTf32:
      case DType::kFloat8:
        std::memcpy(&value, at, sizeof(value));
        values[i] = value;
        break;
    }
  }
  return values;
}

/// As the operand's type holds them.
[[nodiscard]] Doubles draw(const CaseOperand& operand, std::mt19937_64& random) {
  Doubles values(static_cast<std::size_t>(operand.elements));
  std::normal_distribution<double> normal;
  for (double& value : values) {
    switch (operand.values) {
      case Values::kNormal:
        value = normal(random);
        break;
      case Values::kPositive:
        value = std::abs(normal(random)) + 0.01;
        break;
      case Values::kTokens:
        value = static_cast<double>(random() % static_cast<std::uint64_t>(operand.below));
        break;
      case Values::kZero:
        break;
    }
  }
  return values;
}

/// Operands in the memory of a device.
class DeviceOperands {
 public:
  DeviceOperands(ComputeDevice& device,
                 const std::vector<CaseOperand>& operands,
                 std::vector<Doubles>& values)
      : device_(device) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::vector<std::byte> bytes = narrow(values[i], operands[i].type);
      values[i] = widen(bytes, operands[i].type);
      memory_.push_back(device.allocate(Bytes(static_cast<std::int64_t>(bytes.size()))));
      device.upload(memory_.back()->data(), bytes);
      device.synchronize();
      pointers_.push_back(memory_.back()->data());
      types_.push_back({operands[i].type, operands[i].elements});
    }
  }
  [[nodiscard]] std::span<void* const> pointers() const { return pointers_; }
  [[nodiscard]] std::span<const OperandType> types() const { return types_; }
  [[nodiscard]] Doubles values(std::size_t i) const {
    std::vector<std::byte> bytes(
        static_cast<std::size_t>((types_[i].elements * size_of(types_[i].type)).count()));
    device_.download(bytes, pointers_[i]);
    return widen(bytes, types_[i].type);
  }

 private:
  ComputeDevice& device_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::vector<void*> pointers_;
  std::vector<OperandType> types_;
};

/// The largest distance as a part of the largest value; a value that is no number is infinitely
/// far away.
[[nodiscard]] double distance(const Doubles& actual, const Doubles& expected) {
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double here = std::abs(actual[i] - expected[i]);
    error = std::isnan(here) ? HUGE_VAL : std::max(error, here);
  }
  return error / std::max(largest, 1e-30);
}

/// How far the device's results are from those in double precision.
[[nodiscard]] double error_of(const KernelCase& tried, ComputeDevice& device) {
  std::mt19937_64 random(20);
  std::vector<Doubles> in;
  std::vector<Doubles> out;
  for (const CaseOperand& operand : tried.inputs) {
    in.push_back(draw(operand, random));
  }
  for (const CaseOperand& operand : tried.outputs) {
    out.push_back(draw(operand, random));
  }
  if (tried.complete) {
    tried.complete(in);
  }
  UpdateStep step;
  step.optimizer.momentum = 0.9;
  if (tried.op.kind == OpKind::kSgdStep) {
    step.optimizer.kind = OptimizerKind::kSgd;
  }
  const DeviceOperands inputs(device, tried.inputs, in);
  const DeviceOperands outputs(device, tried.outputs, out);
  const bool in_place =
      tried.op.kind == OpKind::kRopeForward || tried.op.kind == OpKind::kRopeBackward;
  device.execute({.operation = &tried.op,
                  .inputs = inputs.pointers(),
                  .outputs = in_place ? inputs.pointers() : outputs.pointers(),
                  .input_types = inputs.types(),
                  .output_types = outputs.types()},
                 step);
  device.synchronize();
  const std::vector<Doubles> expected = float64_result(tried.op, in, out, step.optimizer);
  double worst = 0;
  for (std::size_t i = 0; i < tried.compared_outputs; ++i) {
    worst = std::max(worst, distance((in_place ? inputs : outputs).values(i), expected[i]));
  }
  return worst;
}

}  // namespace

Result<StepResult> check_kernels(const StepOptions& options) {
  auto device = make_cuda_device({});
  if (!device) {
    return pass_on(std::move(device));
  }
  StepResult result{.step = "kernels"};
  int wrong = 0;
  const std::vector<KernelCase> cases = kernel_cases(options.small);
  nlohmann::json rows = nlohmann::json::array();
  for (const KernelCase& tried : cases) {
    nlohmann::json row = {{"kernel", tried.name}, {"tolerance", tried.tolerance}};
    bool good = false;
    try {
      const double error = error_of(tried, **device);
      good = error <= tried.tolerance;
      row["error"] = error;
    } catch (const BackendError& failure) {
      row["failure"] = failure.error().to_string();
    }
    row["passed"] = good;
    wrong += good ? 0 : 1;
    rows.push_back(std::move(row));
  }
  result.status = wrong == 0 ? "passed" : "failed";
  result.summary = fmt::format("{} of {} operations agree with double precision",
                               static_cast<int>(cases.size()) - wrong,
                               cases.size());
  result.figures["kernels"] = std::move(rows);
  return result;
}

}  // namespace stagewright::gpu_check
