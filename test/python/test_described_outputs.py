# ===- test_described_outputs.py - What sessions say of outputs -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Shapes that sessions show are those that models declare, where less is known.

Beside onnxruntime, over every loop model and some made for this. Where both differ there is
a reason: an extent that loopc proves, a name that onnxruntime's inference takes from an input
and the model does not declare for the output, or a rank that nobody knows, for which
onnxruntime has the empty list.
"""

from __future__ import annotations

import collections
import pathlib

import loopc
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from models import all_models
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
Dims = list[int | str | None] | None


def theirs_of(model: onnx.ModelProto) -> dict[str, Dims]:
    """The outputs' shapes as onnxruntime shows them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return {port.name: port.shape for port in session.get_outputs()}


def ours_of(model: onnx.ModelProto, **options: object) -> dict[str, Dims]:
    """The same as loopc shows them; compiled quickly."""
    session = loopc.InferenceSession(
        model.SerializeToString(), loopc.SessionOptions(opt_level=0, **options)
    )
    return {port.name: port.shape for port in session.get_outputs()}


def parse(text: str, *domains: str) -> onnx.ModelProto:
    opsets = ", ".join(f'"{domain}" : 1' for domain in domains)
    head = f'<ir_version: 10, opset_import: ["" : 21{", " + opsets if opsets else ""}]>'
    return onnx.parser.parse_model(f"{head} {text}")


LOOP = """
  yes = Constant <value = bool {1}> ()
  last, rows = Loop (n, yes, x) <body = step (int64 i, bool go, float[?] s)
      => (bool on, float[?] t, float[?] row) {
    on = Identity (go)
    t = Concat <axis = 0> (s, s)
    row = Identity (t)
  }>
"""

#: Text, what it is shown as, and whether onnxruntime shows the same.
MODELS = {
    "grown": (f"g (int64 n, float[w] x) => (float[long] last, float[trips, 4] rows) {{{LOOP}}}",
              {"last": ["long"], "rows": ["trips", 4]}, True),
    "not declared": (f"g (int64 n, float[w] x) => (float[?] last, float[?, ?] rows) {{{LOOP}}}",
                     {"last": [None], "rows": [None, None]}, True),
    "proved": ("g (float[w, 3] x) => (float[?, 3] y) { y = Relu (x) }", {"y": [None, 3]}, False),
    "contradicted": ("g (float[2, 3] x) => (float[7, 3] y) { y = Relu (x) }", {"y": [2, 3]}, False),
    "named twice": ("g (float[w] x) => (float[q] y) { y = Relu (x) }", {"y": ["q"]}, True),
    "data": ("g (float[w] x, int64[2] s) => (float[rows, 5] y) { y = Reshape (x, s) }",
             {"y": ["rows", 5]}, True),
    "rank of data": ("g (float[w] x, int64[r] s) => (float[rows, 5] y) { y = Reshape (x, s) }",
                     {"y": ["rows", 5]}, True),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_declared_shapes(name: str) -> None:
    text, shown, same = MODELS[name]
    model = parse(text)
    assert ours_of(model) == shown
    assert (theirs_of(model) == shown) is same


def test_classifier() -> None:
    """Behind TreeEnsembleClassifier inference knows ranks alone."""
    attributes = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
        "nodes_missing_value_tracks_true": [0, 0, 0],
        "class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1],
        "class_weights": [1.0, 1.0], "classlabels_int64s": [0, 1],
    }  # fmt: skip
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", **attributes
    )
    graph = helper.make_graph(
        [node], "trees", [helper.make_tensor_value_info("x", FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("label", INT64, ["N"]),
         helper.make_tensor_value_info("scores", FLOAT, ["N", 2])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    assert ours_of(model) == theirs_of(model) == {"label": ["N"], "scores": ["N", 2]}


def test_contrib_operator() -> None:
    model = parse(
        "g (float[b, s, 8] x, float[8] w) => (float[b, s, 8] y) "
        "{ y = com.microsoft.SimplifiedLayerNormalization <epsilon = 1e-5> (x, w) }",
        "com.microsoft",
    )
    del model.opset_import[:]
    model.opset_import.extend(
        [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    )
    model.graph.node[0].domain = ""
    assert ours_of(model) == theirs_of(model) == {"y": ["b", "s", 8]}


def test_sequences_and_optionals() -> None:
    """A sequence's shape is empty, an optional's that of its tensor."""
    tensor = helper.make_tensor_type_proto(FLOAT, ["N", 3])
    kinds = {
        "list": helper.make_sequence_type_proto(tensor),
        "maybe": helper.make_optional_type_proto(tensor),
        "maybe list": helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
    }
    for name, kind in kinds.items():
        value = helper.make_value_info("x", kind)
        graph = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["y"])], "g", [value],
            [helper.make_value_info("y", kind)],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        assert ours_of(model) == theirs_of(model), name


def test_pinned_names() -> None:
    model = parse("g (float[w] x, int64[2] s) => (float[w, 5] y) { y = Reshape (x, s) }")
    assert ours_of(model, dims={"w": 10}) == {"y": [10, 5]}


def test_hints_are_not_believed() -> None:
    """What is declared wrongly is shown where nothing else is known, and changes no result."""
    model = parse("g (float[w] x, int64[2] s) => (float[7, 9] y) { y = Reshape (x, s) }")
    session = loopc.InferenceSession(model.SerializeToString())
    assert session.get_outputs()[0].shape == [7, 9]
    [y] = session.run(None, {"x": np.ones(6, np.float32), "s": np.array([2, 3])})
    assert y.shape == (2, 3)
    buffer = np.zeros((2, 3), np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.ones(6, np.float32))
    binding.bind_cpu_input("s", np.array([2, 3]))
    binding.bind_output(
        "y", element_type=np.float32, shape=buffer.shape, buffer_ptr=buffer.ctypes.data
    )
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(buffer, np.ones((2, 3)))


def test_libraries_and_headers(tmp_path: pathlib.Path) -> None:
    model = tmp_path / "m.onnx"
    onnx.save(
        parse("m (float[w] x, int64[r] s) => (float[rows, 5] y) { y = Reshape (x, s) }"), model
    )
    library = tmp_path / "m.so"
    loopc.compile(model, library, emit="shared")
    assert loopc.load(library).get_outputs()[0].shape == ["rows", 5]
    loopc.compile(model, tmp_path / "m.o")
    header = (tmp_path / "m.h").read_text()
    assert "outputs[0]  'y'  float32[rows, 5]" in header
    assert "m_OUTPUT_0_RANK -1" in header


def test_openvino(tmp_path: pathlib.Path) -> None:
    """What a file of IR says of the ports in front of its Results."""
    openvino = pytest.importorskip("openvino")
    model = tmp_path / "m.onnx"
    onnx.save(parse("m (float[6] x, int64[2] s) => (float[?, ?] y) { y = Reshape (x, s) }"), model)
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.convert_model(model), path)
    text = path.read_text()
    at = text.rindex("<dim>-1</dim>", 0, text.index('type="Result"'))
    path.write_text(f"{text[:at]}<dim>3</dim>{text[at + len('<dim>-1</dim>') :]}")
    session = loopc.InferenceSession(path)
    assert [port.shape for port in session.get_outputs()] == [[None, 3]]


def _reason(ours: Dims, theirs: Dims, declared: Dims) -> str:
    """Why two shapes differ; empty where nothing explains it."""
    if ours == theirs:
        return "same"
    if not theirs:  # So onnxruntime shows an unknown rank.
        return "no rank" if ours is None else "proved"
    if ours is None or len(ours) != len(theirs):
        return ""
    reasons = set()
    for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        said = declared[place] if declared and len(declared) == len(ours) else None
        if one == other:
            continue
        if isinstance(one, int) and not isinstance(other, int):
            reasons.add("proved")
        elif one is None and isinstance(other, str) and said is None:
            reasons.add("name of an input")
        else:
            return ""
    return " and ".join(sorted(reasons))


#: Loop models whose bodies declare what is not so, which onnxruntime believes.
LIES = {"bodies_that_lie"}


def _declared(info: onnx.ValueInfoProto) -> Dims:
    kind = info.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in kind.shape.dim]


def test_loop_models() -> None:
    """Every output of every loop model that both take is shown alike, or there is a reason."""
    found: collections.Counter[str] = collections.Counter()
    unexplained = []
    for model in all_models():
        if model.compile_error is not None or model.name in LIES:
            continue
        try:
            theirs = theirs_of(model.model)
        except Exception:  # onnxruntime's errors have no common base.
            continue
        ours = ours_of(model.model)
        declared = {info.name: _declared(info) for info in model.model.graph.output}
        for name, shape in ours.items():
            reason = _reason(shape, theirs[name], declared[name])
            found[reason] += 1
            if not reason:
                unexplained.append(f"{model.name} {name}: {shape}, onnxruntime {theirs[name]}, "
                                   f"declared {declared[name]}")  # fmt: skip
    assert not unexplained, "\n".join(unexplained)
    assert found["same"] > found.total() * 0.6, found
