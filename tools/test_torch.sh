#!/usr/bin/env bash
# test_torch.sh DIST FOLDER: the wheel in DIST beside PyTorch and transformers, in an environment in FOLDER that is made once.
# TORCH="torch==2.9.0": another version; what pip is configured for decides whether it is the build for CPUs.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$1 folder=$2
tools/make_venv.sh "$folder" "${TORCH:-torch}" transformers pytest
"$folder/bin/python" -m pip install -q --force-reinstall --no-deps "$dist"/*.whl
root=$PWD
cd "$folder" && bin/python -m pytest -q -p no:cacheprovider "$root/python/tests/test_torch.py"
