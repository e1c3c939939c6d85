#!/usr/bin/env bash
# demo.sh GAMBREL OUT: answers from real profiler files if the shared data is beside this repository, else from the
# catalogue alone. To show more, add a `show` line.
set -euo pipefail
cd "$(dirname "$0")/.."
gambrel=$PWD/$1 out=$2
data=${GAMBREL_SHARED_DATA:-../shared/data}
mkdir -p "$out"

show() {  # show TITLE ARGS...: prints the command as one would type it, then its answer
    local title=$1
    shift
    printf '\n# %s\n$ gambrel %s\n' "$title" "$*"
    "$gambrel" "$@"
}

show "What the catalogue knows of a GPU, and from where" machines v100
if [ -d "$data/deepcam" ]; then
    show "The hierarchical Roofline of DeepCAM on a V100, as arXiv 2009.05257 has it" \
        reproduce deepcam "$data/deepcam" -o "$out"
else
    echo
    echo "No profiler files at $data: set GAMBREL_SHARED_DATA, or try gambrel analyze on a report of your own."
fi
show "ResNet-50 on a V100 that need not be here: bytes and time of each layer" \
    predict resnet50 --batch 32 --gpu v100 --no-chart --top 12 -o "$out/resnet50_v100.html"
show "The same network on an H100, half precision" \
    predict resnet50 --batch 32 --gpu h100-sxm --precision fp16 --no-chart --top 6 -o "$out/resnet50_h100.html"
show "This computer's own ceilings" measure --quick -o "$out/this_machine.json" -o "$out/this_machine.svg"
"$gambrel" predict alexnet --batch 1 --gpu v100 -q --json "$out/alexnet_modelled.json"
"$gambrel" simulate alexnet --batch 1 --gpu v100 -q --json "$out/alexnet_simulated.json"
show "What to scale in a V100 for AlexNet" explore alexnet --gpu v100 --vary sms=1:2,dram.bandwidth=1:2,l2.capacity=1:2
echo
echo "Reports are in $out:"
find "$out" -type f | sort | sed 's/^/  /'
