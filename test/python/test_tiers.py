# ===- test_tiers.py - Code that is made quickly, and what takes its place --===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Sessions of `SessionOptions.tier` "background" and "quick", by real processes."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
from test_custom_operators import build

FEEDS = {"x": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4), "axis": np.int64(1)}
#: Instructions of 12 of its layers are enough for two tiers.
LAYERS = 12
#: Those of a model whose optimised code takes a moment.
MANY = 24


def model(layers: int = LAYERS, seed: int = 0) -> bytes:
    """A chain of layers no two of which are alike; `total` adds up over the runs."""
    nodes, name = [], "x"
    for k in range(layers):
        nodes.append(
            f"s{k} = Softmax<axis = {k % 2}>({name}) t{k} = ReduceSum<keepdims = 1>(s{k}) "
            f"u{k} = Mul(s{k}, t{k}) v{k} = Tanh(u{k}) w{k} = CumSum(v{k}, axis) z{k} = Add(w{k}, {name})"
        )
        name = f"z{k}"
    text = (
        '<ir_version: 8, opset_import: ["": 17]> '
        "m (float[a, b] x, int64 axis, float total) => (float[a, b] y, float next) { "
        f"{' '.join(nodes)} shift = Constant<value = float {{{seed}.0}}>() y = Add({name}, shift) "
        "sum = ReduceSum<keepdims = 0>(y) next = Add(total, sum) }"
    )
    return onnx.parser.parse_model(text).SerializeToString()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, and workers."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LOOPC_CACHE_DIR", str(folder))
    for name in ("LOOPC_COMPILE", "LOOPC_VERIFY_EACH", "LOOPC_TIER"):
        monkeypatch.delenv(name, raising=False)
    yield folder
    wait_for(lambda: not workers(folder), "workers end")


def workers(folder: Path) -> set[int]:
    """Processes that compile into the cache `folder`, whosever children they are."""
    found = set()
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (
                process.name.isdigit()
                and b"--compile-" in (process / "cmdline").read_bytes()
                and f"LOOPC_CACHE_DIR={folder}".encode() in (process / "environ").read_bytes()
            ):
                found.add(int(process.name))
    return found


def wait_for(condition: Callable[[], object], what: str, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def make(data: bytes | str, tier: str = "background", **options: object) -> loopc.InferenceSession:
    settings = loopc.SessionOptions(tier=tier, states={"total": "next"}, **options)
    return loopc.InferenceSession(data, settings)


def is_quick(session: loopc.InferenceSession) -> bool:
    return session.get_provider_options()["CPUExecutionProvider"].get("code") == "quick"


def run(session: loopc.InferenceSession) -> bytes:
    return session.run(None, FEEDS)[0].tobytes()


def files(folder: Path) -> list[str]:
    return sorted(path.suffix or path.name for path in folder.iterdir())


def test_runs_take_optimised_code_when_it_is_there(cache):
    expected = run(make(model(), "off", cache_dir="off"))
    session = make(model())
    assert is_quick(session)
    assert run(session) == expected
    wait_for(lambda: not is_quick(session), "optimised code")
    assert run(session) == expected
    wait_for(lambda: not workers(cache), "workers end")
    # The code that was made quickly is gone, and no lock or folder is left.
    assert files(cache) == [".so"]
    assert not is_quick(make(model()))


def test_states_are_kept():
    """The sum of all runs, by whichever code."""
    other = make(model(MANY), "off", cache_dir="off")
    session = make(model(MANY))
    assert is_quick(session)
    end, after = time.monotonic() + 300, 0
    while after < 3:
        after += not is_quick(session)
        assert run(session) == run(other)
        assert session.get_state()["total"] == other.get_state()["total"]
        assert time.monotonic() < end, "not within 300 s: optimised code"
        time.sleep(0.02)


def test_threads_run_meanwhile():
    session = make(model())
    expected = run(session)
    wrong: list[bytes] = []
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            if (found := run(session)) != expected:
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: not is_quick(session), "optimised code")
        time.sleep(0.2)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip


PROGRAM = """
import sys, loopc, numpy as np
session = loopc.InferenceSession(sys.argv[1], loopc.SessionOptions(tier="background"))
session.run(None, {"x": np.zeros((3, 4), np.float32), "axis": np.int64(1), "total": np.float32(0)})
print(session.get_provider_options())
"""


def test_short_programs_leave_optimised_code(tmp_path, cache):
    """A pipe that reads their output sees its end when they end, not when the worker does."""
    path = tmp_path / "model.onnx"
    path.write_bytes(model(MANY))
    done = python(PROGRAM, str(path))
    assert "quick" in done.stdout and not done.stderr
    assert workers(cache)
    wait_for(lambda: not workers(cache), "workers end")
    done = python(PROGRAM, str(path))
    assert "quick" not in done.stdout and not done.stderr


def test_work_that_was_lost_is_done_again(cache):
    """Whoever finds code that was made quickly alone sees to it that there is more."""
    session = make(model(MANY))
    for worker in workers(cache):
        os.kill(worker, signal.SIGKILL)
    wait_for(lambda: not workers(cache), "workers end")
    assert is_quick(session)
    again = make(model(MANY))
    assert is_quick(again)
    wait_for(lambda: not is_quick(again) and not is_quick(session), "optimised code")
    assert run(again) == run(session)


def test_one_works_at_a_time(cache):
    """The others wait in processes that have loaded nothing to speak of."""
    sessions = [make(model(seed=k)) for k in range(3)]
    wait_for(lambda: not any(map(is_quick, sessions)), "optimised code")
    wait_for(lambda: not workers(cache), "workers end")
    assert files(cache) == [".so"] * 3


def test_two_processes_at_once(tmp_path, cache):
    path = tmp_path / "model.onnx"
    path.write_bytes(model())
    code = PROGRAM + (
        "import time\n"
        "end = time.monotonic() + 120\n"
        "while 'quick' in str(session.get_provider_options()):\n"
        "    assert time.monotonic() < end\n"
        "    time.sleep(0.02)\n"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert [program.wait(300) for program in programs] == [0] * 3
    wait_for(lambda: not workers(cache), "workers end")
    assert files(cache) == [".so"]


def children() -> set[str]:
    """The processes that this one has started and not waited for."""
    lists = Path("/proc/self/task").glob("*/children")
    return {number for file in lists for number in file.read_text().split()}


def test_no_child_is_left():
    """A program that waits for all of its children does not wait for the compiler."""
    before = children()
    session = make(model(MANY))
    assert children() <= before
    del session


def test_forks_find_it_too():
    session = make(model())
    expected = run(session)
    child = os.fork()
    if child == 0:
        good = False
        with contextlib.suppress(BaseException):
            wait_for(lambda: not is_quick(session), "optimised code")
            good = run(session) == expected
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_session_may_end_before():
    session = make(model(MANY))
    copy = pickle.loads(pickle.dumps(session))
    expected = run(session)
    del session
    assert run(copy) == expected


def test_memory_is_given_back(cache):
    """What the first library had in memory is read from its file again when it is wanted."""
    session = make(model(MANY))
    run(session)
    wait_for(lambda: not is_quick(session), "optimised code")

    def resident() -> list[int]:
        sizes, is_entry = [], False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            if "-" in line.split()[0]:
                is_entry = str(cache) in line and "(deleted)" in line and "w" not in line.split()[1]
            elif is_entry and line.startswith("Rss:"):
                sizes.append(int(line.split()[1]))
        return sizes

    wait_for(lambda: not workers(cache), "workers end")
    assert resident()
    # The linker reads the first page, and parts that others write begin in the middle of one.
    assert sum(resident()) < 64


def test_ends_of_programs_end_compilations(cache):
    """Before there is code of any kind; behind that it goes on."""
    code = PROGRAM.replace("sys.argv[1]", "sys.stdin.buffer.read()")
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as program:
        assert program.stdin is not None
        program.stdin.write(model(250))
        program.stdin.close()
        wait_for(lambda: len(workers(cache)) == 2, "the worker and the one that it waits for")
        program.terminate()
    wait_for(lambda: not workers(cache), "workers end", 5)
    assert not list(cache.glob("*.so"))


def test_cancelled_compilations_leave_nothing(cache):
    options = loopc.SessionOptions(tier="background")
    timer = threading.Timer(0.5, options.set_load_cancellation_flag, (True,))
    timer.start()
    with pytest.raises(loopc.CompileError) as info:
        loopc.InferenceSession(model(250), options)
    assert info.value.diagnostics[0].code == "LC0108"
    wait_for(lambda: not workers(cache), "workers end", 5)
    assert files(cache) == []


@pytest.mark.parametrize(
    "options",
    [
        {"opt_level": 1},
        {"fp_contract": True},
        {"enable_profiling": True},
        {"check_accesses": True},
        {"cache_dir": "off"},
    ],
)
def test_where_it_is_not_worth_it(options):
    settings = loopc.SessionOptions(tier="background")
    for name, value in options.items():
        setattr(settings, name, value)
    assert not is_quick(loopc.InferenceSession(model(), settings))


def test_small_models_are_optimised_at_once():
    assert not is_quick(make(model(0)))


#: Sessions of a model of few layers and of one of many, in tier "auto".
AUTO = """
import sys, loopc
for path in sys.argv[1:]:
    options = loopc.SessionOptions(states={"total": "next"}, tier="auto")
    print("quick" in str(loopc.InferenceSession(path, options).get_provider_options()))
"""


def test_auto(tmp_path):
    """Two tiers where optimised code takes long, and there is a core for it."""
    paths = []
    for layers in (2, 60):
        paths.append(str(tmp_path / f"{layers}.onnx"))
        Path(paths[-1]).write_bytes(model(layers))
    has_two = len(os.sched_getaffinity(0)) > 1
    assert python(AUTO, *paths).stdout.split() == ["False", str(has_two)]


def test_one_core_has_one_tier(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model(40))
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\n" + AUTO
    assert python(code, str(path)).stdout.split() == ["False"]


def test_environment_and_entries_choose(monkeypatch):
    monkeypatch.setenv("LOOPC_TIER", "background")
    assert is_quick(loopc.InferenceSession(model()))
    assert not is_quick(loopc.InferenceSession(model(seed=1), loopc.SessionOptions(tier="off")))
    monkeypatch.delenv("LOOPC_TIER")
    settings = loopc.SessionOptions()
    settings.add_session_config_entry("loopc.tier", "background")
    assert is_quick(loopc.InferenceSession(model(seed=2), settings))
    with pytest.raises(loopc.InvalidArgument, match="tier"):
        loopc.InferenceSession(model(), loopc.SessionOptions(tier="fast"))
    monkeypatch.setenv("LOOPC_TIER", "fast")
    with pytest.raises(loopc.CompileError, match="LOOPC_TIER"):
        loopc.InferenceSession(model())


def swap(session: loopc.InferenceSession, once: Callable[[], object]) -> None:
    """What `once` returns is the same before and after optimised code is there."""
    assert is_quick(session)
    before = once()
    assert is_quick(session), "it was there at once"
    wait_for(lambda: not is_quick(session), "optimised code")
    assert once() == before


def products(layers: int = 12) -> bytes:
    """Products of many shapes, whose tiles are other ones in optimised code."""
    random = np.random.default_rng(0)
    nodes, weights, name, width = [], [], "x", 24
    for k in range(layers):
        wider = (24, 1, 33, 70, 7, 16)[k % 6]
        scale = np.float32(1 / np.sqrt(width))
        weights.append(random.standard_normal((width, wider), np.float32) * scale)
        nodes += [
            onnx.helper.make_node("MatMul", [name, f"w{k}"], [f"p{k}"]),
            onnx.helper.make_node("Tanh" if k % 2 else "Relu", [f"p{k}"], [f"a{k}"]),
            onnx.helper.make_node("Softmax", [f"a{k}"], [f"s{k}"]),
        ]
        name, width = f"s{k}" if k % 5 == 4 else f"a{k}", wider
    graph = onnx.helper.make_graph(
        [*nodes, onnx.helper.make_node("Identity", [name], ["y"])],
        "products",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 24])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", width])],
        [onnx.numpy_helper.from_array(one, f"w{k}") for k, one in enumerate(weights)],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    return made.SerializeToString()


def test_products_keep_their_bits():
    session = loopc.InferenceSession(products(), loopc.SessionOptions(tier="background"))
    rows = [np.random.default_rng(n).standard_normal((n, 24), np.float32) for n in (1, 2, 5, 70)]
    swap(session, lambda: [session.run(None, {"x": x})[0].tobytes() for x in rows])


def test_bound_inputs_and_outputs():
    """Addresses that were bound once are those of both."""
    session = make(model(MANY))
    binding = session.io_binding()
    for name, value in FEEDS.items():
        binding.bind_cpu_input(name, value)
    found = np.zeros((3, 4), np.float32)
    binding.bind_output(
        "y", element_type=np.float32, shape=found.shape, buffer_ptr=found.ctypes.data
    )

    def once() -> bytes:
        found[:] = 0
        session.run_with_iobinding(binding)
        return found.tobytes()

    swap(session, once)


def test_custom_operators(tmp_path):
    """Both are given the functions of the library."""
    plain = onnx.load_model_from_string(model(MANY))
    plain.opset_import.append(onnx.helper.make_opsetid("test", 1))
    plain.graph.node[0].input[0] = "scaled"
    node = onnx.helper.make_node("Scale", ["x"], ["scaled"], domain="test", factor=3.0)
    plain.graph.node.insert(0, node)
    settings = loopc.SessionOptions(tier="background", states={"total": "next"})
    settings.register_custom_ops_library(build(tmp_path))
    session = loopc.InferenceSession(plain.SerializeToString(), settings)
    swap(session, lambda: run(session))


def test_states_of_openvino(tmp_path):
    """ReadValue and Assign: the state that a run leaves is that of the next one, of other code."""
    openvino = pytest.importorskip("openvino")
    from openvino import opset13 as op

    info = openvino.op.util.VariableInfo()
    info.data_shape, info.data_type = openvino.PartialShape([3]), openvino.Type.f32
    info.variable_id = "sum"
    variable = openvino.op.util.Variable(info)
    x = op.parameter([3], openvino.Type.f32, name="x")
    value = op.read_value(op.constant(np.zeros(3, np.float32)), variable)
    for k in range(40):
        value = op.softmax(op.tanh(op.add(value, op.multiply(x, np.float32(k)))), 0)
    sink = op.assign(value, variable)
    path = str(tmp_path / "model.xml")
    model = openvino.Model([op.result(value)], [sink], [x], "model")
    openvino.save_model(model, path, compress_to_fp16=False)
    other = loopc.InferenceSession(path, loopc.SessionOptions(tier="off", cache_dir="off"))
    session = loopc.InferenceSession(path, loopc.SessionOptions(tier="background"))
    assert is_quick(session)
    end, after = time.monotonic() + 300, 0
    while after < 3:
        after += not is_quick(session)
        assert time.monotonic() < end, "not within 300 s: optimised code"
        ones = {"x": np.ones(3, np.float32)}
        assert session.run(None, ones)[0].tobytes() == other.run(None, ones)[0].tobytes()
        time.sleep(0.02)


def test_what_went_wrong_is_said(cache, capfd):
    """In a file: whose code was not made, and what was said; nothing of those that were.

    The session says once where to look.
    """
    session = make(model(MANY))
    wait_for(lambda: (cache / "background.log").exists(), "the beginning")
    [worker] = workers(cache)
    os.kill(worker, signal.SIGSEGV)
    # It has no command line while its core is written, and holds its locks still.
    wait_for(lambda: not Path(f"/proc/{worker}").exists(), "it ends")
    assert is_quick(session)
    [first, *others] = (cache / "background.log").read_text().splitlines()
    assert f"process {worker} began to optimise a model of bytes" in first
    assert any("Please report it" in line for line in others)
    said = ""
    end = time.monotonic() + 60
    while "could not be made" not in said and time.monotonic() < end:
        run(session)
        said += capfd.readouterr().err
        time.sleep(0.02)
    assert f"{cache}/background.log says why" in said
    time.sleep(1.1)
    run(session)
    assert not capfd.readouterr().err
    again = make(model(MANY))
    wait_for(lambda: not is_quick(again) and not workers(cache), "optimised code")
    assert (cache / "background.log").read_text().splitlines() == [first, *others]
    command = [sys.executable, "-m", "loopc", "cache", "clear", f"--dir={cache}"]
    subprocess.run(command, check=True, capture_output=True)
    assert not list(cache.iterdir())
