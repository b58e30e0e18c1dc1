# shellcheck shell=bash
# How programs come by the library and link it. scripts/c.sh sources it, with `prefix`, `work`, `step` and `passed`.

# The consumer of a project: consumer NAME LIBRARY CMAKE-ARGUMENT...
consumer() {
    local build=$work/consumer-$1 library=$2
    shift 2
    step cmake -Wno-dev --log-level=WARNING -S crates/capi/tests/c/consumer -B "$build" -DLIBRARY="$library" "$@"
    step cmake --build "$build" -- --quiet
    step "$build/consumer"
}

# Fails unless a program needs the shared library, or does not: linked PROGRAM yes|no
linked() {
    local found=no
    ! readelf -d "$1" | grep -q 'NEEDED.*libvksort' || found=yes
    [[ $found == "$2" ]] || die "whether $1 needs the shared library: $found, expected is $2"
    passed=$((passed + 1))
}

# Everything that finds the library in a folder: check_prefix NAME FOLDER [LIBDIR]
check_prefix() {
    local name=$1 folder=$2 libdir=$2/${3:-lib} line of=crates/capi/tests/c/consumer/main.c flags
    cmp --quiet LICENSE-MIT "$folder/share/licenses/vksort/LICENSE-MIT" || die "$folder is without vksort's licences"
    consumer "$name-shared" vksort::vksort -DCMAKE_PREFIX_PATH="$folder"
    consumer "$name-static" vksort::vksort_static -DCMAKE_PREFIX_PATH="$folder"
    consumer "$name-component" vk_radix_sort -DCMAKE_PREFIX_PATH="$folder" -DCOMPONENT=vk_radix_sort
    consumer "$name-component-static" vk_radix_sort -DCMAKE_PREFIX_PATH="$folder" -DCOMPONENT=vk_radix_sort_static
    linked "$work/consumer-$name-shared/consumer" yes
    linked "$work/consumer-$name-component/consumer" yes
    linked "$work/consumer-$name-static/consumer" no
    linked "$work/consumer-$name-component-static/consumer" no
    # By pkg-config, which quotes a space as a shell does.
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    line=$(pkg-config --cflags --libs vksort)
    eval "flags=($line)"
    # shellcheck disable=SC2086
    step gcc -std=c11 $CFLAGS "$of" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/$name-shared"
    linked "$work/$name-shared" yes
    line=$(pkg-config --static --cflags --libs vksort)
    eval "flags=($line)"
    # The linker takes the shared one by its name, so the static one is named as a file.
    # shellcheck disable=SC2086
    step gcc -std=c11 $CFLAGS "$of" "${flags[@]/#-lvksort/$libdir/libvksort.a}" -o "$work/$name-static"
    linked "$work/$name-static" no
    # shellcheck disable=SC2086
    step gcc -static -std=c11 $CFLAGS "$of" "${flags[@]}" -o "$work/$name-all-static"
    step "$work/$name-shared"
    step "$work/$name-static"
    step "$work/$name-all-static"
}
check_prefix installed "$prefix"

# Nothing else can be seen in either library, so that it lives beside any other.
for symbols in "$(nm -D --defined-only "$prefix/lib/libvksort.so")" "$(nm -g --defined-only "$prefix/lib/libvksort.a")"; do
    names=$(awk 'NF == 3 { print $3 }' <<<"$symbols" | sort)
    functions=$(sed -n 's/^VKSORT_API .* \**\(vksort[A-Za-z]*\)(.*/\1/p' "$prefix"/include/vksort.h "$prefix"/include/vksort_vrdx_calls.h | sort)
    [[ $names == "$functions" ]] ||
        die "visible are not the functions of the headers: $(diff <(echo "$names") <(echo "$functions"))"
    passed=$((passed + 1))
done
# Where the environment names the target and its folder by cargo's other variables. What is built there already stays.
host=$(rustc -vV | sed -n 's/^host: //p')
step env -u CARGO_TARGET_DIR CARGO_BUILD_TARGET="$host" CARGO_BUILD_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}" \
    crates/capi/install.sh --prefix "$work/named"
cmp "$prefix/lib/libvksort.a" "$work/named/lib/libvksort.a" || die "another target folder gives another library"
step rustc --edition 2024 --crate-type staticlib -O crates/capi/tests/c/other.rs -o "$work/libother.a"
needed=$(crates/capi/install.sh --needed)
for libraries in "$prefix/lib/libvksort.a $work/libother.a" "$work/libother.a $prefix/lib/libvksort.a"; do
    # shellcheck disable=SC2086
    step gcc -std=c11 $CFLAGS -I"$prefix/include" crates/capi/tests/c/two.c $libraries $needed -o "$work/two"
    step "$work/two"
done

# The sources in a tree of a program, in one command, and the installation by CMake alone.
consumer source vksort::vksort -DSOURCE="$PWD"
linked "$work/consumer-source/consumer" yes
consumer source vksort::vksort_static -DSOURCE="$PWD"
linked "$work/consumer-source/consumer" no
consumer source vk_radix_sort -DSOURCE="$PWD" -DVKSORT_VK_RADIX_SORT=ON
linked "$work/consumer-source/consumer" yes
consumer source vk_radix_sort -DSOURCE="$PWD" -DVKSORT_VK_RADIX_SORT=STATIC
linked "$work/consumer-source/consumer" no
nothing=$(cmake --build "$work/consumer-source" | grep -c 'by cargo') || true
((nothing == 0)) || die "cargo runs though nothing has changed"
# Where systems with several architectures have libraries.
libdir=lib/$(gcc -print-multiarch)
# As some systems give it.
step cmake --log-level=WARNING -S crates/capi -B "$work/alone" -DCMAKE_INSTALL_PREFIX="$work/by cmake" \
    -DCMAKE_INSTALL_LIBDIR="$work/by cmake/$libdir"
# What cargo has built is as good here.
mv "$work/consumer-source/_deps/vksort-build/cargo" "$work/alone/cargo"
step cmake --install "$work/alone" --prefix "$work/by cmake"
check_prefix by-cmake "$work/by cmake" "$libdir"

# The archive, unpacked anywhere.
step scripts/pack.sh --c
archive=$(echo pack/vksort-c-*.tar.xz)
mkdir "$work/un packed"
step tar -C "$work/un packed" -xf "$archive"
for file in BUILD licences/LICENSE-MIT licences/ash-*/LICENSE-MIT licences/rust include/vksort.h lib/libvksort.a; do
    # shellcheck disable=SC2086
    [[ -e $(cd "$work/un packed"/vksort-c-* && realpath $file) ]] || die "$archive is without $file"
done
check_prefix unpacked "$(echo "$work/un packed"/vksort-c-*)"

# What is missing is told in one line, by the script and by CMake, and leaves no file: missing MESSAGE COMMAND...
missing() {
    local message=$1
    shift
    ! "$@" >"$work/out" 2>"$work/err" || die "this should have been refused: $*"
    grep -q "$message" "$work/err" || die "the error is not '$message': $(<"$work/err")"
    passed=$((passed + 1))
}
mkdir "$work/old"
printf '#!/bin/sh\necho "rustc 1.87.0 (0000000 2025-05-12)"\n' >"$work/old/rustc"
chmod +x "$work/old/rustc"
bare=(env HOME="$work" CARGO_HOME="$work/none" PATH=/usr/bin:/bin)
old=(env PATH="$work/old:$PATH")
install=(crates/capi/install.sh --prefix "$work/none/of it")
configure=(cmake -S crates/capi/tests/c/consumer -B "$work/refused" -DLIBRARY=vksort::vksort -DSOURCE="$PWD")
if ! "${bare[@]}" bash -c 'command -v cargo' >/dev/null; then
    missing '^install.sh: cargo is missing: install Rust from https://rustup.rs$' "${bare[@]}" "${install[@]}"
    missing '^ *vksort: install.sh: cargo is missing: install Rust from https://rustup.rs$' "${bare[@]}" "${configure[@]}"
fi
missing "^install.sh: rustc is 1.87.0, needed is 1.88 or newer: run 'rustup update stable'$" "${old[@]}" "${install[@]}"
missing "^ *vksort: install.sh: rustc is 1.87.0, needed is 1.88 or newer: run" "${old[@]}" "${configure[@]}"
missing "^install.sh: --libdir is '../lib', allowed is a folder in that of --prefix$" "${install[@]}" --libdir ../lib
missing "^install.sh: CARGO_BUILD_TARGET is riscv64gc, allowed is $host, " env CARGO_BUILD_TARGET=riscv64gc "${install[@]}"
# A project that has the library twice.
mkdir "$work/twice"
printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(twice C)' 'find_package(vksort REQUIRED)' "add_subdirectory($PWD/crates/capi vksort)" >"$work/twice/CMakeLists.txt"
missing '^ *vksort: the target vksort::vksort is there already: take out find_package, or add_subdirectory$' \
    cmake -S "$work/twice" -B "$work/twice/build" -DCMAKE_PREFIX_PATH="$prefix"
sed 's/EQUAL 8/EQUAL 4/; s/pointers of 8/pointers of 4/' "$prefix/lib/cmake/vksort/vksortConfig.cmake" >"$work/narrow"
mv "$prefix/lib/cmake/vksort/vksortConfig.cmake" "$work/wide" && cp "$work/narrow" "$prefix/lib/cmake/vksort/vksortConfig.cmake"
missing 'this is a build for pointers of 4 bytes, needed are 8' cmake -S crates/capi/tests/c/consumer -B "$work/narrowed" -DLIBRARY=vksort::vksort -DCMAKE_PREFIX_PATH="$prefix"
mv "$work/wide" "$prefix/lib/cmake/vksort/vksortConfig.cmake"
# Not even root can write there.
locked='^install.sh: --prefix is /proc/vksort, but /proc is no folder that can be written to$'
missing "$locked" crates/capi/install.sh --prefix /proc/vksort
missing "$locked" cmake --install "$work/alone" --prefix /proc/vksort
missing 'but /dev/null is no folder that can be written to$' crates/capi/install.sh --prefix /dev/null/vksort
[[ ! -e $work/none ]] || die "install.sh leaves files where it fails"
