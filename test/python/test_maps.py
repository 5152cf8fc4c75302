# ===- test_maps.py - ZipMap, DictVectorizer, CastMap ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Maps as inputs and outputs, beside onnxruntime."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

FLOAT, DOUBLE, INT64, STRING = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.INT64,
    TensorProto.STRING,
)
ML = "ai.onnx.ml"
Z = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]], np.float32)


def map_type(key: int, value: int) -> Any:
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))


def model(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> bytes:
    graph = helper.make_graph(nodes, "m", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ML, 3)]
    made: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return made.SerializeToString()


def zip_map(shape: list[Any], key: int = INT64, **attributes: Any) -> bytes:
    z = helper.make_tensor_value_info("z", FLOAT, shape)
    node = helper.make_node("ZipMap", ["z"], ["m"], domain=ML, **attributes)
    kind = helper.make_sequence_type_proto(map_type(key, FLOAT))
    scores = helper.make_node("Identity", ["z"], ["s"])
    outputs = [helper.make_value_info("m", kind), helper.make_tensor_value_info("s", FLOAT, None)]
    return model([node, scores], [z], outputs)


def reader(op: str, key: int, value: int, result: int, **attributes: Any) -> bytes:
    """A model of one node that reads a map."""
    x = helper.make_value_info("x", map_type(key, value))
    node = helper.make_node(op, ["x"], ["y"], domain=ML, **attributes)
    return model([node], [x], [helper.make_tensor_value_info("y", result, None)])


def sessions(content: bytes) -> tuple[Any, Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return loopc.InferenceSession(content), onnxruntime.InferenceSession(content, options)


def same(content: bytes, feeds: dict[str, Any]) -> list[Any]:
    """loopc's outputs, which must be onnxruntime's, values and types of ports."""
    own, other = sessions(content)
    for get in ("get_inputs", "get_outputs"):
        for one, two in zip(getattr(own, get)(), getattr(other, get)(), strict=True):
            assert (one.name, one.type) == (two.name, two.type)
    got, want = own.run(None, feeds), other.run(None, feeds)
    for one, two in zip(got, want, strict=True):
        if isinstance(two, np.ndarray):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
        else:
            assert one == two
            assert repr(one) == repr(two)
    return got


@pytest.mark.parametrize("shape", [[None, 2], [3, 2], None])
def test_zip_map(shape: list[Any] | None) -> None:
    (got, _) = same(zip_map(shape, classlabels_int64s=[7, -1]), {"z": Z})
    assert got == [{-1: 0.75, 7: 0.25}, {-1: 0.5, 7: 0.5}, {-1: 0.0, 7: 1.0}]
    same(zip_map(shape, STRING, classlabels_strings=["no", "yes"]), {"z": Z})


def test_zip_map_of_other_ranks() -> None:
    same(zip_map([2], classlabels_int64s=[0, 1]), {"z": Z[0]})
    same(zip_map([None, 2], classlabels_int64s=[0, 1]), {"z": Z[:0]})
    with pytest.raises(loopc.CompileError, match="no rows of features"):
        loopc.InferenceSession(zip_map([1, 2, 3], classlabels_int64s=[0, 1]))
    with pytest.raises(loopc.Error):
        session = loopc.InferenceSession(zip_map([None, None], classlabels_int64s=[0, 1, 2]))
        session.run(None, {"z": Z})


def test_outputs_by_name() -> None:
    session = loopc.InferenceSession(zip_map([None, 2], classlabels_int64s=[0, 1]))
    scores, maps = session.run(["s", "m"], {"z": Z})
    np.testing.assert_array_equal(scores, Z)
    assert maps == [{0: a, 1: b} for a, b in Z.tolist()]
    assert session.run(["m"], {"z": Z}) == [maps]
    with pytest.raises(loopc.InvalidArgument, match="no output 'n'"):
        session.run(["n"], {"z": Z})
    copy = pickle.loads(pickle.dumps(session))
    assert copy.run(["m"], {"z": Z}) == [maps]


@pytest.mark.parametrize("value", [FLOAT, DOUBLE, INT64, STRING])
@pytest.mark.parametrize("key", [INT64, STRING])
def test_dict_vectorizer(key: int, value: int) -> None:
    """onnxruntime's Python takes maps to float alone."""
    if (key, value) in ((STRING, STRING), (INT64, INT64)):
        return  # ONNX has no such vectorizer.
    name = "string_vocabulary" if key == STRING else "int64_vocabulary"
    words: list[Any] = ["b", "a", "", "ü"] if key == STRING else [5, -2, 0, 2**40]
    content = reader("DictVectorizer", key, value, value, **{name: words})
    number: Any = {STRING: str, INT64: int}.get(value, float)
    session = loopc.InferenceSession(content)
    for keys in (words, words[::-1], words[1:2], []):
        feed = {word: number(k + 1) for k, word in enumerate(keys)}
        feed["other" if key == STRING else 99] = number(9)
        (got,) = session.run(None, {"x": feed})
        assert got.tolist() == [[feed.get(word, number()) for word in words]]
        if value == FLOAT:
            same(content, {"x": feed})


def test_vocabulary_with_a_word_twice() -> None:
    words = ["b", "a", "b"]
    content = reader("DictVectorizer", STRING, FLOAT, FLOAT, string_vocabulary=words)
    same(content, {"x": {"b": 2.0, "a": 1.0}})


@pytest.mark.parametrize("to", ["TO_FLOAT", "TO_INT64"])
@pytest.mark.parametrize("form", [{"map_form": "DENSE"}, {"map_form": "SPARSE", "max_map": 6}])
def test_cast_map(to: str, form: dict[str, Any]) -> None:
    result = FLOAT if to == "TO_FLOAT" else INT64
    content = reader("CastMap", INT64, FLOAT, result, cast_to=to, **form)
    values = [4.75, 17.0, -3.5]
    same(content, {"x": dict(zip([5, 0, 2], values, strict=True))})
    same(content, {"x": {9: 1.5, 3: 2.5}})
    # Of texts: onnxruntime's Python takes none.
    session = loopc.InferenceSession(reader("CastMap", INT64, STRING, result, cast_to=to, **form))
    (got,) = session.run(None, {"x": {5: "4", 0: "17", 2: "-3"}})
    dense = [[17, -3, 4]]
    assert got.tolist() == (dense if form["map_form"] == "DENSE" else [[17, 0, -3, 0, 0, 4]])


@pytest.mark.parametrize("form", [{"map_form": "DENSE"}, {"map_form": "SPARSE", "max_map": 3}])
def test_cast_map_to_texts(form: dict[str, Any]) -> None:
    """Numbers as ONNX's Cast writes them; onnxruntime's places without a key are "0.f"."""
    session = loopc.InferenceSession(
        reader("CastMap", INT64, STRING, STRING, cast_to="TO_STRING", **form)
    )
    (got,) = session.run(None, {"x": {2: "b", 0: "a"}})
    assert got.tolist() == [["a", "b"] if form["map_form"] == "DENSE" else ["a", "0.f", "b"]]
    session = loopc.InferenceSession(
        reader("CastMap", INT64, FLOAT, STRING, cast_to="TO_STRING", **form)
    )
    assert session.run(None, {"x": {2: 2.5, 0: 1.5}})[0].tolist()[0][0] == "1.5"


def test_negative_keys_are_no_places() -> None:
    content = reader("CastMap", INT64, FLOAT, FLOAT, map_form="SPARSE", max_map=4)
    with pytest.raises(loopc.RunError, match="index"):
        loopc.InferenceSession(content).run(None, {"x": {-1: 1.0}})


@pytest.mark.parametrize(
    ("given", "reason"),
    [([1.0], "expected a dict"), ({1: 1.0}, "a key is 1"), ({"a": "1"}, "a value is '1'"),
     ({"a": [1.0]}, "a value is"), (np.float32([1]), "expected a dict")],
)  # fmt: skip
def test_wrong_maps(given: Any, reason: str) -> None:
    content = reader("DictVectorizer", STRING, FLOAT, FLOAT, string_vocabulary=["a"])
    session = loopc.InferenceSession(content)
    with pytest.raises(loopc.InvalidArgument, match=f"'x'.*{reason}"):
        session.run(None, {"x": given})
    with pytest.raises(loopc.InvalidArgument, match="missing"):
        session.run(None, {})


def test_integers_are_not_rounded() -> None:
    content = reader("DictVectorizer", STRING, INT64, INT64, string_vocabulary=["a"])
    with pytest.raises(loopc.InvalidArgument, match=r"a value is 1\.5"):
        loopc.InferenceSession(content).run(None, {"x": {"a": 1.5}})


def test_a_map_that_two_nodes_read() -> None:
    x = helper.make_value_info("x", map_type(INT64, FLOAT))
    nodes = [
        helper.make_node("DictVectorizer", ["x"], ["a"], domain=ML, int64_vocabulary=[1, 3]),
        helper.make_node("CastMap", ["x"], ["b"], domain=ML),
        helper.make_node("Concat", ["a", "b"], ["c"], axis=1),
        helper.make_node("ZipMap", ["c"], ["y"], domain=ML, classlabels_int64s=[0, 1, 2, 3]),
    ]
    kind = helper.make_sequence_type_proto(map_type(INT64, FLOAT))
    content = model(nodes, [x], [helper.make_value_info("y", kind)])
    assert same(content, {"x": {3: 0.5, 1: 2.0}}) == [[{0: 2.0, 1: 0.5, 2: 2.0, 3: 0.5}]]


def test_other_operators_read_no_maps() -> None:
    x = helper.make_value_info("x", map_type(INT64, FLOAT))
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    content = model(nodes, [x], [helper.make_value_info("y", map_type(INT64, FLOAT))])
    with pytest.raises(loopc.CompileError, match="'x' is a map, which only DictVectorizer"):
        loopc.InferenceSession(content)


def test_other_keys_are_refused() -> None:
    content = reader("CastMap", TensorProto.INT32, FLOAT, FLOAT)
    with pytest.raises(loopc.CompileError, match="not one of int64 or strings"):
        loopc.InferenceSession(content)


def test_maps_stay_at_the_border() -> None:
    """A ZipMap in a branch makes no map."""
    z = helper.make_tensor_value_info("z", FLOAT, [None, 2])
    flag = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    kind = helper.make_sequence_type_proto(map_type(INT64, FLOAT))
    branch = helper.make_graph(
        [helper.make_node("ZipMap", ["z"], ["m"], domain=ML, classlabels_int64s=[0, 1])],
        "branch",
        [],
        [helper.make_value_info("m", kind)],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    content = model([node], [z, flag], [helper.make_value_info("y", kind)])
    with pytest.raises(loopc.CompileError, match="not for these inputs") as caught:
        loopc.InferenceSession(content)
    assert "maps are inputs of the model" in str(caught.value)


def test_maps_of_a_shared_library(tmp_path: Path) -> None:
    content = reader("DictVectorizer", STRING, FLOAT, FLOAT, string_vocabulary=["a", "b"])
    loopc.compile(content, tmp_path / "m.so", emit="shared")
    session = loopc.load(tmp_path / "m.so")
    assert [port.type for port in session.get_inputs()] == ["map(string,tensor(float))"]
    np.testing.assert_array_equal(session.run(None, {"x": {"b": 3.0}})[0], [[0, 3]])
