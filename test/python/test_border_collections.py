# ===- test_border_collections.py - Sequences, optionals and strings -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sequences, optionals and strings on their way into compiled models and out of them."""

import gc
import resource

import loopc
import loopc.aot
import numpy as np
import onnx.helper as oh
import onnxruntime
import pytest
from onnx import TensorProto

SEQUENCE_TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "object",
]  # fmt: skip


def tensor(dtype, shape=None):
    element = TensorProto.STRING if np.dtype(dtype) == object else None
    if element is None:
        element = oh.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return oh.make_tensor_type_proto(element, shape)


def seq(element):
    return oh.make_sequence_type_proto(element)


def opt(element):
    return oh.make_optional_type_proto(element)


def model(nodes, inputs, outputs):
    """A model of `nodes`, with types of inputs and outputs by name."""
    graph = oh.make_graph(
        nodes,
        "border",
        [oh.make_value_info(name, kind) for name, kind in inputs.items()],
        [oh.make_value_info(name, kind) for name, kind in outputs.items()],
    )
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 21)], ir_version=10)


def identity(kind):
    return model([oh.make_node("Identity", ["x"], ["y"])], {"x": kind}, {"y": kind})


@pytest.fixture(params=["in process", "ahead of time"])
def make_session(request):
    return loopc.InferenceSession if request.param == "in process" else loopc.aot.session


def through(session, value):
    (result,) = session.run(None, {"x": value})
    return result


def same(got, want):
    """Equal kinds, types, shapes and elements, whatever the nesting."""
    if isinstance(want, list):
        assert isinstance(got, list)
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    if want is None:
        assert got is None
        return
    assert isinstance(got, np.ndarray)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert got.tolist() == want.tolist()


def numbers(dtype, shape):
    count = int(np.prod(shape, dtype=np.int64))
    if np.dtype(dtype) == object:
        texts = [("", "a", "grün", "x" * 300)[i % 4] for i in range(count)]
        array = np.empty(count, object)
        array[:] = texts
        return array.reshape(shape)
    return (
        (np.arange(count) % 2 if dtype == "bool" else np.arange(count)).astype(dtype).reshape(shape)
    )


def mixed(dtype):
    """Elements of different shapes and ranks, without elements, too."""
    return [numbers(dtype, shape) for shape in ((2, 3), (), (0,), (3, 0, 2), (1,), (2, 2, 2))]


# ===- There and back ---------------------------------------------------------===#


@pytest.mark.parametrize("dtype", SEQUENCE_TYPES)
def test_sequences(dtype):
    session = loopc.InferenceSession(identity(seq(tensor(dtype))))
    for value in ([], mixed(dtype), mixed(dtype)[:1]):
        same(through(session, value), value)
        same(through(session, tuple(value)), value)


def test_both_ways(make_session):
    session = make_session(identity(seq(tensor("float32"))))
    same(through(session, mixed("float32")), mixed("float32"))
    session = make_session(identity(seq(tensor("object"))))
    same(through(session, mixed("object")), mixed("object"))


@pytest.mark.parametrize("dtype", ["float32", "bool", "object"])
def test_optionals(make_session, dtype):
    session = make_session(identity(opt(tensor(dtype))))
    for value in (None, *mixed(dtype)):
        same(through(session, value), value)
    session = make_session(identity(opt(seq(tensor(dtype)))))
    for value in (None, [], mixed(dtype)):
        same(through(session, value), value)


@pytest.mark.parametrize("shape", [None, [], [None], [None, 2]])
def test_strings(make_session, shape):
    session = make_session(identity(tensor("object", shape)))
    for value in mixed("object"):
        if shape is not None and len(shape) != value.ndim:
            continue
        if shape == [None, 2]:
            value = value[:, :2]
        same(through(session, value), value)


def test_kinds_of_string_arrays():
    session = loopc.InferenceSession(identity(tensor("object", [None])))
    expected = np.array(["ab", "", "grün\0x"], object)
    for dtype in ("object", "U6", np.dtypes.StringDType()):
        same(through(session, expected.astype(dtype)), expected)
    same(through(session, np.array([b"ab", b"c"])), np.array(["ab", "c"], object))
    # Bytes that are not UTF-8 come back as they were.
    (odd,) = through(session, np.array([b"\xff\xfe"], object))
    assert odd.encode(errors="surrogateescape") == b"\xff\xfe"


def test_elements_that_do_not_lie_as_models_want():
    session = loopc.InferenceSession(identity(seq(tensor("float32"))))
    base = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    items = [base.T, base[::-1, ::2], base[:, 1:2], np.broadcast_to(base[0, 0], (5, 4))]
    same(through(session, items), [np.ascontiguousarray(item) for item in items])
    bools = loopc.InferenceSession(identity(seq(tensor("bool"))))
    odd = np.array([0, 1, 2, 255], np.uint8).view(bool)
    (result,) = through(bools, [odd])
    assert result.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_scalars_and_dlpack():
    session = loopc.InferenceSession(identity(seq(tensor("float32"))))

    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

    same(through(session, [np.float32(2), Foreign(np.ones(3, np.float32))]),
         [np.array(2, np.float32), np.ones(3, np.float32)])  # fmt: skip


# ===- Memory -----------------------------------------------------------------===#


def test_outputs_share_nothing_with_inputs():
    kind = seq(tensor("float32"))
    twice = model(
        [oh.make_node("Identity", ["x"], ["y"]), oh.make_node("Identity", ["x"], ["z"])],
        {"x": kind},
        {"y": kind, "z": kind},
    )
    value = np.zeros(4, np.float32)
    one, other = loopc.InferenceSession(twice).run(None, {"x": [value, value]})
    value[:] = 1
    one[0][:] = 2
    one[1][:] = 3
    assert [item[0] for item in (*one, *other)] == [2, 3, 0, 0]


def test_outputs_outlive_session_and_inputs():
    session = loopc.InferenceSession(identity(opt(seq(tensor("float64")))))
    kept = through(session, [np.full(1000, i, np.float64) for i in range(20)])[7]
    del session
    gc.collect()
    assert (kept == 7).all()


@pytest.mark.parametrize("fails", [False, True])
def test_runs_do_not_leak(fails):
    kind = seq(tensor("float32"))
    nodes = [
        oh.make_node("SequenceInsert", ["x", "v"], ["y"]),
        oh.make_node("SequenceAt", ["y", "i"], ["z"]),
        oh.make_node("Identity", ["s"], ["t"]),
    ]
    inputs = {"x": kind, "v": tensor("float32", [None]), "i": tensor("int64", []),
              "s": tensor("object", [None])}  # fmt: skip
    outputs = {"y": kind, "z": tensor("float32", [None]), "t": tensor("object", [None])}
    session = loopc.InferenceSession(model(nodes, inputs, outputs))
    value = np.ones(10_000, np.float32)
    feeds = {"x": [value, value[::2]], "v": value, "i": np.int64(99 if fails else 2),
             "s": np.array(["x" * 1000] * 10, object)}  # fmt: skip

    def run(times):
        for _ in range(times):
            if not fails:
                y, z, _ = session.run(None, feeds)
                assert len(y) == 3
                assert len(z) == 10_000
                continue
            with pytest.raises(loopc.RunError):
                session.run(None, feeds)

    run(50)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(500)
    # A run holds some 200 kB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_memory_limit():
    session = loopc.InferenceSession(identity(seq(tensor("bool"))))
    options = loopc.RunOptions()
    options.memory_limit = 10_000
    with pytest.raises(loopc.RunError, match="out of memory"):
        # Elements that do not lie in order are copied.
        session.run(None, {"x": [np.ones(200_000, bool)[::2]]}, options)


# ===- Descriptions and errors ------------------------------------------------===#


@pytest.mark.parametrize(
    "kind",
    [
        tensor("object", [2, None]),
        seq(tensor("float32")),
        seq(tensor("object")),
        opt(tensor("int64", [2])),
        opt(seq(tensor("float64"))),
    ],
)
def test_types_are_called_as_onnxruntime_calls_them(kind):
    made = identity(kind)
    ours = loopc.InferenceSession(made)
    theirs = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    assert ours.get_inputs()[0].type == theirs.get_inputs()[0].type
    assert ours.get_outputs()[0].type == theirs.get_outputs()[0].type


FLOATS = [np.zeros((2, 1), np.float32)]


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        (seq(tensor("float32")), FLOATS[0], "input 'x': expected a list for a sequence, got"),
        (seq(tensor("float32")), None, "input 'x': expected a list for a sequence, got"),
        (seq(tensor("float32")), [None], r"input 'x' \[0\]: expected a numpy array"),
        (seq(tensor("float32")), [*FLOATS, FLOATS], r"input 'x' \[1\]: expected a numpy array"),
        (seq(tensor("float32")), [*FLOATS, np.zeros(2)],
         "input 'x' .*element 1: dtype float64, expected float32"),
        (seq(tensor("float32", [None])), FLOATS, "input 'x' .*element 0: rank 2, expected 1"),
        (seq(tensor("float32", [2, 2])), FLOATS,
         "input 'x' .*element 0: dimension 1 is 1, expected 2"),
        (seq(tensor("float32")), [np.array(["a"], object)],
         "element 0: kind strings, expected tensor"),
        (seq(tensor("object")), FLOATS, "element 0: kind tensor, expected strings"),
        (opt(tensor("float32")), np.zeros(2), "input 'x' .*: dtype float64, expected float32"),
        (opt(seq(tensor("float32"))), FLOATS[0], "input 'x': expected a list for a sequence"),
        (opt(seq(tensor("float32", [None]))), FLOATS, "element 0: rank 2, expected 1"),
        (tensor("object", [None]), np.zeros(2), "kind tensor, expected strings"),
        (tensor("object", [None]), np.array([["a"]], object), "rank 2, expected 1"),
        (tensor("object", [2]), np.array(["a"], object), "dimension 0 is 1, expected 2"),
        (tensor("object", [None]), np.array(["a", None], object), "element 1 of an object array"),
        (tensor("object", [None]), np.array(["\ud800"], object), "input 'x'"),
        (tensor("object", [None]), None, "input 'x': expected a numpy array"),
    ],
)  # fmt: skip
def test_wrong_inputs(kind, value, reason):
    session = loopc.InferenceSession(identity(kind))
    with pytest.raises(loopc.InvalidArgument, match=reason):
        session.run(None, {"x": value})
