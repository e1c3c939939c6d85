#!/usr/bin/env bash
# demo.sh GAMBREL OUT: what gambrel does, from this computer's own Roofline to the design of a new GPU, with all of it on one page at the
# end, OUT/report.html. Where GAMBREL_SHARED_DATA names a folder of real profiler files, they are among it. To show more, add a `show` line that
# writes a page into OUT/parts, and a tab for it.
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
    # 1 is an answer, too: on a busy machine a ceiling may fail its own test.
    "$gambrel" "$@" || [ $? -eq 1 ]
}

show "This computer's own ceilings" measure --quick -o "$parts/this_machine.html" -o "$parts/this_machine.json"
tabs+=("This computer=$parts/this_machine.html")
show "What the catalogue knows about a GPU, and from where" machines v100-sxm2-16gb
show "A profile (made up): what limits each kernel" analyze examples/step.ncu-rep -o "$parts/step.html"
tabs+=("A transformer's step, made up=$parts/step.html")
show "What fused attention changes" compare examples/step.ncu-rep examples/fused.ncu-rep -o "$parts/fused.html"
tabs+=("Fused attention, made up=$parts/fused.html")
if [ -d "$data/deepcam" ]; then
    show "The hierarchical Roofline of DeepCAM on a V100, as in arXiv 2009.05257" \
        reproduce deepcam "$data/deepcam" -o "$parts/deepcam"
    "$gambrel" analyze "$data"/deepcam/tensorflow/TF-fp16-batch2-fw-amp-* --gpu v100 -q -o "$parts/deepcam_fp16.html"
    tabs+=("DeepCAM measured on a V100=$parts/deepcam_fp16.html")
fi
show "ResNet-50 on a V100, without having one: bytes and time of each layer" \
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
rows=$data/measured/conv_traffic_v100_deepcam.csv
[ -f "$rows" ] || rows=
show "Both papers joined: DeepCAM's convolutions measured, modelled and simulated" reproduce joined ${rows:+"$rows"} --top 12 \
    -o "$parts/joined.html"
tabs+=("DeepCAM measured, modelled, simulated=$parts/joined.html")
show "All of it on one page" report "${tabs[@]}" --title "gambrel: what a machine can give, and what programs take" \
    -o "$out/report.html"
echo
echo "Open $out/report.html in a browser; its parts are in $parts."
