#!/usr/bin/env bash
# test_notebooks.sh DIST FOLDER: examples/notebooks executed by Jupyter's client with the wheel in DIST, in an environment in FOLDER that is
# made once.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$1 folder=$2
tools/make_venv.sh "$folder" nbclient nbformat ipykernel pytest
"$folder/bin/python" -m pip install -q --force-reinstall --no-deps "$dist"/*.whl
root=$PWD
cd "$folder" && PATH=$PWD/bin:$PATH bin/python -m pytest -q -p no:cacheprovider --durations=5 "$root/python/tests/test_notebooks.py"
