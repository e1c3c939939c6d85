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
echo
echo "Reports are in $out:"
find "$out" -type f | sort | sed 's/^/  /'
