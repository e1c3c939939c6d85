#!/usr/bin/env bash
# lint.sh BUILD_DIR: clang-tidy, with .clang-tidy, over src/ and app/.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f "$1/compile_commands.json" ] || { echo "lint: no $1/compile_commands.json" >&2; exit 1; }
run-clang-tidy -quiet -extra-arg=-Wno-unknown-warning-option -p "$1" -j "${JOBS:-$(nproc)}" "$PWD/(src|app)/.*\.cpp$" 2>/dev/null
echo "lint: clean"
