#!/bin/sh
# Builds the layer that fails calls: build.sh FOLDER
#
# FOLDER is for VK_LAYER_PATH then. Needs gcc and the headers of Vulkan (libvulkan-dev).
set -eu
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
# The loader closes a layer with each instance, but a count of calls spans all instances of a process: hence nodelete.
gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -Wl,-z,nodelete \
    -o "$1/libfaults.so.new" "$here/layer.c"
mv "$1/libfaults.so.new" "$1/libfaults.so"
cp "$here/VkLayer_faults.json" "$1"
