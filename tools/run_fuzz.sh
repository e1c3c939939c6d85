#!/usr/bin/env bash
# run_fuzz.sh DIR SECONDS: runs every *_fuzz binary in DIR, JOBS at a time, from the seeds in fuzz/seeds/<target>. What it
# finds stays in build/fuzz: <target>.log, the crashing input, and the grown corpus, which the next run starts from.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/$1 seconds=$2 out=$PWD/build/fuzz seeds=$PWD/fuzz/seeds
export bin seconds out seeds

run_one() {
    local target=$1 corpus=$out/corpus/$1 log=$out/$1.log
    mkdir -p "$corpus" "$out/crashes"
    local inputs=("$corpus")
    if [ -d "$seeds/$target" ]; then inputs+=("$seeds/$target"); fi
    if "$bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
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
