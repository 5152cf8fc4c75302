# ===- test_hostile_models.py - Models and calls that do not make sense ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The tables of hostile_onnx.py end in one clear error each; so do fields, attributes and calls.

test/fuzz/every_argument.py makes all calls of a part of the package. Models are tried in a process
of their own, which they may end.
"""

import pathlib
import sys

import engines
import loopc
import numpy as np
import onnx.parser
import pytest
from hostile_onnx import BASE, FIELDS, NODES, TREE_CHANGES, of_field, of_node, of_tree
from loopc import network as trt

FUZZ = pathlib.Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import bad_answers  # noqa: E402
from bad_outcomes import Ending  # noqa: E402
from every_field import onnx_changes, xml_changes  # noqa: E402

#: What is odd and has a meaning, in NumPy or onnxruntime too.
ALLOWED = ("mode = \"reflect\"", "pads = [1, 1, 1, 1]", "uint8[1] z", "block_size = 3",
           "int64 s = {-3}> | HannWindow", "hidden_size = 0", "an unknown entry", "no outputs",
           "nothing at all in the graph", "a function of other inputs",
           "a function without its attribute", "huge extents beside 0 in an output")  # fmt: skip


def endings(cases, folder):
    """What was tried and ended otherwise than by one clear error."""
    worker = engines.worker(bad_answers.compile_and_run, 60.0)
    bad, fine = [], []
    for name, data in cases:
        outcome = worker.ask((str(folder / "log"), data, {}, 3))
        if outcome.values is None:
            bad.append((name, outcome.error))
        elif outcome.values[0].ending.bad:
            bad.append((name, outcome.values[0].said))
        elif outcome.values[0].ending is Ending.FINE:
            fine.append(name)
    return bad, fine


def test_nodes(tmp_path):
    rows = NODES.strip().splitlines()
    bad, fine = endings(((row, of_node(row).SerializeToString()) for row in rows), tmp_path)
    assert not bad
    assert not [row for row in fine if not any(part in row for part in ALLOWED)
                and "HannWindow" not in row]  # fmt: skip


def test_trees(tmp_path):
    made = ((name, of_tree(TREE_CHANGES[name]).SerializeToString()) for name in TREE_CHANGES)
    assert endings(made, tmp_path) == ([], [])


def test_fields(tmp_path):
    cases = []
    for number, name in enumerate(FIELDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "model.onnx").write_bytes(of_field(name, folder))
        cases.append((name, str(folder / "model.onnx")))
    bad, fine = endings(cases, tmp_path)
    assert not bad
    assert set(fine) <= set(ALLOWED)


def test_some_fields_with_any_value(tmp_path):
    changed = list(onnx_changes(onnx.parser.parse_model(BASE)))
    assert len(changed) > 1000
    made = ((name, model.SerializeToString()) for name, model in changed[::37])
    assert endings(made, tmp_path)[0] == []


def test_some_attributes_of_ir_with_any_value(tmp_path):
    import openvino
    from openvino_models import MODELS

    (model,) = (one for one in MODELS if one.name == "iterator_parts")
    path = tmp_path / "model.xml"
    openvino.save_model(model.build()[0], path, compress_to_fp16=False)
    changed = list(xml_changes(path.read_text()))
    assert len(changed) > 1000
    for number, (_, text) in enumerate(changed[::41]):
        (tmp_path / f"{number}.xml").write_text(text)
        (tmp_path / f"{number}.bin").write_bytes(path.with_suffix(".bin").read_bytes())
    made = ((name, str(tmp_path / f"{k}.xml")) for k, (name, _) in enumerate(changed[::41]))
    assert endings(made, tmp_path)[0] == []


def test_extents_of_zero_have_tiles():
    """Without its fold a product of no columns is planned as any other."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        m (float[3, 4] x, float[4, 0] w) => (float[3, 0] y) { y = MatMul (x, w) }""")
    options = loopc.SessionOptions(disabled_passes=["canonicalize"])
    session = loopc.InferenceSession(model, options)
    feeds = {"x": np.ones((3, 4), np.float32), "w": np.ones((4, 0), np.float32)}
    assert session.run(None, feeds)[0].shape == (3, 0)


FLAGS = np.ones((2, 2))


def network():
    made = trt.create_network("n")
    return made, made.add_input("x", np.float32, (2, 3))


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: loopc.SessionOptions(verify=FLAGS)._compile_options(), "verify: expected True"),
        (lambda: loopc.compile(b"", "m.o", profile=FLAGS), "profile: expected True or False"),
        (lambda: loopc.compile(b"", "m\ud800.o"), "output"),
        (lambda: loopc.compile(b"", "m.o", emit="\ud800"), "emit: there is no stage"),
        (lambda: loopc.InferenceSession("\ud800"), "model: "),
        (lambda: loopc.InferenceSession("m\0"), "null character"),
        (lambda: loopc.InferenceSession(b"", provider_options=3), "expected a list of dicts"),
        (lambda: loopc.InferenceSession(b"", device_outputs=FLAGS), "device_outputs: expected"),
        (lambda: loopc.SessionOptions(disabled_passes=np.array(3))._compile_options(), "names"),
        (lambda: loopc.OrtValue.ortvalue_from_shape_and_type(3), "shape: expected a list"),
        (lambda: loopc.OrtValue.ortvalue_from_shape_and_type([-1]), "negative dimension"),
        (lambda: loopc.OrtValue.ortvalue_from_shape_and_type([2**62, 4]), "shape: "),
        (lambda: loopc.OrtValue.ortvalue_from_numpy(FLAGS, FLAGS), "values are on cpu:0"),
        (lambda: loopc.OrtValue.from_dlpack(3), "data: int has no __dlpack__"),
        (lambda: setattr(network()[1], "name", 3), "name: expected a str, got int"),
        (lambda: setattr(network()[1], "name", "\ud800"), "name: .* UTF-8"),
        (lambda: network()[1].set_dimension_name(2**40, "N"), "index: .* out of range"),
        (lambda: network()[1].set_dimension_name("0", "N"), "index: expected an integer"),
        (lambda: setattr(network()[0].add_shuffle(network()[1]), "reshape_dims", 3), "network"),
    ],
)  # fmt: skip
def test_calls(call, said):
    with pytest.raises(loopc.InvalidArgument, match=said):
        call()


def test_more_axes_than_numpy_has():
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        m (float[1] x, int64[N] a) => (float[] y) { y = Reshape (x, a) }""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    shape = model.graph.input[1].type.tensor_type.shape
    shape.dim[0].dim_value = 70
    session = loopc.InferenceSession(model)
    feeds = {"x": np.ones(1, np.float32), "a": np.ones(70, np.int64)}
    with pytest.raises(loopc.InvalidArgument, match="70 axes"):
        session.run(None, feeds)
