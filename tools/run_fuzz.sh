#!/usr/bin/env bash
# run_fuzz.sh DIR SECONDS: runs every *_fuzz binary in DIR, JOBS at a time, from the seeds in fuzz/seeds/<target> and from
# the shared data where that is there. What it
# finds stays in build/fuzz: <target>.log, the crashing input, and the grown corpus, which the next run starts from.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/$1 seconds=$2 out=$PWD/build/fuzz seeds=$PWD/fuzz/seeds
data=${GAMBREL_SHARED_DATA:-$PWD/../shared/data}
export bin seconds out seeds data

# Small files only: a mutation of a large one seldom reaches anything new, and costs as much as a thousand small ones.
shared_seeds() {
    [ -d "$data" ] || return 0
    case $1 in
    ncu_report_fuzz) find "$data/ncu_rep" -size -400k \( -name '*.ncu-rep' -o -name '*.nsight-cuprof-report' \) ;;
    ncu_csv_fuzz) find "$data/ncu_csv" -size -200k -name '*.csv' ;;
    nvprof_csv_fuzz) find "$data/nvprof_csv" -size -200k -type f ;;
    esac
}
export -f shared_seeds

run_one() {
    local target=$1 corpus=$out/corpus/$1 log=$out/$1.log
    mkdir -p "$corpus" "$out/crashes"
    local inputs=("$corpus")
    if [ -d "$seeds/$target" ]; then inputs+=("$seeds/$target"); fi
    mkdir -p "$corpus.shared"
    shared_seeds "$target" | while read -r seed; do ln -sf "$seed" "$corpus.shared/"; done
    inputs+=("$corpus.shared")
    if "$bin/$target" -max_total_time="$seconds" -max_len=400000 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$out/crashes/$target-" "${inputs[@]}" >"$log" 2>&1; then
        echo "$target" >>"$out/passed.txt"
        printf '%-28s %s runs\n' "$target" "$(sed -n 's/stat::number_of_executed_units: *//p' "$log")"
    else
        echo "$target" >>"$out/failed.txt"
        printf '%-28s FAILED; log %s\n' "$target" "$log"
        tail -n 30 "$log"
    fi
}
export -f run_one

: >"$out/passed.txt"
: >"$out/failed.txt"
targets=$(find "$bin" -maxdepth 1 -type f -name '*_fuzz' -executable -printf '%f\n' | sort)
[ -n "$targets" ] || { echo "fuzz: no targets in $bin" | tee "$out/failed.txt" >&2; exit 1; }
xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'run_one {}' <<<"$targets"
[ ! -s "$out/failed.txt" ]
