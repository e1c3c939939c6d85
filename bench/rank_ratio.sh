#!/usr/bin/env bash
# How much faster two ranks search one space than one rank does, one thread each, in one run, turn by turn; and that
# both write the same bytes. Usage: bench/rank_ratio.sh GAMBREL [ROUNDS]. Exit status 77 without mpirun; 1 if the bytes differ.
set -euo pipefail
gambrel=$(realpath "${1:?usage: bench/rank_ratio.sh GAMBREL [ROUNDS]}")
rounds=${2:-3}
command -v mpirun >/dev/null || { echo "mpirun not found: nothing measured"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Seconds of wall clock for N ranks over some 1.25 million designs.
seconds() {
    local start end
    start=$(date +%s.%N)
    mpirun --allow-run-as-root --oversubscribe -n "$1" "$gambrel" explore resnet152 --gpu v100 --search grid --threads 1 -q \
        --vary 'sms=1:4:0.1,dram.bandwidth=1:4:0.1,l2.bandwidth=1:4:0.1,macs=1:4:0.5,l2.capacity={1,2,3,4,6,8}' \
        -o "$folder/$1.json" >/dev/null
    end=$(date +%s.%N)
    echo "$end $start" | awk '{printf "%.2f", $1 - $2}'
}

best1=1e9 best2=1e9
for _ in $(seq "$rounds"); do
    one=$(seconds 1) two=$(seconds 2)
    echo "one rank $one s, two ranks $two s, ratio $(echo "$one $two" | awk '{printf "%.2f", $1 / $2}')"
    best1=$(echo "$best1 $one" | awk '{print ($2 < $1) ? $2 : $1}')
    best2=$(echo "$best2 $two" | awk '{print ($2 < $1) ? $2 : $1}')
done
echo "best of $rounds: $(echo "$best1 $best2" | awk '{printf "%.2f", $1 / $2}') times as fast with two ranks"
cmp "$folder/1.json" "$folder/2.json" || { echo "the results differ"; exit 1; }
