#include "gui/models/file_export.h"

#include <string>
#include <utility>

#include <QtCore/QMetaObject>

#include "core/base/file.h"
#include "gui/models/memory_guard.h"
#include "gui/models/saved_name.h"

namespace stagewright::gui {

FileExport::FileExport(QObject* parent) : QObject(parent) {
  threads_.setMaxThreadCount(1);
}

FileExport::~FileExport() {
  threads_.waitForDone();
}

void FileExport::start(std::shared_ptr<const OpenedFile> file,
                       std::shared_ptr<const ShownStep> step,
                       const Exporter& exporter,
                       const QString& path) {
  const QString name = with_suffix(path, QString::fromLatin1(exporter.suffix));
  ++pending_;
  threads_.start([this, file = std::move(file), step = std::move(step), exporter, name] {
    const std::string where = name.toStdString();
    const Result<void> result =
        within_memory(where, "export fewer steps or ranks", [&]() -> Result<void> {
          auto content = exporter.write(*file, *step);
          return content ? write_file(where, *content) : pass_on(std::move(content));
        });
    const QString problem = result ? QString() : QString::fromStdString(result.error().to_string());
    QMetaObject::invokeMethod(this, [this, name, problem] {
      --pending_;
      if (problem.isEmpty()) {
        emit written(name);
      } else {
        emit failed(problem);
      }
    });
  });
}

}  // namespace stagewright::gui
