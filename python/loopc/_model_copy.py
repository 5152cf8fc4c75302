# ===- _model_copy.py - The model that a session was made of -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``SessionOptions.optimized_model_filepath``: a model that means the same as the session's.

onnxruntime writes the graph that its optimiser has made. What loopc makes of a model is no
ONNX: the file has the model as it is, so that programs which read it go on.
"""

from __future__ import annotations

import os

from loopc._arguments import file_path
from loopc._errors import InvalidArgument
from loopc._wire import fields


def _is_external(model: memoryview) -> bool:
    """Whether an initializer of the main graph lies in another file (TensorProto's field 14)."""
    for number, graph, _ in fields(model):
        if number != 7 or not isinstance(graph, memoryview):
            continue
        for kind, tensor, _ in fields(graph):
            if kind == 5 and isinstance(tensor, memoryview):
                if any(key == 14 and value == 1 for key, value, _ in fields(tensor)):
                    return True
    return False


def write_model(target: str | os.PathLike[str], path: bytes | None, data: bytes | None) -> str:
    """Writes a session's model, and returns what its user is to know.

    Raises:
        InvalidArgument: the file cannot be written.
    """
    name = os.fsdecode(file_path("optimized_model_filepath", target))
    head = "optimized_model_filepath: "
    folder = None
    if data is None and path is None:
        return f"{head}nothing is written, since the session was not made of an ONNX model"
    if data is None:
        folder = os.path.dirname(os.path.abspath(os.fsdecode(path or b"")))
        with open(path or b"", "rb") as file:
            data = file.read()
    try:
        is_external = _is_external(memoryview(data))
    except (ValueError, IndexError):
        return f"{head}nothing is written, since the session's model is no binary ONNX model"
    if is_external and folder != os.path.dirname(os.path.abspath(name)):
        return f"{head}nothing is written, since weights of the model lie beside it in other files"
    try:
        with open(name, "wb") as file:
            file.write(data)
    except OSError as error:
        raise InvalidArgument(f"{head}cannot write {name!r}: {error.strerror}") from None
    return f"{head}{name!r} has the model as it is: what loopc makes of a model is no ONNX"
