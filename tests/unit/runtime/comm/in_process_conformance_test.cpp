#include "communicator_conformance.h"
#include "runtime/comm/in_process.h"

namespace stagewright {
namespace {

[[nodiscard]] ConformanceBackend in_process(std::string name, Bytes inline_limit) {
  return {std::move(name), [inline_limit](const WorldSpec& spec, Duration timeout) {
            InProcessOptions options;
            options.timeout = timeout;
            options.inline_limit = inline_limit;
            return make_in_process_world(spec, options);
          }};
}

// As it is used, and with every transfer left to waiting and progress threads.
INSTANTIATE_TEST_SUITE_P(InProcess,
                         CommunicatorConformance,
                         testing::Values(in_process("Default", InProcessOptions{}.inline_limit),
                                         in_process("Offered", Bytes(0))),
                         [](const auto& backend) { return backend.param.name; });

TEST(InProcessWorld, RefusesASpecThatDoesNotValidate) {
  WorldSpec spec;
  spec.ranks = 2;
  spec.groups = {{"empty", {}}};
  const auto world = make_in_process_world(spec);
  ASSERT_FALSE(world.has_value());
  EXPECT_EQ(world.error().to_string(), "/groups/0 'empty': the group has no members");
}

}  // namespace
}  // namespace stagewright
