# ===- test_ort_ep_runs.py - Runs of the execution provider -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs, options and registration of the execution provider, and the cache behind it."""

import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ProcessPoolExecutor

import loopc
import loopc.onnxruntime
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from ort_provider import (
    GROWTH,
    assert_equal,
    assert_like_alone,
    find_refusal,
    get_ours,
    growth_feeds,
    open_claiming,
    open_session,
    parse,
    run_alone,
)

# ----- runs --------------------------------------------------------------------

# Fails in the iteration whose number is not below the extent of x.
GATHERING = """
g (int64 n, float[N] x) => (float[T] c) {
  t = Constant<value = bool {1}>()
  c = Loop<body = b (int64 i, bool k) => (bool k2, float o) {
    k2 = Identity(k)
    o = Gather<axis = 0>(x, i)
  }>(n, t)
}"""


def test_errors_from_inside():
    session = open_claiming(["Loop"], parse(GATHERING), log_level=4)
    feeds = {"n": np.array(9), "x": np.zeros(3, np.float32)}
    # onnxruntime's errors have no common base.
    with pytest.raises(Exception, match=r"body/#0 Gather .*: index 3 is out of .*iteration 3"):
        session.run(None, feeds)
    feeds["n"] = np.array(3)
    assert session.run(None, feeds)[0].shape == (3,)


SCALAR = """
g (int64 n, float rate, float[N] x) => (float[N] y) {
  t = Constant<value = bool {1}>()
  y = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2) {
    k2 = Identity(k)
    s2 = Mul(s, rate)
  }>(n, t, x)
}"""


def test_one_element_for_a_scalar():
    """onnxruntime takes [16000] for a rate that is declared as a scalar: so do claimed nodes."""
    open_claiming(["Loop"], parse(SCALAR), log_level=4)
    x = np.arange(4, dtype=np.float32)
    for rate in (np.float32(3), np.float32([3])):
        feeds = {"n": np.array(2), "rate": np.array(rate), "x": x}
        session = open_session(parse(SCALAR), log_level=4)
        assert_like_alone(session, parse(SCALAR), feeds)
    with pytest.raises(Exception, match="rank 1, expected 0"):
        session.run(None, {"n": np.array(2), "rate": np.float32([3, 3, 3, 3]), "x": x})


# Runs as long as nobody ends it.
ENDLESS = """
g (float[N] x) => (float[N] r) {
  t = Constant<value = bool {1}>()
  n = Constant<value = int64 {9223372036854775807}>()
  r = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2) {
    k2 = Identity(k)
    s2 = Cos(s)
  }>(n, t, x)
}"""


def test_timeout():
    session = open_session(parse(ENDLESS), log_level=4, timeout=0.05)
    with pytest.raises(Exception, match="time"):
        session.run(None, {"x": np.ones(3, np.float32)})


def test_cancellation():
    session = open_session(parse(ENDLESS), log_level=4, timeout=60)
    errors = []

    def run():
        try:
            session.run(None, {"x": np.ones(3, np.float32)})
        except Exception as error:  # onnxruntime's errors have no common base.
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    session.set_ep_dynamic_options({"cancel": "1"})
    thread.join()
    assert len(errors) == 1 and "cancelled" in errors[0]
    with pytest.raises(Exception, match="cancelled"):
        session.run(None, {"x": np.ones(3, np.float32)})
    with pytest.raises(Exception, match="'cancel', which is 0 or 1"):
        session.set_ep_dynamic_options({"cancel": "maybe"})


def run_until_terminated(session, after, feeds):
    """The message that a run ends with whose options get `terminate`, and how long it took."""
    options = onnxruntime.RunOptions()
    options.log_severity_level = 4
    timer = threading.Timer(after, lambda: setattr(options, "terminate", True))
    timer.start()
    began = time.monotonic()
    # onnxruntime's errors have no common base.
    with pytest.raises(Exception) as raised:
        session.run(None, feeds, options)
    timer.join()
    return str(raised.value), time.monotonic() - began


@pytest.mark.parametrize("mode", ["ORT_SEQUENTIAL", "ORT_PARALLEL"])
def test_terminate_ends_a_loop(mode):
    options = onnxruntime.SessionOptions()
    options.execution_mode = getattr(onnxruntime.ExecutionMode, mode)
    session = open_session(parse(ENDLESS), log_level=4, session_options=options, timeout=30)
    feeds = {"x": np.ones(3, np.float32)}
    for _ in range(2):
        message, seconds = run_until_terminated(session, 0.05, feeds)
        assert "cancelled" in message and seconds < 10
    session.set_ep_dynamic_options({"cancel": "1"})
    with pytest.raises(Exception, match="cancelled"):
        session.run(None, feeds, onnxruntime.RunOptions())


def test_terminate_leaves_other_runs_alone():
    session = open_session(parse(ENDLESS), log_level=4, timeout=30)
    feeds = {"x": np.ones(3, np.float32)}
    ended = []

    def run(after):
        message, _ = run_until_terminated(session, after, feeds)
        ended.append((after, "cancelled" in message))

    threads = [threading.Thread(target=run, args=[after]) for after in (0.6, 0.3, 0.05)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [(0.05, True), (0.3, True), (0.6, True)]


def test_terminate_of_a_run_in_the_background():
    session = open_session(parse(ENDLESS), log_level=4, timeout=30)
    options = onnxruntime.RunOptions()
    options.log_severity_level = 4
    ended, said = threading.Event(), []

    def note(_results, _data, error):
        said.append(error)
        ended.set()

    session.run_async(None, {"x": np.ones(3, np.float32)}, note, None, options)
    time.sleep(0.05)
    options.terminate = True
    assert ended.wait(20) and "cancelled" in said[0]


def test_threads():
    model = parse(GROWTH)
    session = open_session(model)
    wrong = []

    def run(number):
        for step in range(50):
            feeds = growth_feeds(number, 1 + step % 7)
            results = session.run(None, feeds)
            if not np.array_equal(results[1], expected[number, 1 + step % 7]):
                wrong.append((number, step))

    expected = {
        (number, extent): run_alone(model, growth_feeds(number, extent))[1]
        for number in range(8)
        for extent in range(1, 8)
    }
    threads = [threading.Thread(target=run, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def run_parallel_loops(spinning):
    """Whether a run leaves threads of loopc's own behind."""
    # Rows of a product, which several threads compute; their thread in Python is not asked.
    model = parse("""
g (int64 n, float[400, 256] x, float[256, 256] w) => (float[400, 256] r) {
  t = Constant<value = bool {1}>()
  r = Loop<body = b (int64 i, bool k, float[400, 256] s) => (bool k2, float[400, 256] s2) {
    k2 = Identity(k)
    p = MatMul(s, w)
    s2 = Tanh(p)
  }>(n, t, x)
}""")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.intra_op.allow_spinning", spinning)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), loopc.onnxruntime.add_provider(options)
    )
    rng = np.random.default_rng(3)
    feeds = {"n": np.array(3), "x": rng.normal(0, 1, (400, 256)).astype(np.float32),
             "w": rng.normal(0, 0.1, (256, 256)).astype(np.float32)}  # fmt: skip

    def count_threads():
        return len(os.listdir("/proc/self/task"))

    before = count_threads()
    assert_like_alone(session, model, feeds)
    session.run(None, feeds)
    return count_threads() > before


@pytest.mark.parametrize("spinning", ["0", "1"])
def test_parallel_loops(spinning):
    # In a process of its own: what other runs left behind would be used again.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        # loopc's own threads stay for the next run, and are there where onnxruntime's are not used.
        assert pool.submit(run_parallel_loops, spinning).result() == (spinning == "0")


def read_memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory_is_flat():
    session = open_session(parse(GROWTH))
    feeds = growth_feeds(10, 1000)
    for _ in range(2000):
        session.run(None, feeds)
    before = read_memory()
    for _ in range(10000):
        session.run(None, feeds)
    # 44 KB of outputs a run would be 440 MB.
    assert read_memory() - before < 8e6


# Results whose shapes come of extents of inputs, one of them the view of a buffer, and
# one that no extent tells.
PLACED = """
g (int64 n, float[N, 16] x, float[1, 16, 16] w, float[1, 16, 4] r, bool[N] goes)
    => (float[N, 1, B2, 4] y, float[K, 16] rows, float[T, 16] some) {
  t = Constant<value = bool {1}>()
  one = Constant<value = int64[1] {1}>()
  start = Constant<value = float {0.0}>()
  s = Unsqueeze(x, one)
  y = LSTM<hidden_size = 4>(s, w, r)
  rows = Loop<body = b (int64 i, bool k, float[N, 16] u) => (bool k2, float[N, 16] u2) {
    k2 = Identity(k)
    u2 = Add(u, u)
  }>(n, t, x)
  none, some = Loop<body = c (int64 j, bool kk, float v) => (bool kk2, float v2, float[16] row) {
    kk2 = Gather<axis = 0>(goes, j)
    v2 = Identity(v)
    row = Gather<axis = 0>(x, j)
  }>(n, t, start)
}"""


def read_places(text):
    """What a run said of each value, of all nodes, and how many bytes it copied."""
    places = {}
    for name, what, address in re.findall(r"'(\w+)' is (read|written) at (0x\w+)", text):
        places.setdefault(name, set()).add((what, int(address, 16)))
    return places, [int(count) for count in re.findall(r"; (\d+) bytes copied", text)]


def aligned(shape, dtype=np.float32):
    """An array where onnxruntime's own tensors lie: at a multiple of 64 bytes."""
    bytes_needed = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(bytes_needed + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + bytes_needed].view(dtype).reshape(shape)


def bind(session, inputs, outputs):
    """A binding of arrays, and the addresses of all."""
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_cpu_input(name, array)
    for name, array in outputs.items():
        binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    return binding, {name: a.ctypes.data for name, a in (inputs | outputs).items()}


def test_nothing_is_copied(capfd):
    model = parse(PLACED)
    session = open_claiming(["LSTM", "Loop", "Loop"], model, log_level=0)
    rng = np.random.default_rng(2)
    inputs = {"n": np.array(5), "goes": np.array([True, True, False, True, True])}
    for name, shape in (("x", (5, 16)), ("w", (1, 16, 16)), ("r", (1, 16, 4))):
        inputs[name] = aligned(shape)
        inputs[name][...] = rng.normal(0, 0.3, shape)
    outputs = {"y": aligned((5, 1, 1, 4)), "rows": aligned((5, 16)), "some": aligned((3, 16))}
    binding, addresses = bind(session, inputs, outputs)
    capfd.readouterr()
    session.run_with_iobinding(binding)
    places, copied = read_places(capfd.readouterr().err)
    for name in ("n", "x", "w", "r"):
        assert places[name] == {("read", addresses[name])}
    for name in outputs:
        assert places[name] == {("written", addresses[name])}
    # Of five rows the last loop makes three, which nobody knew.
    assert sorted(copied) == [0, 0, 3 * 16 * 4]
    assert_equal(list(outputs.values()), run_alone(model, inputs))


def test_an_output_in_an_input(capfd):
    # What is still read must not be overwritten: it is copied at the end.
    model = parse("""
g (int64 n, float[M] x) => (float[M] r) {
  t = Constant<value = bool {1}>()
  back = Constant<value = int64[4] {3, 2, 1, 0}>()
  r = Loop<body = b (int64 i, bool k, float[M] s) => (bool k2, float[M] s2) {
    k2 = Identity(k)
    turned = Gather(x, back)
    s2 = Add(s, turned)
  }>(n, t, x)
}""")
    session = open_claiming(["Loop"], model, log_level=0)
    x = aligned(4)
    x[...] = np.arange(4)
    feeds = {"n": np.array(3), "x": x}
    expected = run_alone(model, feeds)
    binding, _ = bind(session, feeds, {"r": x})
    capfd.readouterr()
    session.run_with_iobinding(binding)
    _, copied = read_places(capfd.readouterr().err)
    assert copied == [16]
    assert_equal([x], expected)


# ----- options of the session ---------------------------------------------------


def with_level(level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    return options


def with_parallel_nodes():
    options = onnxruntime.SessionOptions()
    options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
    options.inter_op_num_threads = 2
    return options


def with_fixed_extent():
    options = onnxruntime.SessionOptions()
    options.add_free_dimension_override_by_name("N", 4)
    return options


def without_others():
    # The session could not be made if a node were onnxruntime's.
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return options


@pytest.mark.parametrize(
    ("claim", "make"),
    [
        ("loops", lambda: with_level("ORT_DISABLE_ALL")),
        ("loops", lambda: with_level("ORT_ENABLE_BASIC")),
        ("all", lambda: with_level("ORT_ENABLE_EXTENDED")),
        ("regions", lambda: with_level("ORT_ENABLE_LAYOUT")),
        ("loops", with_parallel_nodes),
        ("loops", with_fixed_extent),
        ("all", without_others),
    ],
)
def test_options_of_the_session(claim, make):
    model = parse(GROWTH)
    session = open_session(model, session_options=make(), claim=claim)
    assert "Loop" in get_ours(session)
    assert_like_alone(session, model, growth_feeds())


def test_a_run_in_the_background():
    model = parse(GROWTH)
    session = open_session(model)
    ended, found = threading.Event(), []

    def note(results, _data, error):
        found.extend((results, error))
        ended.set()

    session.run_async(["c"], growth_feeds(), note, None)
    assert ended.wait(20) and not found[1]
    assert_equal(found[0], run_alone(model, growth_feeds())[1:])


# ----- options and errors ------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"claim": "some"},
            "option 'claim' of LoopcExecutionProvider is 'some', expected loops, regions or all",
        ),
        ({"opt_level": 4}, "option 'opt_level' .* is '4', expected 0 to 3"),
        ({"timeout": "nan"}, "option 'timeout' .* is 'nan', expected a number of seconds"),
        (
            {"constant_limit": 1 << 31},
            "option 'constant_limit' .* a number of bytes up to 2147483647",
        ),
        ({"memory_limit": -1}, "option 'memory_limit' .* is '-1', expected a number of bytes"),
        ({"device": 0}, "LoopcExecutionProvider has no option 'device': it has cache_dir, claim,"),
    ],
)
def test_wrong_options(options, message, capfd):
    assert re.search(message, find_refusal(capfd, **options))
    # onnxruntime's module would make a session without the provider.
    with pytest.raises(loopc.InvalidArgument, match=message):
        loopc.onnxruntime.add_provider(onnxruntime.SessionOptions(), **options)
    with pytest.raises(loopc.InvalidArgument, match=message):
        loopc.onnxruntime.enable(**options)


def test_memory_limit():
    session = open_session(parse(GROWTH), log_level=4, memory_limit=1000)
    with pytest.raises(Exception, match="out of memory"):
        session.run(None, growth_feeds(10, 1000))


def test_compile_timeout(capfd):
    # What cannot be compiled in time stays with onnxruntime. In this process nothing ends a
    # compilation that has begun.
    open_claiming([], parse(GROWTH), log_level=2, compile_timeout=1e-9)
    assert "Loop stays with onnxruntime: " in capfd.readouterr().err


def test_register_is_done_once():
    first, second = loopc.onnxruntime.register(), loopc.onnxruntime.register()
    assert len(first) == len(second) == 1
    assert first[0].ep_name == "LoopcExecutionProvider"
    assert first[0].ep_vendor == "loopc"
    assert os.path.basename(loopc.get_ep_library()) == "libloopc_ort.so"


def test_register_where_onnxruntime_is_another_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", loopc)
    with pytest.raises(loopc.Error, match="is loopc itself"):
        loopc.onnxruntime.register()
    monkeypatch.setitem(sys.modules, "onnxruntime", types.SimpleNamespace(__version__="1.20.1"))
    with pytest.raises(loopc.Error, match=r"needs onnxruntime 1\.27 .* onnxruntime 1\.20\.1"):
        loopc.onnxruntime.register()


@pytest.fixture
def enabled():
    loopc.onnxruntime.enable(opt_level=0)
    yield
    loopc.onnxruntime.disable()


def test_sessions_of_others(enabled):
    model = parse(GROWTH).SerializeToString()
    session_options = onnxruntime.SessionOptions()
    ours = [loopc.onnxruntime.PROVIDER, "CPUExecutionProvider"]
    for arguments in (
        {},
        {"sess_options": session_options},
        # They have the provider now.
        {"sess_options": session_options},
        {"providers": ["CPUExecutionProvider"]},
        {"providers": [("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})]},
    ):
        session = onnxruntime.InferenceSession(model, **arguments)
        assert session.get_providers() == ours
        assert_like_alone(session, parse(GROWTH), growth_feeds())
    loopc.onnxruntime.disable()
    assert onnxruntime.InferenceSession(model).get_providers() == ours[1:]


@pytest.mark.parametrize(
    "providers",
    [
        # What many programs write; the CPU comes before loopc's in it, and would take all.
        onnxruntime.get_available_providers,
        lambda: ["AzureExecutionProvider", "CPUExecutionProvider"],
        lambda: ["CPUExecutionProvider", loopc.onnxruntime.PROVIDER],
        lambda: [(loopc.onnxruntime.PROVIDER, {"opt_level": "1"}), "CPUExecutionProvider"],
        # onnxruntime warns that it does not have this one, and leaves it out.
        lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"],
    ],
)
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_sessions_that_name_providers(enabled, providers):
    model = parse(GROWTH).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = onnxruntime.InferenceSession(model, options, providers())
    claimed = [
        node.op_type
        for graph in session.get_provider_graph_assignment_info()
        for node in graph.get_nodes()
        if graph.ep_name == loopc.onnxruntime.PROVIDER
    ]
    assert "Loop" in claimed
    assert_like_alone(session, parse(GROWTH), growth_feeds())


def test_sessions_that_give_options_of_providers(enabled):
    session = onnxruntime.InferenceSession(
        parse(GROWTH).SerializeToString(),
        providers=["AzureExecutionProvider", "CPUExecutionProvider"],
        provider_options=[{}, {"arena_extend_strategy": "kSameAsRequested"}],
    )
    assert session.get_providers()[1:] == [loopc.onnxruntime.PROVIDER, "CPUExecutionProvider"]


def test_sessions_for_other_devices_stay(enabled, monkeypatch):
    """A provider that onnxruntime has, and that is not the CPU's, keeps its session."""
    there = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    assert not loopc.onnxruntime._is_for_cpu(onnxruntime, there, None)
    assert loopc.onnxruntime._is_for_cpu(onnxruntime, ["TensorrtExecutionProvider"], None)
    assert not loopc.onnxruntime._is_for_cpu(onnxruntime, ["NoExecutionProvider"], None)


PACKAGE = """
import sys, warnings, numpy as np, pathlib, importlib.util
if sys.argv[1] == "loopc":
    import loopc.onnxruntime
    loopc.onnxruntime.enable()
import onnx_asr
folder = pathlib.Path(importlib.util.find_spec("silero_vad").origin).parent
vad = onnx_asr.load_vad("silero", folder / "data")
tones = np.sin(2 * np.pi * 220 * np.arange(16000) / 16000)
tones = (tones + np.random.default_rng(0).normal(0, 0.05, 16000)).astype(np.float32)
speech = np.concatenate([tones[:8000] / 50, tones])[None]
print([list(one) for one in vad.segment_batch(speech, np.array([speech.shape[1]]), 16000)])
print("libloopc_ort" in open("/proc/self/maps").read())
"""


def test_a_package_as_it_is():
    said = [
        subprocess.run(
            [sys.executable, "-c", PACKAGE, name],
            env=os.environ | {"LOOPC_VERIFY_EACH": "0"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for name in ("loopc", "onnxruntime")
    ]
    assert said[0] == [said[1][0], "True"]
    assert said[1][1] == "False"


# ----- what users have: the cache, and a process that compiles -------------------

WARM = """
import sys, numpy as np, onnxruntime, loopc.onnxruntime
options = loopc.onnxruntime.add_provider(onnxruntime.SessionOptions(), cache_dir=sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1], options)
x = np.arange(4, dtype=np.float32)
print(session.run(None, {"n": np.array(2), "x": x, "y": x})[0].tolist())
maps = open("/proc/self/maps").read()
print("libloopc.so" in maps, "libLLVM" in maps, "libloopc_compiler" in maps, sys.argv[2] in maps)
"""


def test_cache_without_a_compiler_in_the_process(tmp_path):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPC_")}
    answers = [
        subprocess.run(
            [sys.executable, "-c", WARM, "model.onnx", str(tmp_path / "cache")],
            cwd=tmp_path, env=environment | extra, check=True, capture_output=True, text=True,
        ).stdout.splitlines()
        # The second one finds the code: it could not compile.
        for extra in ({}, {"LOOPC_COMPILE": "inprocess"})
    ]  # fmt: skip
    assert answers[0] == answers[1] == ["[0.0, 16.0, 32.0, 48.0]", "True False False True"]


TIERS = """
import os, sys, time, numpy as np, onnxruntime, loopc.onnxruntime
options = loopc.onnxruntime.add_provider(
    onnxruntime.SessionOptions(), cache_dir=sys.argv[2], tier="background", claim="all"
)
session = onnxruntime.InferenceSession(sys.argv[1], options)
feeds = {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)}
first = session.run(None, feeds)[0]
deadline, maps = time.monotonic() + 120, set()
while len(maps) < 2 and time.monotonic() < deadline:
    time.sleep(0.01)
    session.run(None, feeds)
    maps = {line.split()[-1] for line in open("/proc/self/maps") if sys.argv[2] in line}
print(len(maps), np.array_equal(first, session.run(None, feeds)[0]))
"""


def test_optimised_code_takes_the_place_of_what_was_made_quickly(tmp_path):
    nodes, name = "", "x"
    for k in range(30):
        nodes += f"s{k} = Softmax<axis = {k % 2}>({name}) z{k} = Add(s{k}, {name}) "
        name = f"z{k}"
    model = parse(f"g (float[a, b] x) => (float[a, b] y) {{ {nodes} y = Tanh({name}) }}")
    onnx.save(model, tmp_path / "model.onnx")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOPC_")}
    said = subprocess.run(
        [sys.executable, "-c", TIERS, "model.onnx", str(tmp_path / "cache")],
        cwd=tmp_path, env=environment, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    # The library that was made quickly, and the optimised one: both are mapped until the session ends.
    assert said == ["2", "True"]


def test_a_tier_that_does_not_exist():
    with pytest.raises(loopc.InvalidArgument, match="auto, off, background or quick"):
        loopc.onnxruntime.add_provider(onnxruntime.SessionOptions(), tier="fast")
