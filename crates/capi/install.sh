#!/usr/bin/env bash
# Builds vksort for programs in C and C++, and installs it: crates/capi/install.sh --prefix DIR [OPTION...]
#
# Installs the headers, the library as a shared and as a static one, a pkg-config file (vksort.pc) and a CMake package with
# the targets vksort::vksort and vksort::vksort_static. The folder can be moved. It takes Rust and a linker; programs that
# use the library take neither, but Vulkan's headers. For Linux and macOS, and for Windows in the shell of Git for Windows or
# MSYS2. It has not been run on macOS and Windows.
#
#   --prefix DIR    where to: DIR/include, DIR/lib, DIR/lib/pkgconfig and DIR/lib/cmake/vksort; on Windows the DLL is in DIR/bin
#   --no-wide-keys  without the kernels for keys of 64 and 128 bits
#   --visitor-compiler  also the program DIR/bin/vksort-compile-visitor, in CMake vksort::compile_visitor. It takes what
#                   scripts/setup.sh --kernels installs
#   --help          this text
set -euo pipefail
prefix=
features=keys-128 compiler=
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
        --no-wide-keys) features= ;;
        --visitor-compiler) compiler=vksort-compile-visitor ;;
        --help) usage && exit ;;
        *) die "unknown option $1, allowed are --prefix, --no-wide-keys, --visitor-compiler and --help" ;;
    esac
    shift
done
[[ $prefix ]] || die "--prefix DIR is missing"
[[ $prefix == /* ]] || prefix=$from/$prefix

version=$(sed -n '/^\[package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Versions below 1.0 are compatible where their second number is the same.
major=${version%%.*} abi=${version%%.*}
[[ $major != 0 ]] || abi=$(cut -d . -f 1,2 <<<"$version")
# The names that cargo gives, and those of the installed files; install/vksortConfig.cmake.in has the latter. A DLL keeps its
# name, which its import library knows.
static=libvksort.a imports= options=()
case $(uname) in
    Darwin) built=libvksort_capi.dylib link=libvksort.dylib name=libvksort.$abi.dylib options=("-Clink-arg=-Wl,-install_name,@rpath/$name") ;;
    MINGW* | MSYS* | CYGWIN*)
        built=vksort_capi.dll
        # By the compiler of Rust's host: MSVC or GNU.
        if [[ $(rustc -vV) == *-msvc* ]]; then static=vksort.lib imports=vksort.dll.lib; else imports=libvksort.dll.a; fi
        ;;
    *) built=libvksort_capi.so link=libvksort.so name=libvksort.so.$abi options=("-Clink-arg=-Wl,-soname,$name") ;;
esac

target=${CARGO_TARGET_DIR:-$PWD/target}/c-library
mkdir -p "$target"
# A profile of its own, so that the builds of the crate stay as they are. Panics unwind up to the border, and no further.
profile=(--config 'profile.c-library.inherits="release"' --config 'profile.c-library.strip="symbols"'
    --config 'profile.c-library.lto=true' --config 'profile.c-library.codegen-units=1' --config 'profile.c-library.panic="unwind"')
cargo "${profile[@]}" \
    rustc --quiet --locked --profile c-library --package vksort-capi --lib --no-default-features --features "$features" \
    --crate-type cdylib,staticlib -- "${options[@]}" --print "native-static-libs=$target/native-static-libs" 2> >(grep -v '^$\|native artifacts' >&2) || die "the build failed"
needed=$(<"$target/native-static-libs")

library=$prefix/lib package=$prefix/lib/cmake/vksort
mkdir -p "$prefix/include" "$library/pkgconfig" "$package"
cp crates/capi/include/*.h "$prefix/include"
cp "$target/${static/vksort/vksort_capi}" "$library/$static"
if [[ $imports ]]; then
    mkdir -p "$prefix/bin"
    cp "$target/$built" "$prefix/bin"
    cp "$target/${imports/vksort/vksort_capi}" "$library/$imports"
else
    cp "$target/$built" "$library/$name"
    ln -sf "$name" "$library/$link"
fi
if [[ $compiler ]]; then
    cargo "${profile[@]}" build --quiet --locked --profile c-library --package "$compiler" || die "building $compiler failed"
    [[ $built != *.dll ]] || compiler+=.exe
    mkdir -p "$prefix/bin"
    cp "$target/$compiler" "$prefix/bin"
fi
fill() {
    sed "s|@VERSION@|$version|; s|@ABI@|$abi|; s|@NEEDED@|$needed|" "crates/capi/install/$1.in" >"$2/$1"
}
fill vksort.pc "$library/pkgconfig"
fill vksortConfig.cmake "$package"
fill vksortConfigVersion.cmake "$package"
say "vksort $version is installed in $prefix"
