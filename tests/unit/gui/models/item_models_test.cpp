#include <memory>

#include <QtTest/QAbstractItemModelTester>
#include <gtest/gtest.h>

#include "gui/models/rank_tree_model.h"
#include "gui/models/statistics_model.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::gui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

class RankTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    actions_ = std::make_shared<const ActionStore>(
        store_actions(test::pipeline_trace("1f1b", 2, 2, 2), 0));
    model_.set_actions(actions_, {{.name = "copy", .position = {0, 0, 1, 1}}});
  }

  std::shared_ptr<const ActionStore> actions_;
  RankTreeModel model_;
  QAbstractItemModelTester tester_{&model_, Mode::Fatal};
};

TEST_F(RankTreeTest, IsAListUntilRanksAreGrouped) {
  EXPECT_EQ(model_.rowCount({}), 4);
  EXPECT_EQ(model_.index(2, 0, {}).data().toString(), "rank 2");
  model_.set_choices({.group_by = "copy"});
  ASSERT_EQ(model_.rowCount({}), 2);
  const QModelIndex group = model_.index(1, 0, {});
  EXPECT_EQ(group.data().toString(), "copy 1");
  ASSERT_EQ(model_.rowCount(group), 2);
  EXPECT_EQ(model_.index(0, 0, group).data().toString(), "rank 2");
  EXPECT_EQ(model_.rank_at(model_.index(0, 0, group)), RankId(2));
  EXPECT_EQ(model_.rank_at(group), std::nullopt);
}

TEST_F(RankTreeTest, AsksToHideAndShowsWhatIsHidden) {
  model_.set_choices({.group_by = "copy"});
  std::vector<RankId> asked;
  QObject::connect(&model_,
                   &RankTreeModel::shown_changed,
                   &model_,
                   [&](const std::vector<RankId>& ranks, bool shown) {
                     EXPECT_FALSE(shown);
                     asked = ranks;
                   });
  const QModelIndex group = model_.index(0, 0, {});
  EXPECT_TRUE(model_.setData(group, Qt::Unchecked, Qt::CheckStateRole));
  EXPECT_EQ(asked, (std::vector<RankId>{RankId(0), RankId(1)}));
  model_.set_choices({.group_by = "copy", .hidden = {RankId(0)}});
  EXPECT_EQ(group.data(Qt::CheckStateRole).toInt(), Qt::PartiallyChecked);
  EXPECT_EQ(model_.index(0, 0, group).data(Qt::CheckStateRole).toInt(), Qt::Unchecked);
}

TEST(StatisticsModelTest, ShowsARowForEachKind) {
  StatisticsModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  const ActionStore store = store_actions(test::pipeline_trace("1f1b", 2, 2), 0);
  model.set_statistics(statistics_of(store, everything(store)), {1, "s"});
  ASSERT_GE(model.rowCount({}), 2);
  EXPECT_EQ(model.index(0, StatisticsModel::kKind).data().toString(), "backward");
  EXPECT_EQ(model.index(0, StatisticsModel::kCount).data().toInt(), 4);
  EXPECT_EQ(model.index(0, StatisticsModel::kTotal).data().toString(), "8 s");
  EXPECT_EQ(model.index(0, StatisticsModel::kTotal).data(StatisticsModel::kSortRole).toLongLong(),
            8'000'000'000'000);
}

TEST(StatisticsModelTest, WritesUnitCostsAsBareNumbers) {
  EXPECT_EQ(time_text(std::chrono::milliseconds(1500), {1, ""}), "1.5");
  EXPECT_EQ(time_text(std::chrono::milliseconds(1500), {1, "s"}), "1.5 s");
}

}  // namespace
}  // namespace stagewright::gui
