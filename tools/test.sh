#!/usr/bin/env bash
# What `make test` runs, in named steps. A failed build ends the run; after any other failure the rest still runs, so that
# one run tells all. Last line: N passed, N failed, over the tests of ctest, the fuzz targets and the steps themselves.
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
passed=0 failed=0
failures=()

close() {
    local failure
    for failure in "${failures[@]}"; do echo "FAILED: $failure"; done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}
fail() { failures+=("$1"); failed=$((failed + ${2:-1})); }
must() {  # must NAME COMMAND...: nothing after it makes sense if it fails
    local name=$1
    shift
    echo "== $name"
    if "$@"; then passed=$((passed + 1)); else fail "$name"; close; fi
}
# The count of one kind in the head of a JUnit file: tests, failures, skipped, disabled.
count() { sed -n "/<testsuite/,/>/s/.*[^a-z]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

must "build (preset ci)" tools/build.sh ci all

echo "== ONNX models"
tools/fetch_onnx.sh build/onnx || echo "they are not available here: the tests that need them are skipped"

echo "== NVRTC and nvdisasm, to look at the machine code of the CUDA kernels"
tools/fetch_nvidia.sh build/nvidia || echo "they are not available here: the tests that need them are skipped"
# Not a package of Debian; without it that one test says that it is skipped.
GAMBREL_AXE=$(tools/fetch_axe.sh build/axe) && export GAMBREL_AXE

echo "== ctest"
junit=$PWD/build/ci/junit.xml
rm -f "$junit"
ctest --test-dir build/ci -j "$jobs" --timeout 240 --output-on-failure --output-junit "$junit" --test-output-size-passed 4096
status=$?
if [ -s "$junit" ]; then
    total=$(count tests "$junit") broken=$(count failures "$junit") skipped=$(count skipped "$junit")
    passed=$((passed + total - broken - skipped))
    pairs=$(sed -n 's/.*: \([0-9]*\) Tensor rows executed.*/\1/p' "$junit" | awk '{all += $1} END {print all + 0}')
    mutants=$(sed -n 's/^\([0-9]* of [0-9]* broken kernels were caught\).*/\1/p' "$junit")
    echo "CUDA kernels on the PTX device: $pairs pairs of Tensor row and architecture executed; ${mutants:-no broken kernel tried}"
    [ "$skipped" -eq 0 ] || echo "$skipped tests were skipped; each says why above or with: ctest --test-dir build/ci -V"
    if [ "$broken" -gt 0 ]; then fail "ctest: $broken tests, named above" "$broken"; fi
    if [ "$status" -ne 0 ] && [ "$broken" -eq 0 ]; then fail "ctest: exit status $status"; fi
else
    fail "ctest: no result, exit status $status"
fi

# Another build of everything, under sanitizers: minutes that the tests cannot spare. `make fuzz` runs it for longer.
if [ "${FUZZ_TEST_SECONDS:-0}" -gt 0 ]; then
    must "build (preset fuzz)" tools/build.sh fuzz fuzz_all
    echo "== fuzz, $FUZZ_TEST_SECONDS s a target"
    if ! JOBS=$jobs tools/run_fuzz.sh build/fuzz/fuzz "$FUZZ_TEST_SECONDS"; then
        fail "fuzz: $(tr '\n' ' ' <build/fuzz/failed.txt)" "$(wc -l <build/fuzz/failed.txt)"
    fi
    passed=$((passed + $(wc -l <build/fuzz/passed.txt)))
else
    echo "== fuzz: not run (FUZZ_TEST_SECONDS=8 make test, or make fuzz)"
fi
close
