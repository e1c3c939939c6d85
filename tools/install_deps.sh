#!/usr/bin/env bash
# Installs the packages of tools/packages.txt that are missing, and touches nothing if none is.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "${DEPS:-yes}" != no ] || exit 0
stop() { echo "make deps: $*" >&2; exit 1; }

mapfile -t packages < <(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' tools/packages.txt)

for tool in dpkg-query apt-get; do
    command -v "$tool" >/dev/null || stop "$tool not found: this is not Debian or one of its kin. Install by hand what" \
        "tools/packages.txt names and run make again with DEPS=no."
done

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || stop "missing: ${missing[*]}. Not root, and there is no sudo. Run as root:" \
        "apt-get install ${missing[*]}"
    as_root=(sudo)
fi

echo "make deps: installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
"${apt[@]}" update || stop "apt-get update failed"
"${apt[@]}" install --no-install-recommends "${missing[@]}" || stop "apt-get could not install: ${missing[*]}"
