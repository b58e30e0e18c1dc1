#!/usr/bin/env bash
# Brings NVIDIA's compiler and CUB (140 MB from PyPI) and numpy: setup.sh FOLDER. Prints why and ends with 3 where they cannot
# be had.
set -euo pipefail
cd "$(dirname "$0")"
folder=$1
stamp=$folder/cuda/$(cksum <requirements.txt | tr ' ' -)
[[ ! -e $stamp ]] || exit 0
lacking() {
    echo "$*"
    exit 3
}
command -v g++ >/dev/null || lacking "there is no g++, which NVIDIA's compiler needs"
python3 -m pip --version >/dev/null 2>&1 || lacking "there is no python3 with pip"
[[ $(uname -sm) == "Linux x86_64" ]] || lacking "the packages are for Linux on x86_64"
mkdir -p "$folder"
# Of two at once the second finds everything done.
exec 9>"$folder/lock"
flock 9
[[ ! -e $stamp ]] || exit 0
work=$(mktemp -d "$folder/setup.XXXXXX")
trap 'rm -rf "$work"' EXIT
install() {
    timeout 600 python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target "$work/cuda" "$@" \
        >"$work/log" 2>&1 || lacking "PyPI: $(grep -m 1 ERROR "$work/log" || echo "pip took too long")"
}
install --requirement requirements.txt
# A wheel of its own version of python.
install numpy
chmod +x "$work"/cuda/nvidia/cu*/bin/* "$work"/cuda/nvidia/cu*/nvvm/bin/*
touch "$work/cuda/${stamp##*/}"
rm -rf "$folder/cuda"
mv "$work/cuda" "$folder/cuda"
