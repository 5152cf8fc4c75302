# ===- test_custom_operators.py - Operators of libraries --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Custom operators (Inputs/custom.c) in sessions: forms of inputs and outputs, loops, errors."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import loopc
import numpy as np
import onnx.parser
import pytest

SOURCE = Path(__file__).parent / "Inputs" / "custom.c"
HEADER = '<ir_version: 10, opset_import: ["" : 21, "test" : 1]>\n'
X = np.float32([[1, -2, 3], [4, 5, -6]])


def build(folder: Path, source: Path = SOURCE, *flags: str) -> Path:
    """A shared library of C operators."""
    compiler = shutil.which("clang-22") or shutil.which("cc")
    assert compiler
    library = folder / "custom.so"
    strict = ["-std=c99", "-Wall", "-Werror", "-pedantic-errors"]
    command = [compiler, "-shared", "-fPIC", *strict, *flags, f"-I{loopc.get_include()}"]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("custom"))


def session(library, text, header=HEADER, **settings):
    options = loopc.SessionOptions(**settings)
    options.register_custom_ops_library(library)
    model = onnx.parser.parse_model(header + text)
    return loopc.InferenceSession(model.SerializeToString(), options)


def run(library, text, feeds, **settings):
    return session(library, text, **settings).run(None, feeds)


def same(found, *expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("dims", ["2, 3", "n, 3", "n, m"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_shape_of_an_input(library, dims, level):
    text = f"g (float[{dims}] x) => (float[{dims}] y) {{ y = test.Scale<factor = 3.0>(x) }}"
    made = session(library, text, opt_level=level)
    same(made.run(None, {"x": X}), 3 * X)
    static = [2, 3] if dims == "2, 3" else None
    assert static is None or made.get_outputs()[0].shape == static


def test_attributes_and_element_types(library):
    text = "g (double[n] x) => (double[n] y) { y = test.Scale<factor = 0.5, offsets = [1, 20]>(x) }"
    same(run(library, text, {"x": np.arange(4.0)}), np.arange(4.0) / 2 + 21)
    none = "g (float[n] x) => (float[n] y) { y = test.Scale<offsets: ints = []>(x) }"
    same(run(library, none, {"x": X[0]}), X[0])


@pytest.mark.parametrize(("version", "factor"), [(1, 1), (2, 1), (3, 2), (9, 2)])
def test_the_latest_version_that_is_not_too_new(library, version, factor):
    header = f'<ir_version: 10, opset_import: ["" : 21, "test" : {version}]>\n'
    text = "g (float[n] x) => (float[n] y) { y = test.Scale(x) }"
    same(session(library, text, header).run(None, {"x": X[0]}), factor * X[0])


@pytest.mark.parametrize("dims", [("2, 3", "2, 3"), ("n, 3", "2, 3"), ("n, k", "m, k")])
def test_shapes_that_a_function_says(library, dims):
    a, b = dims
    text = f"""g (float[{a}] a, float[{b}] b) => (float[r, c] y, float[q, c] z, int64 rows) {{
      z, rows = test.Join(a, b, a)
      y = test.Join(b) }}"""
    found = run(library, text, {"a": X, "b": -X})
    same(found, -X, np.concatenate([X, -X, X]), np.array(6))


def test_shapes_that_the_compiler_knows(library):
    text = """g (float[2, 3] a) => (float[r, c] y) {
      z = test.Join(a, a, a)
      y = Relu(z) }"""
    assert session(library, text).get_outputs()[0].shape == [6, 3]


def test_shapes_that_a_run_knows(library):
    text = """g (int32[n] x, int32 shift) => (int32[k] y, int32[k] z) {
      y = test.Positive(x)
      z = test.Positive(x, shift) }"""
    x = np.int32([1, -1, 5, 0])
    feeds = {"x": x, "shift": np.array(10, np.int32)}
    same(run(library, text, feeds), np.int32([1, 5]), np.int32([11, 15]))
    feeds["x"] = -abs(x)
    same(run(library, text, feeds), np.int32([]), np.int32([]))


def test_ranks_that_a_run_knows(library):
    text = """g (float[2, 3] x, int64 count) => (float y, int64[r] shape) {
      padded = test.PadRank(x, count)
      y = test.Scale<factor = 2.0>(padded)
      shape = Shape(y) }"""
    for count in (0, 1, 9):
        found = run(library, text, {"x": X, "count": np.array(count)})
        shape = (2, 3) + (1,) * count
        same(found, 2 * X.reshape(shape), np.array(shape))


def test_strings_and_booleans(library):
    text = """g (string[n] x) => (string[n] y, bool[n] empty) {
      low = StringNormalizer<case_change_action = "LOWER">(x)
      q, empty = test.Quote<marks = ["<", ">>"]>(low)
      y = StringConcat(q, q) }"""
    y, empty = run(library, text, {"x": np.array(["A", "", "xyZ"], object)})
    assert y.tolist() == ["<a>><a>>", "<>><>>", "<xyz>><xyz>>"]
    assert empty.tolist() == [False, True, False]


def test_views_are_made_dense(library):
    text = """g (float[a, b] x) => (float[b, a] y, float[a, 1] z) {
      t = Transpose(x)
      y = test.Scale<factor = 2.0>(t)
      one = Constant<value_ints = [1]>()
      two = Constant<value_ints = [2]>()
      part = Slice(x, one, two, one)
      z = test.Scale<factor = 2.0>(part) }"""
    same(run(library, text, {"x": X}), 2 * X.T, 2 * X[:, 1:2])


LOOP = """g (int64 n, float[k] x) => (float[k] last, float[n, k] all, float[m] grown) {
  cond = Constant<value = bool {1}>()
  empty = Constant<value = float[0] {}>()
  last, grown, all = Loop<body = b (int64 i, bool c, float[k] s, float[g] t)
      => (bool c1, float[k] s1, float[h] t1, float[k] kept) {
    c1 = Identity(c)
    two = Constant<value_int = 2>()
    half = Mod(i, two)
    even = Cast<to = 9>(half)
    scaled = test.Scale<factor = 2.0, offsets = [1]>(s)
    s1 = If(even) <
      then_branch = p () => (float[k] r) { r = test.Scale<factor = -1.0>(scaled) },
      else_branch = q () => (float[k] r) { r = Identity(scaled) }>
    t1 = Concat<axis = 0>(t, s1)
    kept = Add(s1, scaled)
  }>(n, cond, x, empty)
}"""


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
@pytest.mark.parametrize("level", [0, 3])
def test_in_loops_and_branches(library, trips, level):
    state, kept, grown = X[0], [], []
    for i in range(trips):
        scaled = 2 * state + 1
        state = -scaled if i % 2 else scaled
        kept.append(state + scaled)
        grown.append(state)
    found = run(library, LOOP, {"n": np.array(trips), "x": X[0]}, opt_level=level)
    # What is collected in no trip has no extent that an If leaves open (loop_zero).
    found[1] = np.reshape(found[1], (trips, 3))
    same(
        found,
        state,
        np.reshape(np.float32(kept), (trips, 3)),
        np.reshape(np.float32(grown), -1),
    )


def test_a_loop_whose_shape_a_run_knows(library):
    text = """g (int64 n, int32[k] x) => (int32[m] y, int64[n] sizes) {
      cond = Constant<value = bool {1}>()
      y, sizes = Loop<body = b (int64 i, bool c, int32[a] s) => (bool c1, int32[z] s1, int64 size) {
        c1 = Identity(c)
        one = Constant<value = int32 {1}>()
        less = Sub(s, one)
        s1 = test.Positive(less)
        size = Size(s1)
      }>(n, cond, x) }"""
    x = np.int32([3, 1, 2, 5])
    same(run(library, text, {"n": np.array(3), "x": x}), np.int32([2]), np.array([3, 2, 1]))


def test_stateful_operators_are_called_each_time(library):
    text = """g (int64 n) => (int64 a, int64 b, int64[n] all) {
      a = test.Tick()
      b = test.Tick()
      cond = Constant<value = bool {1}>()
      all = Loop<body = l (int64 i, bool c) => (bool c1, int64 t) {
        c1 = Identity(c)
        t = test.Tick()
        unused = test.Tick()
      }>(n, cond) }"""
    made = session(library, text)
    a, b, ticks = made.run(None, {"n": np.array(3)})
    assert (b - a, *np.diff(ticks)) == (1, 2, 2)
    again, *_ = made.run(None, {"n": np.array(3)})
    assert again > ticks[-1]


def test_equal_calls_are_one(library):
    text = "g (float[n] x) => (float[n] y) { a = test.Scale(x) b = test.Scale(x) y = Add(a, b) }"
    same(run(library, text, {"x": X[0]}), 2 * X[0])


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (0, r"main/#0 test::Fault \(opset 1\): 100 % wrong"),
        (1, r"main/#0 test::Fault \(opset 1\): the operator failed"),
        (2, r"main/#0 test::Fault \(opset 1\): output #0 has rank 0, expected 1"),
        (3, r"main/#0 test::Fault \(opset 1\): output #0 has the extent -1 along axis 0"),
        (4, r"main/#0 test::Fault \(opset 1\): output #0 was not allocated"),
        (5, "memory"),
    ],
)
def test_errors_of_runs(library, what, said):
    text = f"g (float[n] x) => (float[m] y) {{ y = test.Fault<what = {what}>(x) }}"
    made = session(library, text)
    with pytest.raises(loopc.RunError, match=said):
        made.run(None, {"x": X[0]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(int64[n] x) => (int64[n] y) { y = test.Scale(x) }", "expected elements of float32"),
        ("(float[n] x) => (float[n] y) { y = test.Scale(x, x) }", "has 2 inputs, at most 1"),
        ("(float[n] x) => (float[n] y) { y, z = test.Scale(x) }", "has 2 outputs, at most 1"),
        ("(float[n] x) => (float[n] y) { y = test.Scale<factor = 1>(x) }", "of kind FLOAT"),
        ("(float[n] x) => (float[n] y) { y = test.Scale<more = 1>(x) }", "'more' does not exist"),
        ("(string[n] x) => (bool[n] y) { z, y = test.Quote(x) }", "'marks' is missing"),
        ("(float[n] x) => (float[n] y) { y = test.Nothing(x) }", "domain 'test' is unknown"),
        ("(float[2, 3] x, float[2, 2] y) => (float[a, b] z) { z = test.Join(x, y) }", "in length"),
        ("(float[2] x) => (int64 r) { , r = test.Join(x) }", "must not be left out"),
    ],
)
def test_nodes_that_do_not_fit(library, text, said):
    with pytest.raises(loopc.CompileError, match=said) as caught:
        session(library, "g " + text)
    assert "main/#0" in str(caught.value)


NO_LIST = "int nothing;"
PLAIN = """#include "loopc-rt/custom.h"
static int f(loopc_custom_call *call) { return 0; }
static const loopc_custom_port in[] = {{.name = "x", .types = "%s"}};
static const loopc_custom_port out[] = {{.name = "y", .type_of = "%s"}};
LOOPC_CUSTOM_OP(f, .domain = "%s", .name = "F", .since_version = 1, .inputs = in,
  .num_inputs = 1, .outputs = out, .num_outputs = 1, .compute = f);
LOOPC_CUSTOM_LIBRARY(&loopc_op_f)
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (NO_LIST, "it has no list of operators"),
        (PLAIN % ("float32", "x", "ai.onnx.ml"), "'F': it has no domain of its own"),
        (PLAIN % ("float33", "x", "d"), "input #0 has the type 'float33'"),
        (PLAIN % ("float32", "z", "d"), "output #0 has the type of 'z', which is no input"),
    ],
)
def test_libraries_that_are_none(tmp_path, source, said):
    file = tmp_path / "custom.c"
    file.write_text(source)
    library = build(tmp_path, file)
    options = loopc.SessionOptions()
    with pytest.raises(loopc.CompileError, match="LC0101.*" + said):
        options.register_custom_ops_library(library)
    # It is not kept, and a compilation that is told of it says the same.
    model = onnx.parser.parse_model(HEADER + "g (float[n] x) => (float[n] y) { y = Relu(x) }")
    loopc.InferenceSession(model, options)
    with pytest.raises(loopc.CompileError, match="LC0101.*" + said):
        loopc.compile(model, tmp_path / "m.o", custom_ops=[str(library)])


def test_a_library_of_another_version(tmp_path):
    file = tmp_path / "custom.c"
    file.write_text(
        '#include "loopc-rt/custom.h"\n#undef LOOPC_CUSTOM_ABI\n#define LOOPC_CUSTOM_ABI 99\n'
        + SOURCE.read_text()
    )
    library = build(tmp_path, file)
    with pytest.raises(loopc.CompileError, match=r"another version of loopc-rt/custom\.h"):
        loopc.SessionOptions().register_custom_ops_library(library)


def test_files_that_are_not_there(tmp_path, library, monkeypatch):
    options = loopc.SessionOptions()
    with pytest.raises(FileNotFoundError, match="cannot read the library of custom operators"):
        options.register_custom_ops_library(tmp_path / "no.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(loopc.CompileError, match="cannot load the operators"):
        options.register_custom_ops_library(tmp_path / "text.so")
    with pytest.raises(loopc.InvalidArgument, match="expected the path"):
        options.register_custom_ops_library("")
    # The folder of the process may change before a session is made.
    monkeypatch.chdir(library.parent)
    options.register_custom_ops_library(library.name)
    monkeypatch.chdir(tmp_path)
    text = HEADER + "g (float[n] x) => (float[n] y) { y = test.Scale<factor = 2.0>(x) }"
    same(
        loopc.InferenceSession(onnx.parser.parse_model(text), options).run(None, {"x": X[0]}),
        2 * X[0],
    )


def test_the_same_library_twice(library):
    options = loopc.SessionOptions()
    options.register_custom_ops_library(library)
    options.register_custom_ops_library(library)
    model = onnx.parser.parse_model(HEADER + "g (float[n] x) => (float[n] y) { y = Relu(x) }")
    with pytest.raises(loopc.CompileError, match="which is there already"):
        loopc.InferenceSession(model.SerializeToString(), options)


CACHED = """
import sys
import loopc, numpy as np
options = loopc.SessionOptions(cache_dir=sys.argv[2])
options.register_custom_ops_library(sys.argv[1])
sessions = [loopc.InferenceSession(sys.argv[3], options) for _ in range(2)]
for session in sessions:
    print(session.run(None, {"x": np.float32([1, 2])})[0].tolist())
"""


def test_sessions_from_the_cache(tmp_path):
    """A worker compiles; what it made is found again, but not with another library."""
    library = build(tmp_path)
    model = tmp_path / "m.onnx"
    text = HEADER + "g (float[n] x) => (float[n] y) { y = test.Scale<factor = 2.0>(x) }"
    onnx.save(onnx.parser.parse_model(text), model)
    cache = tmp_path / "cache"
    environment = {k: v for k, v in os.environ.items() if k != "LOOPC_COMPILE"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)

    def count():
        return len(list(cache.rglob("*.so")))

    def start():
        command = [sys.executable, "-c", CACHED, str(library), str(cache), str(model)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=True
        )
        return done.stdout.split("\n")[:2]

    assert start() == ["[2.0, 4.0]"] * 2
    entries = count()
    assert entries > 0
    assert start() == ["[2.0, 4.0]"] * 2
    assert count() == entries
    changed = tmp_path / "changed.c"
    changed.write_text(SOURCE.read_text().replace("factor * ((const float", "3 * ((const float"))
    library.unlink()
    build(tmp_path, changed)
    assert start() == ["[3.0, 6.0]"] * 2
    assert count() > entries


def test_a_shared_library_of_a_model(tmp_path, library):
    """It is linked with the library of operators, and finds it where it was."""
    text = HEADER + "g (float[n] x) => (float[n] y) { y = test.Scale<factor = 2.0>(x) }"
    model = onnx.parser.parse_model(text).SerializeToString()
    shared = tmp_path / "model.so"
    loopc.compile(model, shared, emit="shared", custom_ops=[str(library)])
    same(loopc.load(shared).run(None, {"x": X[0]}), 2 * X[0])


CXX = """#include "loopc-rt/custom.h"
static int f(loopc_custom_call *call) {
  auto *x = static_cast<const double *>(call->inputs[0].data);
  auto *y = static_cast<double *>(call->outputs[0].data);
  for (int64_t k = 0; k < call->inputs[0].count; ++k) y[k] = -x[k];
  return 0;
}
static const loopc_custom_port in[] = {{.name = "x", .types = "float64"}};
static const loopc_custom_port out[] = {{.name = "y", .type_of = "x", .shape_of = "x"}};
LOOPC_CUSTOM_OP(f, .domain = "cxx", .name = "F", .since_version = 1, .inputs = in,
  .num_inputs = 1, .outputs = out, .num_outputs = 1, .compute = f);
LOOPC_CUSTOM_LIBRARY(&loopc_op_f)
"""


def test_an_operator_in_cxx_with_another_library(tmp_path, library):
    file = tmp_path / "custom.cpp"
    file.write_text(CXX)
    compiler = shutil.which("clang++-22") or shutil.which("c++")
    assert compiler
    flags = ["-std=c++20", "-Wall", "-Werror", "-pedantic-errors", "-fvisibility=hidden"]
    command = [compiler, "-shared", "-fPIC", *flags, f"-I{loopc.get_include()}", str(file)]
    subprocess.run([*command, "-o", str(tmp_path / "cxx.so")], check=True)
    options = loopc.SessionOptions()
    options.register_custom_ops_library(library)
    options.register_custom_ops_library(str(tmp_path / "cxx.so"))
    header = '<ir_version: 10, opset_import: ["" : 21, "test" : 1, "cxx" : 1]>\n'
    text = "g (double[n] x) => (double[n] y) { z = cxx.F(x) y = test.Scale<factor = 2.0>(z) }"
    model = onnx.parser.parse_model(header + text).SerializeToString()
    same(loopc.InferenceSession(model, options).run(None, {"x": np.ones(3)}), -2 * np.ones(3))
