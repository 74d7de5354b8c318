#include "runtime/comm/launch_environment.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace stagewright {

namespace {

constexpr int kLargestPort = 65535;
constexpr int kLargestWorld = 1 << 20;

[[nodiscard]] Result<std::string> text_of(const Variables& variables, const std::string& name) {
  std::optional<std::string> value = variables(name);
  if (!value || value->empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} is not set; start the processes with torchrun, or set RANK, "
                            "WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each",
                            name),
                name);
  }
  return *std::move(value);
}

[[nodiscard]] Result<int> number_of(const Variables& variables,
                                    const std::string& name,
                                    int smallest,
                                    int largest) {
  const Result<std::string> text = text_of(variables, name);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < smallest ||
      value > largest) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is no number from {} to {}", *text, smallest, largest),
                name);
  }
  return value;
}

}  // namespace

Result<LaunchEnvironment> read_launch_environment(const Variables& variables) {
  const Result<int> ranks = number_of(variables, "WORLD_SIZE", 1, kLargestWorld);
  if (!ranks) {
    return tl::unexpected<Error>(ranks.error());
  }
  const Result<int> rank = number_of(variables, "RANK", 0, *ranks - 1);
  const Result<int> local =
      variables("LOCAL_RANK") ? number_of(variables, "LOCAL_RANK", 0, *ranks - 1) : Result<int>(0);
  const Result<std::string> host = text_of(variables, "MASTER_ADDR");
  const Result<int> port = number_of(variables, "MASTER_PORT", 1, kLargestPort - 1);
  for (const Result<int>* number : {&rank, &local, &port}) {
    if (!*number) {
      return tl::unexpected<Error>(number->error());
    }
  }
  if (!host) {
    return tl::unexpected<Error>(host.error());
  }
  const bool taken = variables("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return LaunchEnvironment{.rank = *rank,
                           .ranks = *ranks,
                           .local_rank = *local,
                           .host = *host,
                           .port = static_cast<std::uint16_t>(*port + (taken ? 1 : 0)),
                           .token = variables("TORCHELASTIC_RUN_ID").value_or("")};
}

Variables process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

}  // namespace stagewright
