#!/usr/bin/env bash
# fetch_onnx.sh FOLDER: the real ONNX models inside the Python package onnx, into FOLDER. Tests skip, saying so, without them.
set -euo pipefail
folder=${1:?usage: fetch_onnx.sh FOLDER}
if [ -s "$folder/onnx/backend/test/data/light/light_resnet50.onnx" ]; then exit 0; fi
python3 -m pip --version >/dev/null 2>&1 || { echo "fetch_onnx: python3 -m pip is missing" >&2; exit 1; }
mkdir -p "$folder"
python3 -m pip download --quiet --no-deps --disable-pip-version-check --only-binary :all: --dest "$folder" 'onnx>=1.16,<2'
python3 - "$folder" <<'PY'
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/onnx-*.whl"):
    with zipfile.ZipFile(wheel) as z:
        z.extractall(sys.argv[1], [n for n in z.namelist() if n.startswith("onnx/backend/test/data/") and n.endswith(".onnx")])
PY
rm -f "$folder"/onnx-*.whl
[ -s "$folder/onnx/backend/test/data/light/light_resnet50.onnx" ]
