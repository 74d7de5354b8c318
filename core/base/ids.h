#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace stagewright {

/// An index that cannot be mistaken for an index into something else.
/// `Id<RankTag>` and `Id<StageTag>` do not convert into each other or to int.
/// There is no "invalid" value: what may be absent is `std::optional`.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::int32_t value) : value_(value) {}
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::int32_t>(value)) {}
  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::int32_t value_ = 0;
};

using RankId = Id<struct RankTag>;              ///< a process of the run (one device share)
using StageId = Id<struct StageTag>;            ///< a virtual stage: 0 .. pp * virtual - 1
using MicroBatchId = Id<struct MicroBatchTag>;  ///< within one replica and optimizer step
using LayerId = Id<struct LayerTag>;            ///< into ModelGraph::layers
using ValueId = Id<struct ValueTag>;            ///< into Layer::values
using ParameterId = Id<struct ParameterTag>;    ///< into StageProgram::parameters
using TensorId = Id<struct TensorTag>;          ///< into StageProgram::tensors
using GroupId = Id<struct GroupTag>;            ///< into Schedule::groups
using GroupSlot = Id<struct GroupSlotTag>;      ///< into RankBinding::groups
using PeerSlot = Id<struct PeerSlotTag>;        ///< into RankBinding::peers
using ProgramId = Id<struct ProgramTag>;        ///< into Schedule::programs
using BucketId = Id<struct BucketTag>;          ///< into StageProgram::buckets
using NodeId = Id<struct NodeTag>;              ///< into Cluster::nodes
using DeviceId = Id<struct DeviceTag>;          ///< a device of the cluster, counted over nodes

}  // namespace stagewright

template <class Tag>
struct std::hash<stagewright::Id<Tag>> {
  std::size_t operator()(stagewright::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>{}(id.value());
  }
};
