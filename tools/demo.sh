#!/usr/bin/env bash
# demo.sh GAMBREL OUT: what gambrel does, from this computer's own Roofline to a design of tomorrow, and at the end all of it
# on one page, OUT/report.html. With the shared data beside this repository real profiler files are among it. To show more,
# add a `show` line that writes a page into OUT/parts, and a tab for it.
set -euo pipefail
cd "$(dirname "$0")/.."
gambrel=$PWD/$1 out=$2
data=${GAMBREL_SHARED_DATA:-../shared/data}
parts=$out/parts
mkdir -p "$parts"
tabs=()

show() {  # show TITLE ARGS...: prints the command as one would type it, then its answer
    local title=$1 word
    shift
    printf '\n# %s\n$ gambrel' "$title"
    for word in "$@"; do case $word in *[\ \(]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
    echo
    # 1 is an answer too: a ceiling of a busy machine that did not prove itself.
    "$gambrel" "$@" || [ $? -eq 1 ]
}

show "This computer's own ceilings" measure --quick -o "$parts/this_machine.html" -o "$parts/this_machine.json"
tabs+=("This computer=$parts/this_machine.html")
show "What the catalogue knows of a GPU, and from where" machines v100
if [ -d "$data/deepcam" ]; then
    show "The hierarchical Roofline of DeepCAM on a V100, as arXiv 2009.05257 has it" \
        reproduce deepcam "$data/deepcam" -o "$parts/deepcam"
    "$gambrel" analyze "$data"/deepcam/tensorflow/TF-fp16-batch2-fw-amp-* --gpu v100 -q -o "$parts/deepcam_fp16.html"
    tabs+=("DeepCAM measured on a V100=$parts/deepcam_fp16.html")
else
    echo
    echo "No profiler files at $data: set GAMBREL_SHARED_DATA, or try gambrel analyze on a report of your own."
fi
show "ResNet-50 on a V100 that need not be here: bytes and time of each layer" \
    predict resnet50 --batch 32 --gpu v100 --no-chart --top 12 -o "$parts/resnet50_v100.html"
tabs+=("ResNet-50 on a V100=$parts/resnet50_v100.html")
show "The same network on an H100, half precision" \
    predict resnet50 --batch 32 --gpu h100-sxm --precision fp16 --no-chart --top 6 -o "$parts/resnet50_h100.html"
tabs+=("ResNet-50 on an H100=$parts/resnet50_h100.html")
show "The model beside the simulation of every address" compare --predict --simulate resnet50 --batch 8 --gpu v100 --top 8 \
    -o "$parts/model_and_simulation.html"
tabs+=("Model and simulation=$parts/model_and_simulation.html")
show "What to scale in a V100 for ResNet-50" explore resnet50 --batch 32 --gpu v100 \
    --vary sms=1:2,dram.bandwidth=1:2,l2.capacity=1:2 -o "$parts/explored.html"
tabs+=("What to scale=$parts/explored.html")
show "All of it on one page" report "${tabs[@]}" --title "gambrel: what a machine can give, and what programs take" \
    -o "$out/report.html"
echo
echo "Open $out/report.html in a browser; its parts are in $parts."
