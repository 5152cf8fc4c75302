# ===- test_document_snippets.py - Python of the documents ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the Python of pages whose snippets are parts of a program, with the rest of it around."""

from pathlib import Path
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
from test_documents import FENCE

ROOT = Path(__file__).parents[2]
MODEL = """<ir_version: 10, opset_import: ["" : 21]>
  m (float[n] x) => (float[n] y) { y = Add(x, x) }"""


def snippets(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text()
    return [block for language, _, block in FENCE.findall(text) if language == "python"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with model.onnx, which becomes the working directory."""
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(MODEL), "model.onnx")
    return tmp_path


def run(text: str, **names: Any) -> dict[str, Any]:
    exec(compile(text, "snippet", "exec"), names)
    return names


MEAN, SCALE = np.array([123.7, 116.3, 103.5]), np.array([58.4, 57.1, 57.4])


def camera() -> None:
    """model.xml: a picture of 3 by 8 by 8 twice."""
    import openvino
    import openvino.opset16 as op

    image = op.parameter([1, 3, 8, 8], np.float32, "image")
    openvino.save_model(openvino.Model([op.add(image, image)], [image]), "model.xml")


def decoder() -> None:
    """decoder.xml: the logits are the sum of all tokens so far, which a variable keeps."""
    import openvino
    import openvino.opset16 as op
    from openvino.op.util import Variable, VariableInfo

    token = op.parameter([1], np.float32, "token")
    token.output(0).set_names({"token"})
    info = VariableInfo()
    info.data_shape, info.data_type, info.variable_id = (
        openvino.PartialShape([1]),
        openvino.Type.f32,
        "cache",
    )
    cache = Variable(info)
    logits = op.add(op.read_value(op.constant(np.float32([0])), cache), token)
    made = openvino.Model([op.result(logits)], [op.assign(logits, cache)], [token], "decoder")
    openvino.save_model(made, "decoder.xml", compress_to_fp16=False)


def test_openvino(folder, capsys):
    convert, compiled, steps, states = snippets("OpenVINO.md")
    x = np.float32([1, 2])
    (y,) = run(convert)["session"].run(None, {"x": x})
    np.testing.assert_array_equal(y, x + x)
    run(compiled, x=x)
    assert capsys.readouterr().out == "[2. 4.]\n"
    camera()
    picture = np.full((1, 5, 6, 3), 100, np.uint8)
    result = run(steps)["compiled"]([picture])[0]
    np.testing.assert_allclose(result[0, :, 2, 2], 2 * (100 - MEAN) / SCALE, 1e-5)
    decoder()
    after = run(states, loopc=loopc, tokens=[np.float32([1]), np.float32([2])])
    np.testing.assert_array_equal(after["logits"], [3])
    (logits,) = after["session"].run(None, {"token": np.float32([4])})
    np.testing.assert_array_equal(logits, [7])


def test_network(folder, capsys):
    built, _ = snippets("Network.md")
    session = run(built, np=np, WIDTH=2)["session"]
    x = np.float32([[1, 2], [3, 4], [5, 6]])
    last, every = session.run(None, {"x": x, "n": np.int32(3)})
    np.testing.assert_array_equal(every, x.cumsum(0))
    np.testing.assert_array_equal(last, x.sum(0))
    assert "loop.loop" in capsys.readouterr().out


def test_names_of_tensorrt(folder):
    _, built = snippets("Network.md")
    x, y = np.float32([1, 2]), np.zeros(2, np.float32)
    run(built, x=x, y=y)
    np.testing.assert_array_equal(y, x + x)
