# ===- test_ort_custom_operators.py - Libraries made for onnxruntime --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Custom operators of RegisterCustomOps (Inputs/ort_custom.cpp), beside onnxruntime itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import loopc
import numpy as np
import onnx.parser
import onnxruntime
import pytest

SOURCE = Path(__file__).parent / "Inputs" / "ort_custom.cpp"
HEADER = '<ir_version: 10, opset_import: ["" : 21, "test.ort" : 1]>\n'
X = np.float32([[1, -2, 3], [4, 5, -6]])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("clang++-22") or shutil.which("c++")
    assert compiler
    file = tmp_path_factory.mktemp("custom") / "ort_custom.so"
    flags = ["-std=c++20", "-O1", "-Wall", "-Werror", "-fvisibility=hidden"]
    command = [compiler, "-shared", "-fPIC", *flags, str(SOURCE), "-o", str(file)]
    subprocess.run(command, check=True)
    # A library keeps the functions of whoever registered it last: each engine has its own.
    shutil.copy(file, file.with_name("ort_peer.so"))
    return file


def model_of(text):
    return onnx.parser.parse_model(HEADER + "g " + text).SerializeToString()


def session(library, text, **settings):
    options = loopc.SessionOptions(**settings)
    options.register_custom_ops_library(library)
    return loopc.InferenceSession(model_of(text), options)


def peer(library, text):
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(library.with_name("ort_peer.so")))
    return onnxruntime.InferenceSession(model_of(text), options)


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if one.dtype.kind in "OUT":
            assert one.tolist() == other.tolist()
        else:
            np.testing.assert_array_equal(one, other, strict=True)


LOOP = """(int64 n, float[2, 3] x) => (float[2, 3] y, float[t, 2, 3] all)
  <bool yes = {1}>
{
  y, all = Loop (n, yes, x) <body = step
    (int64 i, bool c, float[2, 3] a) => (bool d, float[2, 3] b, float[2, 3] z) {
      d = Identity(c)
      b = test.ort.Scale<factor = 2.0, offsets = [1]>(a)
      z = Identity(b)
    }>
}"""
SCAN = """(float[2] s, float[t, 2] x) => (float[2] y, float[t, 2] all) {
  y, all = Scan <num_scan_inputs = 1, body = step
    (float[2] a, float[2] b) => (float[2] c, float[2] d) {
      j = Add(a, b)
      c = test.ort.Scale<factor = 0.5>(j)
      d = Identity(c)
    }> (s, x)
}"""
BRANCH = """(bool c, float[a, b] x) => (float[a, b] y) {
  y = If (c) <then_branch = one () => (float[a, b] t) { t = test.ort.Scale<factor = 3.0>(x) },
    else_branch = two () => (float[a, b] e) { e = Neg(x) }>
}"""
POSITIVES = """(int64 n, int32[k] x) => (int32[m] y)
  <bool yes = {1}, int32 one = {1}>
{
  y = Loop (n, yes, x) <body = step
    (int64 i, bool c, int32[k] a) => (bool d, int32[p] b) {
      d = Identity(c)
      s = Sub(a, one)
      b = test.ort.Positive(s)
    }>
}"""
TEXTS = np.array([["a", ""], ["b ü", "longer than a short text is"]], dtype=object)


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        (
            "(float[n, m] x) => (float[n, m] y) "
            "{ y = test.ort.Scale<factor = 2.0, offsets = [1, 2]>(x) }",
            {"x": X},
        ),
        ("(float[2, 3] x) => (float[2, 3] y) { y = test.ort.Scale<factor = 2.0>(x) }", {"x": X}),
        # The one for float64 is another operator of the same name.
        (
            "(double[n] x) => (double[n] y) { y = test.ort.Scale<factor = 2.0>(x) }",
            {"x": np.float64([1 / 3, 2])},
        ),
        (
            "(float[n] x) => (float[n] y) { z = test.ort.Scale<factor = 2.0>(x) y = Relu(z) }",
            {"x": np.float32([])},
        ),
        (
            "(float[n] x, double[n] z) => (float[n] y, double[n] w) "
            "{ y = test.ort.Scale<factor = 2.0>(x) w = test.ort.Scale<factor = 2.0>(z) }",
            {"x": X[0], "z": np.float64(X[1])},
        ),
        (
            "(int32[n] x) => (int32[m] y) { y = test.ort.Positive(x) }",
            {"x": np.int32([3, -1, 4])},
        ),
        (
            "(int32[n] x, int32 s) => (int32[m] y, int64 c) { y, c = test.ort.Positive(x, s) }",
            {"x": np.int32([3, -1, 4]), "s": np.array(10, np.int32)},
        ),
        (
            "(float[n] x, float[a, b] z) => (float[m] y) { y = test.ort.Join(x, z, x) }",
            {"x": X[0], "z": X},
        ),
        (
            '(string[a, b] x) => (string[a, b] y) { y = test.ort.Quote<mark = "\'">(x) }',
            {"x": TEXTS},
        ),
        ("(bool[n] x) => (bool[n] y) { y = test.ort.Copy(x) }", {"x": np.array([True, False])}),
        ("(int64[a, b] x) => (int64[a, b] y) { y = test.ort.Copy(x) }", {"x": np.int64(X)}),
        ("(int64[n] x) => (int64[n] y) { y = test.ort.Limit<limit = 9>(x) }", {"x": np.int64([9])}),
        (LOOP, {"n": np.array(3), "x": X}),
        (LOOP, {"n": np.array(0), "x": X}),
        (SCAN, {"s": X[0, :2], "x": np.float32([[1, 2], [3, 4], [5, 6]])}),
        (BRANCH, {"c": np.array(True), "x": X}),
        (POSITIVES, {"n": np.array(3), "x": np.int32([2, 9, 4, 1])}),
    ],
)
@pytest.mark.parametrize("level", [1, 3])
def test_equals_onnxruntime(library, text, feeds, level):
    expected = peer(library, text).run(None, feeds)
    ours = session(library, text, opt_level=level)
    same(ours.run(None, feeds), expected)
    same(ours.run(None, feeds), expected)


def test_a_kernel_is_of_one_node(library):
    """Each node has a kernel, which lives from run to run."""
    text = "() => (int64 a, int64 b) { a = test.ort.Tick() b = test.ort.Tick() }"
    ours = session(library, text)
    first = ours.run(None, {})[0]
    assert [one.tolist() for one in ours.run(None, {})] == [first + 1, first + 1]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (0, "main/#0 test.ort::Fault.*: 100 % wrong"),
        (1, "an exception of an unknown type"),
        (2, "loopc does not have the function CreateEnv of onnxruntime's C API"),
        (3, "output #0 was not allocated"),
        (4, "output #0 has rank 2, expected 1"),
        (5, "the node has no output #7"),
    ],
)
def test_errors_of_kernels(library, what, said):
    ours = session(library, "(int64 x) => (float[n] y) { y = test.ort.Fault(x) }")
    with pytest.raises(loopc.RunError, match=said):
        ours.run(None, {"x": np.int64(what)})


def test_errors_of_statuses(library):
    text = "(int64[n] x) => (int64[n] y) { y = test.ort.Limit<limit = %s>(x) }"
    with pytest.raises(loopc.RunError, match="an element is above the limit"):
        session(library, text % 3).run(None, {"x": np.int64([4])})
    with pytest.raises(loopc.RunError, match="its kernel cannot be made: limit is negative"):
        session(library, text % -3).run(None, {"x": np.int64([4])})
    text = "(int64[n] x) => (int64[n] y) { y = test.ort.Limit(x) }"
    with pytest.raises(loopc.RunError, match="the node has no attribute 'limit'"):
        session(library, text).run(None, {"x": np.int64([4])})


def test_nodes_that_do_not_fit(library):
    for text, said in (
        ("(int8[n] x) => (int8[n] y) { y = test.ort.Scale(x) }", "expected elements of float32"),
        ("(float[n] x) => (float[n] y) { y = test.ort.OnGpu(x) }", "domain 'test.ort' is unknown"),
        (
            "(float[n] x) => (float[n] y) { y = test.ort.Scale<factor = float {1}>(x) }",
            "'factor' is no number, text or list",
        ),
    ):
        with pytest.raises(loopc.CompileError, match=said):
            session(library, text)


def test_ahead_of_time(tmp_path, library):
    """A program cannot link such a library: it would have to be onnxruntime."""
    text = "(float[n] x) => (float[n] y) { y = test.ort.Scale<factor = 2.0>(x) }"
    for name, emit in (("m.o", "obj"), ("m.so", "shared")):
        with pytest.raises(loopc.CompileError, match=r"main/#0.*is called in sessions only"):
            loopc.compile(model_of(text), tmp_path / name, emit=emit, custom_ops=[str(library)])


CACHED = """
import sys
import loopc, numpy as np
options = loopc.SessionOptions(cache_dir=sys.argv[2])
options.register_custom_ops_library(sys.argv[1])
for _ in range(2):
    print(loopc.InferenceSession(sys.argv[3], options).run(None, {"x": np.float32([1, 2])}))
"""


def test_sessions_from_the_cache(tmp_path, library):
    """Another process compiles, and the next one takes what it made."""
    file = tmp_path / "model.onnx"
    text = "(float[n] x) => (float[n] y) { y = test.ort.Scale<factor = 2.0>(x) }"
    file.write_bytes(model_of(text))
    command = [sys.executable, "-c", CACHED, str(library), str(tmp_path / "cache"), str(file)]
    environment = {name: text for name, text in os.environ.items() if name != "LOOPC_COMPILE"}
    for _ in range(2):
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout.count("array([2., 4.]") == 2
    assert list((tmp_path / "cache").rglob("*.so"))


def test_a_library_that_fails_to_register(tmp_path):
    file = tmp_path / "bad.cpp"
    file.write_text(
        '#include <stdexcept>\nextern "C" void *RegisterCustomOps(void *, void *)'
        '{ throw std::runtime_error("no licence"); }\n'
    )
    compiler = shutil.which("clang++-22") or shutil.which("c++")
    library = tmp_path / "bad.so"
    subprocess.run([compiler, "-shared", "-fPIC", str(file), "-o", str(library)], check=True)
    with pytest.raises(loopc.CompileError, match="its RegisterCustomOps fails: no licence"):
        loopc.SessionOptions().register_custom_ops_library(library)
