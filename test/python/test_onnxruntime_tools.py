# ===- test_onnxruntime_tools.py - Tools that change models ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""``onnxruntime.quantization`` and the like in a process where onnxruntime is loopc."""

import importlib
import subprocess
import sys

import loopc
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

PRELUDE = """
import sys
if sys.argv[1] == "loopc":
    import loopc
    sys.modules["onnxruntime"] = loopc
import numpy as np
model, folder = sys.argv[2:]
"""
PROGRAMS = {
    "dynamic": """
from onnxruntime.quantization import QuantType, quantize_dynamic
quantize_dynamic(model, folder + "/made.onnx", weight_type=QuantType.QInt8)
""",
    # Runs the model to see how large its values are.
    "static": """
from onnxruntime.quantization import CalibrationDataReader, quantize_static
class Reader(CalibrationDataReader):
    def __init__(self):
        draw = np.random.default_rng(1)
        self.rows = iter([{"x": draw.normal(size=(3, 16)).astype("f")} for _ in range(4)])
    def get_next(self):
        return next(self.rows, None)
quantize_static(model, folder + "/made.onnx", Reader())
""",
    "float16": """
import onnx
from onnxruntime.transformers.float16 import convert_float_to_float16
onnx.save(convert_float_to_float16(onnx.load(model)), folder + "/made.onnx")
""",
    "bitsandbytes": """
from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
import onnx
made = MatMulBnb4Quantizer(onnx.load(model), quant_type=1, block_size=16)
made.process()
onnx.save(made.model.model, folder + "/made.onnx")
""",
    "shapes": """
import onnx
from onnxruntime.tools.onnx_model_utils import make_dim_param_fixed
made = onnx.load(model)
make_dim_param_fixed(made.graph, "n", 3)
onnx.save(made, folder + "/made.onnx")
""",
}


def run(program, *arguments):
    code = PRELUDE + program
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def model(tmp_path):
    weights = np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    x, y = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", extent])
        for name, extent in (("x", 16), ("y", 8))
    )
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(weights, "w")])
    path = tmp_path / "model.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )
    return path


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_model(program, model, tmp_path):
    made = {}
    for engine in ("loopc", "onnxruntime"):
        folder = tmp_path / engine
        folder.mkdir()
        done = run(PROGRAMS[program], engine, model, folder)
        assert done.returncode == 0, done.stderr
        made[engine] = onnx.load(folder / "made.onnx")
    for nodes in (lambda graph: graph.node, lambda graph: graph.input):
        kinds = [[str(one) for one in nodes(made[engine].graph)] for engine in made]
        assert kinds[0] == kinds[1]
    # Scales come of what a calibration's runs compute: equal but for roundings.
    for one, other in zip(*(made[engine].graph.initializer for engine in made), strict=True):
        np.testing.assert_allclose(
            numpy_helper.to_array(one).astype(np.float64),
            numpy_helper.to_array(other).astype(np.float64),
            rtol=1e-5,
        )
    x = np.ones((3, 16), np.float32)
    if made["loopc"].graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16:
        x = x.astype(np.float16)
    loopc.InferenceSession(made["loopc"]).run(None, {"x": x})


def test_without_onnxruntime(model, tmp_path):
    """Where onnxruntime is not installed, the error says what to install."""
    program = """
sys.path[:] = [one for one in sys.path if "site-packages" not in one]
sys.path_importer_cache.clear()
import onnxruntime.quantization
"""
    done = run(program, "loopc", model, tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "onnxruntime.quantization is a part of onnxruntime that changes models, and loopc has none "
        "of its own: install onnxruntime beside loopc (pip install onnxruntime), and it is taken "
        "from there\n"
    )
    done = run("import loopc.tools", "loopc", model, tmp_path)
    assert "'loopc.tools' does not exist: import onnxruntime.tools" in done.stderr


def test_optimized_model(model, tmp_path):
    """The model itself is written, which programs can go on with."""
    options = loopc.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    for source in (str(model), model.read_bytes(), onnx.load(model)):
        with pytest.warns(UserWarning, match="has the model as it is"):
            loopc.InferenceSession(source, options)
        written = onnx.load(tmp_path / "optimized.onnx")
        assert written == onnx.load(model)
        (tmp_path / "optimized.onnx").unlink()
    options.optimized_model_filepath = tmp_path / "no folder" / "optimized.onnx"
    with pytest.raises(loopc.InvalidArgument, match=r"cannot write .*no folder"):
        loopc.InferenceSession(str(model), options)


def test_optimized_model_that_cannot_be_written(model, tmp_path):
    """Weights beside the model would not be found in another folder."""
    there = tmp_path / "there"
    there.mkdir()
    onnx.save(onnx.load(model), there / "model.onnx", save_as_external_data=True, size_threshold=0)
    options = loopc.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    with pytest.warns(UserWarning, match="nothing is written, since weights of the model lie"):
        loopc.InferenceSession(str(there / "model.onnx"), options)
    assert not (tmp_path / "optimized.onnx").exists()
    options.optimized_model_filepath = str(there / "optimized.onnx")
    with pytest.warns(UserWarning, match="has the model as it is"):
        loopc.InferenceSession(str(there / "model.onnx"), options)
    loopc.InferenceSession(str(there / "optimized.onnx"))
    text = tmp_path / "text.onnxtxt"
    text.write_text(
        '<ir_version: 10, opset_import: ["": 21]> g (float[1] x) => (float[1] y) { y = Abs (x) }'
    )
    with pytest.warns(UserWarning, match="no binary ONNX model"):
        loopc.InferenceSession(str(text), options)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("LoraAdapter", "merge them into the model's weights"),
        ("OrtExternalInitializerInfo", "SessionOptions.add_external_initializers takes OrtValues"),
        ("OrtSparseFormat", "give a dense one"),
    ],
)
def test_what_is_there_instead(name, instead):
    """Names of onnxruntime's that loopc has not are errors that say what to do."""
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': .*{instead}"):
        getattr(loopc, name)


WEIGHTS = [
    # Rows, columns, rows of a block: whole blocks, a part of one, odd numbers of them.
    (32, 5, 16),
    (52, 7, 16),
    (96, 3, 64),
    (80, 1, 16),
]
# Half a byte is left.
ODD = (17, 3, 16)


def weights_of(rows, columns, dtype):
    draw = np.random.default_rng(rows)
    weights = draw.normal(size=(rows, columns)).astype(dtype)
    weights[:16, 0] = 0
    # Halves between two codes.
    weights[:16, -1] = np.arange(16) - 8
    weights[3:5, -1] = (-6.5, 3.5)
    return weights


def engines_of(name):
    modules = (f"{engine}.capi._pybind_state" for engine in ("loopc", "onnxruntime"))
    return [getattr(importlib.import_module(module), name) for module in modules]


@pytest.mark.parametrize("is_symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(("rows", "columns", "block"), WEIGHTS)
def test_rounded_in_blocks(rows, columns, block, bits, dtype, is_symmetric):
    blocks, each = -(-rows // block), 8 // bits
    weights = weights_of(rows, columns, dtype)
    padded = np.pad(weights, ((0, blocks * block - rows), (0, 0)))
    made = []
    for engine in engines_of(f"quantize_matmul_{bits}bits"):
        packed = np.zeros((columns, blocks, block // each), np.uint8)
        zeros = np.zeros((columns, -(-blocks // each)), np.uint8)
        scales = np.zeros((columns, blocks), dtype)
        engine(packed, padded, scales, zeros, block, columns, rows, is_symmetric)
        made.append((packed, zeros, scales))
    for found, wanted in zip(*made, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("is_symmetric", [True, False])
@pytest.mark.parametrize(("rows", "columns", "block"), [*WEIGHTS, ODD])
def test_rounded_for_dequantize_linear(rows, columns, block, is_symmetric):
    blocks = -(-rows // block)
    made = []
    for engine in engines_of("quantize_qdq_matmul_4bits"):
        packed = np.zeros((rows * columns + 1) // 2, np.uint8)
        zeros = np.zeros((columns * blocks + 1) // 2, np.uint8)
        scales = np.zeros((blocks, columns), np.float32)
        weights = weights_of(rows, columns, np.float32)
        sign = engine(packed, weights, scales, zeros, block, columns, rows, is_symmetric)
        made.append((packed, zeros, scales, sign))
    for found, wanted in zip(*made, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("rows", "columns", "block"), [*WEIGHTS, ODD])
def test_rounded_for_bitsandbytes(rows, columns, block, dtype, kind):
    made = []
    for engine in engines_of("quantize_matmul_bnb4"):
        packed = np.zeros((rows * columns + 1) // 2, np.uint8)
        largest = np.zeros(-(-rows * columns // block), dtype)
        engine(packed, weights_of(rows, columns, dtype), largest, block, kind, columns, rows)
        made.append((packed, largest))
    for found, wanted in zip(*made, strict=True):
        np.testing.assert_array_equal(found, wanted)
