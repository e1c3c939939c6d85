#!/usr/bin/env bash
# Are the sources as .clang-format has them? --fix rewrites them. Exit status 77, "skipped", with another clang-format than
# the one below: versions differ in what they print, and a newer Debian must not turn the tests red.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=14

mapfile -t files < <(find include src app tests fuzz bench examples -name '*.cpp' -o -name '*.hpp' 2>/dev/null | sort)
if [ "${1:-}" = --fix ]; then
    clang-format -i "${files[@]}"
    exit
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
