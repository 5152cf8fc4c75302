# ===- test_dim_names.py - Runs that contradict names of dimensions ---------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""One name for dimensions that a run finds unequal: as in onnxruntime, names are ignored then."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper


def make_model() -> onnx.ModelProto:
    """Looks up a row for the first element of each of `boxes`, as tables of a layout do.

    Both inputs call their last dimension 'width': 4 numbers of a box, 6 features.
    """
    nodes = [
        helper.make_node("Gather", ["boxes", "zero"], ["first"], axis=2),
        helper.make_node("Gather", ["table", "first"], ["rows"]),
        helper.make_node("Add", ["features", "rows"], ["sum"]),
        helper.make_node("MatMul", ["sum", "weights"], ["y"]),
    ]
    rng = np.random.default_rng(0)
    graph = helper.make_graph(
        nodes,
        "names",
        [
            helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", "height", "width"]),
            helper.make_tensor_value_info("boxes", TensorProto.INT64, ["n", "height", "width"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "height", 3])],
        [
            numpy_helper.from_array(np.array(0), "zero"),
            numpy_helper.from_array(rng.standard_normal((9, 6)).astype(np.float32), "table"),
            numpy_helper.from_array(rng.standard_normal((6, 3)).astype(np.float32), "weights"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def make_feeds(boxes: int, features: int = 6, height: int = 5) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "features": rng.standard_normal((2, height, features)).astype(np.float32),
        "boxes": rng.integers(0, 9, (2, 5, boxes)),
    }


@pytest.mark.parametrize("kind", ["bytes", "file", "external", "copy", "values"])
def test_unequal_extents_run(kind: str, tmp_path: Path) -> None:
    model = make_model()
    source: Any = model.SerializeToString()
    if kind in ("file", "external"):
        source = tmp_path / "model.onnx"
        onnx.save(model, source, save_as_external_data=kind == "external", size_threshold=0)
    peer = onnxruntime.InferenceSession(source)
    session = loopc.InferenceSession(source)
    if kind == "copy":
        session = pickle.loads(pickle.dumps(session))
    for boxes, told in ((6, 0), (4, 1), (4, 0), (1, 0), (6, 0)):
        feeds = make_feeds(boxes)
        given = feeds
        if kind == "values":
            given = {name: loopc.OrtValue.ortvalue_from_numpy(x) for name, x in feeds.items()}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (got,) = session.run(None, given)
        np.testing.assert_allclose(got, peer.run(None, feeds)[0], rtol=1e-5)
        assert ["without the names 'width'" in str(one.message) for one in caught] == [True] * told
    assert session.get_inputs()[1].shape == ["n", "height", "width"]


def test_what_no_operator_takes_is_told_by_the_names() -> None:
    """The types tell, before the model is compiled once more: there is no warning of that."""
    session = loopc.InferenceSession(make_model().SerializeToString())
    text = r"dimension 1 \('height'\) is 5 but input 'features' has 4$"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(loopc.InvalidArgument, match=text):
                session.run(None, make_feeds(6, height=4))
    assert session.run(None, make_feeds(6))[0].shape == (2, 5, 3)


def test_values_that_are_wrong_otherwise() -> None:
    """The model is not compiled once more for a value that it does not take without names."""
    session = loopc.InferenceSession(make_model().SerializeToString())
    feeds = make_feeds(4)
    name = next(iter(feeds))
    for wrong, text in (
        (np.full(feeds[name].shape, "a"), "kind strings, expected tensor"),
        (feeds[name].astype(np.float64), "dtype float64"),
        (feeds[name][0], "rank"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(loopc.InvalidArgument, match=text) as caught:
                session.run(None, {**feeds, name: wrong})
        assert not isinstance(caught.value, loopc.DimNameError)


@pytest.mark.parametrize("how", ["option", "library"])
def test_names_that_are_none(how: str, tmp_path: Path) -> None:
    """`dims={name: None}` makes a model that takes what contradicts the name."""
    model = make_model().SerializeToString()
    if how == "option":
        session = loopc.InferenceSession(model, loopc.SessionOptions(dims={"width": None}))
    else:
        loopc.compile(model, tmp_path / "model.so", emit="shared", dims={"width": None})
        session = loopc.load(tmp_path / "model.so")
    assert session.get_inputs()[1].shape == ["n", "height", None]
    feeds = make_feeds(4)
    (expected,) = onnxruntime.InferenceSession(model).run(None, feeds)
    np.testing.assert_allclose(session.run(None, feeds)[0], expected, rtol=1e-5)
    with pytest.raises(loopc.DimNameError, match="'height'"):
        session.run(None, make_feeds(6, height=4))
    with pytest.raises(loopc.CompileError, match="LC0104"):
        loopc.InferenceSession(model, loopc.SessionOptions(dims={"weight": None}))


def test_a_library_has_one_model(tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    loopc.compile(make_model().SerializeToString(), path, emit="shared")
    session = loopc.load(path)
    with pytest.raises(loopc.DimNameError, match=r"compile the model with --dim=width=\?"):
        session.run(None, make_feeds(4))
