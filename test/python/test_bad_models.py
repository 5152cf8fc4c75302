# ===- test_bad_models.py - Models that are no models -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Damaged, contradictory and endless models end in one clear error."""

from pathlib import Path

import loopc
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

TEXT = '<ir_version: 10, opset_import: ["" : 21]>\nm (float[N] x) => (float[N] y) { y = Neg (x) }'
GOOD = onnx.parser.parse_model(TEXT)
BYTES = GOOD.SerializeToString()


def value(name, shape=()):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(nodes, inputs=("x",), initializers=(), functions=()):
    graph = helper.make_graph(
        nodes, "g", [value(name) for name in inputs], [value("y", None)], list(initializers)
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)
    return made.SerializeToString()


def function(name, *calls):
    """A function that calls others, one after the other."""
    names = ["a", *(f"v{i}" for i in range(len(calls) - 1)), "b"]
    nodes = [
        helper.make_node(call, [names[i]], [names[i + 1]], domain="" if call == "Neg" else "local")
        for i, call in enumerate(calls)
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["b"], nodes, opsets)


def changed(**fields):
    copy = onnx.ModelProto()
    copy.CopyFrom(GOOD)
    for name, text in fields.items():
        setattr(copy.graph.node[0], name, text)
    return copy


def with_opset(version):
    copy = onnx.ModelProto()
    copy.CopyFrom(GOOD)
    copy.opset_import[0].version = version
    return copy


def add(*initializers):
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=initializers)


def outside():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=1)
    tensor.external_data.add(key="location", value="../../etc/passwd")
    return tensor


CALL = [helper.make_node("F0", ["x"], ["y"], domain="local")]
DOUBLING = [function(f"F{i}", f"F{i + 1}", f"F{i + 1}") for i in range(40)]

MODELS = {
    "empty": (b"", "LC0201"),
    "cut after 1": (BYTES[:1], "LC0201"),
    "cut in the middle": (BYTES[: len(BYTES) // 2], "LC0201"),
    "cut before the end": (BYTES[:-1], "LC0201"),
    "garbage": (bytes(range(255, 0, -1)), "LC0201"),
    "text that ends": (TEXT.encode()[:-5], "LC0202"),
    "no graph": (onnx.ModelProto(ir_version=10).SerializeToString(), "LC0201"),
    "opset of the future": (with_opset(999), "LC0206"),
    "opset 0": (with_opset(0), "LC0206"),
    "unknown operator": (changed(op_type="Nope"), "LC0301"),
    "unknown domain": (changed(domain="nowhere"), None),
    "cycle": (
        model(
            [
                helper.make_node("Add", ["x", "y"], ["a"]),
                helper.make_node("Neg", ["a"], ["y"]),
            ]
        ),
        "LC0207",
    ),
    "node that needs itself": (model([helper.make_node("Neg", ["y"], ["y"])]), "LC0207"),
    "recursion": (model(CALL, functions=[function("F0", "F0")]), "LC0214"),
    "recursion by two": (
        model(CALL, functions=[function("F0", "F1"), function("F1", "F0")]),
        "LC0214",
    ),
    "functions that double": (model(CALL, functions=[*DOUBLING, function("F40", "Neg")]), "LC0216"),
    "tensor larger than all memory": (
        add(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**40, 2**40])),
        "LC0210",
    ),
    "negative dimension": (
        add(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-1])),
        "LC0210",
    ),
    "too little data": (
        add(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], raw_data=b"123")),
        "LC0210",
    ),
    "data outside of the folder": (add(outside()), "LC0211"),
    "name that is no text": (BYTES.replace(b"\x01x", b"\x01\xff"), "LC0213"),
    "name with a null": (BYTES.replace(b"\x01x", b"\x01\0"), "LC0213"),
    "input twice": (model([helper.make_node("Neg", ["x"], ["y"])], inputs=("x", "x")), "LC0208"),
}


@pytest.mark.parametrize("name", MODELS)
def test_bad_model(name, tmp_path):
    given, code = MODELS[name]
    data = given if isinstance(given, bytes) else given.SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(loopc.CompileError) as caught:
        loopc.InferenceSession(path)
    errors = [d for d in caught.value.diagnostics if d.severity == loopc.Severity.ERROR]
    assert len(errors) == 1, str(caught.value)
    assert errors[0].location.startswith(str(path)), errors[0]
    assert errors[0].message
    if code:
        assert caught.value.code == code


def test_folder_as_model(tmp_path):
    with pytest.raises(loopc.CompileError, match="directory"):
        loopc.InferenceSession(tmp_path)


def test_folder_as_output(tmp_path):
    with pytest.raises(loopc.CompileError, match="directory"):
        loopc.compile(BYTES, tmp_path)


def test_missing_model():
    with pytest.raises(loopc.CompileError, match="No such file"):
        loopc.InferenceSession(Path("/nowhere/model.onnx"))


@pytest.mark.parametrize("given", [None, 3, ["model.onnx"], object()])
def test_no_model_at_all(given):
    with pytest.raises(loopc.InvalidArgument):
        loopc.InferenceSession(given)
