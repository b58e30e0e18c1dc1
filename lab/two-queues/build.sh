#!/bin/sh
# Builds the layer of two queues: build.sh FOLDER
#
# FOLDER is for VK_LAYER_PATH then. Needs gcc and the headers of Vulkan (libvulkan-dev).
set -eu
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
# Programs that run meanwhile keep the library that they have.
gcc -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -pthread \
    -o "$1/libtwo_queues.so.new" "$here/layer.c" "$here/families.c" "$here/submissions.c"
mv "$1/libtwo_queues.so.new" "$1/libtwo_queues.so"
cp "$here/VkLayer_two_queues.json" "$1"
