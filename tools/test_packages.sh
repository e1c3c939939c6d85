#!/usr/bin/env bash
# test_packages.sh PACKAGES WHEELS FOLDER: the .deb in PACKAGES and the wheel in WHEELS, each in an empty Debian that debootstrap makes in
# FOLDER/SUITE from the mirror that apt has here: `gambrel analyze` on a report and a trace, and `gambrel predict`, must work. Needs root and
# debootstrap. A Debian that is there already is used again.
# DEB_SUITE: where the .deb is tried, default the one it was built on. WHEEL_SUITE: default trixie, whose Python takes a cp312-abi3 wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$1 wheels=$2 folder=$3
here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
stop() { echo "test-packages: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || stop "needs root: debootstrap and chroot"
command -v debootstrap >/dev/null || stop "debootstrap is not installed (Debian: debootstrap)"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $here" | head -1)

# In a mount namespace of its own, with /proc: the loader finds the libraries of a wheel through it.
inside() {
    unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$root" /usr/bin/env -i HOME=/root \
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin DEBIAN_FRONTEND=noninteractive "$@"
}
quietly() { "$@" >>"$root.log" 2>&1 || stop "failed: $*; see $root.log"; }
make_debian() {  # SUITE FILE...: sets `root` to an empty Debian with the files and the examples in /tmp/gambrel
    root=$folder/$1
    mkdir -p "$folder"
    if [ ! -e "$root/.made" ]; then
        rm -rf "$root"
        quietly debootstrap --variant=minbase "$1" "$root" "$mirror"
        touch "$root/.made"
    fi
    # How to reach the mirror is this computer's business.
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/"
    rm -rf "$root/tmp/gambrel" && mkdir -p "$root/tmp/gambrel"
    cp -r "${@:2}" examples "$root/tmp/gambrel"
    quietly inside apt-get -q -y update
}
try() {  # PROGRAM
    inside "$1" --version
    inside "$1" analyze /tmp/gambrel/examples/step.ncu-rep --no-chart | sed -n 3,4p
    [ "$(inside "$1" analyze /tmp/gambrel/examples/trace.json --csv - -q | wc -l)" -gt 3 ] || stop "analyze printed no rows of the trace"
    [ "$(inside "$1" predict alexnet --gpu v100 --csv - -q | wc -l)" -gt 8 ] || stop "predict printed no rows"
}

make_debian "${DEB_SUITE:-$here}" "$packages"/*.deb
echo "== .deb in an empty Debian $(cat "$root/etc/debian_version")"
quietly inside sh -c 'apt-get -q -y install --no-install-recommends /tmp/gambrel/*.deb'
try gambrel
inside sh -c 'ldd /usr/bin/gambrel | grep -c "=> /"' | sed 's/$/ libraries by ldd/'
quietly inside apt-get -q -y purge gambrel
quietly inside apt-get -q -y autoremove --purge

make_debian "${WHEEL_SUITE:-trixie}" "$wheels"/*.whl
echo "== wheel in an empty Debian $(cat "$root/etc/debian_version")"
quietly inside apt-get -q -y install --no-install-recommends python3-venv
quietly inside sh -c 'rm -rf /opt/gambrel && python3 -m venv /opt/gambrel && /opt/gambrel/bin/pip install --no-index /tmp/gambrel/*.whl'
try /opt/gambrel/bin/gambrel
inside /opt/gambrel/bin/python -c 'import gambrel; print(gambrel.analyze("/tmp/gambrel/examples/step.ncu-rep").time, gambrel.predict("alexnet", gpu="v100").time)'
echo "test-packages: passed"
