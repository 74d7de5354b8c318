#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/training/training_run.h"

namespace stagewright {

/// What kind of figure a record's memory is.
enum class MemoryKind : std::uint8_t {
  kAllocated,           ///< largest sum of live tensors
  kAllocatedLastStage,  ///< the same, of the last pipeline stage's rank
  kReserved,            ///< what the caching allocator took from the driver
  kDriver,              ///< as nvidia-smi shows: with context and libraries
  kUnknown,
};

/// What a published run was and what was measured of it.
struct MeasuredRecord {
  std::string id;
  std::string dataset;
  std::string framework;  ///< as the record names it; empty: several or unknown
  std::string source;
  std::string quality;  ///< "A", "B", "C"
  std::string model;    ///< its name
  TrainingRun run;
  /// Output vocabulary as stated (run.shape.vocabulary is what the framework pads it to, if it
  /// says so).
  std::string device;  ///< as the record names it: "A100-80GB-SXM"
  std::int32_t devices_per_node = 8;
  /// The record's null: run.micro_batch is 1 and stands for whatever the framework's user chose.
  bool micro_batch_unknown = false;
  std::string intra_link;  ///< free text, may be empty
  std::string inter_link;
  std::optional<double> iteration_seconds;
  std::optional<double> memory_bytes;
  MemoryKind memory_kind = MemoryKind::kUnknown;
  bool out_of_memory = false;
  /// The record's `measured` and `plan` fields that a time or memory model may want and that have
  /// no place above, by name ("attention_backend", "transformer_impl", "optimizer", "mp_mode").
  std::map<std::string, std::string> details;
  std::vector<std::string> assumed;            ///< what the reader takes that the record lacks
  std::vector<std::string> assumed_by_source;  ///< fields that the record's source does not print
  friend bool operator==(const MeasuredRecord&, const MeasuredRecord&) = default;
};

/// One line of a file of records: a record, or why it is none.
struct RecordLine {
  std::string id;       ///< "line 17" where the record does not say
  std::string dataset;  ///< empty where it does not say
  std::optional<MeasuredRecord> record;
  std::string skipped;  ///< why there is no record; names the field
  friend bool operator==(const RecordLine&, const RecordLine&) = default;
};

/// Reads published measurements, one JSON object a line (docs/formats/measured_record.md).  Nothing
/// is filled in silently: a record that lacks, contradicts or mistypes a field, or holds an absurd
/// value in one, is skipped with a reason that names the field.  What the reader completes follows
/// from the record itself (dp from gpus / (tp pp cp), the number of micro-batches from the batch
/// sizes, the iteration time from tokens or samples per second), and must agree where both are
/// there; what it assumes instead is listed in `assumed`.
[[nodiscard]] std::vector<RecordLine> parse_measured_records(std::string_view text);

}  // namespace stagewright
