# ===- tensorrt.py - TensorRT's names -----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Networks, engines and contexts under the names of TensorRT's Python API.

A program changes its import::

    from loopc import tensorrt as trt

    logger = trt.Logger(trt.Logger.WARNING)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    ...  # layers and loops, or trt.OnnxParser(network, logger)
    plan = builder.build_serialized_network(network, builder.create_builder_config())
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()

The engine runs on the CPU, and addresses are those of the host's memory. docs/Network.md says
which names there are, and what differs.
"""

from typing import NoReturn

from loopc import _loopc, _tensorrt, network
from loopc._tensorrt import *  # noqa: F403
from loopc._tensorrt_elsewhere import elsewhere
from loopc.network import *  # noqa: F403

__all__ = [*network.__all__, *_tensorrt.__all__]

__version__ = _loopc.version()


def __getattr__(name: str) -> NoReturn:
    """Says what stands in the place of a name that is not here."""
    text = f"module {__name__!r} has no attribute {name!r}"
    where = elsewhere(name)
    raise AttributeError(f"{text}: {where}" if where else text, name=name)
