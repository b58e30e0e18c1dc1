#!/bin/sh
# Unpacks the Vulkan compilers of Mesa into a folder, and builds what runs them without a GPU: setup.sh FOLDER
#
# Takes Debian packages: Mesa of trixie-backports (NVK, anv, Turnip, Honeykrisp, lavapipe) and of trixie (RADV 25.0, which has
# a null device). Nothing is installed. Needs gcc, apt and dpkg-deb; the second run only builds what has changed. Exit status
# 3 with one line means that the packages cannot be had here. VKSORT_DEBIAN names another mirror.
set -eu
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
to=$(readlink -f "$1")
lib=usr/lib/x86_64-linux-gnu

cannot() {
    echo "$*"
    exit 3
}

unpack() {
    rm -rf "$to/apt" "$to/root" "$to/root25" "$to/dev" "$to/icd"
    mkdir -p "$to/apt/state/lists/partial" "$to/apt/cache/archives/partial" "$to/icd"
    mirror=${VKSORT_DEBIAN:-http://deb.debian.org/debian}
    key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    printf 'deb %s %s trixie%s main\n' "$key" "$mirror" "" "$key" "$mirror" -backports >"$to/apt/sources.list"
    : >"$to/apt/state/status"
    # An apt of its own: neither the system's sources nor its state take part.
    cat >"$to/apt/apt.conf" <<C
Dir::Etc::sourcelist "$to/apt/sources.list"; Dir::Etc::sourceparts "-"; Dir::Etc::preferencesparts "-";
Dir::State "$to/apt/state"; Dir::State::status "$to/apt/state/status"; Dir::Cache "$to/apt/cache";
APT::Install-Recommends "false"; APT::Sandbox::User "root"; APT::Update::Error-Mode "any";
Acquire::Retries "1"; Acquire::http::Timeout "20"; Acquire::https::Timeout "20";
C
    export APT_CONFIG="$to/apt/apt.conf"
    log=$to/apt/log
    apt-get -qq update >"$log" 2>&1 || cannot "the package lists of $mirror cannot be had: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")"
    { apt-get -qq install -y --download-only -t trixie-backports mesa-vulkan-drivers libvulkan1 &&
        cd "$to/apt" && apt-get -qq download libvulkan-dev/trixie mesa-vulkan-drivers/trixie; } >"$log" 2>&1 ||
        cannot "the packages of $mirror cannot be had: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")"
    for package in "$to"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$to/root"; done
    dpkg-deb -x "$to"/apt/libvulkan-dev_*.deb "$to/dev"
    dpkg-deb -x "$to"/apt/mesa-vulkan-drivers_*.deb "$to/root25"
    # The driver's name in its library, and the root that it is in.
    for driver in nouveau:root intel:root freedreno:root asahi:root lvp:root radeon:root25; do
        printf '{"file_format_version": "1.0.1", "ICD": {"api_version": "1.3.0", "library_path": "%s"}}\n' \
            "$to/${driver#*:}/$lib/libvulkan_${driver%:*}.so" >"$to/icd/${driver%:*}.json"
    done
    rm -rf "$to/apt"
    cksum <"$here/setup.sh" >"$to/unpacked"
}

# Builds a library unless it was built from this source: library SOURCE LIBRARY FLAGS... Checkouts may share the folder, so
# its time says nothing, and a library that is in use stays whole.
library() {
    source=$here/$1 library=$to/$2
    shift 2
    sum=$(cksum <"$source")
    [ -e "$library" ] && [ "$sum" = "$(cat "$library.source" 2>/dev/null)" ] && return
    gcc -O1 -Wall -shared -fPIC "$@" -o "$library.new" "$source"
    mv "$library.new" "$library"
    echo "$sum" >"$library.source"
}

# Of two at once the second finds everything done.
exec 9>"$to/lock"
flock 9
if [ "$(cat "$to/unpacked" 2>/dev/null)" != "$(cksum <"$here/setup.sh")" ]; then
    [ "$(uname -m)" = x86_64 ] || cannot "the packages are for x86_64, and this is $(uname -m)"
    for tool in apt-get dpkg-deb gcc; do
        command -v "$tool" >/dev/null || cannot "$tool is missing"
    done
    unpack
fi
library nullgpu.c libnullgpu.so
library pipestats.c libpipestats.so -fvisibility=hidden -I "$to/dev/usr/include"
cat >"$to/pipestats.json" <<'J'
{"file_format_version": "1.2.0", "layer": {"name": "VK_LAYER_pipestats", "type": "GLOBAL", "api_version": "1.3.0",
 "library_path": "./libpipestats.so", "implementation_version": "1", "description": "statistics of compute pipelines"}}
J
