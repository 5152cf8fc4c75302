# ===- __init__.py - OpenVINO's names ----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models under the names of OpenVINO's Python API.

A program changes its import::

    from loopc import openvino as ov

    core = ov.Core()
    compiled = core.compile_model("model.xml", "CPU")
    request = compiled.create_infer_request()
    request.start_async({"x": x})
    request.wait()
    print(request.get_tensor("y").data)

docs/OpenVINO.md says which names there are. What is not here is an AttributeError, and what
cannot be done is refused.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from loopc import _loopc
from loopc.openvino import layout_helpers, preprocess, properties
from loopc.openvino._core import CompiledModel, Core, Version, compile_model
from loopc.openvino._layout import Layout
from loopc.openvino._model import Model, get_batch, read_model, save_model, serialize, set_batch
from loopc.openvino._ports import ConstOutput, Output, Results
from loopc.openvino._requests import AsyncInferQueue, InferRequest, ProfilingInfo, VariableState
from loopc.openvino._tensor import Tensor
from loopc.openvino._types import Dimension, PartialShape, Shape, Strides, Type

__version__ = _loopc.version()


def get_version() -> str:
    """loopc's version."""
    return _loopc.version()


def convert_model(input_model: Any, **kwargs: Any) -> Model:
    """A model of ONNX as it is; one of another package by openvino.convert_model.

    Raises:
        AttributeError: the package openvino is needed, and is not there.
    """
    is_file = isinstance(input_model, str | os.PathLike)
    if (is_file or hasattr(input_model, "SerializeToString")) and not kwargs:
        return read_model(input_model)
    try:
        import openvino
    except ImportError:
        raise AttributeError(
            "convert_model: models of ONNX are read without arguments; others, and arguments, "
            "need the package openvino (loopc.export writes ONNX of a model of torch)",
            name="convert_model",
        ) from None
    return read_model(openvino.convert_model(input_model, **kwargs))


def tensor_from_file(path: str | os.PathLike[str]) -> Tensor:
    """The array of a .npy file, or the bytes of another."""
    import numpy as np

    is_array = os.fspath(path).endswith(".npy")
    return Tensor(np.load(path) if is_array else np.fromfile(path, np.uint8), True)


__all__ = [
    "AsyncInferQueue",
    "CompiledModel",
    "ConstOutput",
    "Core",
    "Dimension",
    "InferRequest",
    "Layout",
    "Model",
    "Output",
    "PartialShape",
    "ProfilingInfo",
    "Results",
    "Shape",
    "Strides",
    "Tensor",
    "Type",
    "VariableState",
    "Version",
    "compile_model",
    "convert_model",
    "get_batch",
    "get_version",
    "layout_helpers",
    "preprocess",
    "properties",
    "save_model",
    "serialize",
    "set_batch",
    "tensor_from_file",
]

_CHANGE = (
    "models are changed by the package openvino, whose models Core().compile_model() takes, too"
)
#: What programs of OpenVINO ask for, and what stands in its place here.
_ELSEWHERE = {
    "passes": _CHANGE,
    "op": _CHANGE,
    "frontend": "Core().read_model reads ONNX and IR; openvino.convert_model reads others",
    "RemoteTensor": "values lie in the memory of the host",
    "RemoteContext": "values lie in the memory of the host",
    "Extension": "extensions are custom operators here (docs/CustomOperators.md)",
    "OVAny": "properties have values of Python",
    "runtime": "its names are those of loopc.openvino itself",
}


def __getattr__(name: str) -> NoReturn:
    """Says what stands in the place of a name that is not here."""
    text = f"module {__name__!r} has no attribute {name!r}"
    where = _CHANGE if name.startswith("opset") else _ELSEWHERE.get(name)
    raise AttributeError(f"{text}: {where}" if where else text, name=name)
