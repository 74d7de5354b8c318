#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <QtCore/QAbstractTableModel>

#include "planner/search/search.h"

namespace stagewright::gui {

enum class CandidateState : std::uint8_t {
  kSimulated,
  kEstimated,  ///< priced in closed form alone
  kRejected,
};

/// A plan that a search looked at.
struct CandidateRow {
  CandidateState state = CandidateState::kSimulated;
  Candidate candidate;    ///< of a rejected one, only the plan
  std::string reason;     ///< why it was rejected
  int rank = 0;           ///< among the simulated ones, from 1; 0: none
  bool on_front = false;  ///< no simulated one beats it in time, memory and devices at once
};

/// A row for each plan of a search, in the order in which they were found.
class CandidatesModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kRank,
    kPlan,
    kTime,
    kTokens,
    kMfu,
    kMemory,
    kBubble,
    kExposed,
    kDevices,
    kVerdict,
    kColumns
  };
  /// A number to sort by; what a row has not is above all numbers.
  static constexpr int kSortRole = Qt::UserRole;

  explicit CandidatesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void clear();
  /// Appends rows; ranks and front are found anew.
  void add(std::vector<CandidateRow> rows);
  /// Takes over what the end of a search says about plans that are here, as their objective.
  void judge(const std::vector<Candidate>& plans);

  [[nodiscard]] const std::vector<CandidateRow>& rows() const { return rows_; }
  /// The row of the best simulated plan; -1 if there is none.
  [[nodiscard]] int best() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;

 private:
  void rank_all();
  [[nodiscard]] QString text(const CandidateRow& row, Column column) const;

  std::vector<CandidateRow> rows_;
};

}  // namespace stagewright::gui
