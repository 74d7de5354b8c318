#!/usr/bin/env bash
# Brings the texts of the desktop application into the files that Qt Linguist translates, and says what is left to do.
#
#   scripts/update_translations.sh
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
scripts/install_deps.sh gui
lupdate=$(command -v lupdate || echo /usr/lib/qt6/bin/lupdate)
# English needs translations for its plurals alone.
"$lupdate" -silent -I . -locations none -no-obsolete -pluralonly gui -ts gui/app/i18n/stagewright_en.ts
"$lupdate" -silent -I . -locations none -no-obsolete gui -ts gui/app/i18n/stagewright_zh_CN.ts
grep -c 'type="unfinished"' gui/app/i18n/stagewright_*.ts || true
