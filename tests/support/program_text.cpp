#include "tests/support/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stagewright {
namespace {

std::string names_of(const RankProgram& program, const std::vector<TensorId>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const TensorId tensor : tensors) {
    names.push_back(program.tensors[tensor.index()].name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string sizes_of(const OpShape& shape) {
  std::string text;
  const auto add = [&text](const char* name, std::int64_t size) {
    if (size != 1) {
      text += fmt::format(" {}={}", name, size);
    }
  };
  add("rows", shape.rows);
  add("cols", shape.cols);
  add("inner", shape.inner);
  add("batch", shape.batch);
  add("sequence", shape.sequence);
  add("heads", shape.heads);
  add("kv_heads", shape.kv_heads);
  add("head_dim", shape.head_dim);
  if (shape.window != OpWindow{}) {
    const OpWindow& window = shape.window;
    text += fmt::format(" window={}x{}x{}k{}s{}p{}",
                        window.height,
                        window.width,
                        window.channels,
                        window.kernel,
                        window.stride,
                        window.padding);
  }
  return text;
}

std::string flags_of(const Operation& op) {
  std::string text;
  const auto add = [&text](bool flag, const std::string& name) {
    if (flag) {
      text += " " + name;
    }
  };
  add(op.transpose_a, "transpose-a");
  add(op.transpose_b, "transpose-b");
  add(op.causal, "causal");
  add(op.accumulate, "accumulate");
  add(op.weight_gradient, "weight-gradient");
  add(op.decay, "decay");
  add(op.scalar != 0, fmt::format("scalar={:.6g}", op.scalar));
  add(op.index != 0, fmt::format("index={}", op.index));
  if (op.slice) {
    add(true, fmt::format("slice={}of{}", op.slice->stride, op.slice->total));
    add(op.slice->group.has_value(), "divided");
  }
  add(op.group.has_value(), fmt::format("group={}", op.group.value_or(GroupSlot(0)).value()));
  add(op.layer.has_value(), fmt::format("layer={}", op.layer.value_or(LayerId(0)).value()));
  return text;
}

}  // namespace

std::string text_of(const RankProgram& program, const std::vector<Operation>& ops) {
  std::string text;
  for (const Operation& op : ops) {
    std::string kind(name_of(op.kind));
    if (op.variant != OpVariant::kNone) {
      kind += fmt::format("({})", name_of(op.variant));
    }
    text += fmt::format("{} {} {}{}: {} -> {};{}\n",
                        op.stream.value(),
                        kind,
                        name_of(op.dtype),
                        sizes_of(op.shape),
                        names_of(program, op.inputs),
                        names_of(program, op.outputs),
                        flags_of(op));
  }
  return text;
}

std::string text_of(const std::vector<Action>& actions) {
  std::vector<std::string> texts;
  texts.reserve(actions.size());
  for (const Action& action : actions) {
    texts.push_back(to_string(action));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace stagewright
