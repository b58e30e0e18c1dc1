#!/usr/bin/env bash
# Bundles tests and programs for a machine without Rust: scripts/pack.sh
#
# Writes pack/vksort-VERSION-TARGET and the same as .tar.xz. On the other machine `./run.sh` runs all tests and programs on
# its Vulkan device. `./measure.sh` measures for 8 minutes, beside CUB if nvcc is found, and writes a summary of one page.
# Both need a Vulkan loader, a driver, and a C library no older than this machine's.
#
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

case ${1:-} in
    '') ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed is --help" ;;
esac

# Bundles often travel through services that take 64 MiB at most.
largest_mib=60

for tool in python3 strip xz; do
    has "$tool" || die "$tool is missing: install the package that has it (python3, binutils, xz-utils)"
done
scripts/setup.sh --no-drivers

version=$(locked_version vksort)
host=$(rustc -vV | sed -n 's/^host: //p')
name=vksort-$version-$host

# A directory per kind and an executable per line.
messages=$(cargo test --release --no-run --message-format=json-render-diagnostics) || die "the build failed"
executables=$(python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] != "compiler-artifact" or not message["executable"]:
        continue
    kind, name = message["target"]["kind"][0], message["target"]["name"]
    program = f"examples/{name}"
    place = {"bin": program, "example": program, "test": f"tests/{name}", "lib": "tests/unit"}[kind]
    print(place, message["executable"])
' <<<"$messages")
[[ $executables ]] || die "cargo built no executable"

mkdir -p pack
work=$(mktemp -d pack/new.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
mkdir "$work/$name" "$work/$name/tests" "$work/$name/examples" "$work/$name/peers"
while read -r place executable; do
    strip -o "$work/$name/$place" "$executable"
    missing=$(ldd "$work/$name/$place" | grep -vE 'linux-vdso|ld-linux|lib(c|m|gcc_s|dl|pthread|rt)\.so' || true)
    [[ -z $missing ]] || die "$place needs libraries that other machines may lack: $missing"
done <<<"$executables"
cp scripts/pack/run.sh scripts/pack/measure.sh scripts/tally.sh LICENSE-MIT LICENSE-APACHE "$work/$name"
cp lab/peers/cub_sort.cu "$work/$name/peers"
cp lab/record/gpu-sweep.csv "$work/$name"
printf 'vksort %s, commit %s\nfor %s, built with %s\n' "$version" \
    "$(git describe --always --dirty 2>/dev/null || printf 'unknown')" "$host" "$(rustc --version)" >"$work/$name/BUILD"
# Machines with a GPU seldom have the layer.
if parts=$(chromium_parts); then
    cp -r "$parts/layers" "$work/$name"
else
    say "without the validation layer: run 'scripts/setup.sh --tests' first to have it in the bundle"
fi

XZ_OPT='--threads=0' tar -C "$work" --owner=0 --group=0 -cJf "$work/$name.tar.xz" "$name"
mib=$(($(stat -c %s "$work/$name.tar.xz") / 1048576))
((mib <= largest_mib)) || die "the bundle has $mib MiB, allowed are $largest_mib"
rm -rf "pack/$name" "pack/$name.tar.xz"
mv "$work/$name" "$work/$name.tar.xz" pack
say "pack/$name.tar.xz: $mib MiB, $(wc -l <<<"$executables") executables"
