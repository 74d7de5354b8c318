#include "gui/app/translations.h"

#include <QtCore/QCoreApplication>
#include <QtCore/QLibraryInfo>

namespace stagewright::gui {

Translations::Translations(const QLocale& locale) {
  const QString separator = QStringLiteral("_");
  const QString name = QStringLiteral("stagewright");
  const QString folder = QStringLiteral(":/i18n");
  const std::array<bool, 3> loaded{
      translators_[0].load(name + QStringLiteral("_en"), folder),
      translators_[1].load(locale, name, separator, folder),
      translators_[2].load(locale,
                           QStringLiteral("qtbase"),
                           separator,
                           QLibraryInfo::path(QLibraryInfo::TranslationsPath))};
  for (std::size_t i = 0; i < translators_.size(); ++i) {
    if (loaded[i]) {
      QCoreApplication::installTranslator(&translators_[i]);
    }
  }
}

Translations::~Translations() {
  for (QTranslator& translator : translators_) {
    QCoreApplication::removeTranslator(&translator);
  }
}

}  // namespace stagewright::gui
