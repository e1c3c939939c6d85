#!/usr/bin/env bash
# test_wheel.sh DIST FOLDER: the wheel in DIST, installed into fresh environments in FOLDER: alone, where it must import fast and run
# each call of the package; beside pandas, polars, pyarrow and duckdb; with mypy; its tags, ABI and size.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$1 folder=$2
wheel=$(ls "$dist"/*.whl)
say() { echo "== $*"; }

say "size: at most 10 MB"
size=$(stat -c %s "$wheel")
echo "$size bytes: $(basename "$wheel")"
[ "$size" -le 10000000 ]

say "nothing but the wheel: no dependency, each call, import under 50 ms"
rm -rf "$folder"
tools/make_venv.sh "$folder/alone" "$wheel"
python=$folder/alone/bin/python
[ "$("$python" -m pip list --format=freeze | grep -vcE '^(pip|setuptools|gambrel)==')" = 0 ]
"$python" tools/try_package.py examples
"$folder/alone/bin/gambrel" --version
"$python" -m gambrel machines v100 >/dev/null

say "tests, beside libraries that read Arrow"
"$python" -m pip install -q pytest pandas polars pyarrow duckdb
(cd "$folder" && GAMBREL_TEST_FRAMES=1 alone/bin/python -m pytest -q -p no:cacheprovider "$OLDPWD/python/tests")

say "mypy --strict: the package with its stubs, and a program that uses it"
"$python" -m pip install -q mypy
package=$("$python" -c 'import gambrel, os; print(os.path.dirname(gambrel.__file__))')
"$python" -m mypy --strict --ignore-missing-imports --config-file= -p gambrel
"$python" -m mypy --strict --ignore-missing-imports --config-file= tools/try_package.py
[ -e "$package/py.typed" ] && [ -e "$package/_core.pyi" ]

say "auditwheel, abi3audit"
tools=$(dirname "$dist")/venv/bin
"$tools/auditwheel" show "$wheel"
case $wheel in
*abi3*) "$tools/abi3audit" "$wheel" ;;
*) echo "not abi3: this Python is older than 3.12" ;;
esac
echo "test-wheel: passed"
