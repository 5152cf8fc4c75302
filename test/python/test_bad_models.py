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
import numpy as np
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


def two_kinds():
    """A kind that says FLOAT, and an integer."""
    alpha = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, i=3)
    node = helper.make_node("LeakyRelu", ["x"], ["y"])
    node.attribute.append(alpha)
    return model([node])


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


def unary(op_type, shape, **attributes):
    """A model of one node; its input has that type."""
    made = parsed(f"{shape} x", "Identity (x)", 13)
    node = helper.make_node(op_type, ["x"], ["y"], **attributes)
    made.graph.node[0].CopyFrom(node)
    return made


def parsed(inputs, node, opset):
    """A model of one node in ONNX's text."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]>\nm ({inputs}) => (float[] y) {{ y = {node} }}'
    )


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
    "flag that is neither 0 nor 1": (
        unary("ReduceMean", "float[2, 3]", axes=[1], keepdims=255),
        "LC0303",
    ),
    "axes without end": (
        parsed("float[2] x, int64[1099511627776] a", "ReduceSum (x, a)", 18),
        "LC0303",
    ),
    "more axes than dimensions": (
        parsed("float[2] x, int64[7] a", "ReduceSum (x, a)", 18),
        "LC0300",
    ),
    "numbers of a run without end": (
        parsed("float[2] x, int64[1099511627776] a", "Unsqueeze (x, a)", 18),
        "LC0303",
    ),
    "window larger than its axis": (
        unary("AveragePool", "float[1, 1, 6, 6]", kernel_shape=[8, 3], strides=[2, 2]),
        "LC0300",
    ),
    "stride out of range": (
        unary("MaxPool", "float[1, 1, N, 6]", kernel_shape=[2, 2], dilations=[2**62, 1]),
        "LC0501",
    ),
    "sizes without a rank of 1": (
        parsed("float[1, 1, 4, 4] x, int64 a", 'Resize (x, "", "", a)', 19),
        "LC0300",
    ),
    "ranks that an old version does not know": (
        parsed("float[1] x, float[1, 1] a", "Sum (x, a)", 6),
        "LC0303",
    ),
    "attribute of two kinds": (two_kinds(), "LC0209"),
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


def test_functions_of_many_copies():
    """12 levels of two calls each are 4096 nodes, and 4095 calls."""
    functions = [*DOUBLING[:12], function("F12", "Neg")]
    session = loopc.InferenceSession(model(CALL, functions=functions))
    assert session.run(None, {"x": np.array(3, np.float32)})[0] == 3


def test_long_names_are_cut():
    """An error can be read, whatever the model's names are."""
    name = "ü" * 10_000
    with pytest.raises(loopc.CompileError) as caught:
        loopc.InferenceSession(changed(op_type=name))
    message = caught.value.diagnostics[0].message
    assert " [...] " in message
    assert len(message) < 2000
    assert message.startswith("operator 'ü") and message.endswith("does not exist in opset 21")


@pytest.mark.parametrize(
    "domain, said",
    [("com.microsoft", "use the model from before"), ("mine", "a function of the model")],
)
def test_unknown_domains_say_what_to_do(domain, said):
    made = model([helper.make_node("QOrderedGelu", ["x"], ["y"], domain=domain)])
    read = onnx.load_model_from_string(made)
    read.opset_import.add(domain=domain, version=1)
    with pytest.raises(loopc.CompileError, match=said) as caught:
        loopc.InferenceSession(read)
    assert caught.value.code == "LC0301"


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


@pytest.mark.parametrize(("written", "shown"), [("\0", r"\\x00"), ("\x1b[31m", r"\\x1b\[31m")])
def test_control_characters_in_names(written: str, shown: str) -> None:
    """A name of a damaged file ends no message and colours no terminal."""
    node = onnx.helper.make_node(f"A{written}bs", ["x"], ["y"], name=f"a{written}b")
    value = [onnx.helper.make_tensor_value_info(n, 1, [2]) for n in ("x", "y")]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", value[:1], value[1:]))
    message = f"A{shown}bs 'a{shown}b' .*operator 'A{shown}bs' does not exist"
    with pytest.raises(loopc.CompileError, match=message):
        loopc.InferenceSession(model.SerializeToString())
