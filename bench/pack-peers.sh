#!/usr/bin/env bash
# Puts into a folder what a GPU machine needs to run bench/gpu-machine.ts, beside Node and Dawn: the script as a bundle, in
# which TensorFlow.js and jax-js are, and ONNX Runtime, which can't be bundled, as an archive (17 MB) to be unpacked there.
#
#   bench/pack-peers.sh FOLDER
#
# On the machine: cd FOLDER && tar -xJf peers.tar.xz && node gpu-machine.mjs --out record.json --peers all
set -euo pipefail
folder=$(realpath -m "${1:?usage: bench/pack-peers.sh FOLDER}")
cd "$(dirname "$(realpath "$0")")"
mkdir -p "$folder"

npx esbuild gpu-machine.ts --bundle --minify-whitespace --platform=node --format=esm --target=node20 --log-level=warning \
  --external:webgpu --external:@sparticuz/chromium --external:onnxruntime-web --external:onnxruntime-node \
  --banner:js="import {createRequire as __createRequire} from 'node:module';const require=__createRequire(import.meta.url);" \
  --outfile="$folder/gpu-machine.mjs"

# Only the files that are loaded: the web package for Node alone is 140 MB.
tar -cJf "$folder/peers.tar.xz" \
  node_modules/onnxruntime-web/package.json \
  node_modules/onnxruntime-web/dist/ort.webgpu.bundle.min.mjs \
  node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.{mjs,wasm} \
  node_modules/onnxruntime-node/{package.json,dist/*.js,bin/napi-v6/linux/x64} \
  node_modules/onnxruntime-common/{package.json,dist/cjs}
ls -l "$folder"
