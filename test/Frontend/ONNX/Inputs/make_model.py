# ===- make_model.py - Models that ONNX's text form cannot say --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes the model of a test: `make_model.py NAME FILE`."""

import os
import sys
from collections.abc import Callable

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model_of(tensors: list[TensorProto], ir_version: int = 10) -> onnx.ModelProto:
    """A model that returns `tensors`, its initializers."""
    outputs = [helper.make_tensor_value_info(t.name, t.data_type, None) for t in tensors]
    graph = helper.make_graph([], "g", [], outputs, tensors)
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def tensor(name: str, data_type: int, dims: list[int], **fields: object) -> TensorProto:
    """A tensor with just these fields."""
    proto = TensorProto(name=name, data_type=data_type, dims=dims)
    for field, value in fields.items():
        if isinstance(value, bytes):
            setattr(proto, field, value)
        else:
            getattr(proto, field).extend(value)
    return proto


def typed(path: str) -> None:
    """Every element type, in raw_data and in its typed field."""
    numbers = {
        "f32": np.array([1, -2.5], np.float32),
        "f64": np.array([1, -2.5], np.float64),
        "f16": np.array([1, -2.5], np.float16),
        "bf16": np.array([1, -2.5], ml_dtypes.bfloat16),
        "i8": np.array([1, -2], np.int8),
        "i16": np.array([1, -2], np.int16),
        "i32": np.array([1, -2], np.int32),
        "i64": np.array([1, -2], np.int64),
        "u8": np.array([1, 255], np.uint8),
        "u16": np.array([1, 65535], np.uint16),
        "u32": np.array([1, 4294967295], np.uint32),
        "u64": np.array([1, 18446744073709551615], np.uint64),
        "bool": np.array([True, False]),
        "c64": np.array([1 + 2j, -3j], np.complex64),
        "c128": np.array([1 + 2j, -3j], np.complex128),
        "i4": np.array([1, -2, 7], ml_dtypes.int4),
        "u4": np.array([1, 15, 7], ml_dtypes.uint4),
        "e4m3fn": np.array([1, -2.5], ml_dtypes.float8_e4m3fn),
        "e5m2": np.array([1, -2.5], ml_dtypes.float8_e5m2),
        "f4": np.array([1, -6, 0.5], ml_dtypes.float4_e2m1fn),
    }
    tensors = []
    for name, values in numbers.items():
        raw = numpy_helper.from_array(values, f"{name}_raw")
        tensors.append(raw)
        data_type = raw.data_type
        fields = helper.make_tensor(
            f"{name}_typed", data_type, values.shape, values.flatten().tolist()
        )
        tensors.append(fields)
    onnx.save(model_of(tensors, 13), path)


def sparse(path: str) -> None:
    """Sparse initializers, with linear indices and with coordinates."""
    values = helper.make_tensor("s", TensorProto.FLOAT, [2], [1.0, 2.0])
    graph = helper.make_graph(
        [helper.make_node("Identity", ["s"], ["a"]), helper.make_node("Identity", ["t"], ["b"])],
        "g",
        [],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in "ab"],
    )
    linear = helper.make_tensor("i", TensorProto.INT64, [2], [1, 5])
    pairs = helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 2, 1, 0])
    other = helper.make_tensor("t", TensorProto.FLOAT, [2], [3.0, 4.0])
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, linear, [2, 3]))
    graph.sparse_initializer.append(helper.make_sparse_tensor(other, pairs, [2, 3]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, path)


def large(path: str) -> None:
    """A weight of more than a megabyte, one that is all the same, a small one."""
    weight = np.arange(1 << 19, dtype=np.float32)
    same = np.full((1 << 19,), 3.0, np.float32)
    tensors = [("large", weight), ("same", same), ("small", weight[:2])]
    onnx.save(model_of([numpy_helper.from_array(v, n) for n, v in tensors]), path)


def external(path: str, location: str = "w.bin", data: bytes = b"", **entries: str) -> None:
    """A weight in a file beside the model, and `data` of it within the model."""
    weight = np.arange(1024, dtype=np.float32)
    proto = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1024])
    proto.data_location = TensorProto.EXTERNAL
    if data:
        proto.raw_data = data
    for key, value in {"location": location, **entries}.items():
        proto.external_data.add(key=key, value=value)
    with open(os.path.join(os.path.dirname(path), "w.bin"), "wb") as file:
        file.write(b"head" + weight.tobytes())
    with open(path, "wb") as file:  # onnx.save would move the data into the file
        file.write(model_of([proto]).SerializeToString())


def bad_tensor(**fields: object) -> Callable[[str], None]:
    """A model with a tensor whose data does not fit its shape [3]."""
    return lambda path: onnx.save(
        model_of([tensor("w", fields.pop("data_type", 1), [3], **fields)]), path
    )


def ir_version(path: str) -> None:
    """A model of an IR version that does not exist yet."""
    onnx.save(model_of([numpy_helper.from_array(np.float32(1), "w")], 1000), path)


def no_opset(path: str) -> None:
    """A model that imports no opset."""
    node = helper.make_node("Neg", ["x"], ["y"])
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, []) for n in "xy"]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, ir_version=8)
    del model.opset_import[:]
    onnx.save(model, path)


CASES: dict[str, Callable[[str], None]] = {
    "typed": typed,
    "sparse": sparse,
    "large": large,
    "external": lambda path: external(path, offset="4", length="4096"),
    "external_misaligned": lambda path: external(path, offset="1", length="4096"),
    "external_default": external,
    "external_parent": lambda path: external(path, "../w.bin"),
    "external_absolute": lambda path: external(path, "/etc/passwd"),
    "external_missing": lambda path: external(path, "nothing.bin"),
    "external_link": lambda path: external(path, "link.bin"),
    "external_folder": lambda path: external(path, "folder"),
    "external_length": lambda path: external(path, length="4095"),
    "external_offset": lambda path: external(path, offset="8"),
    "external_number": lambda path: external(path, offset="four"),
    "raw_size": bad_tensor(raw_data=b"12345678"),
    "typed_size": bad_tensor(float_data=[1.0]),
    "typed_field": bad_tensor(int64_data=[1, 2, 3]),
    "two_fields": bad_tensor(float_data=[1.0, 2.0, 3.0], raw_data=b"123456789012"),
    "two_typed": bad_tensor(float_data=[1.0, 2.0, 3.0], int32_data=[1]),
    "two_large": lambda path: onnx.save(
        model_of([tensor("w", 1, [4096], float_data=[1.0], raw_data=bytes(16384))]), path
    ),
    "external_and_raw": lambda path: external(path, data=b"1234"),
    "element_type": bad_tensor(data_type=99, raw_data=b"123"),
    "strings": bad_tensor(data_type=8, string_data=[b"a"]),
    "shape": lambda path: onnx.save(model_of([tensor("w", 1, [1 << 40, 1 << 40])]), path),
    "negative": lambda path: onnx.save(model_of([tensor("w", 1, [-1])]), path),
    "ir_version": ir_version,
    "no_opset": no_opset,
}

if __name__ == "__main__":
    os.makedirs(os.path.dirname(sys.argv[2]), exist_ok=True)
    CASES[sys.argv[1]](sys.argv[2])
