#include "gui/widgets/theme.h"

#include <array>

#include <QtWidgets/QApplication>
#include <QtWidgets/QStyleFactory>

namespace stagewright::gui {
namespace {

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightness() < palette.color(QPalette::Text).lightness();
}

bool is_high_contrast(const QPalette& palette) {
  return palette.color(QPalette::Base) == Qt::black && palette.color(QPalette::Text) == Qt::white;
}

struct Tones {
  QRgb window;
  QRgb base;
  QRgb alternate;
  QRgb text;
  QRgb faint;
  QRgb button;
  QRgb highlight;
  QRgb highlighted_text;
  QRgb link;
};

QPalette palette_of(const Tones& tones) {
  QPalette palette;
  palette.setColor(QPalette::Window, QColor(tones.window));
  palette.setColor(QPalette::WindowText, QColor(tones.text));
  palette.setColor(QPalette::Base, QColor(tones.base));
  palette.setColor(QPalette::AlternateBase, QColor(tones.alternate));
  palette.setColor(QPalette::Text, QColor(tones.text));
  palette.setColor(QPalette::PlaceholderText, QColor(tones.faint));
  palette.setColor(QPalette::Button, QColor(tones.button));
  palette.setColor(QPalette::ButtonText, QColor(tones.text));
  palette.setColor(QPalette::ToolTipBase, QColor(tones.button));
  palette.setColor(QPalette::ToolTipText, QColor(tones.text));
  palette.setColor(QPalette::Highlight, QColor(tones.highlight));
  palette.setColor(QPalette::HighlightedText, QColor(tones.highlighted_text));
  palette.setColor(QPalette::Link, QColor(tones.link));
  palette.setColor(QPalette::BrightText, QColor(0xFFFFFFFF));
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(tones.faint));
  }
  // The frames that Fusion draws are shades of these.
  palette.setColor(QPalette::Light, QColor(tones.button).lighter(115));
  palette.setColor(QPalette::Midlight, QColor(tones.button).lighter(107));
  palette.setColor(QPalette::Mid, QColor(tones.button).darker(125));
  palette.setColor(QPalette::Dark, QColor(tones.button).darker(150));
  palette.setColor(QPalette::Shadow, QColor(tones.button).darker(250));
  return palette;
}

constexpr Tones kLight{.window = 0xFFF3F4F6,
                       .base = 0xFFFFFFFF,
                       .alternate = 0xFFF7F8FA,
                       .text = 0xFF1B1F24,
                       .faint = 0xFF6B7280,
                       .button = 0xFFF3F4F6,
                       .highlight = 0xFF0B6BCB,
                       .highlighted_text = 0xFFFFFFFF,
                       .link = 0xFF0B6BCB};
constexpr Tones kDark{.window = 0xFF22262B,
                      .base = 0xFF1A1D21,
                      .alternate = 0xFF202429,
                      .text = 0xFFE6E8EB,
                      .faint = 0xFF98A0AA,
                      .button = 0xFF2C3137,
                      .highlight = 0xFF3D8BE0,
                      .highlighted_text = 0xFFFFFFFF,
                      .link = 0xFF7CC0FF};
constexpr Tones kContrast{.window = 0xFF000000,
                          .base = 0xFF000000,
                          .alternate = 0xFF000000,
                          .text = 0xFFFFFFFF,
                          .faint = 0xFFD0D0D0,
                          .button = 0xFF101010,
                          .highlight = 0xFFFFD800,
                          .highlighted_text = 0xFF000000,
                          .link = 0xFFFFD800};

QColor light_or_dark(QRgb colour, const QPalette& palette) {
  return is_dark(palette) ? QColor(blend(colour, 0xFFFFFFFF, 0.15)) : QColor(colour);
}

}  // namespace

QString name_of(Theme theme) {
  switch (theme) {
    case Theme::kSystem:
      return QStringLiteral("system");
    case Theme::kLight:
      return QStringLiteral("light");
    case Theme::kDark:
      return QStringLiteral("dark");
    case Theme::kHighContrast:
      return QStringLiteral("high-contrast");
  }
  return {};
}

std::optional<Theme> theme_named(const QString& name) {
  for (int i = 0; i < kThemeCount; ++i) {
    if (name_of(static_cast<Theme>(i)) == name) {
      return static_cast<Theme>(i);
    }
  }
  return std::nullopt;
}

void apply_theme(QApplication& application, Theme theme) {
  static const QPalette kDesktop = application.palette();
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  switch (theme) {
    case Theme::kSystem:
      QApplication::setPalette(palette_of(is_dark(kDesktop) ? kDark : kLight));
      break;
    case Theme::kLight:
      QApplication::setPalette(palette_of(kLight));
      break;
    case Theme::kDark:
      QApplication::setPalette(palette_of(kDark));
      break;
    case Theme::kHighContrast:
      QApplication::setPalette(palette_of(kContrast));
      break;
  }
}

TimelineColours timeline_colours(const QPalette& palette) {
  const bool contrast = is_high_contrast(palette);
  return {.background = palette.color(QPalette::Base).rgb(),
          .other_rows = palette.color(QPalette::AlternateBase).rgb(),
          .grid = contrast ? 0xFF808080
                           : blend(palette.color(QPalette::Base).rgb(),
                                   palette.color(QPalette::Text).rgb(),
                                   0.14),
          .text = palette.color(QPalette::Text).rgb(),
          .faint_text = palette.color(QPalette::PlaceholderText).rgb(),
          .path = is_dark(palette) ? 0xFFFF4FA8 : 0xFFE6007E,
          .selection = contrast ? 0xFFFFD800 : palette.color(QPalette::Text).rgb(),
          .gutter = palette.color(QPalette::Window).rgb(),
          .dark = is_dark(palette)};
}

QColor colour_of(TensorClass tensor_class, const QPalette& palette) {
  constexpr std::array<QRgb, kTensorClassCount> kColours{
      0xFF0072B2, 0xFFF0E442, 0xFF6B7280, 0xFF56B4E9, 0xFF009E73, 0xFFCC79A7, 0xFFE69F00};
  return light_or_dark(kColours[static_cast<std::size_t>(tensor_class)], palette);
}

QColor context_colour(const QPalette& palette) {
  constexpr QRgb kBrown = 0xFF8C6D46;
  return light_or_dark(kBrown, palette);
}

QColor colour_of(BubbleCause cause, const QPalette& palette) {
  constexpr std::array<QRgb, kBubbleCauseCount> kColours{0xFF8FA3BF,
                                                         0xFFA08FBF,
                                                         0xFF9AA0A6,
                                                         0xFFE69F00,
                                                         0xFFCC79A7,
                                                         0xFFD55E00,
                                                         0xFF777777,
                                                         0xFF009E73};
  return light_or_dark(kColours[static_cast<std::size_t>(cause)], palette);
}

QColor warning_colour(const QPalette& palette) {
  return is_dark(palette) ? QColor(0xFFFF7A59) : QColor(0xFFC5300B);
}

}  // namespace stagewright::gui
