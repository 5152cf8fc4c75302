# ===- _initializers.py - Weights given beside a model ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Initializers of an ONNX model that a program gives: SessionOptions.add_initializer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loopc._errors import InvalidArgument, InvalidType
from loopc._ort_value import OrtValue, name_of
from loopc._wire import bytes_field, fields, number_field, read_varint, rewrite

# Numbers of fields in onnx.proto.
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_INITIALIZER = 1, 5
_NODE_ATTRIBUTE = 5
_ATTRIBUTE_GRAPH, _ATTRIBUTE_GRAPHS = 6, 11
_DIMS, _TYPE, _STRINGS, _NAME, _RAW, _EXTERNAL, _LOCATION = 1, 2, 6, 8, 9, 13, 14
_STRING = 8

#: Bits of the elements that are packed into bytes, by their name in ml_dtypes.
_PACKED = {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}


def _pack(array: np.ndarray) -> bytes:
    """The elements of a tensor as raw_data has them."""
    bits = _PACKED.get(array.dtype.name)
    if bits is None:
        return np.ascontiguousarray(array).tobytes()
    values = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8) & (2**bits - 1)
    of_byte = 8 // bits
    values = np.pad(values, (0, -len(values) % of_byte)).reshape(-1, of_byte)
    shifted = values << (np.arange(of_byte, dtype=np.uint8) * np.uint8(bits))
    return bytes(np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8))


@dataclass
class _Tensor:
    """What a TensorProto says, without its elements."""

    name: str = ""
    element_type: int = 0
    shape: list[int] = field(default_factory=list)
    is_external: bool = False
    place: dict[str, str] = field(default_factory=dict)


def _text(value: int | memoryview) -> str:
    return bytes(value).decode() if isinstance(value, memoryview) else ""


def _read_tensor(data: memoryview) -> _Tensor:
    tensor = _Tensor()
    for number, value, _ in fields(data):
        if number == _DIMS and isinstance(value, int):
            tensor.shape.append(value)
        elif number == _DIMS and isinstance(value, memoryview):
            at = 0
            while at < len(value):
                extent, at = read_varint(value, at)
                tensor.shape.append(extent)
        elif number == _TYPE and isinstance(value, int):
            tensor.element_type = value
        elif number == _NAME:
            tensor.name = _text(value)
        elif number == _LOCATION:
            tensor.is_external = value == 1
        elif number == _EXTERNAL and isinstance(value, memoryview):
            entry = {key: _text(text) for key, text, _ in fields(value)}
            tensor.place[entry.get(1, "")] = entry.get(2, "")
    return tensor


class Initializers:
    """What a session's options give in the place of a model's own weights."""

    def __init__(self) -> None:
        self._values: dict[str, np.ndarray] = {}
        # Of these the model must have the elements elsewhere.
        self._external: set[str] = set()
        self._files: dict[str, Any] = {}
        self._found: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._values or self._files)

    def add(self, name: str, value: Any, is_external: bool) -> None:
        """Gives the tensor of one name."""
        if not isinstance(name, str) or not name:
            raise InvalidType(f"name: expected the name of an initializer, got {name!r}")
        if not isinstance(value, OrtValue) or not value.is_tensor():
            raise InvalidType(f"initializer {name!r}: expected an OrtValue that holds a tensor")
        if name in self._values:
            raise InvalidArgument(f"initializer {name!r} has been given before")
        self._values[name] = value.numpy()
        if is_external:
            self._external.add(name)

    def add_file(self, name: str, buffer: Any, length: int) -> None:
        """Gives the bytes of a file of external data."""
        view = memoryview(buffer).cast("B")
        if not 0 <= length <= len(view):
            raise InvalidArgument(f"lengths: {name!r}: {length} of {len(view)} bytes")
        self._files[name] = view[:length]

    def _tensor(self, data: memoryview) -> bytes | None:
        """An initializer with the elements that were given."""
        old = _read_tensor(data)
        if old.name in self._values:
            self._found.add(old.name)
            return self._replace(old)
        location = old.place.get("location", "")
        if not old.is_external or location not in self._files:
            return None
        content = self._files[location]
        offset = int(old.place.get("offset") or 0)
        length = int(old.place.get("length") or len(content) - offset)
        if not 0 <= offset <= offset + length <= len(content):
            raise InvalidArgument(
                f"initializer {old.name!r}: bytes {offset} to {offset + length} of {location!r}, "
                f"which has {len(content)}"
            )
        kept = [bytes(whole) for number, _, whole in fields(data)
                if number not in (_RAW, _EXTERNAL, _LOCATION)]  # fmt: skip
        return b"".join(kept) + bytes_field(_RAW, bytes(content[offset : offset + length]))

    def _replace(self, old: _Tensor) -> bytes:
        array = self._values[old.name]
        if old.name in self._external and not old.is_external:
            raise InvalidArgument(
                f"initializer {old.name!r}: the model itself has its elements; use add_initializer"
            )
        given = OrtValue(array)
        if given.element_type() != old.element_type or list(array.shape) != old.shape:
            raise InvalidArgument(
                f"initializer {old.name!r}: {_show(given.element_type(), array.shape)}, "
                f"the model has {_show(old.element_type, old.shape)}"
            )
        message = b"".join(number_field(_DIMS, extent) for extent in old.shape)
        message += number_field(_TYPE, old.element_type) + bytes_field(_NAME, old.name.encode())
        if old.element_type == _STRING:
            texts = (str(text).encode() for text in array.reshape(-1))
            return message + b"".join(bytes_field(_STRINGS, text) for text in texts)
        return message + bytes_field(_RAW, _pack(array))

    def _attribute(self, data: memoryview) -> bytes | None:
        return rewrite(data, {_ATTRIBUTE_GRAPH: self._graph, _ATTRIBUTE_GRAPHS: self._graph})

    def _node(self, data: memoryview) -> bytes | None:
        return rewrite(data, {_NODE_ATTRIBUTE: self._attribute})

    def _graph(self, data: memoryview) -> bytes | None:
        return rewrite(data, {_GRAPH_INITIALIZER: self._tensor, _GRAPH_NODE: self._node})

    def apply(self, path: bytes | None, data: bytes | None) -> bytes:
        """The bytes of a model with what was given.

        Raises:
            InvalidArgument: a tensor does not fit the initializer of its name, or the
                model is no ONNX model in its binary form.
        """
        if data is None:
            assert path is not None
            data = Path(os.fsdecode(path)).read_bytes()
        self._found = set()
        try:
            changed = rewrite(memoryview(data), {_MODEL_GRAPH: self._graph})
        except InvalidArgument:
            raise
        except (ValueError, IndexError):
            raise InvalidArgument(
                "initializers were given, and the model is no ONNX model in its binary form"
            ) from None
        absent = sorted(self._external - self._found)
        if absent:
            raise InvalidArgument(f"the model has no initializer {', '.join(map(repr, absent))}")
        return data if changed is None else changed


def _show(element_type: int, shape: Sequence[int]) -> str:
    return f"tensor({name_of(element_type)}){list(shape)}"
