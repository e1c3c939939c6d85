#!/usr/bin/env bash
# run_fuzz.sh DIR SECONDS: runs every *_fuzz binary in DIR, JOBS at a time, from the seeds in fuzz/seeds/<target>, from seeds
# of depth and size that are made here, and from the shared data where it is there. What it finds stays in build/fuzz:
# <target>.log, the crashing input, and the grown corpus, which the next run starts from.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/$1 seconds=$2 out=$PWD/build/fuzz seeds=$PWD/fuzz/seeds dictionaries=$PWD/fuzz/dictionaries
data=${GAMBREL_SHARED_DATA:-$PWD/../shared/data}
export bin seconds out seeds dictionaries data

# Small files only: a mutation of a large one seldom reaches anything new, and costs as much as a thousand small ones.
shared_seeds() {
    [ -d "$data" ] || return 0
    case $1 in
    ncu_report_fuzz) find "$data/ncu_rep" -size -400k \( -name '*.ncu-rep' -o -name '*.nsight-cuprof-report' \) ;;
    ncu_csv_fuzz) find "$data/ncu_csv" -size -200k -name '*.csv' ;;
    nsys_fuzz) find "$data/nsys" -size -800k -name '*.sqlite' | head -3 ;;
    nvprof_csv_fuzz) find "$data/nvprof_csv" -size -200k -type f ;;
    esac
}
export -f shared_seeds

# What no mutation of a small seed reaches: nesting of a hundred thousand levels, rows of nothing but commas, a gzip bomb.
deep_seeds() {
    local target=$1 folder=$2 open close
    mkdir -p "$folder"
    open=$(printf '%*s' 100000 '' | tr ' ' '[') close=$(printf '%*s' 100000 '' | tr ' ' ']')
    case $target in
    gzip_fuzz) printf '%*s' 30000000 '' | gzip -9 >"$folder/bomb" ;;
    *csv_fuzz)
        printf '%*s' 300000 '' | tr ' ' ',' >"$folder/commas"
        printf '"%*s' 300000 '' >"$folder/open_quote"
        ;;
    page_fuzz)
        printf '<script type="application/json" id="data">{"schema":"gambrel-page-1","views":%s%s}</script>' "$open" "$close" \
            >"$folder/deep"
        ;;
    explore_fuzz) printf '\002{"schema":"gambrel-costs-1","note":"","items":%s%s}' "$open" "$close" >"$folder/deep" ;;
    *)
        printf '%s%s' "$open" "$close" >"$folder/deep"
        for schema in gambrel-analysis-1 gambrel-layers-1 gambrel-baseline-1; do
            printf '{"schema":"%s","rows":%s%s,"kernels":[],"roofline":{}}' "$schema" "$open" "$close" >"$folder/$schema"
        done
        ;;
    esac
}
dictionary_of() {
    case $1 in
    *csv_fuzz) echo "$dictionaries/csv.dict" ;;
    kineto_fuzz | nsys_fuzz) echo "$dictionaries/trace.dict" ;;
    baseline_fuzz | cluster_wire_fuzz | ert_json_fuzz | explore_fuzz | json_text_fuzz | machine_fuzz | page_fuzz | result_json_fuzz)
        echo "$dictionaries/json.dict"
        ;;
    esac
}
export -f deep_seeds dictionary_of

run_one() {
    local target=$1 corpus=$out/corpus/$1 log=$out/$1.log
    mkdir -p "$corpus" "$out/crashes"
    local inputs=("$corpus")
    if [ -d "$seeds/$target" ]; then inputs+=("$seeds/$target"); fi
    mkdir -p "$corpus.shared"
    shared_seeds "$target" | while read -r seed; do ln -sf "$seed" "$corpus.shared/"; done
    deep_seeds "$target" "$corpus.deep"
    inputs+=("$corpus.shared" "$corpus.deep")
    local dictionary
    dictionary=$(dictionary_of "$target")
    if "$bin/$target" -max_total_time="$seconds" -max_len=400000 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        ${dictionary:+"-dict=$dictionary"} \
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
