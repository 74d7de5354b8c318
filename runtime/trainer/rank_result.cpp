#include "runtime/trainer/rank_result.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/backend_error.h"

namespace stagewright {

namespace {

class Writer {
 public:
  template <class T>
  void pass(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void pass(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    pass(values.size());
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// How many there are, of what is passed one by one.
  template <class T>
  void pass_size(const std::vector<T>& values) {
    pass(values.size());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void pass(T& value) {
    std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
  }
  template <class T>
  void pass(std::vector<T>& values) {
    const std::span<const std::byte> from = next(count() * sizeof(T));
    values.resize(from.size() / sizeof(T));
    if (!from.empty()) {
      std::memcpy(values.data(), from.data(), from.size());
    }
  }
  template <class T>
  void pass_size(std::vector<T>& values) {
    values.resize(count());
  }

 private:
  [[nodiscard]] std::size_t count() {
    std::size_t count = 0;
    pass(count);
    if (count > bytes_.size()) {
      throw broken();
    }
    return count;
  }
  [[nodiscard]] static BackendError broken() {
    return BackendError(Error{ErrorCode::kBackendFailed,
                              "another rank's results cannot be read; start the same program on "
                              "all ranks",
                              {}});
  }
  [[nodiscard]] std::span<const std::byte> next(std::size_t count) {
    if (count > bytes_.size()) {
      throw broken();
    }
    const std::span<const std::byte> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const std::byte> bytes_;
};

/// The parts of a result in the order in which they are sent: to a Writer or from a Reader.
template <class Archive, class Passed>
void pass_parts(Archive& archive, Passed& result) {
  archive.pass_size(result.steps);
  for (auto& step : result.steps) {
    archive.pass(step.step);
    archive.pass(step.begin);
    archive.pass(step.end);
    archive.pass(step.times);
    archive.pass(step.memory);
  }
  archive.pass(result.totals);
  archive.pass(result.memory);
  archive.pass_size(result.lane_logs);
  for (auto& log : result.lane_logs) {
    archive.pass(log);
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const RankResult& result) {
  Writer to;
  pass_parts(to, result);
  return to.take();
}

RankResult rank_result(std::span<const std::byte> bytes) {
  Reader from(bytes);
  RankResult result;
  pass_parts(from, result);
  return result;
}

std::vector<RankResult> gather_results(HostValues& values, const RankResult& own) {
  std::vector<std::byte> bytes = to_bytes(own);
  if (bytes.size() > std::numeric_limits<std::int32_t>::max()) {
    throw BackendError(Error{ErrorCode::kBackendFailed,
                             "the trace of a rank has more than 2 GiB; trace fewer steps",
                             {}});
  }
  const auto most =
      static_cast<std::size_t>(values.maximum(static_cast<std::int32_t>(bytes.size())));
  bytes.resize(most);  // what lies behind is not read
  const std::vector<std::byte> all = values.gather(bytes);
  std::vector<RankResult> results;
  for (std::size_t at = 0; at < all.size(); at += most) {
    results.push_back(rank_result(std::span(all).subspan(at, most)));
  }
  return results;
}

}  // namespace stagewright
