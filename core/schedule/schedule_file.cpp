#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/base/json_reader.h"
#include "core/schedule/indices.h"
#include "core/schedule/program_json.h"
#include "core/schedule/read_ids.h"
#include "core/schedule/schedule.h"
#include "core/schedule/write_ids.h"

namespace stagewright {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view kFormat = "stagewright-schedule";
constexpr std::int64_t kVersion = 1;

ordered_json to_json(const OptimizerSpec& optimizer) {
  ordered_json json = {{"kind", name_of(optimizer.kind)},
                       {"learning_rate", optimizer.learning_rate},
                       {"momentum", optimizer.momentum},
                       {"beta1", optimizer.beta1},
                       {"beta2", optimizer.beta2},
                       {"epsilon", optimizer.epsilon},
                       {"weight_decay", optimizer.weight_decay}};
  if (optimizer.clip_norm) {
    json["clip_norm"] = *optimizer.clip_norm;
  }
  return json;
}

OptimizerSpec read_optimizer(JsonReader& reader) {
  OptimizerSpec optimizer;
  optimizer.kind = static_cast<OptimizerKind>(reader.one_of("kind", {"sgd", "adam", "adamw"}));
  optimizer.learning_rate = reader.number("learning_rate");
  optimizer.momentum = reader.number("momentum");
  optimizer.beta1 = reader.number("beta1");
  optimizer.beta2 = reader.number("beta2");
  optimizer.epsilon = reader.number("epsilon");
  optimizer.weight_decay = reader.number("weight_decay");
  optimizer.clip_norm =
      reader.has("clip_norm") ? std::optional(reader.number("clip_norm")) : std::nullopt;
  return optimizer;
}

ordered_json to_json(const RankBinding& rank) {
  ordered_json json = {{"program", rank.program.value()},
                       {"device", rank.device.value()},
                       {"groups", write_ids(rank.groups)},
                       {"positions", rank.positions},
                       {"peers", write_ids(rank.peers)},
                       {"replica", rank.replica}};
  if (rank.sequence_part != 0) {
    json["sequence_part"] = rank.sequence_part;
  }
  return json;
}

RankBinding read_rank(JsonReader& reader) {
  RankBinding rank;
  rank.program = read_id<ProgramId>(reader, "program");
  rank.device = read_id<DeviceId>(reader, "device");
  rank.groups = read_ids<GroupId>(reader, "groups");
  rank.positions = read_indices(reader, "positions");
  rank.peers = read_ids<RankId>(reader, "peers");
  rank.replica = read_index(reader, "replica");
  rank.sequence_part = reader.has("sequence_part") ? read_index(reader, "sequence_part") : 0;
  return rank;
}

/// Everything that a Schedule holds.
ordered_json content_of(const Schedule& schedule) {
  ordered_json json = {{"model_name", schedule.model_name},
                       {"model_hash", schedule.model_hash},
                       {"schedule_name", schedule.schedule_name},
                       {"stages", schedule.stages},
                       {"micro_batches", schedule.micro_batches},
                       {"micro_batch_size", schedule.micro_batch_size},
                       {"sequence", schedule.sequence},
                       {"replicas", schedule.replicas},
                       {"streams", schedule.streams},
                       {"optimizer", to_json(schedule.optimizer)}};
  if (schedule.sequence_parts != 1) {
    json["sequence_parts"] = schedule.sequence_parts;
  }
  ordered_json& programs = json["programs"] = ordered_json::array();
  for (const RankProgram& program : schedule.programs) {
    programs.push_back(to_json(program));
  }
  ordered_json& groups = json["groups"] = ordered_json::array();
  for (const Group& group : schedule.groups) {
    groups.push_back({{"kind", group.kind}, {"members", write_ids(group.members)}});
  }
  ordered_json& ranks = json["ranks"] = ordered_json::array();
  for (const RankBinding& rank : schedule.ranks) {
    ranks.push_back(to_json(rank));
  }
  return json;
}

/// Names come from users and may not be UTF-8; writing must not fail over them.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Schedule read_content(JsonReader& reader) {
  Schedule schedule;
  schedule.model_name = reader.text("model_name");
  schedule.model_hash = reader.text("model_hash");
  schedule.schedule_name = reader.text("schedule_name");
  schedule.stages = read_index(reader, "stages");
  schedule.micro_batches = read_index(reader, "micro_batches");
  schedule.micro_batch_size = read_index(reader, "micro_batch_size");
  schedule.sequence = read_index(reader, "sequence");
  schedule.replicas = read_index(reader, "replicas");
  schedule.sequence_parts = reader.has("sequence_parts") ? read_index(reader, "sequence_parts") : 1;
  schedule.streams = reader.texts("streams");
  if (!reader.object("optimizer",
                     [&](JsonReader& inner) { schedule.optimizer = read_optimizer(inner); })) {
    reader.reject("optimizer", "is required but absent; add it");
  }
  reader.objects("programs",
                 [&](JsonReader& inner) { schedule.programs.push_back(read_program(inner)); });
  reader.objects("groups", [&](JsonReader& inner) {
    Group group;
    group.kind = inner.text("kind");
    group.members = read_ids<RankId>(inner, "members");
    schedule.groups.push_back(std::move(group));
  });
  reader.objects("ranks", [&](JsonReader& inner) { schedule.ranks.push_back(read_rank(inner)); });
  return schedule;
}

/// Refuses files of other programs and versions with a word on what they are.
Result<void> check_head(const nlohmann::json& json, std::string_view where) {
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || *format != kFormat) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format(R"(is no schedule file: the key "format" must be "{}")", kFormat),
                std::string(where));
  }
  const auto version = json.find("version");
  if (version == json.end() || *version != kVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("has version {}; this program reads version {}",
                            version == json.end() ? "none" : version->dump(),
                            kVersion),
                fmt::format("{}:/version", where));
  }
  return {};
}

}  // namespace

std::string schedule_hash(const Schedule& schedule) {
  return content_hash(text_of(content_of(schedule)));
}

std::string to_json_text(const Schedule& schedule) {
  const std::string content = text_of(content_of(schedule));
  const std::string head = fmt::format(
      R"({{"format":"{}","version":{},"hash":"{}",)", kFormat, kVersion, content_hash(content));
  return fmt::format("{}\n{}\n", head, fmt::format(R"("schedule":{}}})", content));
}

Result<Schedule> parse_schedule(std::string_view text, std::string_view where) {
  const auto json = parse_json(text, where);
  if (!json) {
    return tl::unexpected<Error>(json.error());
  }
  if (auto checked = check_head(*json, where); !checked) {
    return pass_on(std::move(checked));
  }
  Schedule schedule;
  JsonReader reader(*json, std::string(where));
  reader.ignore("format");
  reader.ignore("version");
  const std::string hash = reader.text("hash");
  if (!reader.object("schedule", [&](JsonReader& inner) { schedule = read_content(inner); })) {
    reader.reject("schedule", "is required but absent; is the file complete?");
  }
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  if (auto checked = check_indices(schedule, fmt::format("{}:/schedule", where)); !checked) {
    return pass_on(std::move(checked));
  }
  if (const std::string actual = schedule_hash(schedule); actual != hash) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is {}, but the content has {}: the file was changed or damaged; make "
                            "it again",
                            hash,
                            actual),
                fmt::format("{}:/hash", where));
  }
  return schedule;
}

}  // namespace stagewright
