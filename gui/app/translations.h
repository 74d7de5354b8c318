#pragma once

#include <array>

#include <QtCore/QLocale>
#include <QtCore/QTranslator>

namespace stagewright::gui {

/// Installs the texts of a language while it lives.  English comes first, for its plurals; the
/// language goes over it, and the texts of Qt's own widgets.
class Translations {
 public:
  explicit Translations(const QLocale& locale);
  ~Translations();
  Translations(const Translations&) = delete;
  Translations& operator=(const Translations&) = delete;
  Translations(Translations&&) = delete;
  Translations& operator=(Translations&&) = delete;

 private:
  std::array<QTranslator, 3> translators_;
};

}  // namespace stagewright::gui
