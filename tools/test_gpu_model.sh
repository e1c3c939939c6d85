#!/usr/bin/env bash
# What `make test-gpu-model` runs: every test on the GPU that executes PTX, with whole runs of seven GPUs at 128 MHz and with NVRTC
# 11.8, 12.4, 12.9 and 13.0. ctest gives the tests the environment that a sanitized build needs.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
junit=$PWD/build/ci/gpu-model.xml
JOBS=$jobs tools/build.sh ci test_measure || exit 1
tools/fetch_nvidia.sh build/nvidia && tools/fetch_nvrtc.sh build/nvrtc || exit 1
rm -f "$junit"
start=$(date +%s)
GAMBREL_TEST_ALL_GPUS=1 ctest --test-dir build/ci -R '^measure\..*(Ptx|OtherCompilers|CuptiHostLibrary)' -j "$jobs" --timeout 1200 \
    --output-on-failure --output-junit "$junit" --test-output-size-passed 4096
status=$?
grep -ohE 'compute capability [0-9.]+( at [0-9]+ MHz)?: .*|[0-9]+ of [0-9]+ broken kernels were caught' "$junit" | sort -u
echo "$(($(date +%s) - start)) s"
exit $status
