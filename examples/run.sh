#!/usr/bin/env bash
# The example, as a user goes: compile the model to an object, link it with a C
# program, run that; then the same model without a C program, by loopc-run and
# from Python, and its time beside onnxruntime's.
#
# `./dev run` builds what is missing and calls it. By itself it wants a build:
#   LOOPC_BUILD (default: build) is the build tree, CC (default: cc, or else
#   clang-22) the C compiler, PYTHON (default: .venv/bin/python) the interpreter.
#   Arguments go to examples/newton/compare.py.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
build="${LOOPC_BUILD:-build}"
python="${PYTHON:-.venv/bin/python}"
cc="${CC:-$(command -v cc > /dev/null && echo cc || echo clang-22)}"
out="$build/examples/newton"
mkdir -p -- "$out"

# show COMMAND...: what is done here, in words that work in a terminal.
show() {
  printf '\n$'
  printf ' %s' "$@"
  printf '\n'
  "$@"
}

show "$build/bin/loopc" examples/newton/newton.onnxtxt --verbose -o "$out/newton.o"
show "$cc" -std=c99 -O2 -Wall -Wextra -Iinclude "-I$out" examples/newton/main.c \
  "$out/newton.o" "$build/lib/libloopc_rt.a" -lm -o "$out/newton"
show "$out/newton"

show "$build/bin/loopc-run" examples/newton/newton.onnxtxt \
  --input=anomaly=[3.05,1.16] --input=eccentricity=[0.21,0.97] \
  --input=limit=9223372036854775807 --input=tolerance=1e-9 --stats --bench=10000

export PYTHONPATH="$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH}"
show "$python" examples/python_session.py
show "$python" examples/newton/compare.py "$@"
