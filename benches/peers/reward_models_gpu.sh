#!/bin/sh
# Measures a GPU in less than ten minutes: parity, throughput by token budget, peers, workers.
#
#   benches/peers/reward_models_gpu.sh ASSAY CAPI [OUT]
#
# ASSAY is the program of a release build, CAPI the folder onnxruntime/capi of the wheel onnxruntime-gpu; OUT holds the
# models between runs. Needs the package of assay with its extra `export`, and
# benches/peers/requirements-models.txt with onnxruntime-gpu in place of onnxruntime.
set -eu
assay=$1 capi=$2 out=${3:-target/gpu}
here=$(dirname "$0")
texts="$here/../../fixtures/datasets/*.jsonl.gz"
mkdir -p "$out"
for precision in fp32 fp16; do
	[ -f "$out/m500-$precision/model.toml" ] ||
		python -m assay.export.bench_model "$out/m500-$precision" --size 500m --precision $precision --text $texts
done
# A part that fails is told, and the rest goes on.
timeout 180 python "$here/reward_models_gpu.py" "$out/m500-fp32" "$assay" "$capi" --texts 2048 --cpu-texts 16 \
	--budgets 2048 8192 --only cpu budgets peers || true
timeout 240 python "$here/reward_models_gpu.py" "$out/m500-fp16" "$assay" "$capi" --texts 4096 --cpu-texts 16 \
	--cpu-model "$out/m500-fp32" --budgets 2048 8192 16384 --only cpu budgets workers binding || true
