#!/usr/bin/env bash
# Sets this machine up to build and run vksort: scripts/setup.sh [--tests] [--all-tests] [--kernels] [--guide] [--no-drivers]
#
# Installs with apt, if missing (as root or with sudo): a linker, and a Vulkan loader with a driver. Running it again is
# quick.
#
#   --tests       also what scripts/test.sh needs: lavapipe, SwiftShader, a validation layer, SPIRV-Tools and numpy
#   --all-tests   also what scripts/test.sh --all needs besides: another validation layer, a display without a screen, and a tool
#                 chain for C and C++ with Vulkan's headers. --kernels is apart
#   --kernels     also what the feature compile-kernels and vksort-visitors need to compile GLSL: a C++ tool chain and the native part
#                 of the crate shaderc, which takes about 10 minutes of CPU time once per machine. It stays in ~/.cache/vksort,
#                 and .cargo/config.toml tells cargo about it
#   --guide       also mdbook, which scripts/guide.sh builds the guide with. It is compiled once per machine, which takes about
#                 3 minutes of CPU time, and stays in ~/.cache/vksort
#   --no-drivers  no Vulkan loader, drivers or layers
#   --help        this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

drivers=1 tests=0 all_tests=0 kernels=0 guide=0
for option in "$@"; do
    case $option in
        --tests) tests=1 ;;
        --all-tests) tests=1 all_tests=1 ;;
        --kernels) kernels=1 ;;
        --guide) guide=1 ;;
        --no-drivers) drivers=0 ;;
        --help) usage && exit ;;
        *) die "unknown option $option, allowed are --tests, --all-tests, --kernels, --guide, --no-drivers and --help" ;;
    esac
done
((drivers || !tests)) || die "the tests need the drivers that --no-drivers leaves out"

shaderc_version=$(locked_version shaderc-sys)
[[ $shaderc_version ]] || die "Cargo.lock lists no package shaderc-sys"
shaderc_dir=$vksort_cache/shaderc-$shaderc_version
archive=$shaderc_dir/libshaderc_combined.a

work=
cleanup() {
    [[ -z $work ]] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# A directory inside the cache, so that what is made there can be renamed into place.
make_work_dir() {
    mkdir -p "$vksort_cache"
    work=$(mktemp -d "$vksort_cache/setup.XXXXXX")
}

# Prints the manifest of a driver for hardware that is there. A manifest alone proves nothing: Debian's Mesa package
# brings those of all its drivers.
gpu_driver() {
    local nodes=(/dev/nvidia[0-9]* /dev/dri/renderD* /dev/dxg) node manifest name
    for node in "${nodes[@]}"; do
        [[ -e $node ]] || continue
        case $node in
            /dev/nvidia*) name='nvidia_icd*.json' ;;
            # Any but those of lavapipe and virtio, which belong to no GPU of this machine.
            /dev/dri/*) name='[!lv]*_icd*.json' ;;
            /dev/dxg) name='dzn_icd*.json' ;;
        esac
        manifest=$(vulkan_manifest icd.d "$name") && printf '%s\n' "$manifest" && return
    done
    return 1
}

# Fills `packages` with what apt should install and `needed` with the part of it that nothing works without.
find_missing() {
    packages=() needed=()
    local tool tools=()
    # rustc links with it.
    has cc || needed+=(gcc libc6-dev)
    if ((kernels)); then
        tools+=(g++)
        [[ -e $archive ]] || tools+=(cmake git python3)
        [[ -e $archive ]] || has ninja || packages+=(ninja-build)
    fi
    if ((guide)) || { ((tests)) && ! chromium_parts >/dev/null; }; then
        tools+=(python3)
    fi
    for tool in ${tools[@]+"${tools[@]}"}; do
        has "$tool" || [[ " ${needed[*]-} " == *" $tool "* ]] || needed+=("$tool")
    done
    packages+=(${needed[@]+"${needed[@]}"})
    if ((all_tests)); then
        # The programs in C and C++.
        for tool in g++ cmake make pkg-config; do
            has "$tool" || [[ " ${packages[*]-} " == *" $tool "* ]] || packages+=("$tool")
        done
        # The archive of scripts/pack.sh.
        has xz || packages+=(xz-utils)
        [[ -e /usr/include/vulkan/vulkan.h ]] || packages+=(libvulkan-dev)
        [[ -e /usr/include/volk.h ]] || packages+=(libvulkan-volk-dev)
        # The program in Python.
        python3 -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
    fi
    ((drivers)) || return 0

    local libraries
    libraries=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p)
    [[ $libraries == *libvulkan.so.1* ]] || packages+=(libvulkan1)
    ((!all_tests)) || system_validation_layer >/dev/null || packages+=(vulkan-validationlayers)
    # Rewritten kernels are validated.
    ((!tests)) || has spirv-val || packages+=(spirv-tools)
    if ((all_tests)); then
        # A window, on a display without a screen.
        has Xvfb || packages+=(xvfb)
        has xdotool || packages+=(xdotool)
        [[ $libraries == *libXcursor.so.1* ]] || packages+=(libxcursor1)
        [[ $libraries == *libXi.so.6* ]] || packages+=(libxi6)
        [[ $libraries == *libxkbcommon-x11.so.0* ]] || packages+=(libxkbcommon-x11-0)
    fi
    # The command line's results are compared with numpy's.
    ((!tests)) || python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null || packages+=(python3-numpy)
    local manifest
    if lavapipe_icd >/dev/null; then
        :
    elif ((tests)); then
        say "driver: lavapipe is missing and the tests run on it"
        packages+=(mesa-vulkan-drivers)
    elif manifest=$(gpu_driver); then
        say "driver: $manifest; lavapipe is not needed"
    else
        say "driver: no Vulkan driver for a GPU was found, so Mesa's drivers with lavapipe are needed"
        packages+=(mesa-vulkan-drivers)
    fi
}

kernels_or_crate=("building vksort" "compiling the kernels of vksort (building the crate itself does not)")
as_root=()
apt_ready=0
# Runs apt-get, which needs root, and shows its output only when it fails.
run_apt() {
    local log status=0
    log=$(mktemp)
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >"$log" 2>&1 || status=$?
    ((status == 0)) || tail -n 20 "$log" >&2
    rm -f "$log"
    return "$status"
}

apt_update() {
    ((!apt_ready)) || return 0
    has apt-get || return 1
    if ((EUID != 0)); then
        has sudo || return 1
        as_root=(sudo)
    fi
    say "apt: reading the package lists"
    run_apt update && apt_ready=1
}

install_missing() {
    local packages needed
    find_missing
    ((${#packages[@]})) || return 0
    if ! has apt-get; then
        say "There is no apt here. To install by hand, under Debian's names: ${packages[*]}"
    elif ! { apt_update && say "apt: installing ${packages[*]}" &&
        run_apt install -y --no-install-recommends "${packages[@]}"; }; then
        say "apt could not install what is missing; as root: apt-get install ${packages[*]}"
    fi
    find_missing 2>/dev/null
    # Without cmake and the like the build of the crate shaderc panics, and does not say that vksort can do without it.
    ((${#needed[@]} == 0)) || die "missing, and ${kernels_or_crate[kernels]} needs it: ${needed[*]}"
    ((${#packages[@]} == 0)) || say "going on without ${packages[*]}"
}

# Shows the progress of ninja or make, read from their output, and keeps the output in the file given.
show_progress() {
    local line percent shown=-10
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$1"
        if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
            percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
            percent=${BASH_REMATCH[1]}
        else
            continue
        fi
        if [[ -t 2 ]]; then
            printf '\rshaderc: %3d %%' "$percent" >&2
        elif ((percent >= shown + 10)); then
            say "shaderc: $percent %"
            shown=$percent
        fi
    done
    [[ ! -t 2 ]] || printf '\n' >&2
}

build_shaderc() {
    say "shaderc: building $archive, once per machine; about 10 minutes of CPU time"
    local host metadata source log generator
    host=$(rustc -vV | sed -n 's/^host: //p')
    metadata=$(cargo metadata --locked --format-version 1 --filter-platform "$host") || die "cargo metadata failed"
    source=$(python3 -c '
import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "shaderc-sys":
        print(os.path.join(os.path.dirname(package["manifest_path"]), "build"))
' <<<"$metadata")
    [[ -e $source/CMakeLists.txt ]] || die "no CMake project in shaderc-sys $shaderc_version: ${source:-not found}"

    make_work_dir
    log=$work/log
    generator="Unix Makefiles"
    has ninja && generator=Ninja
    # The options are those of the crate's own build script.
    if ! { cmake -S "$source" -B "$work/build" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DENABLE_SPVREMAPPER=OFF -DENABLE_GLSLANG_BINARIES=OFF \
        -DSHADERC_SKIP_TESTS=ON -DSPIRV_SKIP_EXECUTABLES=ON -DSPIRV_WERROR=OFF >"$log" 2>&1 &&
        NINJA_STATUS='[%f/%t] ' cmake --build "$work/build" --target shaderc_combined --parallel "$(nproc)" 2>&1 |
        show_progress "$log"; }; then
        grep -E -A 5 'error:|^FAILED|CMake Error' "$log" | tail -n 30 >&2 || tail -n 30 "$log" >&2
        die "building shaderc failed, see above"
    fi
    mkdir -p "$shaderc_dir"
    mv "$work/build/shaderc/libshaderc/libshaderc_combined.a" "$archive"
    rm -rf "$work"
}

# Lets plain `cargo build` find the archive.
configure_cargo() {
    local config=.cargo/config.toml mark="# Written by scripts/setup.sh."
    local text="$mark"$'\n[env]\n'"SHADERC_LIB_DIR = \"$shaderc_dir\""
    if [[ ! -e $config ]] || head -n 1 "$config" | grep -qxF "$mark"; then
        [[ ! -e $config || $(<"$config") != "$text" ]] || return 0
        mkdir -p .cargo
        printf '%s\n' "$text" >"$config"
        say "wrote $config"
    elif ! grep -q '^ *SHADERC_LIB_DIR' "$config"; then
        # A second [env] table would make the file invalid.
        grep -q '^ *\[env\]' "$config" &&
            die "$config has an [env] table: add SHADERC_LIB_DIR = \"$shaderc_dir\" to it"
        printf '\n[env]\nSHADERC_LIB_DIR = "%s"\n' "$shaderc_dir" >>"$config"
        say "added SHADERC_LIB_DIR to $config"
    elif ! grep -qF "$shaderc_dir\"" "$config"; then
        say "$config has a SHADERC_LIB_DIR of its own, which stays; the one made here is $shaderc_dir"
    fi
}

build_mdbook() {
    say "mdbook: building $mdbook_dir/bin/mdbook, once per machine; about 3 minutes of CPU time"
    make_work_dir
    if ! nice cargo install --quiet --locked "mdbook@$mdbook_version" --no-default-features --features search --root "$work/mdbook" \
        --target-dir "$work/target" >"$work/log" 2>&1; then
        tail -n 30 "$work/log" >&2
        die "building mdbook failed, see above"
    fi
    mv -T "$work/mdbook" "$mdbook_dir"
    rm -rf "$work"
}

# The version that a validation layer reports, which its manifest has to name.
layer_version() {
    python3 - "$1" <<'PYTHON'
import ctypes, sys

class LayerProperties(ctypes.Structure):
    _fields_ = [("layerName", ctypes.c_char * 256), ("specVersion", ctypes.c_uint32),
                ("implementationVersion", ctypes.c_uint32), ("description", ctypes.c_char * 256)]

count, layer = ctypes.c_uint32(1), LayerProperties()
ctypes.CDLL(sys.argv[1]).vkEnumerateInstanceLayerProperties(ctypes.byref(count), ctypes.byref(layer))
version = layer.specVersion
print(f"{version >> 22}.{version >> 12 & 0x3FF}.{version & 0xFFF}")
PYTHON
}

# Takes SwiftShader and a newer validation layer out of Debian's package of Chromium, without installing it.
unpack_chromium_parts() {
    ! chromium_parts >/dev/null || return 0
    if ! has apt-get || ! has dpkg; then
        say "SwiftShader: chromium-common is a Debian package, and there is no apt here"
        return
    fi
    apt_update || say "SwiftShader: the package lists could not be updated; trying those at hand"
    make_work_dir
    say "SwiftShader: downloading chromium-common"
    if ! (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download chromium-common >&2); then
        say "SwiftShader: chromium-common could not be downloaded, so the tests will not run on SwiftShader"
        return
    fi
    local package version from directory parts=$work/parts
    package=$(echo "$work"/chromium-common_*.deb)
    version=$(dpkg-deb -f "$package" Version)
    dpkg -x "$package" "$work/package"
    from=$work/package/usr/lib/chromium
    directory=$vksort_cache/chromium-$version
    mkdir -p "$parts/layers"
    if ! { mv "$from/libvk_swiftshader.so" "$parts" && mv "$from/libVkLayer_khronos_validation.so" "$parts/layers"; }; then
        die "chromium-common $version has no SwiftShader or validation layer in usr/lib/chromium"
    fi
    cat >"$parts/vk_swiftshader_icd.json" <<JSON
{
    "file_format_version": "1.0.0",
    "ICD": { "library_path": "$directory/libvk_swiftshader.so", "api_version": "1.3.0" }
}
JSON
    # A relative path, so that the directory can be copied elsewhere.
    cat >"$parts/layers/VkLayer_khronos_validation.json" <<JSON
{
    "file_format_version": "1.2.0",
    "layer": {
        "name": "VK_LAYER_KHRONOS_validation",
        "type": "GLOBAL",
        "library_path": "./libVkLayer_khronos_validation.so",
        "api_version": "$(layer_version "$parts/layers/libVkLayer_khronos_validation.so")",
        "implementation_version": "1",
        "description": "Khronos Validation Layer"
    }
}
JSON
    mv -T "$parts" "$directory"
    rm -rf "$work"
    say "SwiftShader: unpacked into $directory"
}

# Of two at once the second finds everything done.
lock() {
    has flock || return 0
    mkdir -p "$vksort_cache"
    exec 9>"$vksort_cache/lock"
    flock --nonblock 9 || { say "waiting for another setup.sh to finish" && flock 9; }
}

check_rust
lock
install_missing
if ((kernels)); then
    [[ -e $archive ]] || build_shaderc
    configure_cargo
fi
((!tests)) || unpack_chromium_parts
((!guide)) || [[ -x $mdbook_dir/bin/mdbook ]] || build_mdbook
