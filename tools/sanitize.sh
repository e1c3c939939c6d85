#!/usr/bin/env bash
# sanitize.sh [ROOM...]: builds the tests of these rooms, or all tests, with clang under the address and undefined behaviour
# sanitizers (preset asan, build/asan) and runs them. A report of a sanitizer fails its test.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tools/lsan.supp:print_suppressions=0

# MPI, PoCL and NVRTC unload what leaks before the leaks are counted, so that no name is left to suppress them by.
unloading='Opencl|Cuda|Ptx|OtherCompilers|ExploreCommand|doctor|several_processes'

if [ $# -eq 0 ]; then
    tools/build.sh asan all
    # The tests of the tree look at files and not at the program; a consumer is built by the ordinary tests.
    status=0
    ctest --test-dir build/asan -j "$jobs" --output-on-failure -E "^(tree|install|page)\.|$unloading" --timeout 1200 || status=1
    export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    ctest --test-dir build/asan -j "$jobs" --output-on-failure -E '^(tree|install|page)\.' -R "$unloading" --timeout 1200 || status=1
    exit $status
fi
tools/build.sh asan "${@/#/test_}"
failed=0
for room in "$@"; do
    echo "== test_$room under sanitizers"
    build/asan/tests/test_"$room" --gtest_brief=1 --gtest_filter="-*${unloading//|/*:*}*" || failed=1
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
        build/asan/tests/test_"$room" --gtest_brief=1 --gtest_filter="*${unloading//|/*:*}*" || failed=1
done
exit $failed
