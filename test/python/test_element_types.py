# ===- test_element_types.py - Every element type in loops and branches -----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loop, Scan and If of every version carry the types that their schemas admit, and no others."""

from __future__ import annotations

from typing import Any

import loopc
import loopc.aot
import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper
from single_node import element_type, run_node

LOOP_VERSIONS = [1, 11, 13, 16, 19, 21, 23, 24, 25]
SCAN_VERSIONS = [8, 9, 11, 16, 19, 21, 23, 24, 25]
TYPES: dict[str, Any] = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
    "complex64": np.complex64,
    "complex128": np.complex128,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
}
# Types that only some versions admit, and classes of types of all versions.
NEW = ["bfloat16", "float8e4m3fn", "float8e5m2fnuz", "int4", "uint4", "float4e2m1", "float8e8m0",
       "int2", "uint2"]  # fmt: skip
OLD = ["float16", "float", "int64", "uint8", "bool", "complex64", "complex128"]


def opset_of(version: int) -> int:
    """An opset that has Loop, Scan or If in `version`, and the other operators used here."""
    return 10 if version == 1 else version


def admitted(op: str, version: int) -> set[str]:
    """The element types of tensors that `op` of `version` can hold."""
    (schema,) = (
        s
        for s in defs.get_all_schemas_with_history()
        if s.name == op and s.domain == "" and s.since_version == version
    )
    (allowed,) = (c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == "V")
    return {t[len("tensor(") : -1] for t in allowed if t.startswith("tensor(")} & set(TYPES)


def values(name: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Any bit patterns that the type has."""
    dtype = np.dtype(TYPES[name])
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if name in ("int4", "uint4", "int2", "uint2"):
        info = ml_dtypes.iinfo(dtype)
        return rng.integers(int(info.min), int(info.max) + 1, shape).astype(np.int8).astype(dtype)
    if name == "float4e2m1":
        return rng.integers(0, 16, shape).astype(np.uint8).view(dtype)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize)).astype(np.uint8)
    return raw.view(dtype).reshape(shape)


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal types, shapes and bytes: values are moved, not computed."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert bytes_of(actual) == bytes_of(expected)


def bytes_of(x: np.ndarray) -> bytes:
    """The bytes of the elements; small integers have what their type needs of them."""
    if x.dtype.kind == "V" and x.dtype.name in ("int4", "uint4", "int2", "uint2"):
        x = x.astype(np.int8)
    return np.ascontiguousarray(x).tobytes()


def constant(name: str, value: np.ndarray) -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(value, name)


def info(name: str, dtype: Any, shape: Any = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element_type(dtype), shape)


def build(nodes: Any, inputs: Any, outputs: Any, constants: Any, opset: int) -> bytes:
    graph = helper.make_graph(nodes, "main", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model.SerializeToString()


def loop_model(type_name: str, version: int, shape: Any) -> bytes:
    """Carries a and b, which change places; collects a and the captured weight w."""
    dtype = TYPES[type_name]
    nodes = [helper.make_node("Identity", [f"{k}_in"], [f"{k}_out"]) for k in ("a", "b")]
    nodes.append(helper.make_node("Identity", ["cond_in"], ["cond_out"]))
    nodes.append(helper.make_node("Identity", ["w"], ["w_out"]))
    body = helper.make_graph(
        nodes,
        "body",
        [info("i", np.int64, []), info("cond_in", np.bool_, []), info("a_in", dtype, shape),
         info("b_in", dtype, shape)],
        [info("cond_out", np.bool_, []), info("b_out", dtype, shape), info("a_out", dtype, shape),
         info("a_in", dtype, shape), info("w_out", dtype, shape)],
    )  # fmt: skip
    loop = helper.make_node("Loop", ["m", "c", "x", "y"], ["a", "b", "as", "ws"], body=body)
    return build(
        [loop],
        [info("m", np.int64, []), info("x", dtype, shape), info("y", dtype, shape)],
        [info(k, dtype) for k in ("a", "b", "as", "ws")],
        [constant("w", values(type_name, 3, 3, seed=9)), constant("c", np.array(True))],
        opset_of(version),
    )


def scan_model(type_name: str, version: int) -> bytes:
    """The state is what was read last; collects the state and what is read, in reverse."""
    dtype = TYPES[type_name]
    body = helper.make_graph(
        [helper.make_node("Identity", ["r"], ["next"]), helper.make_node("Identity", ["r"], ["q"]),
         helper.make_node("Identity", ["s"], ["p"])],
        "body",
        [info("s", dtype, [3]), info("r", dtype, [3])],
        [info("next", dtype, [3]), info("p", dtype, [3]), info("q", dtype, [3])],
    )  # fmt: skip
    outputs = ["last", "states", "reads"]
    batch = ["batch"] if version == 8 else []
    if version == 8:
        scan = helper.make_node("Scan", ["", "x0", "xs"], outputs, body=body, num_scan_inputs=1,
                                directions=[1])  # fmt: skip
    else:
        scan = helper.make_node("Scan", ["x0", "xs"], outputs, body=body, num_scan_inputs=1,
                                scan_input_directions=[1], scan_output_directions=[0, 1])  # fmt: skip
    return build(
        [scan],
        [info("x0", dtype, [*batch, 3]), info("xs", dtype, [*batch, "n", 3])],
        [info(k, dtype) for k in outputs],
        [],
        opset_of(version),
    )


def if_model(type_name: str, version: int) -> bytes:
    """Chooses between two inputs, one of which is transposed, and a captured weight."""
    dtype = TYPES[type_name]
    then = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["t0"]), helper.make_node("Identity", ["w"], ["t1"])],
        "then", [], [info("t0", dtype), info("t1", dtype)])  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Identity", ["y"], ["e0"]), helper.make_node("Identity", ["x"], ["e1"])],
        "else", [], [info("e0", dtype), info("e1", dtype)])  # fmt: skip
    node = helper.make_node("If", ["c"], ["u", "v"], then_branch=then, else_branch=other)
    return build(
        [node],
        [info("c", np.bool_, []), info("x", dtype, ["n", 2]), info("y", dtype, ["m", 2])],
        [info("u", dtype), info("v", dtype)],
        [constant("w", values(type_name, 5, 2, seed=9))],
        opset_of(version),
    )


CASES = {
    op: [
        (v, t) for v in versions for t in (TYPES if v == 25 else OLD + NEW) if t in admitted(op, v)
    ]
    for op, versions in (("Loop", LOOP_VERSIONS), ("Scan", SCAN_VERSIONS), ("If", LOOP_VERSIONS))
}
REFUSED = [
    (op, v, t)
    for op, versions in (("Loop", LOOP_VERSIONS), ("Scan", SCAN_VERSIONS), ("If", LOOP_VERSIONS))
    for v in versions
    for t in NEW
    if t not in admitted(op, v)
]


@pytest.mark.parametrize(("version", "type_name"), CASES["Loop"])
def test_loop_types(version: int, type_name: str) -> None:
    """loop_types: carried, captured, collected, constant, input and output."""
    x, y, w = (values(type_name, 3, 3, seed=k) for k in (1, 2, 9))
    session = loopc.InferenceSession(loop_model(type_name, version, [3, "n"]))
    for trips in (0, 1, 4):
        a, b, firsts, weights = session.run(None, {"m": np.int64(trips), "x": x, "y": y})
        swapped = trips % 2 == 1
        assert_same(a, y if swapped else x)
        assert_same(b, x if swapped else y)
        if trips:
            assert_same(firsts, np.stack([y if k % 2 else x for k in range(trips)]))
            assert_same(weights, np.stack([w] * trips))
        else:
            assert firsts.shape[0] == weights.shape[0] == 0


@pytest.mark.parametrize("type_name", ["int4", "uint2", "float4e2m1", "float8e8m0", "complex64"])
def test_ahead_of_time(type_name: str) -> None:
    """loop_types: the same in a shared object."""
    x, y, w = (values(type_name, 3, 3, seed=k) for k in (1, 2, 9))
    session = loopc.aot.session(loop_model(type_name, 25, [3, "n"]))
    a, _, firsts, weights = session.run(None, {"m": np.int64(3), "x": x, "y": y})
    assert_same(a, y)
    assert_same(firsts, np.stack([x, y, x]))
    assert_same(weights, np.stack([w, w, w]))


@pytest.mark.parametrize("type_name", TYPES)
def test_loop_carries_scalars(type_name: str) -> None:
    """loop_types: what has one element is in a register."""
    x, y = (values(type_name, seed=k) for k in (1, 2))
    session = loopc.InferenceSession(_scalar_loop(type_name))
    a, b, firsts = session.run(None, {"m": np.int64(3), "x": x, "y": y})
    assert_same(a, y)
    assert_same(b, x)
    assert_same(firsts, np.stack([x, y, x]))


def _scalar_loop(type_name: str) -> bytes:
    dtype = TYPES[type_name]
    body = helper.make_graph(
        [helper.make_node("Identity", ["cond_in"], ["cond_out"]),
         helper.make_node("Identity", ["a_in"], ["a_out"])],
        "body",
        [info("i", np.int64, []), info("cond_in", np.bool_, []), info("a_in", dtype, []),
         info("b_in", dtype, [])],
        [info("cond_out", np.bool_, []), info("b_in", dtype, []), info("a_out", dtype, []),
         info("a_in", dtype, [])],
    )  # fmt: skip
    loop = helper.make_node("Loop", ["m", "", "x", "y"], ["a", "b", "as"], body=body)
    inputs = [info("m", np.int64, []), info("x", dtype, []), info("y", dtype, [])]
    return build([loop], inputs, [info(k, dtype) for k in ("a", "b", "as")], [], 25)


@pytest.mark.parametrize(("version", "type_name"), CASES["Scan"])
def test_scan_types(version: int, type_name: str) -> None:
    """scan_types: state, scan input and scan output."""
    session = loopc.InferenceSession(scan_model(type_name, version))
    batch = (2,) if version == 8 else ()
    x0, xs = values(type_name, *batch, 3, seed=1), values(type_name, *batch, 4, 3, seed=2)
    last, states, reads = session.run(None, {"x0": x0, "xs": xs})
    backwards = np.flip(xs, axis=len(batch))
    assert_same(last, xs[:, 0] if batch else xs[0])
    before = np.concatenate([np.expand_dims(x0, len(batch)), backwards], axis=len(batch))
    assert_same(states, before[:, :-1] if batch else before[:-1])
    assert_same(reads, backwards if batch else xs)


@pytest.mark.parametrize(("version", "type_name"), CASES["If"])
def test_if_types(version: int, type_name: str) -> None:
    """if_types: results, captures and constants."""
    session = loopc.InferenceSession(if_model(type_name, version))
    x, y = values(type_name, 3, 2, seed=1), values(type_name, 4, 2, seed=2)
    taken = session.run(None, {"c": np.array(True), "x": x, "y": y})
    assert_same(taken[0], x)
    assert_same(taken[1], values(type_name, 5, 2, seed=9))
    other = session.run(None, {"c": np.array(False), "x": x, "y": y})
    assert_same(other[0], y)
    assert_same(other[1], x)


@pytest.mark.parametrize(("op", "version", "type_name"), REFUSED)
def test_refused_types(op: str, version: int, type_name: str) -> None:
    """loop_types, scan_types, if_types: one located error for what a version does not admit."""
    models = {"Loop": lambda t, v: loop_model(t, v, [3, 3]), "Scan": scan_model, "If": if_model}
    with pytest.raises(loopc.CompileError) as caught:
        loopc.InferenceSession(models[op](type_name, version))
    text = str(caught.value)
    assert text.count("error:") == 1, text
    assert f"{op} " in text or f"'{op}'" in text, text


# ===------------------------------------------------------------------------===#
# Operators that move elements
# ===------------------------------------------------------------------------===#


def movement_cases(x: np.ndarray) -> dict[str, tuple[Any, list[np.ndarray | None], np.ndarray]]:
    """Operator to attributes, further constant inputs, expected result for x of shape [3, 4]."""
    index = np.array([[2, 0], [1, 1]])
    return {
        "Identity": ({}, [], x),
        "Reshape": ({}, [np.array([2, -1])], x.reshape(2, 6)),
        "Transpose": ({"perm": [1, 0]}, [], x.T),
        "Squeeze": ({}, [], x),
        "Unsqueeze": ({}, [np.array([1])], x[:, None]),
        "Flatten": ({"axis": 0}, [], x.reshape(1, 12)),
        "Concat": ({"axis": 1}, [x], np.concatenate([x, x], axis=1)),
        "Expand": ({}, [np.array([2, 3, 4])], np.broadcast_to(x, (2, 3, 4))),
        "Tile": ({}, [np.array([1, 2])], np.tile(x, (1, 2))),
        "Gather": ({"axis": 0}, [index], np.take(x, index, axis=0)),
        "GatherElements": ({"axis": 0}, [index], np.take_along_axis(x[:, :2], index, axis=0)),
        "GatherND": ({}, [index], x[[2, 1], [0, 1]]),
        "Slice": ({}, [np.array([2, 3]), np.array([-5, 0]), np.array([0, 1]), np.array([-1, -2])],
                  x[2::-1, 3:0:-2]),
        "Split": ({"axis": 1}, [np.array([4])], x),
        "DepthToSpace": ({"blocksize": 1}, [], x),
        "ReverseSequence": ({"time_axis": 1, "batch_axis": 0}, [np.array([4, 2, 1])],
                            np.stack([x[0, ::-1], x[1, [1, 0, 2, 3]], x[2]])),
        "Trilu": ({"upper": 0}, [], _lower(x)),
        "Compress": ({"axis": 0}, [np.array([True, False, True])], x[[0, 2]]),
        "Pad": ({"mode": "edge"}, [np.array([1, 0, 0, 2])], np.concatenate([x[:1], x])[
            :, [0, 1, 2, 3, 3, 3]]),
        "ScatterElements": ({"axis": 0}, [index, x[1:, 2:]], _scattered(x, index)),
        "ScatterND": ({}, [np.array([[2], [0]]), x[:2]], x[[1, 1, 0]]),
        "Where": ({}, [], x),
    }  # fmt: skip


def _lower(x: np.ndarray) -> np.ndarray:
    return np.where(np.tri(*x.shape, dtype=bool), x, np.zeros((), x.dtype))


def _scattered(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    result = x.copy()
    for i in range(2):
        for k in range(2):
            result[index[i, k], k] = x[1 + i, 2 + k]
    return result


def takes(op: str, type_name: str) -> bool:
    """Whether operator `op` of opset 25 takes tensors of a type as its main operand."""
    schema = defs.get_schema(op, 25)
    param = schema.inputs[1 if op == "Where" else 0].type_str
    return any(
        c.type_param_str == param and f"tensor({type_name})" in c.allowed_type_strs
        for c in schema.type_constraints
    )


@pytest.mark.parametrize("hide", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("type_name", TYPES)
def test_movement(type_name: str, hide: bool) -> None:
    """Bytes arrive where the operator says."""
    x = values(type_name, 3, 4, seed=5)
    nodes, expected, constants = [], [], []
    for op, (attributes, operands, result) in movement_cases(x).items():
        if not takes(op, type_name):
            continue
        if op == "DepthToSpace":
            nodes.append(helper.make_node("Unsqueeze", ["x", "axes"], ["x4"]))
            nodes.append(helper.make_node(op, ["x4"], ["d4"], **attributes))
            nodes.append(helper.make_node("Squeeze", ["d4", "axes"], [op]))
            constants.append(constant("axes", np.array([0, 1])))
        elif op == "Where":
            nodes.append(helper.make_node(op, ["yes", "x", "y"], [op]))
            constants += [constant("yes", np.array([[True], [False], [True]])),
                          constant("y", values(type_name, 1, 4, seed=6))]  # fmt: skip
            result = np.where(
                np.array([[True], [False], [True]]), x, values(type_name, 1, 4, seed=6)
            )
        else:
            names = [f"{op}_{k}" for k in range(len(operands))]
            constants += [constant(n, v) for n, v in zip(names, operands, strict=True)]
            nodes.append(helper.make_node(op, ["x", *names], [op], **attributes))
        expected.append((op, result))
    shape = ["a", "b"] if hide else [3, 4]
    dtype = TYPES[type_name]
    outputs = [info(op, dtype) for op, _ in expected]
    model = build(nodes, [info("x", dtype, shape)], outputs, constants, 25)
    results = loopc.InferenceSession(model).run(None, {"x": x})
    for (op, want), got in zip(expected, results, strict=True):
        assert np.asarray(want).shape == got.shape, op
        assert bytes_of(np.asarray(want)) == bytes_of(got), op


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize("type_name", TYPES)
def test_constants(type_name: str, size: int) -> None:
    """Small and large weights, raw and in typed fields; one that is the same everywhere."""
    x = values(type_name, size, seed=3)
    raw = constant("raw", x)
    same = constant("same", np.repeat(x[:1], size))
    tensors = [raw, same]
    names = ["raw", "same"]
    if not type_name.startswith("complex") and size < 100:
        typed = helper.make_tensor("typed", raw.data_type, [size], x.tolist())
        if TensorProto.DataType.Name(raw.data_type) != "BFLOAT16" and not _has_nan(x):
            tensors.append(typed)
            names.append("typed")
    nodes = [helper.make_node("Identity", [n], [f"{n}_out"]) for n in names]
    outputs = [info(f"{n}_out", TYPES[type_name]) for n in names]
    results = loopc.InferenceSession(build(nodes, [], outputs, tensors, 25)).run(None, {})
    for name, got in zip(names, results, strict=True):
        assert_same(got, np.repeat(x[:1], size) if name == "same" else x)


def _has_nan(x: np.ndarray) -> bool:
    return x.dtype.kind not in "iub" and bool(np.isnan(x.astype(np.float64)).any())


def takes_fill(type_name: str) -> bool:
    """Whether ConstantOfShape makes tensors of a type."""
    allowed = defs.get_schema("ConstantOfShape", 25).type_constraints[1].allowed_type_strs
    return f"tensor({type_name})" in allowed


@pytest.mark.parametrize("type_name", filter(takes_fill, TYPES))
def test_constant_of_shape(type_name: str) -> None:
    """ConstantOfShape fills with any bits."""
    value = values(type_name, 1, seed=4)
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], value=constant("", value))
    model = build([node], [info("s", np.int64, [2])], [info("y", TYPES[type_name])], [], 25)
    (got,) = loopc.InferenceSession(model).run(None, {"s": np.array([2, 3])})
    assert_same(got, np.repeat(value, 6).reshape(2, 3))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_operators(dtype: Any) -> None:
    """The few operators that do more with complex numbers than move them."""
    x = np.array([1 + 2j, 0, 3j, 1 + 1j, 0, np.nan, complex(1, np.nan), -1 - 1j], dtype)
    (found,) = run_node("NonZero", x, opset=13, results=[np.int64])
    np.testing.assert_array_equal(found, [np.flatnonzero(x)])
    (unique,) = run_node("Unique", x, opset=11, results=[dtype])
    np.testing.assert_array_equal(unique, np.unique(x))
    index, updates = np.array([0, 0, 2]), np.array([1j, 2 + 1j, 5], dtype)
    for reduction, fn in (("add", np.add), ("mul", np.multiply)):
        expected = x.copy()
        fn.at(expected, index, updates)
        (got,) = run_node("ScatterElements", x, index, updates, opset=18, reduction=reduction)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        (got,) = run_node("ScatterND", x, index[:, None], updates, opset=18, reduction=reduction)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    depth, hot = np.array(3), np.array([1j, 2 - 1j], dtype)
    (got,) = run_node("OneHot", np.array([0, 2]), depth, hot, opset=11, results=[dtype])
    np.testing.assert_array_equal(got, np.where(np.eye(3)[[0, 2]], hot[1], hot[0]))
