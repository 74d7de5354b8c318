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
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void get(T& value) {
    std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
  }
  template <class T>
  void get(std::vector<T>& values) {
    const std::span<const std::byte> from = next(count() * sizeof(T));
    values.resize(from.size() / sizeof(T));
    if (!from.empty()) {
      std::memcpy(values.data(), from.data(), from.size());
    }
  }
  [[nodiscard]] std::size_t count() {
    std::size_t count = 0;
    get(count);
    if (count > bytes_.size()) {
      throw broken();
    }
    return count;
  }

 private:
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

}  // namespace

std::vector<std::byte> to_bytes(const RankResult& result) {
  Writer to;
  to.put(result.steps.size());
  for (const StepRecord& step : result.steps) {
    to.put(step.step);
    to.put(step.begin);
    to.put(step.end);
    to.put(step.times);
    to.put(step.memory);
  }
  to.put(result.totals);
  to.put(result.memory);
  to.put(result.lane_logs.size());
  for (const std::vector<std::int32_t>& log : result.lane_logs) {
    to.put(log);
  }
  return to.take();
}

RankResult rank_result(std::span<const std::byte> bytes) {
  Reader from(bytes);
  RankResult result;
  result.steps.resize(from.count());
  for (StepRecord& step : result.steps) {
    from.get(step.step);
    from.get(step.begin);
    from.get(step.end);
    from.get(step.times);
    from.get(step.memory);
  }
  from.get(result.totals);
  from.get(result.memory);
  result.lane_logs.resize(from.count());
  for (std::vector<std::int32_t>& log : result.lane_logs) {
    from.get(log);
  }
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
