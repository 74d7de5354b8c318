#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/schedule/schedule.h"
#include "core/schedule/semantics.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// Every field of every struct differs from its default somewhere.
Schedule full_schedule() {
  Schedule schedule = toy_schedule({"0LOAD0 0F0 0SEND_F0 0R0 REDUCE0 GATHER0 STEP", "1RECV_F0 1F0"},
                                   {.replicas = 2});
  schedule.model_hash = "0123";
  schedule.micro_batch_size = 3;
  schedule.sequence = 128;
  schedule.sequence_parts = 2;
  schedule.optimizer = {.kind = OptimizerKind::kSgd,
                        .learning_rate = 0.1,
                        .momentum = 0.9,
                        .beta1 = 0.8,
                        .beta2 = 0.99,
                        .epsilon = 1e-300,
                        .weight_decay = 1.0 / 3,
                        .clip_norm = std::nullopt};
  RankProgram& program = schedule.programs[0];
  const TensorId flat(program.tensors.size());
  program.tensors.push_back({"flat \"gradients\" \xc3\xa9",
                             DType::kBFloat16,
                             {2, 64},
                             TensorClass::kGradient,
                             TensorScope::kPersistent,
                             std::nullopt});
  const TensorId window(program.tensors.size());
  program.tensors.push_back({"window",
                             DType::kBFloat16,
                             {8, 8},
                             TensorClass::kGradient,
                             TensorScope::kPersistent,
                             TensorSpec::View{flat, 64}});
  program.parameters.push_back({.name = "block.0.weight",
                                .global_shape = {15, 8},
                                .shard_axis = 0,
                                .shard_group = GroupSlot(0),
                                .extent = 8,
                                .weight = flat,
                                .weight_offset = 64,
                                .gradient = flat,
                                .initializer = Initializer::kZeros,
                                .deviation = 0.125,
                                .decay = true,
                                .copies = 2.5,
                                .bucket = BucketId(0),
                                .tied_to = "embedding.table",
                                .other_versions = {flat}});
  program.tensors.push_back({"part",
                             DType::kBFloat16,
                             {16},
                             TensorClass::kGradient,
                             TensorScope::kPersistent,
                             TensorSpec::View{flat, 64, GroupSlot(0), 16}});
  program.parameters.push_back(program.parameters.back());
  program.parameters.back().flat_shard =
      ParameterSlice::FlatShard{.group = GroupSlot(0), .stride = 128};
  program.totals = window;
  program.stages[0].targets = program.stages[0].tokens;
  Operation& op = program.stages[0].forward[0];
  op.variant = OpVariant::kSwiGlu;
  op.dtype = DType::kFloat16;
  op.stream = StreamId(1);
  op.transpose_a = op.transpose_b = op.accumulate = op.causal = op.weight_gradient = op.decay =
      true;
  op.shape = {2, 3, 4, 5, 6, 7, 8, 9};
  op.index = 10;
  op.slice = Operation::Slice{GroupSlot(0), 11, 12};
  op.scalar = 0.1;
  op.group = GroupSlot(0);
  program.stages[0].backward[0].slice = Operation::Slice{std::nullopt, 1, 2};
  program.stages[0].backward[0].layer.reset();
  program.buckets[0].gather = program.buckets[0].reduce;
  StageProgram second = program.stages[0];
  second.version = 1;
  second.update = second.backward;
  second.update[0].source = DType::kBFloat16;
  program.stages.insert(program.stages.begin() + 1, second);
  for (RankBinding& rank : schedule.ranks) {
    rank.device = DeviceId(rank.device.value() + 7);
    rank.sequence_part = 1;
  }
  return schedule;
}

TEST(ScheduleFile, ReadsBackWhatItWrote) {
  for (const Schedule& schedule :
       {full_schedule(), toy_schedule({"0F0"}), toy_schedule(toy_1f1b(3, 5), {.replicas = 4})}) {
    const std::string text = to_json_text(schedule);
    const auto read = parse_schedule(text, "s.json");
    ASSERT_TRUE(read.has_value()) << read.error().to_string();
    EXPECT_EQ(*read, schedule);
    EXPECT_EQ(to_json_text(*read), text);
    EXPECT_EQ(schedule_hash(*read), schedule_hash(schedule));
  }
}

TEST(ScheduleFile, IsTheSameTextEveryTime) {
  // A change of this hash means that files of older versions are no longer readable: raise the
  // version of the format.
  EXPECT_EQ(schedule_hash(toy_schedule(toy_1f1b(2, 2))), "fd11f5bdc99c9475a0f107cd499afe1a");
}

std::string error_of(const std::string& text) {
  const auto read = parse_schedule(text, "s.json");
  return read ? "none" : read.error().to_string();
}

/// Calls `visit` for each number, text and flag of a JSON value, which it may change.
void for_each_leaf(nlohmann::ordered_json& json,
                   const std::string& path,
                   const std::function<void(nlohmann::ordered_json&, const std::string&)>& visit) {
  if (json.is_object()) {
    for (auto& [key, value] : json.items()) {
      for_each_leaf(value, path + "/" + key, visit);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      for_each_leaf(json[i], path + "/" + std::to_string(i), visit);
    }
  } else {
    visit(json, path);
  }
}

TEST(ScheduleFile, EveryChangeOfALeafIsNoticed) {
  auto file = nlohmann::ordered_json::parse(to_json_text(full_schedule()));
  int leaves = 0;
  for_each_leaf(file, "", [&](nlohmann::ordered_json& leaf, const std::string& path) {
    const nlohmann::ordered_json before = leaf;
    if (leaf.is_boolean()) {
      leaf = !leaf.get<bool>();
    } else if (leaf.is_number_float()) {
      leaf = leaf.get<double>() * 0.999;
    } else if (leaf.is_number()) {
      leaf = leaf.get<std::int64_t>() + 1;
    } else {
      leaf = leaf.get<std::string>() + "x";
    }
    const auto read = parse_schedule(file.dump(), "s.json");
    EXPECT_FALSE(read.has_value()) << path;
    leaf = before;
    ++leaves;
  });
  EXPECT_GT(leaves, 200);
  EXPECT_EQ(error_of(file.dump()), "none");
}

TEST(ScheduleFile, AKeyThatIsMissingOrNewIsNoticed) {
  const auto good = nlohmann::ordered_json::parse(
      to_json_text(toy_schedule({"0F0 0SEND_F0 STEP", "1RECV_F0 1F0 REDUCE0"})));
  const std::function<void(const nlohmann::ordered_json::json_pointer&)> visit =
      [&](const nlohmann::ordered_json::json_pointer& at) {
        const nlohmann::ordered_json& json = good[at];
        if (json.is_object()) {
          nlohmann::ordered_json with_more = good;
          with_more[at]["surprise"] = 1;
          EXPECT_FALSE(parse_schedule(with_more.dump(), "s.json").has_value()) << at;
        }
        if (json.is_structured() && !json.empty()) {
          for (const auto& [key, value] : json.items()) {
            nlohmann::ordered_json with_less = good;
            if (json.is_object()) {
              with_less[at].erase(key);
              visit(at / key);
            } else {
              with_less[at].erase(std::stoul(key));
              visit(at / std::stoul(key));
            }
            EXPECT_FALSE(parse_schedule(with_less.dump(), "s.json").has_value()) << at / key;
          }
        }
      };
  visit(nlohmann::ordered_json::json_pointer());
}

TEST(ScheduleFile, ATruncatedFileIsRefused) {
  const std::string text = to_json_text(toy_schedule({"0F0 0B0"}));
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_NE(error_of(text.substr(0, length)).find("not valid JSON at line"), std::string::npos);
  }
}

TEST(ScheduleFile, ForeignFilesAndVersionsAreNamed) {
  EXPECT_EQ(error_of("{\"stages\": 3}"),
            "s.json: is no schedule file: the key \"format\" must be \"stagewright-schedule\"");
  EXPECT_EQ(error_of("[1, 2]"),
            "s.json: is no schedule file: the key \"format\" must be \"stagewright-schedule\"");
  EXPECT_EQ(error_of(R"({"format": "stagewright-schedule", "version": 2})"),
            "s.json:/version: has version 2; this program reads version 1");
  EXPECT_EQ(error_of(R"({"format": "stagewright-schedule", "version": 1, "hash": "0"})"),
            "s.json:/schedule: is required but absent; is the file complete?");
}

/// The file of a changed schedule with the hash that belongs to it.
std::string forged(const std::function<void(nlohmann::ordered_json&)>& change) {
  auto file = nlohmann::ordered_json::parse(to_json_text(toy_schedule({"0F0 0B0 REDUCE0 STEP"})));
  change(file["schedule"]);
  file["hash"] = content_hash(file["schedule"].dump());
  return file.dump();
}

TEST(ScheduleFile, AWrongHashIsNamed) {
  auto file = nlohmann::ordered_json::parse(to_json_text(toy_schedule({"0F0 0B0"})));
  file["schedule"]["model_name"] = "other";
  const std::string error = error_of(file.dump());
  EXPECT_NE(error.find("s.json:/hash: is "), std::string::npos) << error;
  EXPECT_NE(error.find("the file was changed or damaged"), std::string::npos) << error;
}

TEST(ScheduleFile, IndicesOutsideTheirTablesAreNamed) {
  EXPECT_EQ(error_of(forged([](auto&) {})), "none");
  const auto error = [](const std::string& pointer, const nlohmann::ordered_json& value) {
    return error_of(forged([&](nlohmann::ordered_json& schedule) {
      schedule[nlohmann::ordered_json::json_pointer(pointer)] = value;
    }));
  };
  EXPECT_EQ(error("/programs/0/stages/0/forward/0/in/0", 99),
            "s.json:/schedule/programs/0/stages/0/forward/0/inputs: tensor 99 does not exist; "
            "there are 6");
  EXPECT_EQ(error("/programs/0/stages/0/forward/0/stream", 2),
            "s.json:/schedule/programs/0/stages/0/forward/0/stream: stream 2 does not exist; "
            "there are 2");
  EXPECT_EQ(error("/programs/0/tensors/0/shape", {4294967296, 4294967296}),
            "s.json:/schedule/programs/0/tensors/0/shape: 'w0' is impossible; sizes are 0 or more, "
            "and a tensor takes at most 16 TiB");
  EXPECT_EQ(error("/programs/0/tensors/0/shape/0", -1),
            "s.json:/schedule/programs/0/tensors/0/shape: 'w0' is impossible; sizes are 0 or more, "
            "and a tensor takes at most 16 TiB");
  EXPECT_EQ(error("/programs/0/actions", "0F0 1B0"),
            "s.json:/schedule/programs/0/actions/1: 1B0: stage 1 is not on this rank");
  EXPECT_EQ(error("/programs/0/actions", "0F0  0B0"),
            "s.json:/schedule/programs/0/actions: action 1 is ''; expected one such as 0F3, "
            "1SEND_F3@0, REDUCE2 or STEP, separated by one space");
  EXPECT_EQ(error("/programs/0/actions", "0F0 REDUCE7"),
            "s.json:/schedule/programs/0/actions/1: REDUCE7: the rank has 1 buckets");
  EXPECT_EQ(error("/programs/0/actions", "0F0 0SEND_F0@0"),
            "s.json:/schedule/programs/0/actions/1: 0SEND_F0: the stage has no such border tensor");
  EXPECT_EQ(error("/micro_batches", 2147483647),
            "s.json:/schedule/micro_batches: is 2147483647, but there are only 4 actions");
  EXPECT_EQ(error("/stages", 2147483648),
            "s.json:/schedule/stages: is 2147483648; it must lie in 0 .. 2^31 - 1");
  EXPECT_EQ(error("/replicas", 0), "s.json:/schedule/replicas: is 0; it must be 1 or more");
  EXPECT_EQ(error("/sequence_parts", 2),
            "s.json:/schedule/sequence_parts: is 2, but there are only 1 ranks");
  EXPECT_EQ(error("/ranks/0/sequence_part", 1),
            "s.json:/schedule/ranks/0/sequence_part: part 1 does not exist; there are 1");
  EXPECT_EQ(error("/groups/0/members", {0, 0}),
            "s.json:/schedule/groups/0/members: rank 0 is named twice");
  EXPECT_EQ(error("/groups/0/members", {1}),
            "s.json:/schedule/groups/0/members: rank 1 does not exist; there are 1");
  EXPECT_EQ(error("/ranks/0/program", 1),
            "s.json:/schedule/ranks/0/program: program 1 does not exist; there are 1");
  EXPECT_EQ(error("/ranks/0/positions/0", 1),
            "s.json:/schedule/ranks/0/positions/0: rank 0 is not member 1 of group 0");
  EXPECT_EQ(error("/ranks/0/groups", nlohmann::ordered_json::array()),
            "s.json:/schedule/ranks/0/positions: 1 positions for 0 groups");
  EXPECT_EQ(error("/programs/0/buckets/0/reduce/0/group", 1),
            "s.json:/schedule/ranks/0: program 0 uses 2 group slots and 0 peer slots; the rank "
            "has 1 and 0");
}

}  // namespace
}  // namespace stagewright
