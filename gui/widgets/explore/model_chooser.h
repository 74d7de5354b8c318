#pragma once

#include <QtWidgets/QWidget>

#include "core/base/data_files.h"
#include "gui/models/layer_tree_model.h"

class QComboBox;
class QLabel;
class QTreeView;

namespace stagewright::gui {

/// The model: a preset or a configuration of Hugging Face, and its layers with what they cost.
class ModelChooser : public QWidget {
  Q_OBJECT

 public:
  explicit ModelChooser(const DataFiles& files, QWidget* parent = nullptr);

  /// Preset, or path of a file.
  [[nodiscard]] QString name() const;
  void set_name(const QString& name);
  void set_outline(const Result<ModelOutline>& outline);
  [[nodiscard]] LayerTreeModel* layers() { return layers_; }

 signals:
  void changed();

 private:
  void choose_file();

  QComboBox* name_;
  QLabel* summary_;
  LayerTreeModel* layers_;
  QTreeView* tree_;
};

}  // namespace stagewright::gui
