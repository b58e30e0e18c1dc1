#!/usr/bin/env bash
# Installs vksort for C and C++ into a temporary folder, and builds, runs and tests there what uses it: scripts/c.sh [--sizes]
#
# Builds examples/c, examples/cpp and tests/c of crates/capi by CMake with gcc and g++, warnings as errors, and runs them under the
# validation layer on the driver that the environment chooses. Links the library in every way that it can be had, also with its
# sources in another project and from the archive of scripts/pack.sh. Ends with the number of programs as a test result.
# scripts/setup.sh --all-tests --kernels installs what it takes.
#
#   --sizes  only writes the sizes of both libraries into the guide's page about C
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
sizes_only=
case ${1-} in
    "") ;;
    --sizes) sizes_only=1 ;;
    --help) usage && exit ;;
    *) die "unknown argument $1, allowed are --sizes and --help" ;;
esac
for tool in cmake gcc g++ pkg-config readelf xz; do
    has "$tool" || die "$tool is missing: run scripts/setup.sh --all-tests --kernels"
done

# The page with the size of each library, and most that these may differ by, in percent: Rust's own library has its share.
page=docs/guide/src/c.md most_percent=3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
passed=0
step() {
    say "-- $*"
    timeout --kill-after=10 300 "$@" || die "failed: $*"
    passed=$((passed + 1))
}

prefix=$work/prefix
step crates/capi/install.sh --prefix "$prefix"
shared=$(stat -L -c %s "$prefix/lib/libvksort.so") static=$(stat -c %s "$prefix/lib/libvksort.a")
if [[ $sizes_only ]]; then
    commas() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }
    rust=$(rustc --version | sed -E 's/^rustc ([0-9]+\.[0-9]+).*/\1/')
    sed -i -E "s/(\`libvksort.so\` has )[0-9,]*[0-9]( bytes and \`libvksort.a\` )[0-9,]*[0-9]/\1$(commas "$shared")\2$(commas "$static")/
        s/\(Rust [0-9.]+, [0-9-]+\)/(Rust $rust, $(date +%F))/" "$page"
    say "$page has the sizes" && exit
fi
[[ ! -e $prefix/bin ]] || die "install.sh installs programs without being asked"
step crates/capi/install.sh --prefix "$prefix" --visitor-compiler
# It can be moved.
mv "$prefix" "$work/moved" && prefix=$work/moved
written=$(sed -nE 's/^`libvksort.so` has ([0-9,]+) bytes and `libvksort.a` ([0-9,]+),.*/\1 \2/p' "$page" | tr -d ,)
for pair in "$shared ${written% *}" "$static ${written#* }"; do
    read -r bytes said <<<"$pair"
    ((100 * bytes <= (100 + most_percent) * said && 100 * bytes >= (100 - most_percent) * said)) ||
        die "a library has $bytes bytes, but $page says ${said:-nothing}: run scripts/c.sh --sizes"
    passed=$((passed + 1))
done
# All functions of Vulkan come from the caller.
undefined=$(nm -D --undefined-only "$prefix/lib/libvksort.so")
! grep -E ' (vk[A-Z]|dlopen)' <<<"$undefined" || die "libvksort.so links to Vulkan or opens a library"

export CFLAGS="-Wall -Wextra -Wpedantic -Werror" CXXFLAGS="-Wall -Wextra -Wpedantic -Werror"
for project in examples/c examples/cpp tests/c; do
    build=$work/${project//\//-}
    step cmake -Wno-dev --log-level=WARNING -S "crates/capi/$project" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
    step cmake --build "$build" -- --quiet
done
# The package finds the files of other systems by their names.
abi=$(readlink "$prefix/lib/libvksort.so") abi=${abi#libvksort.so.}
names() {
    step cmake -Wno-dev --log-level=WARNING -S crates/capi/tests/c/names -B "$work/names-$1" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_SYSTEM_NAME="$2" -Dlocation="$3" -Dimports="$4" -Dstatic="$5"
}
names linux Linux "lib/libvksort.so.$abi" "" lib/libvksort.a
names macos Darwin "lib/libvksort.$abi.dylib" "" lib/libvksort.a
names gnu Windows bin/vksort_capi.dll lib/libvksort.dll.a lib/libvksort.a
touch "$prefix/lib/vksort.dll.lib"
names msvc Windows bin/vksort_capi.dll lib/vksort.dll.lib lib/vksort.lib
rm "$prefix/lib/vksort.dll.lib"
# shellcheck source=crates/capi/tests/c/linking.sh
source crates/capi/tests/c/linking.sh
# The same example by pkg-config, without CMake.
read -ra flags < <(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs vksort)
# shellcheck disable=SC2086
step gcc -std=c11 $CFLAGS crates/capi/examples/c/record.c "${flags[@]}" -Wl,-rpath,"$prefix/lib" -lvulkan -o "$work/record"

# Compiled visitors, as bytes and as an array. A fault is told with file and line, and leaves no file.
compiler=$prefix/bin/vksort-compile-visitor
step "$compiler" --help >"$work/help"
awk 'length > 130 { exit 1 }' "$work/help" || die "the help of $compiler is wider than 130 columns"
step "$compiler" --depth 24 --out "$work/depth"
cmp <(od -An -v -tu1 -w1 "$work/depth" | tr -d ' ') <(sed 1,2d "$work/examples-c/visitors/depth.h" | tr -dc '0-9,' | tr , '\n') ||
    die "the array is not the bytes"
mkdir "$work/parts"
echo 'KEY visit_key(uint index) { return index; }' >"$work/parts/key.glsl"
printf '%s\n' '#include "parts/key.glsl"' 'void visit_output(uint position, VALUE value) {}' >"$work/includes.glsl"
step "$compiler" "$work/includes.glsl" --include parts/key.glsl --visits keys,output --key u32 --value 4 --discard-keys \
    --algorithm single-workgroup --out "$work/included"
sed 's/particle.w/particle.v/' crates/capi/examples/c/distance.glsl >"$work/broken.glsl"
refused() {
    local message=$1
    shift
    ! "$compiler" "$@" --out "$work/none" 2>"$work/err" || die "vksort-compile-visitor goes on with $*"
    grep -q "$message" "$work/err" || die "the error is not '$message': $(<"$work/err")"
    [[ ! -e $work/none ]] || die "a file is left"
    passed=$((passed + 1))
}
refused "^error: visitor .*broken.glsl: .*broken.glsl:9: error: " "$work/broken.glsl" --key f32 --push 'vec4 visitor_eye;' --push-bytes 16
refused "its push constants take 16 bytes, but push_bytes is 12" crates/capi/examples/c/distance.glsl --key f32 --push 'vec4 visitor_eye;' --push-bytes 12
refused "^error: reading .*absent.glsl" "$work/absent.glsl" --key u32
refused "is not among the visitor's includes" <(echo '#include "absent.glsl"') --key u32 --algorithm single-workgroup
refused "^error: invalid value 'u31'" crates/capi/examples/c/distance.glsl --key u31
refused "cannot be used with '--depth" crates/capi/examples/c/distance.glsl --depth 24
refused "allowed is an identifier of C" --depth 24 --c-array 2nd
# What cannot be written leaves the file before it, and nothing beside it. A limit on the size of files is met as a full disk is.
mkdir -p "$work/unwritten/folder"
unwritten() {
    local message=$1 out=$2 limit=${3:-unlimited} said
    echo precious >"$work/unwritten/file"
    ! said=$( (ulimit -f "$limit" && exec "$compiler" --depth 24 --algorithm single-workgroup --out "$out") 2>&1) || die "vksort-compile-visitor goes on with $out"
    [[ $said == "error: writing $out: "*"$message"* ]] || die "the error is not '$message': $said"
    [[ $(cd "$work/unwritten" && find . | sort | paste -sd ' ') == ". ./file ./folder" && $(<"$work/unwritten/file") == precious ]] ||
        die "files are not as they were: $(ls -AR "$work/unwritten")"
    passed=$((passed + 1))
}
unwritten "Is a directory" "$work/unwritten/folder"
unwritten "No such file or directory" "$work/unwritten/none/file"
unwritten "No space left on device" /dev/full
unwritten "File too large" "$work/unwritten/file" 0
code=0
"$compiler" --no-such-flag 2>/dev/full || code=$?
((code == 1)) || die "vksort-compile-visitor ends with code $code where it cannot say why"
cp crates/capi/examples/c/distance.glsl "$work/source.glsl"
! "$compiler" "$work/source.glsl" --key f32 --out "$work/source.glsl" 2>"$work/err" || die "vksort-compile-visitor replaces its input"
cmp crates/capi/examples/c/distance.glsl "$work/source.glsl" && grep -q "allowed is another file" "$work/err" || die "the input is not as it was: $(<"$work/err")"

export VKSORT_VALIDATE=1
step "$work/record" --validate
step "$work/examples-c/records" --validate
step "$work/examples-c/segments" --validate
step "$work/examples-c/visitor" --validate
step "$work/examples-cpp/record" --validate
step "$work/tests-c/vrdx"
step "$work/tests-c/vrdx" --least
step "$work/tests-c/refused"
step "$work/tests-c/clients"
step "$work/tests-c/clients_volk"
step "$work/tests-c/times" 4000
# Programs that were compiled with the header of an earlier version, and with one of a later version, whose structures are longer.
later=$work/later/include
mkdir -p "$later"
for header in vksort.h vksort_vrdx_calls.h; do
    awk '/^typedef struct Vksort.* \{$/ { sized = 0 } /^ *uint32_t structSize;/ { sized = 1 } /^} Vksort/ && sized { print "uint64_t later[3];"; sized = 0 } 1' \
        "$prefix/include/$header" >"$later/$header"
done
cp "$prefix/include/vksort_vrdx.h" "$later"
longer=$(cat "$later"/*.h | grep -c 'uint64_t later')
sizes=$(cat "$prefix"/include/*.h | grep -c '^ *uint32_t structSize;')
((longer == sizes && longer >= 19)) || die "$longer of $sizes structures are longer in the later headers"
kept=(crates/capi/tests/c/headers/*)
for headers in "${kept[@]}" "$later"; do
    for example in record records segments visitor; do
        program=$work/$example-by-header
        # shellcheck disable=SC2086
        step gcc -std=c11 $CFLAGS -I"$headers" -I"$work/examples-c/visitors" "crates/capi/examples/c/$example.c" "${flags[@]}" \
            -Wl,-rpath,"$prefix/lib" -lvulkan -o "$program"
        step "$program" --validate
    done
    # shellcheck disable=SC2086
    step gcc -std=c11 $CFLAGS -I"$headers" crates/capi/tests/c/vrdx.c crates/capi/tests/c/implementation.c "${flags[@]}" \
        -Wl,-rpath,"$prefix/lib" -lvulkan -o "$work/vrdx-by-header"
    step "$work/vrdx-by-header"
done
# A wrong argument is one line on stderr and a status that is not zero.
for program in "$work/record" "$work/examples-c/records" "$work/examples-c/segments" "$work/examples-c/visitor" "$work/examples-cpp/record"; do
    if "$program" --device 'no such device' >"$work/out" 2>"$work/err"; then
        die "${program##*/} went on without its device"
    fi
    (($(wc -l <"$work/err") == 1)) || die "the error is not one line: $(<"$work/err")"
    passed=$((passed + 1))
done
printf 'test result: ok. %s passed; 0 failed; 0 ignored\n' "$passed"
