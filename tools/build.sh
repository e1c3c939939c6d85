#!/usr/bin/env bash
# build.sh PRESET TARGET...: configures and builds; through ccache if it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
mkdir -p build
log=build/configure-$preset.log
if ! cmake --preset "$preset" "${launcher[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: configuring preset $preset failed" >&2
    exit 1
fi
dir=build/$preset
[ "$preset" != release ] || dir=build
cmake --build "$dir" -j "${JOBS:-$(nproc)}" --target "$@"
