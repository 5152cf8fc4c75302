# ===- gru.py - A GRU, built layer by layer ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A GRU by a recurrence, with loopc's network builder; gru.cpp is the same in C++.

The names are those of TensorRT's Python API: code that was written for it ports
by changing the import.
"""

import loopc
import numpy as np
from loopc import network as trt

HIDDEN, WIDTH = 3, 2


def weights(first: float, *shape: int) -> np.ndarray:
    """Values that gru.cpp makes, too."""
    count = np.arange(np.prod(shape, dtype=int), dtype=np.float32)
    return np.sin(np.float32(first) + count, dtype=np.float32).reshape(shape)


def build() -> trt.INetworkDefinition:
    """x [steps, WIDTH] and the number of steps to the last and all hidden states."""
    network = trt.create_network("gru")
    x = network.add_input("x", trt.float32, ("steps", WIDTH))
    steps = network.add_input("n", trt.int32, ())

    def constant(value: np.ndarray) -> trt.ITensor:
        return network.add_constant(value.shape, value).get_output(0)

    def combine(a: trt.ITensor, b: trt.ITensor, op: trt.ElementWiseOperation) -> trt.ITensor:
        return network.add_elementwise(a, b, op).get_output(0)

    add = trt.ElementWiseOperation.SUM
    multiply = trt.ElementWiseOperation.PROD
    subtract = trt.ElementWiseOperation.SUB

    # The border of the loop. What else is in it follows from who uses what.
    loop = network.add_loop()
    loop.name = "steps"
    loop.add_trip_limit(steps, trt.TripLimit.COUNT)
    row = loop.add_iterator(x).get_output(0)
    state = loop.add_recurrence(constant(np.zeros(HIDDEN, np.float32)))
    h = state.get_output(0)

    def gate(name: str, first: float, hidden: trt.ITensor, kind: trt.ActivationType) -> trt.ITensor:
        parts = []
        for offset, width, value in ((0, WIDTH, row), (1, HIDDEN, hidden)):
            product = network.add_matrix_multiply(
                constant(weights(first + offset, HIDDEN, width)),
                trt.MatrixOperation.NONE,
                value,
                trt.MatrixOperation.VECTOR,
            )
            parts.append(product.get_output(0))
        layer = network.add_activation(combine(parts[0], parts[1], add), kind)
        layer.name = name
        return layer.get_output(0)

    update = gate("update", 0, h, trt.ActivationType.SIGMOID)
    reset = gate("reset", 2, h, trt.ActivationType.SIGMOID)
    candidate = gate("candidate", 4, combine(reset, h, multiply), trt.ActivationType.TANH)
    # h + update * (candidate - h)
    change = combine(update, combine(candidate, h, subtract), multiply)
    following = combine(h, change, add)
    state.set_input(1, following)

    last = loop.add_loop_output(h, trt.LoopOutput.LAST_VALUE).get_output(0)
    collected = loop.add_loop_output(following, trt.LoopOutput.CONCATENATE)
    collected.set_input(1, steps)
    for name, tensor in (("last", last), ("all", collected.get_output(0))):
        tensor.name = name
        network.mark_output(tensor)
    return network


def main() -> None:
    """Builds, compiles and runs it, and shows what a mistake says."""
    network = build()
    print(f"{network.num_layers} layers")
    session = loopc.InferenceSession(network)
    x = weights(0, 4, WIDTH)
    for steps in (4, 0):
        last, every = session.run(None, {"x": x, "n": np.array(steps, np.int32)})
        print(f"after {steps} steps:", " ".join(f"{value:.4f}" for value in last), every.shape)

    # A recurrence that is never closed.
    broken = build()
    loop = broken.add_loop()
    loop.name = "unfinished"
    loop.add_trip_limit(broken.get_input(1), trt.TripLimit.COUNT)
    forgotten = loop.add_recurrence(broken.get_input(0))
    forgotten.name = "forgotten"
    broken.mark_output(
        loop.add_loop_output(forgotten.get_output(0), trt.LoopOutput.LAST_VALUE).get_output(0)
    )
    try:
        loopc.InferenceSession(broken)
    except loopc.CompileError as error:
        print(error)


if __name__ == "__main__":
    main()
