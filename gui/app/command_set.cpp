#include "gui/app/command_set.h"

#include <algorithm>

#include <QtCore/QSettings>
#include <QtCore/QVariant>
#include <QtGui/QAction>
#include <QtWidgets/QWidget>

namespace stagewright::gui {
namespace {

const char* const kDefaultKeys = "default_keys";

QString setting_of(const QAction* action) {
  return QStringLiteral("keys/") + action->objectName();
}

}  // namespace

QAction* CommandSet::add(const Command& command, QWidget* scope) {
  auto* const action = new QAction(command.text, window_);
  action->setObjectName(command.id);
  action->setCheckable(command.checkable);
  action->setProperty(kDefaultKeys, QKeySequence::listToString(command.keys));
  const QSettings settings;
  const QVariant chosen = settings.value(setting_of(action));
  action->setShortcuts(chosen.isValid() ? QKeySequence::listFromString(chosen.toString())
                                        : command.keys);
  if (command.run) {
    QObject::connect(action, &QAction::triggered, window_, command.run);
  }
  if (scope != nullptr) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    scope->addAction(action);
  } else {
    window_->addAction(action);
  }
  actions_.push_back(action);
  return action;
}

QAction* CommandSet::find(const QString& id) const {
  const auto found =
      std::ranges::find_if(actions_, [&](const QAction* a) { return a->objectName() == id; });
  return found == actions_.end() ? nullptr : *found;
}

QList<QKeySequence> CommandSet::default_keys(const QAction* action) const {
  return QKeySequence::listFromString(action->property(kDefaultKeys).toString());
}

QAction* CommandSet::holder_of(const QKeySequence& key, const QAction* besides) const {
  const auto found = std::ranges::find_if(actions_, [&](const QAction* action) {
    return action != besides && !key.isEmpty() && action->shortcuts().contains(key);
  });
  return found == actions_.end() ? nullptr : *found;
}

void CommandSet::set_keys(QAction* action, const QList<QKeySequence>& keys) {
  action->setShortcuts(keys);
  QSettings settings;
  if (keys == default_keys(action)) {
    settings.remove(setting_of(action));
  } else {
    settings.setValue(setting_of(action), QKeySequence::listToString(keys));
  }
}

}  // namespace stagewright::gui
