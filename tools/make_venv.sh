#!/usr/bin/env bash
# make_venv.sh FOLDER [REQUIREMENT...]: a virtual environment with nanobind and pytest (or what is named) for building and testing
# the Python package, if it is not there yet. Takes the newest Python with headers; from 3.12 on the module has the stable ABI.
# PYTHON=/path/to/python: that one. Exit status 1 if it cannot be made: the package is then not built, and says so.
set -uo pipefail
folder=$1
shift
[ "$#" -gt 0 ] || set -- nanobind pytest

usable() {  # a Python of 3.9 or later with venv and headers
    "$1" -c 'import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 9) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}
find_python() {
    local candidate
    [ -z "${PYTHON:-}" ] || { echo "$PYTHON"; return; }
    for candidate in python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python python3 /usr/bin/python3; do
        candidate=$(command -v "$candidate") && usable "$candidate" && echo "$candidate" && return
    done
    return 1
}

stamp="$folder/made-of: $*"
[ ! -e "$folder/stamp" ] || [ "$(cat "$folder/stamp")" != "$stamp" ] || exit 0
python=$(find_python) || { echo "make_venv: no Python of 3.9 or later with headers and venv (Debian: python3-dev python3-venv)" >&2; exit 1; }
rm -rf "$folder"
"$python" -m venv "$folder" && "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" || {
    echo "make_venv: the environment could not be made; the Python package is not built" >&2
    rm -rf "$folder"
    exit 1
}
echo "$stamp" >"$folder/stamp"
