#!/bin/bash
# Runs the portable tests under Deno, whose WebGPU (wgpu) has another compiler of WGSL (naga) than Dawn:
#
#   npm run test:deno [-- FILES AND OPTIONS OF VITEST]
#
# Deno is fetched by npm when it is first used, and is no dependency: it takes 92 MB. Its GPU is the lavapipe 25 that
# scripts/software-gpus.sh brings. wgpu needs Vulkan's loader, too: Debian's package, unpacked into the cache folder.
# Exits with 3, and one line with the reason on stderr, where one of them can't be had.
set -u -o pipefail
cd "$(dirname "$(realpath "$0")")/.." || exit
deno=(npm exec --yes --package=deno@2.9.6 -- deno)
cache=$(realpath -m "${WEBGEMM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/webgemm}")
loader=$cache/vulkan-loader
skip() { echo "test-deno: skipped, because $*" >&2; exit 3; }

[ -s "$cache/lavapipe-25/version" ] || skip 'lavapipe 25 is not in the cache; scripts/software-gpus.sh brings it'
if [ ! -e "$loader" ]; then
  draft=$(mktemp -d "$loader.XXXXXX")
  trap 'rm -rf "$draft"' EXIT
  fetch() { (cd "$draft" && apt-get -qq download libvulkan1 && dpkg-deb -x libvulkan1_*.deb root) 2> /dev/null; }
  fetch || { [ "$(id -u)" -eq 0 ] && apt-get -qq update 2> /dev/null && fetch; } ||
    skip "Debian's package libvulkan1 can't be had here"
  mkdir "$draft/lib"
  cp -d "$draft"/root/usr/lib/*/libvulkan.so.1* "$draft/lib" && rm -r "$draft/root" "$draft"/*.deb && mv "$draft" "$loader"
fi
"${deno[@]}" --version > /dev/null 2>&1 || skip "npm can't bring Deno here"
export LD_LIBRARY_PATH=$loader/lib VK_DRIVER_FILES=$cache/lavapipe-25/icd.json
exec "${deno[@]}" run -A node_modules/vitest/vitest.mjs run "$@"
