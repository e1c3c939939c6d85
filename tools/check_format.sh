#!/usr/bin/env bash
# Are the sources, C++ and the page's TypeScript, as .clang-format has them, and no line of a script beyond 120 columns? --fix rewrites them. Exit status 77, "skipped", with another clang-format than
# the one below: versions differ in what they print, and a newer Debian must not turn the tests red.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=14

mapfile -t files < <(find include src app tests fuzz bench examples web python -name '*.cpp' -o -name '*.hpp' -o -name '*.ts' 2>/dev/null | sort)
if [ "${1:-}" = --fix ]; then
    clang-format -i "${files[@]}"
    exit
fi
# clang-format breaks no text: a long one is for its writer to cut.
if LC_ALL=C.UTF-8 grep -nE '^.{121,}' web/*.ts; then
    echo "format: lines beyond 120 columns" >&2
    exit 1
fi
if ! version=$(clang-format --version 2>/dev/null); then
    echo "format: not checked, there is no clang-format"
    exit 77
fi
major=$(sed 's/.*version \([0-9]*\).*/\1/' <<<"$version")
if [ "$major" != "$wanted" ]; then
    echo "format: not checked, clang-format is $major and the format is that of $wanted"
    exit 77
fi
if ! clang-format --dry-run --Werror "${files[@]}"; then
    echo "format: run make format" >&2
    exit 1
fi
