#include "gui/widgets/explore/model_chooser.h"

#include <QtCore/QDir>
#include <QtCore/QFileInfo>
#include <QtCore/QSignalBlocker>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTreeView>
#include <QtWidgets/QVBoxLayout>

#include "gui/models/plan_setup.h"

namespace stagewright::gui {
namespace {

/// A configuration's folder says more than its file, which is always called config.json.
QString short_name_of(const QString& path) {
  const QFileInfo file(path);
  return file.fileName() == QLatin1String("config.json")
             ? file.absoluteDir().dirName() + QLatin1Char('/') + file.fileName()
             : file.fileName();
}

}  // namespace

ModelChooser::ModelChooser(const DataFiles& files, QWidget* parent)
    : QWidget(parent),
      name_(new QComboBox(this)),
      summary_(new QLabel(this)),
      layers_(new LayerTreeModel(this)),
      tree_(new QTreeView(this)) {
  name_->setObjectName(QStringLiteral("model"));
  for (const std::string& name : preset_names(files, "models")) {
    name_->addItem(QString::fromStdString(name), QString::fromStdString(name));
  }
  summary_->setWordWrap(true);
  tree_->setObjectName(QStringLiteral("layers"));
  tree_->setAccessibleName(tr("Layers of the model"));
  tree_->setModel(layers_);
  tree_->setAlternatingRowColors(true);
  tree_->setUniformRowHeights(true);
  tree_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  tree_->header()->setStretchLastSection(false);
  auto* const open = new QPushButton(tr("&Open..."), this);
  open->setToolTip(tr("A config.json of Hugging Face, or a model file"));
  // On Linux a box is told to screen readers by its label alone.
  auto* const label = new QLabel(tr("Mo&del"), this);
  label->setBuddy(name_);
  auto* const row = new QHBoxLayout;
  row->addWidget(label);
  row->addWidget(name_, 1);
  row->addWidget(open);
  auto* const layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addWidget(summary_);
  layout->addWidget(tree_, 1);
  connect(open, &QPushButton::clicked, this, &ModelChooser::choose_file);
  connect(name_, &QComboBox::currentIndexChanged, this, &ModelChooser::changed);
}

QString ModelChooser::name() const {
  return name_->currentData().toString();
}

void ModelChooser::set_name(const QString& name) {
  int at = name_->findData(name);
  if (at < 0) {
    const QSignalBlocker quiet(name_);
    name_->addItem(short_name_of(name), name);
    at = name_->count() - 1;
    name_->setItemData(at, name, Qt::ToolTipRole);
  }
  name_->setCurrentIndex(at);
}

void ModelChooser::set_outline(const Result<ModelOutline>& outline) {
  layers_->set_outline(outline ? std::optional(*outline) : std::nullopt);
  if (!outline) {
    summary_->setText(QString::fromStdString(outline.error().to_string()));
    return;
  }
  summary_->setText(tr("%1 parameters; a sequence of %2 tokens takes %3FLOP, forward and backward")
                        .arg(count_text(static_cast<double>(outline->parameters)))
                        .arg(outline->sequence)
                        .arg(count_text(outline->flops.count())));
}

void ModelChooser::choose_file() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open a model"), {}, tr("Configurations (*.json);;All files (*)"));
  if (!path.isEmpty()) {
    set_name(path);
  }
}

}  // namespace stagewright::gui
