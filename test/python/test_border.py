# ===- test_border.py - Python values at the border of a model -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Every kind of value there and back, by a shared library that returns its inputs."""

import ctypes
import gc
import pathlib
import shutil
import subprocess
import weakref

import loopc
import ml_dtypes
import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent

NUMPY_TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "longlong", "ulonglong",
]  # fmt: skip
ML_TYPES = [
    "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu", "float4_e2m1fn", "int4", "uint4", "int2", "uint2",
]  # fmt: skip


@pytest.fixture(scope="session")
def echo_library(tmp_path_factory):
    compiler = shutil.which("clang-22") or shutil.which("cc")
    assert compiler, "a C compiler is needed"
    library = tmp_path_factory.mktemp("echo") / "echo.so"
    command = [compiler, "-shared", "-fPIC", "-Wall", "-Werror"]
    command += [f"-I{HERE.parents[1] / 'include'}", HERE / "Inputs" / "echo.c", "-o", library]
    subprocess.run(command, check=True)
    return library


@pytest.fixture(scope="session")
def session(echo_library):
    return loopc.load(echo_library)


DEFAULTS = {
    "any": np.zeros((), np.float32),
    "floats": np.zeros((1, 3, 1), np.float32),
    "strings": np.array([], object),
    "sequence": [],
    "optional": None,
    "nested": None,
}


def echo(session, name, value):
    (result,) = session.run([name], {**DEFAULTS, name: value})
    return result


def same(actual, expected):
    """Equal type, shape and bits."""
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.dtype.name in ("int4", "int2"):
        # ml_dtypes has two forms of a negative number, whose high bits differ.
        actual, expected = actual.astype(np.int8), expected.astype(np.int8)
    assert np.ascontiguousarray(actual).tobytes() == np.ascontiguousarray(expected).tobytes()


def numbers(name, shape=(2, 3)):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    count = int(np.prod(shape))
    return (
        np.arange(count)
        .astype(np.float32 if name in ML_TYPES else dtype)
        .astype(dtype)
        .reshape(shape)
    )


def test_ports(session):
    inputs = {port.name: port for port in session.get_inputs()}
    assert inputs["any"] == loopc.NodeArg("any", "tensor(float)", None)
    assert inputs["floats"].shape == ["N", 3, None]
    assert inputs["strings"].type == "tensor(string)"
    assert inputs["sequence"].type == "seq(tensor(float))"
    assert inputs["optional"].type == "optional(tensor(int64))"
    assert inputs["nested"].type == "optional(seq(tensor(float)))"
    # As onnxruntime has them.
    assert inputs["sequence"].shape == []
    assert inputs["nested"].shape == []
    assert [port.name for port in session.get_outputs()] == list(inputs)


@pytest.mark.parametrize("name", NUMPY_TYPES + ML_TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 4), (5,), (2, 1, 3, 1)])
def test_element_types(session, name, shape):
    value = numbers(name, shape)
    expected = value.astype({"longlong": np.int64, "ulonglong": np.uint64}.get(name, value.dtype))
    same(echo(session, "any", value), expected)


def test_negative_small_integers(session):
    for name, low in (("int4", -8), ("int2", -2)):
        dtype = getattr(ml_dtypes, name)
        value = np.arange(low, -low).astype(dtype)
        same(echo(session, "any", value), value)
        assert [int(x) for x in echo(session, "any", value)] == list(range(low, -low))


def test_special_floats(session):
    value = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    same(echo(session, "any", value), value)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int4", "complex128"])
def test_strided(session, name):
    base = numbers(name, (4, 6))
    views = [
        base.T,
        base[::2, ::-3],
        base[::-1],
        base[1:3, 2:2],
        np.broadcast_to(base[0], (3, 6)),
        base[:, 1],
        base[None, :, None, 2:5],
        base[2, 3],
    ]
    for view in views:
        same(echo(session, "any", np.asarray(view)), np.asarray(view))


def test_scalars_of_numpy(session):
    same(echo(session, "any", np.float32(2.5)), np.array(2.5, np.float32))
    same(echo(session, "any", ml_dtypes.bfloat16(2.5)), np.array(2.5, ml_dtypes.bfloat16))


def test_what_cannot_be_described_is_copied(session):
    records = np.zeros(4, np.dtype([("a", "i1"), ("b", "<f4")]))
    records["b"] = [1, 2, 3, 4]
    same(echo(session, "any", records["b"]), np.array([1, 2, 3, 4], np.float32))
    unaligned = np.zeros(13, np.uint8)[1:].view(np.float32)
    unaligned[:] = [5, 6, 7]
    same(echo(session, "any", unaligned), np.array([5, 6, 7], np.float32))


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">u2", ">f2", ">c8"])
def test_bytes_in_another_order(session, dtype):
    value = np.arange(6).astype(dtype).reshape(2, 3)
    native = np.dtype(dtype).newbyteorder("=")
    same(echo(session, "any", value), value.astype(native))
    same(echo(session, "any", value[::-1, ::2]), value.astype(native)[::-1, ::2])


def test_read_only(session):
    value = np.arange(3.0)
    value.flags.writeable = False
    result = echo(session, "any", value)
    assert result.flags.writeable
    same(result, value)


@pytest.mark.parametrize(
    "value, reason",
    [
        (np.zeros(2, "M8[s]"), "dates"),
        (np.zeros(2, [("a", "f4")]), "not supported"),
        (np.zeros(2, [("a", ">f4")]), "not supported"),
        (np.zeros(2, np.longdouble), "not supported"),
        ((1.0, 2.0), "got tuple"),
        (["a"], "a list of <U1 for elements of type float32"),
        ([[1.0], [2.0, 3.0]], "inhomogeneous"),
        (1.0, "got float"),
        ("text", "got str"),
        (None, "got None"),
        (b"abc", "got bytes"),
        (np.array([1, 2.5], object), "expected str or bytes"),
    ],
)
def test_what_is_no_tensor(session, value, reason):
    with pytest.raises(loopc.InvalidArgument, match=f"input 'any': .*{reason}"):
        echo(session, "any", value)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "", "größer", "\0x", "日本"], object),
        np.array([["a", "bcd"], ["ef", ""]]),
        np.array("alone"),
        np.array([], object),
        np.array(["v", "w"], np.dtypes.StringDType()),
        np.array(["abc", "d", "e", "f"])[::-2],
    ],
)
def test_strings(session, value):
    result = echo(session, "strings", value)
    assert result.dtype == object
    assert result.shape == value.shape
    assert result.tolist() == value.tolist()


def test_bytes_as_strings(session):
    result = echo(session, "strings", np.array([b"ab", b"c"]))
    assert result.tolist() == ["ab", "c"]
    odd = echo(session, "strings", np.array([b"\xff\xfe"], object))
    assert odd[0].encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_surrogates_are_refused(session):
    with pytest.raises(loopc.InvalidArgument, match="input 'strings'"):
        echo(session, "strings", np.array(["\ud800"], object))


def test_sequences(session):
    items = [numbers("float32", (n, 3)) for n in (0, 1, 4)]
    for value in (items, tuple(items)):
        result = echo(session, "sequence", value)
        assert isinstance(result, list)
        assert len(result) == 3
        for actual, expected in zip(result, items, strict=True):
            same(actual, expected)
    assert echo(session, "sequence", []) == []
    with pytest.raises(loopc.InvalidArgument, match="expected a list"):
        echo(session, "sequence", items[0])
    with pytest.raises(loopc.InvalidArgument, match=r"'sequence' \[1\]: .*got str"):
        echo(session, "sequence", [items[0], "x"])


def test_optionals(session):
    assert echo(session, "optional", None) is None
    same(echo(session, "optional", np.arange(3)), np.arange(3))
    assert echo(session, "nested", None) is None
    others = {name: value for name, value in DEFAULTS.items() if name != "optional"}
    assert session.run(["optional"], others) == [None]
    assert echo(session, "nested", []) == []
    (item,) = echo(session, "nested", [np.ones(2, np.float32)])
    same(item, np.ones(2, np.float32))


class OldProducer:
    """An object with the protocol from before DLPack 1.0."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


class NewProducer(OldProducer):
    """An object with today's protocol."""

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.array.__dlpack__(max_version=max_version)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("producer", [OldProducer, NewProducer])
def test_dlpack(session, producer):
    base = np.arange(12.0).reshape(3, 4)
    for array in (base, base.T, base[::-1, ::2], base[0, 0:0], np.array(7, np.int8)):
        same(echo(session, "any", producer(array)), array)
    array = np.arange(5.0)
    alive = weakref.ref(array)
    echo(session, "any", producer(array))
    del array
    gc.collect()
    assert alive() is None, "the producer's array was not given back"


def test_dlpack_refused(session):
    class OnDevice(NewProducer):
        def __dlpack_device__(self):
            return (2, 0)

    class NoCapsule(NewProducer):
        def __dlpack__(self, **_):
            return 3

    class Raises(NewProducer):
        def __dlpack__(self, **_):
            raise BufferError("needs a gradient")

    for producer, reason in (
        (OnDevice, "model was compiled for the CPU"),
        (NoCapsule, "expected a DLPack capsule"),
        (Raises, "needs a gradient"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=reason):
            echo(session, "any", producer(np.ones(2)))


def test_outputs_are_dlpack_and_alive(session):
    result = echo(session, "any", np.arange(4.0))
    other = np.from_dlpack(result)
    assert other.ctypes.data == result.ctypes.data
    del result
    gc.collect()
    np.testing.assert_array_equal(other, np.arange(4.0))


def test_outputs_own_their_memory(echo_library):
    live = ctypes.CDLL(str(echo_library)).echo_live
    gc.collect()
    before = live()
    session = loopc.load(echo_library)
    outputs = session.run(
        None, {**DEFAULTS, "any": np.arange(3.0), "sequence": [np.ones(1), np.ones(2)]}
    )
    del session
    # Values that hold no array are released at once.
    gc.collect()
    assert live() > before
    values, item = outputs[0], outputs[3][1]
    del outputs
    gc.collect()
    assert live() == before + 2
    np.testing.assert_array_equal(values, np.arange(3.0))
    np.testing.assert_array_equal(item, np.ones(2))
    tail = values[1:]
    del values, item
    gc.collect()
    assert live() == before + 1
    del tail
    gc.collect()
    assert live() == before


def test_outputs_not_asked_for_are_released(session, echo_library):
    live = ctypes.CDLL(str(echo_library)).echo_live
    gc.collect()
    before = live()
    for _ in range(10):
        session.run(["any"], DEFAULTS)
    gc.collect()
    assert live() == before


def test_output_asked_for_twice(session):
    first, second = session.run(["any", "any"], {**DEFAULTS, "any": np.ones(2)})
    np.testing.assert_array_equal(first, second)


def test_inputs_changed_by_their_own_conversion(session):
    items = [np.ones(1, np.float32), np.ones(1, np.float32)]

    class Shrinks(NewProducer):
        def __dlpack__(self, **kwargs):
            items.clear()
            return super().__dlpack__(**kwargs)

    items[0] = Shrinks(np.ones(1, np.float32))
    assert len(echo(session, "sequence", items)) == 2
    assert items == []


def test_load_errors(tmp_path, echo_library):
    with pytest.raises(loopc.CompileError, match="No such file") as caught:
        loopc.load(tmp_path / "none.so")
    assert caught.value.code == "LC0102"
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(loopc.CompileError, match="cannot load"):
        loopc.load(tmp_path / "text.so")
    with pytest.raises(loopc.CompileError, match="defines the models 'echo', not 'other'"):
        loopc.load(echo_library, name="other")
    assert loopc.load(echo_library, name="echo").get_modelmeta().graph_name == "echo"
    with pytest.raises(loopc.CompileError, match="defines no model"):
        loopc.load(loopc._loopc.__file__)
    with pytest.raises(loopc.InvalidArgument):
        loopc.load("")
