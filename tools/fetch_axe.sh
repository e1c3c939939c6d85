#!/usr/bin/env bash
# fetch_axe.sh DIR: prints the path of axe-core's script, which checks pages for accessibility; fetches it into DIR if need be,
# out of a Python package that carries it. Prints nothing, and fails, if it is not available.
set -uo pipefail
dir=$1
script=$PWD/$dir/axe.min.js
if [ ! -s "$script" ]; then
    mkdir -p "$dir"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$dir" axe-playwright-python==0.1.8 >/dev/null 2>&1 || exit 1
    python3 - "$dir" <<'END' || exit 1
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
wheel = zipfile.ZipFile(next(folder.glob("axe_playwright_python-*.whl")))
(folder / "axe.min.js").write_bytes(wheel.read("axe_playwright_python/axe.min.js"))
END
fi
echo "$script"
