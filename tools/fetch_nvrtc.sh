#!/usr/bin/env bash
# fetch_nvrtc.sh FOLDER: NVRTC 11.8, 12.4, 12.9 and 13.0 into FOLDER/VERSION, as Python packages. Tests compile the CUDA kernels with
# each of them; without them those tests skip, saying so.
set -euo pipefail
folder=${1:?usage: fetch_nvrtc.sh FOLDER}
python3 -m pip --version >/dev/null 2>&1 || { echo "fetch_nvrtc: python3 -m pip is missing" >&2; exit 1; }
fetch() {
    local target=$folder/$1 package=$2
    [ -d "$target/nvidia" ] && return
    python3 -m pip install --quiet --no-deps --target "$target" --root-user-action=ignore --disable-pip-version-check "$package"
}
fetch 11.8 'nvidia-cuda-nvrtc-cu11==11.8.*'
fetch 12.4 'nvidia-cuda-nvrtc-cu12==12.4.*'
fetch 12.9 'nvidia-cuda-nvrtc-cu12==12.9.*'
fetch 13.0 'nvidia-cuda-nvrtc==13.0.*'
