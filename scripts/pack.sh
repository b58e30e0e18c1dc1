#!/usr/bin/env bash
# Bundles tests and programs, or the library for C, for a machine without Rust: scripts/pack.sh [--c]
#
# Writes pack/vksort-VERSION-TARGET and the same as .tar.xz. On the other machine `./run.sh` runs all tests and programs on
# its Vulkan device. `./measure.sh` measures for 8 minutes, beside CUB if nvcc is found, and writes a summary of one page, and
# report.json, the file to send.
# Both need a Vulkan loader, a driver, and a C library no older than this machine's. The licences of what is in it are in it.
#
#   --c     writes pack/vksort-c-VERSION-TARGET and the same as .tar.xz instead: what crates/capi/install.sh installs. It can be
#           unpacked anywhere
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

of_c=0
case ${1:-} in
    '') ;;
    --c) of_c=1 ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --c and --help" ;;
esac

# Bundles often travel through services that take 64 MiB at most.
largest_mib=60

for tool in python3 strip xz; do
    has "$tool" || die "$tool is missing: install the package that has it (python3, binutils, xz-utils)"
done
if ((of_c)); then check_rust; else scripts/setup.sh --kernels --no-drivers; fi

version=$(locked_version vksort)
host=$(rustc -vV | sed -n 's/^host: //p')
name=vksort-$version-$host
((!of_c)) || name=vksort-c-$version-$host

mkdir -p pack
work=$(mktemp -d pack/new.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
mkdir "$work/$name"

# Writes the file that says what the bundle was made from.
write_build() {
    printf 'vksort %s, commit %s\nfor %s, built with %s\n' "$version" \
        "$(git describe --always --dirty 2>/dev/null || printf 'unknown')" "$host" "$(rustc --version)" >"$work/$name/BUILD"
}

# Compresses the bundle, and puts it into place: finish WHAT
finish() {
    local mib
    XZ_OPT='--threads=0' tar -C "$work" --owner=0 --group=0 -cJf "$work/$name.tar.xz" "$name"
    mib=$((($(stat -c %s "$work/$name.tar.xz") + 1048575) / 1048576))
    ((mib <= largest_mib)) || die "the bundle has $mib MiB, allowed are $largest_mib"
    rm -rf "pack/$name" "pack/$name.tar.xz"
    mv "$work/$name" "$work/$name.tar.xz" pack
    say "pack/$name.tar.xz: $mib MiB, $1"
}

# The licences of vksort, of the crates that it is built with, and of Rust's own library: copy_licences OPTION...
# Options say to cargo what is in the bundle.
copy_licences() {
    local licences=$work/$name/licences rust
    mkdir "$licences"
    cp LICENSE-MIT LICENSE-APACHE "$licences"
    cargo metadata --locked --format-version 1 --filter-platform "$host" >"$work/metadata"
    cargo tree --locked "$@" --prefix none --format '{p}' >"$work/tree"
    python3 - "$work/metadata" "$work/tree" "$licences" <<'PYTHON'
import json, pathlib, shutil, sys

metadata, tree, licences = map(pathlib.Path, sys.argv[1:])
used = {" ".join(line.split()[:2]) for line in tree.read_text().splitlines()}
for package in json.loads(metadata.read_text())["packages"]:
    name, source = package["name"], pathlib.Path(package["manifest_path"]).parent
    if f"{name} v{package['version']}" not in used or name.startswith("vksort"):
        continue
    # Also of what a crate has in its folders, such as fonts.
    begins = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "OFL", "UFL")
    files = [file for file in source.rglob("*") if file.is_file() and file.name.upper().startswith(begins)]
    folder = licences / f"{name}-{package['version']}"
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder / "-".join(file.relative_to(source).parts))
    if not files:
        by = ", ".join(package["authors"]) or package["repository"]
        text = f"{name} {package['version']} by {by} is licensed under {package['license']}. It has no file of that.\n"
        (folder / "LICENCE.txt").write_text(text)
PYTHON
    rm "$work/metadata" "$work/tree"
    rust=$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html
    [[ -e $rust ]] || die "$rust is missing, which has the licences of Rust's own library"
    mkdir "$licences/rust"
    cp "$rust" "$licences/rust"
}

if ((of_c)); then
    crates/capi/install.sh --prefix "$PWD/$work/$name"
    copy_licences --package vksort-capi --edges normal,no-proc-macro --no-default-features --features keys-128
    write_build
    finish "$(find "$work/$name" -type f | wc -l) files"
    exit
fi

# A directory per kind and an executable per line.
json=--message-format=json-render-diagnostics
messages=$(cargo test --release --no-run $json &&
    cargo build --release --package vksort-lab --features visitors --bin visitors $json) || die "the build failed"
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

mkdir "$work/$name/tests" "$work/$name/examples" "$work/$name/peers"
while read -r place executable; do
    strip -o "$work/$name/$place" "$executable"
    # What compiles visitors is partly C++, whose library machines with a GPU's tools have.
    allowed='linux-vdso|ld-linux|lib(c|m|gcc_s|dl|pthread|rt)\.so'
    [[ $place != examples/visitors ]] || allowed+='|libstdc\+\+\.so'
    missing=$(ldd "$work/$name/$place" | grep -vE "$allowed" || true)
    [[ -z $missing ]] || die "$place needs libraries that other machines may lack: $missing"
done <<<"$executables"
cp scripts/pack/run.sh scripts/pack/measure.sh scripts/tally.sh "$work/$name"
cp lab/peers/*.cu lab/peers/common.cuh "$work/$name/peers"
packages=(vksort vksort-profiles vksort-programs vksort-lab vksort-examples)
copy_licences "${packages[@]/#/--package=}" --edges normal,dev,no-proc-macro --features vksort-lab/visitors
# Programs have the scene in them.
cp programs/data/README.md "$work/$name/licences/scene.md"
write_build
# Machines with a GPU seldom have the layer.
if parts=$(chromium_parts); then
    cp -r "$parts/layers" "$work/$name"
    printf "The Khronos Group's validation layer (github.com/KhronosGroup/Vulkan-ValidationLayers), Apache-2.0, as Debian's chromium has it\n" \
        >"$work/$name/licences/validation-layer.txt"
else
    say "without the validation layer: run 'scripts/setup.sh --tests' first to have it in the bundle"
fi

finish "$(wc -l <<<"$executables") executables"
