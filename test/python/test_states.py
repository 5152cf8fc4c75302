# ===- test_states.py - Outputs that the next run reads ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""States of ONNX models: SessionOptions.add_state, in process and ahead of time."""

import copy
import importlib.util
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import threading
import time

import loopc
import loopc.aot
import numpy as np
import onnx.parser
import onnxruntime
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parse(text):
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')


# What came, weighted, and a count that begins at an initializer.
MODEL = parse("""
sums (float[batch, 3] h, float[batch, 3] x, int64 n) => (float[batch, 3] hn, float[batch, 3] y, int64 more)
  <float half = {0.5}, int64 one = {1}, int64 n = {7}> {
    old = Mul (h, half)
    hn = Add (old, x)
    y = Neg (hn)
    more = Add (n, one)
}""")
# Rows that are kept, as a decoder keeps them.
CACHE = parse("""
rows (float[past, 2] cache, float[new, 2] x) => (float[total, 2] present, float[2] sum) {
  present = Concat <axis = 0> (cache, x)
  axes = Constant <value: tensor = int64[1] {0}> ()
  sum = ReduceSum <keepdims = 0> (present, axes)
}""")
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def in_process(model, states, **options):
    return loopc.InferenceSession(model, loopc.SessionOptions(states=states, **options))


def ahead_of_time(model, states, **options):
    assert not options
    return loopc.aot.session(model, [f"--state={a}={b}" for a, b in states.items()])


@pytest.fixture(scope="module", params=[in_process, ahead_of_time], ids=["session", "library"])
def make(request):
    return request.param


STATES = {"h": "hn", "n": "more"}


def expected(count, x=X):
    h = np.zeros_like(x)
    for _ in range(count):
        h = h * np.float32(0.5) + x
    return h


def test_states(make):
    session = make(MODEL, STATES)
    assert [port.name for port in session.get_inputs()] == ["x"]
    assert [port.name for port in session.get_overridable_initializers()] == []
    assert [port.name for port in session.get_outputs()] == ["y"]
    states = session.get_states()
    assert [(s.name, s.type, s.shape) for s in states] == [
        ("h", "tensor(float)", ["batch", 3]), ("n", "tensor(int64)", []),
    ]  # fmt: skip
    assert session.get_state() == {"h": None, "n": None}
    for count in (1, 2, 3):
        (y,) = session.run(None, {"x": X})
        np.testing.assert_array_equal(y, -expected(count))
        # The runs hand on the memory.
        assert session.last_run_statistics.copied_bytes == 0
    kept = session.get_state()
    np.testing.assert_array_equal(kept["h"], expected(3))
    assert kept["n"] == 10
    session.reset_state()
    np.testing.assert_array_equal(session.run(["y"], {"x": X})[0], -expected(1))
    assert session.get_state()["n"] == 8
    session.set_state(kept)
    np.testing.assert_array_equal(session.run(["y"], {"x": X})[0], -expected(4))
    # Another batch begins anew.
    with pytest.raises(loopc.InvalidArgument, match="'batch'"):
        session.run(None, {"x": X[:1]})
    session.reset_state()
    np.testing.assert_array_equal(session.run(["y"], {"x": X[:1]})[0], -expected(1, X[:1]))


def test_a_cache_begins_empty(make):
    session = make(CACHE, {"cache": "present"})
    for count in (1, 2, 3):
        (total,) = session.run(None, {"x": np.full((2, 2), count, np.float32)})
        assert total.tolist() == [count * (count + 1)] * 2
        assert session.get_state()["cache"].shape == (2 * count, 2)
    session.set_state({"cache": np.ones((5, 2), np.float32)})
    assert session.run(None, {"x": np.zeros((1, 2), np.float32)})[0].tolist() == [5, 5]


def test_one_state_and_the_rest_as_values():
    session = in_process(MODEL, {"h": "hn"})
    assert [port.name for port in session.get_outputs()] == ["y", "more"]
    y, more = session.run(None, {"x": X})
    assert more == 8
    y, more = session.run(None, {"x": X, "n": np.array(1)})
    assert more == 2
    np.testing.assert_array_equal(y, -expected(2))


def test_add_state():
    options = loopc.SessionOptions()
    options.add_state("h", "hn")
    assert options.states == {"h": "hn"}
    session = loopc.InferenceSession(MODEL, options)
    session.run(None, {"x": X})
    for other in (copy.copy(session), pickle.loads(pickle.dumps(session))):
        np.testing.assert_array_equal(other.get_state()["h"], expected(1))
        np.testing.assert_array_equal(other.run(["y"], {"x": X})[0], -expected(2))
    np.testing.assert_array_equal(session.get_state()["h"], expected(1))


def test_a_state_that_does_not_change():
    """An input that goes straight to an output."""
    model = parse(
        "same (float[2] h, float[2] x) => (float[2] hn, float[2] y) { hn = Identity (h) y = Add (h, x) }"
    )
    session = in_process(model, {"h": "hn"})
    session.set_state({"h": np.array([1, 2], np.float32)})
    for _ in range(3):
        assert session.run(None, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 3]


def test_one_output_for_two_names():
    model = parse("two (float h, float x) => (float y, float y) { y = Add (h, x) }")
    session = in_process(model, {"h": "y"})
    assert [session.run(None, {"x": np.float32(1)})[0].tolist() for _ in range(3)] == [1, 2, 3]


def test_swapped_states():
    model = parse(
        "swap (float a, float b) => (float c, float d) { c = Identity (a) d = Identity (b) }"
    )
    session = in_process(model, {"a": "d", "b": "c"})
    session.set_state({"a": np.float32(1), "b": np.float32(2)})
    for a in (2, 1, 2):
        session.run(None, {})
        assert session.get_state()["a"] == a


def test_strings():
    model = parse("""
    words (string[n] old, string[k] new) => (string[m] all) { all = Concat <axis = 0> (old, new) }""")
    session = in_process(model, {"old": "all"})
    for _ in range(2):
        session.run(None, {"new": np.array(["größer", ""], object)})
    assert session.get_state()["old"].tolist() == ["größer", "", "größer", ""]


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        ({"q": "hn"}, "no input 'q'; it has: 'h', 'x', 'n'"),
        ({"h": "q"}, "no output 'q'; it has: 'hn', 'y', 'more'"),
        (
            {"h": "more"},
            "elements of type 'f32', the output of type 'i64'",
        ),
        ({"h": "hn", "x": "hn"}, "'hn' is a state already"),
    ],
)
def test_refused(states, reason):
    for make in (in_process, ahead_of_time):
        with pytest.raises(loopc.CompileError, match=reason) as info:
            make(MODEL, states)
        assert info.value.code == "LC0101"


def test_refused_shapes():
    model = parse("""
    other (float[2, 3] h, float[N] k, float[M] v) => (float[3] a, float[2, 4] b, float[3, 3] c) {
      axes = Constant <value: tensor = int64[1] {0}> ()
      a = ReduceSum <keepdims = 0> (h, axes)
      b = Constant <value: tensor = float[2, 4] {1, 2, 3, 4, 5, 6, 7, 8}> ()
      shape = Constant <value: tensor = int64[2] {3, 3}> ()
      c = Expand (k, shape)
    }""")
    for output, reason in (
        ("a", "the input has rank 2, the output rank 1"),
        ("b", r"2x3xf32.*2x4xf32"),
        ("c", r"2x3xf32.*3x3xf32"),
    ):
        with pytest.raises(loopc.CompileError, match=reason):
            in_process(model, {"h": output})
    for wrong in ({"h": 3}, {3: "h"}, [("h", "a")], "h=a"):
        with pytest.raises(loopc.InvalidArgument, match="states: expected"):
            in_process(model, wrong)


def test_a_run_whose_state_does_not_fit():
    model = parse("""
    grow (float[2] h, float[N] x) => (float[T] hn, float[N] y) {
      hn = Identity (x)
      y = Neg (x)
    }""")
    session = in_process(model, {"h": "hn"})
    two = np.ones(2, np.float32)
    session.run(None, {"x": two})
    reason = r"the run made what the next cannot begin with: state 'h' \(#0\): dimension 0 is 3"
    with pytest.raises(loopc.RunError, match=reason):
        session.run(None, {"x": np.ones(3, np.float32)})
    # It is as it was.
    assert session.get_state()["h"].tolist() == [1, 1]
    session.run(None, {"x": 2 * two})
    assert session.get_state()["h"].tolist() == [2, 2]


def test_states_are_kept_apart_in_the_cache(tmp_path):
    path = tmp_path / "sums.onnx"
    path.write_bytes(MODEL.SerializeToString())
    for states, names in (({}, ["y", "hn", "more"]), (STATES, ["y"]), ({"h": "hn"}, ["y", "more"])):
        for _ in range(2):
            session = in_process(path, states, cache_dir=tmp_path / "cache")
            assert sorted(port.name for port in session.get_outputs()) == sorted(names)


class Stop(Exception):  # noqa: N818
    """What a handler raises."""


def test_a_run_that_waits_for_its_turn_looks_after_signals():
    """Runs of one session with states take turns."""
    endless = parse("""
    endless (float h, float x) => (float hn) {
      hn = Loop ("", "", h) <body = step (int64 i, bool go, float before) => (bool more, float after) {
        more = Identity (go)
        after = Add (before, x)
      }>
    }""")
    session = in_process(endless, {"h": "hn"}, timeout=30)
    options = loopc.RunOptions()
    ended = []

    def hold():
        try:
            session.run(None, {"x": np.float32(1)}, options)
        except loopc.RunCancelledError as error:
            ended.append(error)

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    holder = threading.Thread(target=hold)
    try:
        holder.start()
        time.sleep(0.1)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Stop):
            session.run(None, {"x": np.float32(1)})
    finally:
        options.terminate = True
        holder.join()
        signal.signal(signal.SIGALRM, before)
    assert len(ended) == 1


# ----- docs/State.md ---------------------------------------------------------


@pytest.fixture(scope="module")
def silero(tmp_path_factory):
    """A folder with the model, sound, and onnxruntime's probabilities."""
    folder = tmp_path_factory.mktemp("silero")
    spec = importlib.util.find_spec("silero_vad")
    model = pathlib.Path(spec.origin).parent / "data/silero_vad_16k_op15.onnx"
    shutil.copy(model, folder)
    rng = np.random.default_rng(3)
    frames = rng.normal(0, 0.3, (20, 512)).astype(np.float32)
    frames[5:12] += (
        np.sin(2 * np.pi * 150 * np.arange(7 * 512) / 16000).reshape(7, 512).astype(np.float32)
    )
    session = onnxruntime.InferenceSession(str(model))
    context, state = np.zeros((1, 64), np.float32), np.zeros((2, 1, 128), np.float32)
    probabilities = []
    for frame in frames:
        sound = np.concatenate([context, frame[None]], axis=1)
        output, state = session.run(
            ["output", "stateN"], {"input": sound, "state": state, "sr": np.array(16000)}
        )
        probabilities.append(float(output[0, 0]))
        context = sound[:, -64:]
    return folder, frames, probabilities


def blocks(language):
    text = (ROOT / "docs/State.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_program_in_python(silero, monkeypatch):
    folder, frames, probabilities = silero
    (code,) = blocks("python")
    monkeypatch.chdir(folder)
    code = code.replace(
        "    context = sound", "    said.append(float(probability[0, 0]))\n    context = sound"
    )
    names = {"frames": frames, "said": []}
    exec(code, names)
    np.testing.assert_allclose(names["said"], probabilities, 1e-3, 1e-4)
    assert names["session"].last_run_statistics.copied_bytes == 0
    np.testing.assert_array_equal(names["session"].get_state()["state"], names["kept"]["state"])


def test_the_program_in_c(silero):
    folder, frames, probabilities = silero
    (code,) = blocks("c")
    (folder / "listen.c").write_text(code)
    frames.tofile(folder / "sound.f32")
    states = {"state": "stateN"}
    loopc.compile(folder / "silero_vad_16k_op15.onnx", folder / "vad.o", states=states, name="vad")
    compiler = shutil.which("clang-22") or shutil.which("cc")
    subprocess.run(
        [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{loopc.get_include()}", "-I.", "listen.c", "vad.o",
         f"{loopc.get_library_dirs()[0]}/libloopc_rt.a", "-lm", "-o", "listen"],
        cwd=folder, check=True,
    )  # fmt: skip
    with open(folder / "sound.f32", "rb") as sound:
        done = subprocess.run(
            [folder / "listen"], stdin=sound, capture_output=True, text=True, check=True
        )
    np.testing.assert_allclose(
        [float(line) for line in done.stdout.split()], probabilities, 1e-3, 1e-4
    )


def test_loopc_run(silero, tmp_path):
    """States go from run to run, and from one call to the next by a file."""
    folder, frames, probabilities = silero
    sound = np.concatenate([np.zeros((1, 64), np.float32), frames[:1]], axis=1)
    np.savez(tmp_path / "in.npz", input=sound, sr=np.array(16000))
    program = loopc.aot.find_compiler().with_name("loopc-run")

    def run(*flags):
        done = subprocess.run(
            [program, folder / "silero_vad_16k_op15.onnx", "--state=state=stateN", "--inputs", tmp_path / "in.npz",
             "--cache=off", *flags], capture_output=True, text=True, check=True)  # fmt: skip
        return [
            float(one) for one in re.findall(r"output: float32\[1, 1\] = \[\[(.*)\]\]", done.stdout)
        ]

    three = run("--runs=3")
    assert three[0] == pytest.approx(probabilities[0], 1e-3, 1e-4)
    assert len(set(three)) == 3
    two = run("--runs=2", "--save-states", tmp_path / "states.npz")
    assert [*two, *run("--states", tmp_path / "states.npz")] == three
    np.save(tmp_path / "zeros.npy", np.zeros((2, 1, 128), np.float32))
    assert run("--set-state", f"state={tmp_path / 'zeros.npy'}") == three[:1]
