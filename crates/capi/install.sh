#!/usr/bin/env bash
# Builds vksort for programs in C and C++, and installs it: crates/capi/install.sh --prefix DIR [OPTION...]
#
# Installs the headers, the library as a shared and as a static one, vksort.pc for pkg-config and a CMake package with
# the targets vksort::vksort and vksort::vksort_static. The directory include/vrdx has vksort under the name vk_radix_sort.h, and
# the package's component vk_radix_sort a target of that name. The folder can be moved. It takes Rust and a linker (binutils on
# Linux); programs that use the library take neither, but Vulkan's headers. For Linux and macOS, and for Windows in the shell of
# Git for Windows or MSYS2. It has not been run on macOS and Windows. It builds for this machine, in cargo's target folder, wherever
# the environment or a configuration file puts that.
#
#   --prefix DIR    where to: DIR/include, DIR/lib, DIR/lib/pkgconfig, DIR/lib/cmake/vksort and
#                   DIR/share/licenses/vksort; on Windows the DLL is in DIR/bin
#   --libdir NAME   the folder in DIR in place of lib, as lib64 or lib/x86_64-linux-gnu
#   --no-wide-keys  without the kernels for keys of 64 and 128 bits
#   --visitor-compiler  also the program DIR/bin/vksort-compile-visitor, in CMake vksort::compile_visitor. It takes what
#                   scripts/setup.sh --kernels installs
#   --needed        installs nothing, and prints the libraries that programs link behind the static one
#   --help          this text
set -euo pipefail
prefix=
libdir=lib
features=keys-128,addresses,software-drivers compiler='' needed_only=0
from=$PWD
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

while (($#)); do
    case $1 in
        --prefix)
            [[ ${2:-} ]] || die "--prefix needs a folder"
            prefix=$2
            shift
            ;;
        --libdir)
            [[ ${2:-} =~ ^[A-Za-z0-9_.+-]+(/[A-Za-z0-9_.+-]+)*$ && /$2/ != */../* ]] || die "--libdir is '${2:-}', allowed is a folder in that of --prefix"
            libdir=$2
            shift
            ;;
        --no-wide-keys) features=addresses,software-drivers ;;
        --visitor-compiler) compiler=vksort-compile-visitor ;;
        --needed) needed_only=1 ;;
        --help) usage && exit ;;
        *) die "unknown option $1, allowed are --prefix, --libdir, --no-wide-keys, --visitor-compiler, --needed and --help" ;;
    esac
    shift
done
((needed_only)) || [[ $prefix ]] || die "--prefix DIR is missing"
# CMake on Windows passes a drive.
[[ $prefix == /* || $prefix == [A-Za-z]:[/\\]* ]] || prefix=$from/$prefix
check_rust

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# What Rust's own library needs. A compiler for C adds its C library and its unwinder, and knows which one: with -static there is
# no gcc_s.
needed=$(rustc --crate-type staticlib --print native-static-libs -o "$work/empty" - </dev/null 2>&1 |
    sed -n 's/^note: native-static-libs: //p' | tr ' ' '\n' | sed '/^-lgcc_s$/d; /^-lc$/d' | paste -s -d ' ' -)
((!needed_only)) || { printf '%s\n' "$needed" && exit; }

# Before the build, which takes a while.
place=$prefix
while [[ ! -e $place && ! -L $place ]]; do place=$(dirname "$place"); done
probe=$(mktemp -d "$place/.vksort.XXXXXX" 2>/dev/null) && rmdir "$probe" ||
    die "--prefix is $prefix, but $place is no folder that can be written to"

version=$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Versions below 1.0 are compatible where their second number is the same.
major=${version%%.*} abi=${version%%.*}
[[ $major != 0 ]] || abi=$(cut -d . -f 1,2 <<<"$version")
# The names that cargo gives, and those of the installed files; install/vksortTargets.cmake has the latter. A DLL keeps its
# name, which its import library knows.
static=libvksort.a imports='' options=()
case $(uname) in
    Darwin)
        built=libvksort_capi.dylib link=libvksort.dylib name=libvksort.$abi.dylib
        options=("-Clink-arg=-Wl,-install_name,@rpath/$name")
        ;;
    MINGW* | MSYS* | CYGWIN*)
        built=vksort_capi.dll
        # By the compiler of Rust's host: MSVC or GNU.
        if [[ $(rustc -vV) == *-msvc* ]]; then static=vksort.lib imports=vksort.dll.lib; else imports=libvksort.dll.a; fi
        ;;
    *)
        built=libvksort_capi.so link=libvksort.so name=libvksort.so.$abi options=("-Clink-arg=-Wl,-soname,$name")
        for tool in ld nm objcopy ar; do
            has "$tool" || die "$tool is missing: install the package binutils"
        done
        ;;
esac

# Both are said, because the environment and configuration files may name others, which move what is built.
host=$(rustc -vV | sed -n 's/^host: //p')
[[ ${CARGO_BUILD_TARGET:-$host} == "$host" ]] ||
    die "CARGO_BUILD_TARGET is $CARGO_BUILD_TARGET, allowed is $host, as the library is installed for this machine"
folder=$(cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p' | sed 's|\\\\|/|g')
[[ $folder ]] || die "cargo does not say where its target folder is"
target=$folder/$host/c-library
mkdir -p "$target"
# A profile of its own, so that the builds of the crate stay as they are. Panics unwind up to the border, and no further.
profile=(--config 'profile.c-library.inherits="release"' --config 'profile.c-library.strip="symbols"'
    --config 'profile.c-library.lto=true' --config 'profile.c-library.codegen-units=1' --config 'profile.c-library.panic="unwind"')
into=(--quiet --locked --target "$host" --target-dir "$folder" --profile c-library)
cargo "${profile[@]}" \
    rustc "${into[@]}" --package vksort-capi --lib --no-default-features --features "$features" \
    --crate-type cdylib,staticlib -- "${options[@]}" || die "the build failed"

# Makes cargo's archive one object in which only the functions of the headers can be seen: close FROM TO. Every static library of
# Rust has Rust's own library in it, and two of them define the same symbols. Functions that nothing calls are left out.
close() {
    local from=$1 to=$2 roots object=$work/vksort.o
    case $(uname) in
        # A PE object has no such symbols.
        MINGW* | MSYS* | CYGWIN*) cp "$from" "$to" && return ;;
        # Apple's linker makes the symbols that are not exported local.
        Darwin) ld -r -all_load -exported_symbol '_vksort*' -o "$object" "$from" || return ;;
        *)
            roots=$(nm -g --defined-only "$from" 2>/dev/null | awk '$3 ~ /^vksort/ { print "-u " $3 }')
            # Without groups, of which a linker would keep one by its name: that of another library.
            # shellcheck disable=SC2086
            ld -r --gc-sections --force-group-allocation --strip-debug $roots "$from" -o "$object" || return
            objcopy --wildcard --keep-global-symbol='vksort*' "$object" || return
            ;;
    esac
    rm -f "$to"
    ar crs "$to" "$object"
}
close "$target/${static/vksort/vksort_capi}" "$work/$static" || die "$static could not be made of one object"

# All that can fail comes before the first file is put into place.
if [[ $compiler ]]; then
    cargo "${profile[@]}" build "${into[@]}" --package "$compiler" || die "building $compiler failed"
    [[ $built != *.dll ]] || compiler+=.exe
fi

library=$prefix/$libdir package=$prefix/$libdir/cmake/vksort licences=$prefix/share/licenses/vksort
mkdir -p "$library/pkgconfig" "$package" "$licences"
# Puts a file into place as a whole: a program that runs keeps its library.
put() {
    cp "$1" "$2.part" && mv -f "$2.part" "$2"
}
while read -r header; do
    mkdir -p "$(dirname "$prefix/include/$header")"
    put "crates/capi/include/$header" "$prefix/include/$header"
done < <(cd crates/capi/include && find . -name '*.h')
for licence in LICENSE-MIT LICENSE-APACHE; do
    put "$licence" "$licences/$licence"
done
put "$work/$static" "$library/$static"
if [[ $imports ]]; then
    mkdir -p "$prefix/bin"
    put "$target/$built" "$prefix/bin/$built"
    put "$target/${imports/vksort/vksort_capi}" "$library/$imports"
else
    put "$target/$built" "$library/$name"
    ln -sf "$name" "$library/$link"
fi
if [[ $compiler ]]; then
    mkdir -p "$prefix/bin"
    put "$target/$compiler" "$prefix/bin/$compiler"
fi
fill() {
    sed "s|@VERSION@|$version|; s|@ABI@|$abi|; s|@NEEDED@|$needed|; s|@LIBDIR@|$libdir|; s|@UP@|$up|; s|@POINTER@|$pointer|" \
        "crates/capi/install/$1.in" >"$work/$1"
    put "$work/$1" "$2/$1"
}
pointer=$(($(rustc --print cfg | sed -n 's/^target_pointer_width="\(.*\)"/\1/p') / 8))
# From the folder of libraries to the prefix, as the folder can be moved.
up=$(sed -E 's|[^/]+|..|g' <<<"$libdir")
fill vksort.pc "$library/pkgconfig"
fill vksortConfig.cmake "$package"
fill vksortConfigVersion.cmake "$package"
put crates/capi/install/vksortTargets.cmake "$package/vksortTargets.cmake"
say "vksort $version is installed in $prefix"
