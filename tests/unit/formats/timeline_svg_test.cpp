#include "formats/timeline_svg.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace stagewright {
namespace {

using namespace std::chrono_literals;

Timeline row_of(std::vector<TimelineBox> boxes) {
  Timeline timeline;
  for (const TimelineBox& box : boxes) {
    timeline.length = std::max(timeline.length, box.end.time_since_epoch());
  }
  timeline.rows.push_back({.rank = RankId(0), .boxes = std::move(boxes)});
  return timeline;
}

TimelineBox box(ActionKind kind, std::int32_t micro_batch, Duration start, Duration end) {
  return {.start = TimePoint(start),
          .end = TimePoint(end),
          .action = {.kind = kind, .micro_batch = MicroBatchId(micro_batch)}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(TimelineSvg, LabelsBoxesAndExplainsItsColours) {
  const std::string svg = write_timeline_svg(
      row_of({box(ActionKind::kForward, 0, 0s, 1s), box(ActionKind::kBackward, 0, 3s, 5s)}),
      {},
      "two <boxes> & a \"gap\"",
      "costs");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("two &lt;boxes&gt; &amp; a &quot;gap&quot;"), std::string::npos);
  EXPECT_NE(svg.find("<title>0F0: 0 to 1</title>"), std::string::npos);
  EXPECT_NE(svg.find(">F0</text>"), std::string::npos);
  EXPECT_NE(svg.find(">B0</text>"), std::string::npos);
  for (const char* legend : {">F forward<", ">B backward<", ">idle (bubble)<"}) {
    EXPECT_NE(svg.find(legend), std::string::npos) << legend;
  }
}

TEST(TimelineSvg, JoinsWhatIsTooShortToDraw) {
  std::vector<TimelineBox> boxes;
  for (int i = 0; i < 100'000; ++i) {
    boxes.push_back(box(ActionKind::kForward, i, i * 2ms, i * 2ms + 1ms));
  }
  const std::string svg = write_timeline_svg(row_of(std::move(boxes)), {1, "s"}, "many", "");
  EXPECT_LT(svg.size(), 1'000'000U);
  EXPECT_GT(count(svg, " actions, "), 500U);
  EXPECT_NE(svg.find("lower bars"), std::string::npos);
}

TEST(TimelineSvg, OfNothingIsAPicture) {
  const std::string svg = write_timeline_svg({}, {}, "", "");
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "nan"), 0U);
  EXPECT_EQ(count(svg, "inf"), 0U);
}

}  // namespace
}  // namespace stagewright
