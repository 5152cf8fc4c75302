# ===- compile_threads.py - Many models, compiled at once -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compiles different models in one process, some at a time.

It looks for faults between threads, and for memory that one compilation leaves to the next.

    compile_threads.py --tool build/unittests/loopc-compile-threads --models 500 --threads 4

Freed memory is overwritten (MALLOC_PERTURB_), or kept from reuse by glibc's caches of threads
(--no-tcache). A model that is refused is no failure: test_random_models.py compares results. A
failure is a signal, a sanitizer's report, or no end. Each sixteenth model has a block so large that
the compiler cuts it into sections, for threads of its own.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

from random_models import random_model
from random_open_models import open_model
from random_programs import random_program

#: Products of a large model: cpu-cut-sections takes 40 for one section.
PRODUCTS = 120


def large_model(seed: int) -> bytes:
    """A chain of products and what lies between them, f32[n, 8] to f32[n, 8]."""
    random = np.random.default_rng(seed)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value = "x"

    def put(kind: str, *inputs: str) -> str:
        nodes.append(onnx.helper.make_node(kind, inputs, [f"v{len(nodes)}"]))
        return str(nodes[-1].output[0])

    for k in range(PRODUCTS):
        matrix = random.standard_normal((8, 8)).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(matrix, f"w{k}"))
        value, before = put("MatMul", value, f"w{k}"), value
        between = random.choice(["Add", "Mul", "Relu", "Softmax", "Transpose", "None"])
        if between in ("Add", "Mul"):
            value = put(between, value, before)
        elif between == "Transpose":
            value = put("MatMul", put("MatMul", value, put("Transpose", before)), value)
        elif between != "None":
            value = put(between, value)
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 8])
        for name in ("x", value)
    )
    graph = onnx.helper.make_graph(nodes, "large", [x], [y], weights)
    opset = onnx.helper.make_opsetid("", 21)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)
    return bytes(model.SerializeToString())


def models(first: int) -> Iterator[bytes]:
    """Models of three generators in turns, and large ones."""
    for seed in itertools.count(first):
        if seed % 5 == 0:
            yield large_model(seed)
        yield random_model(seed).proto.SerializeToString()
        yield random_program(seed, sets=1).proto.SerializeToString()
        yield open_model(seed, sets=1).proto.SerializeToString()


def main() -> int:
    """Writes the models and compiles them; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", type=pathlib.Path, required=True, metavar="FILE")
    parser.add_argument("--models", type=int, default=500, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--threads", type=int, default=4, metavar="N")
    parser.add_argument("--timeout", type=float, default=7200, metavar="SECONDS")
    parser.add_argument("--no-tcache", action="store_true", help="no caches of threads in malloc")
    options = parser.parse_args()
    if not options.tool.is_file():
        parser.error(f"{options.tool} is not a file")
    # All in one process: that is what is looked at.
    environment = {"MALLOC_PERTURB_": "165"} | os.environ | {"LOOPC_COMPILE": "inprocess"}
    if options.no_tcache:
        environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        files = []
        for number, model in enumerate(itertools.islice(models(options.first), options.models)):
            files.append(pathlib.Path(folder) / f"{number}.onnx")
            files[-1].write_bytes(model)
        command = [options.tool.resolve(), str(options.threads), *files]
        done = subprocess.run(command, env=environment, timeout=options.timeout, check=False)
    if done.returncode != 0:
        print(f"{options.tool} ended with status {done.returncode}")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
