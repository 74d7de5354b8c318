#include "gui/models/exporters.h"

#include <algorithm>
#include <set>
#include <string>

#include <QtGui/QImage>
#include <gtest/gtest.h>

#include "gui/models/timeline_png.h"
#include "tests/support/source_folder.h"

namespace stagewright::gui {
namespace {

const OpenedFile& exported() {
  static const OpenedFile kFile =
      open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {}).value();
  return kFile;
}

TEST(Exporters, EveryOneThatAppliesWritesWhatOpensAgainOrIsOfItsKind) {
  std::set<std::string> suffixes;
  for (const Exporter& exporter : exporters()) {
    ASSERT_TRUE(exporter.applies(exported())) << exporter.name;
    EXPECT_TRUE(suffixes.insert(exporter.suffix).second) << exporter.suffix;
    const auto content = exporter.write(exported(), exported().shown);
    ASSERT_TRUE(content) << exporter.name;
    EXPECT_FALSE(content->empty()) << exporter.name;
    const std::string suffix = exporter.suffix;
    if (suffix == ".svg") {
      EXPECT_NE(content->find("<svg"), std::string::npos);
    } else if (suffix == ".png") {
      const QImage image = QImage::fromData(QByteArray::fromStdString(*content), "PNG");
      EXPECT_EQ(image.width(), kPngWidth);
      EXPECT_GT(image.height(), 60);
    } else if (suffix == ".csv") {
      EXPECT_EQ(static_cast<std::size_t>(std::count(content->begin(), content->end(), '\n')),
                exported().shown.actions.size() + 1);
    } else {
      const auto again = open_content(*content, "again" + suffix, {});
      ASSERT_TRUE(again) << suffix << ": " << again.error().to_string();
    }
  }
}

TEST(Exporters, PixelsShowEveryRankWhereTheirRowsMustBeThinner) {
  const OpenedFile file =
      open_file((source_folder() / "examples/llama3-70b-128xh100.plan.json").string(), {}).value();
  const auto content = write_timeline_png(file, file.shown);
  ASSERT_TRUE(content);
  const QImage image = QImage::fromData(QByteArray::fromStdString(*content), "PNG")
                           .convertToFormat(QImage::Format_RGB32);
  constexpr int kTitle = 28;
  constexpr int kRuler = 24;
  constexpr int kLabels = 60;
  int labels = 0;
  bool in_label = false;
  for (int y = kTitle; y < image.height() - kRuler; ++y) {
    bool text = false;
    for (int x = 8; x < kLabels; ++x) {
      text = text || image.pixel(x, y) != image.pixel(0, y);
    }
    labels += text && !in_label ? 1 : 0;
    in_label = text;
  }
  EXPECT_EQ(labels, 128);
}

TEST(Exporters, WhatIsWrittenAsATraceIsTheSameTrace) {
  for (const Exporter& exporter : exporters()) {
    const std::string suffix = exporter.suffix;
    if (suffix == ".swtrace" || suffix == ".trace.json") {
      const std::string content = exporter.write(exported(), exported().shown).value();
      const Trace again = parse_trace(content, "again").value();
      EXPECT_EQ(again, signed_trace(exported())) << suffix;
      EXPECT_EQ(again.schedule_hash, schedule_hash(*exported().schedule)) << suffix;
    }
  }
}

TEST(Exporters, ATraceHasNoPlanToWrite) {
  const OpenedFile trace = open_content(to_binary(exported().trace), "t.swtrace", {}).value();
  for (const Exporter& exporter : exporters()) {
    const std::string suffix = exporter.suffix;
    const bool needs_more =
        suffix == ".plan.json" || suffix == ".schedule.json" || suffix == ".order.csv";
    EXPECT_EQ(exporter.applies(trace), !needs_more) << suffix;
  }
}

}  // namespace
}  // namespace stagewright::gui
