#!/usr/bin/env bash
# build_docs.sh DIST FOLDER: the documentation as a site in FOLDER/html, with mkdocs in an environment of its own that is made once; then no
# network is needed. The Python reference comes from the stub in the wheel in DIST. Fails on a link or an anchor that leads nowhere.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$1 folder=$2
tools/make_venv.sh "$folder/venv" "mkdocs>=1.6,<2"
"$folder/venv/bin/python" -c 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read("gambrel/_core.pyi").decode())' \
    "$dist"/*.whl >"$folder/_core.pyi"
tools/make_site.py "$folder" --stub "$folder/_core.pyi"
"$folder/venv/bin/mkdocs" build --quiet --clean -f "$folder/mkdocs.yml"
# Everything that a page loads is in the site.
if grep -rlE '(src|href)="(https?:)?//[^"]+\.(js|css|woff2?)"' "$folder/html" --include='*.html'; then
    echo "build_docs: the pages above load scripts, styles or fonts from elsewhere" >&2
    exit 1
fi
echo "$folder/html/index.html: $(find "$folder/html" -name '*.html' | wc -l) pages"
