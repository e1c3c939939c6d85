#!/bin/sh
# Runs every fuzz target for SECONDS, from seeds in the shared data where that is there. Fails on the first crash, whose
# input is left in build/fuzz/crashes. Needs: cmake --preset fuzz && cmake --build --preset fuzz
set -eu
seconds=${1:?usage: tools/fuzz.sh SECONDS}
root=$(cd "$(dirname "$0")/.." && pwd)
targets=$root/build/fuzz/fuzz
data=${GAMBREL_SHARED_DATA:-$root/../shared/data}
work=$root/build/fuzz/corpus
crashes=$root/build/fuzz/crashes
mkdir -p "$crashes"

# Small files only: a mutation of a large one seldom reaches anything new, and costs as much as a thousand small ones.
seeds_of() {
    case $1 in
    ncu_report_fuzz) find "$data/ncu_rep" -size -400k \( -name '*.ncu-rep' -o -name '*.nsight-cuprof-report' \) ;;
    ncu_csv_fuzz) find "$data/ncu_csv" -size -200k -name '*.csv' ;;
    nvprof_csv_fuzz) find "$data/nvprof_csv" -size -200k -type f ;;
    esac
}

found=0
for target in "$targets"/*_fuzz; do
    [ -x "$target" ] || continue
    found=1
    name=$(basename "$target")
    mkdir -p "$work/$name" "$work/$name.seeds"
    [ ! -d "$root/fuzz/seeds/$name" ] || ln -sf "$root/fuzz/seeds/$name"/* "$work/$name.seeds/"
    if [ -d "$data" ]; then
        seeds_of "$name" | while read -r seed; do ln -sf "$seed" "$work/$name.seeds/"; done
    else
        echo "$name: no seeds, $data is not there"
    fi
    echo "$name: $seconds s"
    "$target" -max_total_time="$seconds" -max_len=400000 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$crashes/$name." "$work/$name" "$work/$name.seeds"
done
[ "$found" = 1 ] || { echo "no fuzz target in $targets: cmake --preset fuzz && cmake --build --preset fuzz" >&2; exit 2; }
