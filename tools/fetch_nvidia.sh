#!/usr/bin/env bash
# fetch_nvidia.sh FOLDER: NVIDIA's run-time compiler and disassembler into FOLDER, as Python packages. With them the tests compile
# every CUDA kernel and look at its machine code; no GPU and no toolkit is needed. Tests skip, saying so, without them.
# NVRTC 12.9 is the last that compiles for Pascal and Volta; nvdisasm 13 reads Turing and later.
set -euo pipefail
folder=${1:?usage: fetch_nvidia.sh FOLDER}
nvrtc=$folder/nvidia/cuda_nvrtc/lib/libnvrtc.so.12
nvdisasm=$folder/nvidia/cu13/bin/nvdisasm
if [ -s "$nvrtc" ] && [ -x "$nvdisasm" ]; then exit 0; fi
python3 -m pip --version >/dev/null 2>&1 || { echo "fetch_nvidia: python3 -m pip is missing" >&2; exit 1; }
mkdir -p "$folder"
python3 -m pip install --quiet --no-deps --upgrade --target "$folder" --root-user-action=ignore --disable-pip-version-check \
    'nvidia-cuda-nvrtc-cu12>=12.9,<12.10' 'nvidia-cuda-nvdisasm>=13,<14'
# A second compiler, for other host libraries, that nothing here opens: half of the size.
rm -f "$folder"/nvidia/cuda_nvrtc/lib/*.alt.so.*
[ -s "$nvrtc" ] && [ -x "$nvdisasm" ]
