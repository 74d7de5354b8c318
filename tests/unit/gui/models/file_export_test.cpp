// Exports are written on a thread, whole, and also when nobody waits for them.

#include "gui/models/file_export.h"

#include <memory>
#include <new>
#include <optional>
#include <string>

#include <QtCore/QFileInfo>
#include <QtCore/QTemporaryDir>
#include <QtTest/QSignalSpy>
#include <QtTest/QTest>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "gui/models/saved_name.h"
#include "tests/support/source_folder.h"

namespace stagewright::gui {
namespace {

class FileExportTest : public testing::Test {
 protected:
  FileExportTest()
      : file_(std::make_shared<const OpenedFile>(
            open_file((source_folder() / "examples/gpt-demo-uneven.plan.json").string(), {})
                .value())),
        step_(file_, &file_->shown) {}

  [[nodiscard]] QString path(const char* name) const {
    return folder_.filePath(QLatin1String(name));
  }

  QTemporaryDir folder_;
  std::shared_ptr<const OpenedFile> file_;
  std::shared_ptr<const ShownStep> step_;
};

TEST_F(FileExportTest, WritesWhatEveryExporterGives) {
  FileExport exports;
  const QSignalSpy written(&exports, &FileExport::written);
  for (const Exporter& exporter : exporters()) {
    exports.start(file_, step_, exporter, path("step"));
  }
  ASSERT_TRUE(QTest::qWaitFor([&] { return exports.pending() == 0; }, 60'000));
  EXPECT_EQ(static_cast<std::size_t>(written.count()), exporters().size());
  for (const Exporter& exporter : exporters()) {
    const std::string name = path("step").toStdString() + exporter.suffix;
    const auto content = read_file(name);
    ASSERT_TRUE(content) << content.error().to_string();
    EXPECT_EQ(*content, *exporter.write(*file_, *step_)) << name;
  }
}

TEST(SavedNameTest, ASuffixComesOnceAndReplacesItsOwnEnd) {
  EXPECT_EQ(with_suffix("x", ".plan.json"), "x.plan.json");
  EXPECT_EQ(with_suffix("x.json", ".plan.json"), "x.plan.json");
  EXPECT_EQ(with_suffix("x.plan.json", ".plan.json"), "x.plan.json");
  EXPECT_EQ(with_suffix("a/x-1.5", ".png"), "a/x-1.5.png");
}

TEST_F(FileExportTest, SaysWhatCouldNotBeWritten) {
  FileExport exports;
  QSignalSpy failed(&exports, &FileExport::failed);
  exports.start(file_, step_, exporters().front(), path("no such folder/step"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return exports.pending() == 0; }, 60'000));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("no such folder")));
}

TEST_F(FileExportTest, WhatDoesNotFitInMemoryIsSaid) {
  FileExport exports;
  QSignalSpy failed(&exports, &FileExport::failed);
  Exporter endless = exporters().front();
  endless.write = [](const OpenedFile&, const ShownStep&) -> Result<std::string> {
    throw std::bad_alloc();
  };
  exports.start(file_, step_, endless, path("step"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return exports.pending() == 0; }, 60'000));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("memory")));
}

TEST_F(FileExportTest, WhatWasStartedIsWrittenWhenTheWindowCloses) {
  const Exporter& exporter = exporters().front();
  auto exports = std::make_optional<FileExport>();
  exports->start(file_, step_, exporter, path("last"));
  exports.reset();
  EXPECT_TRUE(QFileInfo::exists(path("last") + QLatin1String(exporter.suffix)));
}

}  // namespace
}  // namespace stagewright::gui
