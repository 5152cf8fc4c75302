# ===- growing_models.py - Models of any number of one thing --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that hold a number of one thing: what compilation takes must grow as that number does.

Each generator takes the number and the extent of the inputs: a name such as "N" (open) or a number.
`python growing_models.py NAME NUMBER [EXTENT]` writes the model to standard output.
"""

import sys

import numpy as np
import onnx
from growing_control import CONTROL
from growing_networks import NETWORKS

GROWING = CONTROL | NETWORKS
"""The generators by name."""


def inputs_of(model: onnx.ModelProto, length: int = 8) -> dict[str, np.ndarray]:
    """Inputs by name: numbers from a fixed seed, `length` where an extent is open, few trips.

    What has no declared rank is a vector.
    """
    random = np.random.default_rng(0)
    values: dict[str, np.ndarray] = {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else length for d in kind.shape.dim]
        if not kind.HasField("shape"):
            shape = [length]
        if kind.elem_type == onnx.TensorProto.BOOL:
            values[info.name] = np.asarray(random.random(shape) < 0.5)
        elif kind.elem_type == onnx.TensorProto.INT64:
            # Trip counts, or places within what is open.
            values[info.name] = np.array(2) if not shape else random.permuted(
                np.tile(np.arange(shape[0])[:, None], (1, shape[1])), axis=0
            )  # fmt: skip
        else:
            values[info.name] = random.uniform(-0.25, 0.25, shape).astype(np.float32)
    return values


if __name__ == "__main__":
    extent_asked = sys.argv[3] if len(sys.argv) > 3 else "N"
    made = GROWING[sys.argv[1]](int(sys.argv[2]), extent_asked)
    sys.stdout.buffer.write(made.SerializeToString())
