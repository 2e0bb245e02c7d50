#!/bin/sh
# The measurements of operators of a user's own, on a GPU machine with nvcc: beside CUB with the same
# functors, and the library's own operators as a control.
#
#   benches/operators.sh [PROGRAM] [FOLDER] [OPTION..]
#
# PROGRAM is the warpfold-bench that `cargo xtask dist` made [./warpfold-bench]; FOLDER is where the results go
# [operators]. OPTIONs are those of both runs: --seed 7, --quick.
set -eu
program=${1:-./warpfold-bench}
folder=${2:-operators}
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift

nvcc --version || echo "nvcc is not on PATH: without CUDA_PATH or /usr/local/cuda there are no rows of CUB"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv || true

"$program" bench --suite operators --peers all --out "$folder/operators" "$@"
# As before the suite: whole arrays by the library's operators; at 2^20 also reduce_into beside a prepared plan.
"$program" bench --suite whole --types i32,f32,f64 --ops sum,min,max --sizes 2^16,2^20,2^24,2^28 \
    --peers cub --out "$folder/whole" "$@"
