#pragma once

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "runtime/comm/world.h"

namespace stagewright {

/// Where ranks meet: all of them, a group, or the two ends of a link.  Backends whose ranks are
/// processes number the places alike on all of them.
struct WorldPlace {
  std::string label;            ///< "group 'tensor 0'", for errors
  std::vector<RankId> members;  ///< of a link: source, destination
  friend bool operator==(const WorldPlace&, const WorldPlace&) = default;
};

/// The whole world, then the groups, then the links.
[[nodiscard]] std::vector<WorldPlace> places_of(const WorldSpec& spec);

/// Equal for equal worlds, for ranks to compare.
[[nodiscard]] std::string fingerprint(const WorldSpec& spec);

/// Places of more than one rank, in rounds in which no rank is at two of them: what a collective
/// call of all ranks can set up at once.  Indices into `places`.
[[nodiscard]] std::vector<std::vector<std::size_t>> disjoint_rounds(
    const std::vector<WorldPlace>& places);

}  // namespace stagewright
