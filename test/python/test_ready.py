# ===- test_ready.py - Sessions from the cache, and compiled by a worker ----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The cache of compiled models and the process that compiles; others have none (conftest.py)."""

import copy
import gc
import os
import pickle
import pty
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import loopc
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import openvino
import openvino.opset6 as ops
import pytest
from networks import EW, Net

SHIFT = '<ir_version: 8, opset_import: ["": 17]> m (float[n] x) => (float[n] y) {{ c = Constant<value = float[1] {{{}}}>() y = Add(x, c) }}'
LARGE = '<ir_version: 8, opset_import: ["": 17]> m (float[n] x) => (float[n] y) <int64 five = {5}> { count = Size(x) first = Sub(count, five) c = Gather(weights, first) y = Add(x, c) }'
X = np.linspace(-1, 1, 5, dtype=np.float32)
NOBODY = 65534


def shift(amount: float = 1) -> bytes:
    return onnx.parser.parse_model(SHIFT.format(amount)).SerializeToString()


def slow(layers: int = 250) -> bytes:
    """A model that takes seconds to compile: no two of its layers are alike."""
    nodes, name = [], "x"
    for k in range(layers):
        nodes.append(
            f"s{k} = Softmax<axis = {k % 2}>({name}) t{k} = ReduceSum<keepdims = 1>(s{k}) "
            f"u{k} = Mul(s{k}, t{k}) v{k} = Tanh(u{k}) w{k} = CumSum(v{k}, axis) z{k} = Add(w{k}, {name})"
        )
        name = f"z{k}"
    text = f'<ir_version: 8, opset_import: ["": 17]> m (float[a, b] x, int64 axis) => (float[a, b] y) {{ {" ".join(nodes)} y = Identity({name}) }}'
    return onnx.parser.parse_model(text).SerializeToString()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, and workers."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("LOOPC_CACHE_DIR", str(folder))
    monkeypatch.delenv("LOOPC_COMPILE", raising=False)
    monkeypatch.delenv("LOOPC_VERIFY_EACH", raising=False)
    # test_tiers.py has the processes that go on in the background.
    monkeypatch.setenv("LOOPC_TIER", "off")
    return folder


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.so"))


def left_over(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.suffix not in (".so", ".files", ".stamp")]


def run(model: object, amount: float = 1, **options: object) -> list[str]:
    """Makes a session, checks its result, and returns the phases of its compilation."""
    phases: list[str] = []
    progress = options.pop("progress", lambda phase, *_: phases.append(phase))
    settings = loopc.SessionOptions(progress=progress, **options)
    session = loopc.InferenceSession(model, settings)
    (y,) = session.run(None, {"x": X})
    np.testing.assert_array_equal(y, X + np.float32(amount))
    return phases


def is_hit(phases: list[str]) -> bool:
    return set(phases) == {"starting"}


def python(code: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Runs a program of Python, which has `model.onnx` as its argument or none."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False,
        timeout=300, **settings,
    )  # fmt: skip


def all_children() -> set[int]:
    """The processes that this one has started, whoever of it did."""
    folder = Path("/proc/self/task")
    return {
        int(one) for task in folder.iterdir() for one in (task / "children").read_text().split()
    }


#: Those of other tests, which live on.
_others: set[int] = set()


@pytest.fixture(autouse=True)
def other_children() -> None:
    """Learns which processes there are before a test."""
    _others.clear()
    _others.update(all_children())


def children() -> set[int]:
    """The processes that this test has started."""
    return all_children() - _others


SESSION = """
import sys, loopc, numpy as np
session = loopc.InferenceSession(sys.argv[1] if len(sys.argv) > 1 else {path!r})
x = np.linspace(-1, 1, 5, dtype=np.float32)
assert np.array_equal(session.run(None, {{"x": x}})[0], x + np.float32({amount}))
"""


def test_hit_and_miss_map_no_compiler(tmp_path, cache):
    model = tmp_path / "model.onnx"
    model.write_bytes(shift())
    code = SESSION.format(path=str(model), amount=1) + (
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libLLVM', 'libMLIR', 'libloopc_compiler') if name in maps])\n"
    )
    for _ in range(2):
        done = python(code)
        assert (done.stdout, done.stderr) == ("[]\n", "")
        assert len(entries(cache)) == 1
        assert not left_over(cache)


def test_second_session_compiles_nothing(cache):
    assert "optimising" in run(shift())
    assert is_hit(run(shift()))
    assert len(entries(cache)) == 1


def test_key_has_the_options_and_the_content(tmp_path, cache):
    path = tmp_path / "model.onnx"
    path.write_bytes(shift())
    for options in (
        {},
        {"opt_level": 1},
        {"cpu": "x86-64-v2"},
        {"fp_contract": True},
        {"shapes": {"x": [5]}},
    ):
        if "cpu" in options and os.uname().machine != "x86_64":
            continue
        assert not is_hit(run(str(path), **options))
        assert is_hit(run(str(path), **options))
    path.write_bytes(shift(2))
    assert not is_hit(run(str(path), 2))


def test_moved_model_is_found_with_what_was_said_of_it(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(shift())
    assert not is_hit(run(str(tmp_path / "a/model.onnx")))
    assert is_hit(run(str(tmp_path / "b/model.onnx")))


def test_diagnostics_come_from_the_cache(tmp_path):
    """The same errors and warnings as of a compilation in the process."""
    bad = (
        '<ir_version: 8, opset_import: ["": 17]> m (float[2] x) => (float[2] y) { y = Nothing(x) }'
    )
    path = tmp_path / "bad.onnxtxt"
    path.write_text(bad)

    def said() -> tuple[str, list[loopc.Diagnostic]]:
        with pytest.raises(loopc.CompileError) as info:
            loopc.InferenceSession(str(path))
        return str(info.value), info.value.diagnostics

    by_worker = said()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPC_COMPILE", "inprocess")
        patch.setenv("LOOPC_CACHE_DIR", "off")
        assert said() == by_worker
    assert by_worker[1][0].code == "LC0301"


def external(folder: Path, amount: float) -> Path:
    folder.mkdir(exist_ok=True)
    tensor = onnx.numpy_helper.from_array(np.full(1 << 19, amount, np.float32), "c")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Slice", ["c", "zero", "one"], ["d"]),
         onnx.helper.make_node("Add", ["x", "d"], ["y"])],
        "m", [onnx.helper.make_tensor_value_info("x", 1, ["n"])],
        [onnx.helper.make_tensor_value_info("y", 1, ["n"])],
        [tensor, onnx.numpy_helper.from_array(np.array([0]), "zero"),
         onnx.numpy_helper.from_array(np.array([1]), "one")],
    )  # fmt: skip
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    (folder / "weights.bin").unlink(missing_ok=True)
    onnx.save_model(
        model, folder / "model.onnx", save_as_external_data=True, location="weights.bin"
    )
    return folder / "model.onnx"


def age(path: Path) -> None:
    """Makes a file as old as those that are recognised by their times."""
    os.utime(path, (time.time() - 60, time.time() - 60))


@pytest.mark.parametrize("strict", [False, True])
def test_external_data_belongs_to_the_key(tmp_path, strict):
    model = str(external(tmp_path / "a", 1))
    age(tmp_path / "a/weights.bin")
    assert not is_hit(run(model, 1, strict_cache=strict))
    assert is_hit(run(model, 1, strict_cache=strict))
    # The same model beside other weights, and other weights beside the same model.
    assert not is_hit(run(str(external(tmp_path / "b", 3)), 3, strict_cache=strict))
    weights = tmp_path / "a/weights.bin"
    weights.write_bytes(
        weights.read_bytes().replace(np.float32(1).tobytes(), np.float32(2).tobytes())
    )
    assert not is_hit(run(model, 2, strict_cache=strict))
    age(weights)
    assert is_hit(run(model, 2, strict_cache=strict))


def openvino_model(folder: Path, amount: float) -> str:
    """A model whose weights are in the file beside it, with a state that counts."""
    folder.mkdir(exist_ok=True)
    info = openvino.op.util.VariableInfo()
    info.data_shape, info.data_type = openvino.PartialShape([1]), openvino.Type.f32
    info.variable_id = "count"
    variable = openvino.op.util.Variable(info)
    x = ops.parameter([5], np.float32, name="x")
    x.output(0).set_names({"x"})
    count = ops.read_value(ops.constant(np.zeros(1, np.float32)), variable)
    more = ops.add(count, ops.constant(np.full(1, amount, np.float32)))
    made = openvino.Model(
        [ops.result(ops.add(x, more))], [ops.assign(more, variable)], [x], "model"
    )
    openvino.save_model(made, folder / "model.xml", compress_to_fp16=False)
    return str(folder / "model.xml")


def test_weights_of_openvino_belong_to_the_key(tmp_path):
    model = openvino_model(tmp_path / "a", 1)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    weights = tmp_path / "b/model.bin"
    weights.write_bytes(
        weights.read_bytes().replace(np.float32(1).tobytes(), np.float32(3).tobytes())
    )
    assert not is_hit(run(model, 1))
    assert is_hit(run(model, 1))
    assert not is_hit(run(str(tmp_path / "b/model.xml"), 3))
    assert is_hit(run(model, 1))


def test_copies_have_the_states(tmp_path):
    session = loopc.InferenceSession(openvino_model(tmp_path, 1))
    session.run(None, {"x": X})
    other = pickle.loads(pickle.dumps(session))
    np.testing.assert_array_equal(other.run(None, {"x": X})[0], X + 2)
    np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 2)


def test_large_files_are_read_once(tmp_path, cache, monkeypatch):
    model = str(external(tmp_path / "a", 1))
    # Whoever writes within the clock's tick leaves the same times: such a file is read again.
    run(model, 1)
    assert not list(cache.glob("*.stamp"))
    time.sleep(2.2)
    run(model, 1)
    assert len(list(cache.glob("*.stamp"))) == 1


def large(amount: float = 1) -> bytes:
    """A model with 2 MB of weights, the first of which it adds."""
    model = onnx.parser.parse_model(LARGE)
    weights = np.arange(1 << 19, dtype=np.float32) + np.float32(amount)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
    return model.SerializeToString()


def bytes_read() -> int:
    """What this process has read so far, of pages that are in memory, too."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.parametrize("strict", [False, True])
def test_large_entries_are_read_once(cache, strict):
    data, least = large(), 1 << 21
    run(data)
    # As a model's file, one that has just been written is read again.
    begin = bytes_read()
    assert is_hit(run(data))
    assert bytes_read() - begin > least
    time.sleep(2.2)
    assert is_hit(run(data))
    begin = bytes_read()
    assert is_hit(run(data, strict_cache=strict))
    assert (bytes_read() - begin > least) == strict
    (entry,) = entries(cache)  # one that is damaged has another time
    changed = entry.read_bytes().replace(np.float32(77).tobytes(), b"1234", 1)
    entry.unlink()
    entry.write_bytes(changed)
    entry.chmod(0o600)
    assert not is_hit(run(data))


def test_large_entries_that_were_used_stay(cache, monkeypatch):
    for amount in range(3):
        run(large(amount), amount)
    time.sleep(2.2)
    assert is_hit(run(large(0), 0))
    size = sum(p.stat().st_size for p in entries(cache))
    monkeypatch.setenv("LOOPC_CACHE_SIZE", str(size + 2000))
    run(large(9), 9)
    assert len(entries(cache)) == 3
    assert is_hit(run(large(0), 0))
    assert not is_hit(run(large(1), 1))


def test_sixteen_processes_at_once(tmp_path, cache):
    model = tmp_path / "model.onnx"
    model.write_bytes(shift(3))
    code = SESSION.format(path=str(model), amount=3)
    started = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(16)
    ]
    for process in started:
        assert process.communicate(timeout=300)[1] == b""
        assert process.returncode == 0
    assert len(entries(cache)) == 1
    assert not left_over(cache)
    assert is_hit(run(str(model), 3))


def wait_for(condition: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_killed_in_the_middle(tmp_path, cache):
    model = tmp_path / "model.onnx"
    model.write_bytes(slow())
    process = subprocess.Popen(
        [sys.executable, "-c", f"import loopc; loopc.InferenceSession({str(model)!r})"]
    )
    wait_for(lambda: cache.exists() and list(cache.glob("new-*")))
    wait_for(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    (worker,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    time.sleep(0.3)
    process.kill()
    process.wait()
    # The worker goes with it; what it began is removed by who writes next.
    wait_for(
        lambda: (
            not Path(f"/proc/{worker}/cmdline").exists()
            or not Path(f"/proc/{worker}/cmdline").read_bytes()
        )
    )
    assert not entries(cache)
    assert not is_hit(run(shift()))
    assert is_hit(run(shift()))
    assert len(entries(cache)) == 1
    assert not list(cache.glob("new-*"))


@pytest.mark.parametrize("where", ["begin", "middle", "text", "end", "short", "empty"])
def test_damaged_entries_are_compiled_again(cache, where):
    run(shift())
    (entry,) = entries(cache)
    data = bytearray(entry.read_bytes())
    places = {"begin": 0, "middle": len(data) // 2, "text": len(data) - 80, "end": len(data) - 1}
    if where in places:
        data[places[where]] ^= 0x40
    elif where == "short":
        del data[len(data) // 2 :]
    else:
        data.clear()
    # Not in place: this process has the file mapped.
    entry.unlink()
    entry.write_bytes(data)
    entry.chmod(0o600)
    assert not is_hit(run(shift()))
    assert is_hit(run(shift()))


def test_no_room_to_write(cache):
    """What is compiled cannot be kept: the session is there all the same."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12))\n"
    data = shift()
    code += SESSION.format(path=data, amount=1)
    for _ in range(2):
        done = python(code)
        assert (done.returncode, done.stderr) == (0, "")
        assert not entries(cache)
        assert not left_over(cache)


def unprivileged(folder: Path) -> dict[str, object]:
    """Arguments of subprocess.run for a process that permissions hold for."""
    if os.geteuid() != 0:
        return {}
    for one in (folder.parent, *folder.parents):
        if one.stat().st_uid == 0 and one != Path("/"):
            one.chmod(one.stat().st_mode | 0o055)
    for one in (folder, *folder.rglob("*")):
        os.chown(one, NOBODY, NOBODY)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def test_read_only_cache(tmp_path, cache):
    code = SESSION.format(path=shift(), amount=1)
    assert python(code).returncode == 0
    settings = unprivileged(cache)
    cache.chmod(0o500)
    try:
        # One that is there, and one that cannot be kept.
        for amount in (1, 2):
            done = python(SESSION.format(path=shift(amount), amount=amount), **settings)
            assert (done.returncode, done.stderr) == (0, "")
        assert len(entries(cache)) == 1
    finally:
        cache.chmod(0o700)


def test_folder_that_others_can_write(cache):
    cache.mkdir()
    cache.chmod(0o777)
    code = (
        "import warnings, loopc\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        f"    for _ in range(2): loopc.InferenceSession({shift()!r})\n"
        "print(len(seen), seen[0].message)\n"
    )
    done = python(code)
    assert done.stdout.startswith("1 LC0110: compiled models are not kept: the folder"), done.stderr
    assert not list(cache.iterdir())


def test_entry_that_others_can_write(cache):
    run(shift())
    (entry,) = entries(cache)
    entry.chmod(0o666)
    with pytest.warns(UserWarning, match="or others can write to it"):
        assert not is_hit(run(shift()))
    assert entry.stat().st_mode & 0o777 == 0o600
    assert is_hit(run(shift()))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give files away")
def test_entry_of_another_user(cache):
    run(shift())
    (entry,) = entries(cache)
    os.chown(entry, NOBODY, NOBODY)
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert not is_hit(run(shift()))
    assert entry.stat().st_uid == 0


def network(amount: float, name: str = "m") -> loopc.network.INetworkDefinition:
    net = Net(name)
    x = net.input("x", (-1,))
    net.out(net.ew(x, net.const([amount]), EW.SUM), "y")
    return net.network


def test_networks_are_compiled_by_a_worker_and_kept(cache):
    workers: set[int] = set()
    phases: list[str] = []

    def look(phase: str, *_: object) -> None:
        workers.update(children())
        phases.append(phase)

    run(network(1), progress=look)
    assert len(workers) == 1
    assert "optimising" in phases
    assert is_hit(run(network(1)))
    assert not is_hit(run(network(2), amount=2))
    assert not is_hit(run(network(1, "other")))
    # Extents that are given are a part of the network that is compiled.
    assert not is_hit(run(network(1), shapes={"x": [5]}))
    assert is_hit(run(network(1), shapes={"x": [5]}))
    assert len(entries(cache)) == 4
    assert not left_over(cache)


def test_network_that_is_wrong_says_what_it_says_in_the_process(monkeypatch):
    def message() -> str:
        net = Net("wrong")
        net.out(net.ew(net.input("x", (2,)), net.input("z", (3,)), EW.SUM, "add"), "y")
        with pytest.raises(loopc.CompileError) as info:
            loopc.InferenceSession(net.network)
        return str(info.value)

    by_worker = message()
    monkeypatch.setenv("LOOPC_COMPILE", "inprocess")
    monkeypatch.setenv("LOOPC_CACHE_DIR", "off")
    assert message() == by_worker
    assert "add" in by_worker


def test_size_is_bounded(cache, monkeypatch):
    for amount in range(4):
        run(shift(amount), amount)
        time.sleep(0.02)
    size = sum(p.stat().st_size for p in entries(cache))
    assert is_hit(run(shift(0), 0))
    time.sleep(0.02)
    monkeypatch.setenv("LOOPC_CACHE_SIZE", str(size + 200))
    # What was used longest ago goes: not the one that was just used.
    run(shift(9), 9)
    assert len(entries(cache)) == 4
    assert is_hit(run(shift(0), 0))
    assert not is_hit(run(shift(1), 1))
    monkeypatch.setenv("LOOPC_CACHE_SIZE", "1K")
    assert not is_hit(run(shift(10), 10))
    assert not is_hit(run(shift(10), 10))


def test_off(tmp_path, cache, monkeypatch):
    assert not is_hit(run(shift(), cache_dir="off"))
    monkeypatch.setenv("LOOPC_CACHE_DIR", "off")
    assert not is_hit(run(shift()))
    assert not cache.exists()
    other = tmp_path / "other"
    assert not is_hit(run(shift(), cache_dir=other))
    assert is_hit(run(shift(), cache_dir=other))


def test_user_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("LOOPC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    run(shift())
    assert len(entries(tmp_path / "xdg/loopc")) == 1
    assert (tmp_path / "xdg/loopc").stat().st_mode & 0o777 == 0o700


def test_cache_without_workers(cache, monkeypatch):
    monkeypatch.setenv("LOOPC_COMPILE", "inprocess")
    run(shift())
    assert len(entries(cache)) == 1
    assert is_hit(run(shift()))


def test_outputs_outlive_the_session():
    session = loopc.InferenceSession(shift())
    (y,) = session.run(None, {"x": X})
    del session
    gc.collect()
    np.testing.assert_array_equal(y, X + 1)


@pytest.fixture
def copied(tmp_path):
    """The libraries and the programs, where they can be changed."""
    lib = Path(loopc._loopc.__file__).parents[2] / "lib"
    for name in ("libloopc.so.0", "libloopc_compiler.so.0"):
        (tmp_path / "lib").mkdir(exist_ok=True)
        shutil.copy((lib / name).resolve(), tmp_path / "lib" / name)
    shutil.copy(lib / "libloopc_rt.a", tmp_path / "lib")
    shutil.copytree(
        lib.parent / "bin",
        tmp_path / "bin",
        ignore=lambda _, names: set(names) - {"loopc", "loopc-run"},
    )
    (tmp_path / "model.onnx").write_bytes(shift())
    return tmp_path


def run_copied(folder: Path) -> str:
    """What loopc-run prints with these libraries."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
    done = subprocess.run(
        [folder / "bin/loopc-run", folder / "model.onnx", "--input=x=[1,2]"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_without_a_worker(copied, cache):
    (copied / "bin/loopc").unlink()
    assert run_copied(copied) == "y: float32[2] = [2, 3]\n"
    assert len(entries(cache)) == 1


def test_worker_that_is_none(copied, cache):
    (copied / "bin/loopc").unlink()
    (copied / "bin/loopc").symlink_to("/bin/true")
    assert run_copied(copied) == "y: float32[2] = [2, 3]\n"


def test_another_compiler(copied, cache):
    run_copied(copied)
    run_copied(copied)
    assert len(entries(cache)) == 1
    library = copied / "lib/libloopc_compiler.so.0"
    data = library.read_bytes()
    at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    library.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    run_copied(copied)
    assert len(entries(cache)) == 2


def in_another_thread(action: object, seconds: float = 0.5) -> threading.Thread:
    """Does something as soon as there is a worker that has begun."""

    def work() -> None:
        wait_for(children)
        time.sleep(seconds)
        action()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


class Called(Exception):  # noqa: N818
    pass


def raise_called(*_: object) -> None:
    raise Called


@pytest.mark.parametrize("how", ["interrupt", "terminate", "progress"])
def test_interrupted_compilation(cache, how):
    ended: list[float] = []

    def send(number: int) -> None:
        ended.append(time.monotonic())
        os.kill(os.getpid(), number)

    options = loopc.SessionOptions()
    previous = signal.signal(signal.SIGTERM, raise_called)
    thread = None
    if how == "progress":
        options.progress = lambda phase, *_: phase == "optimising" and raise_called()
    else:
        number = signal.SIGINT if how == "interrupt" else signal.SIGTERM
        thread = in_another_thread(lambda: send(number))
    try:
        with pytest.raises(KeyboardInterrupt if how == "interrupt" else Called):
            loopc.InferenceSession(slow(), options)
    finally:
        signal.signal(signal.SIGTERM, previous)
        if thread:
            thread.join()
    assert not children()
    assert not list(cache.iterdir())


def test_compilation_that_takes_too_long(cache):
    with pytest.raises(loopc.CompileTimeoutError, match="timeout") as info:
        loopc.InferenceSession(slow(), loopc.SessionOptions(compile_timeout=0.5))
    assert info.value.code == "LC0109"
    assert isinstance(info.value, loopc.CompileError)
    assert not children()
    assert not list(cache.iterdir())


def test_cancellation_flag(cache):
    options = loopc.SessionOptions()
    thread = in_another_thread(lambda: options.set_load_cancellation_flag(True))
    with pytest.raises(loopc.CompileCancelledError) as info:
        loopc.InferenceSession(slow(), options)
    thread.join()
    assert info.value.code == "LC0108"
    with pytest.raises(loopc.CompileCancelledError):
        loopc.InferenceSession(shift(), options)
    options.set_load_cancellation_flag(False)
    loopc.InferenceSession(shift(), options)


def test_compiler_that_crashes(cache):
    def crash() -> None:
        for child in children():
            os.kill(child, signal.SIGSEGV)

    thread = in_another_thread(crash)
    # The handler that tells of it may find the heap in the middle of a change, and abort.
    with pytest.raises(loopc.CompileError, match=r"ended by signal (11|6)") as info:
        loopc.InferenceSession(slow())
    thread.join()
    assert info.value.code == "LC0100"
    assert not list(cache.iterdir())
    run(shift())


def test_interrupt_while_a_file_is_written(tmp_path):
    thread = in_another_thread(lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        loopc.compile(slow(), tmp_path / "model.so", emit="shared")
    thread.join()
    assert not children()
    assert not [p for p in tmp_path.iterdir() if p.is_file()]


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("kind", ["bytes", "path", "shared"])
def test_copies(tmp_path, kind, how):
    model: object = shift(2)
    if kind != "bytes":
        path = tmp_path / "model.onnx"
        path.write_bytes(shift(2))
        model = str(path)
    if kind == "shared":
        loopc.compile(model, tmp_path / "model.so", emit="shared")
        model = str(tmp_path / "model.so")
    options = loopc.SessionOptions(opt_level=1, intra_op_num_threads=2, timeout=9)
    options.add_session_config_entry("a", "b")
    session = loopc.InferenceSession(model, options)
    other = copy.deepcopy(session) if how == "deepcopy" else pickle.loads(pickle.dumps(session))
    np.testing.assert_array_equal(other.run(None, {"x": X})[0], X + 2)
    kept = other.get_session_options()
    assert (kept.opt_level, kept.intra_op_num_threads, kept.timeout) == (1, 2, 9)
    assert kept.get_session_config_entry("a") == "b"
    assert other.get_modelmeta() == session.get_modelmeta()


def test_session_of_a_shared_library(tmp_path):
    loopc.compile(shift(), tmp_path / "model.so", emit="shared")
    run(tmp_path / "model.so")
    with pytest.raises(loopc.InvalidArgument, match="compiled for the CPU"):
        loopc.InferenceSession(tmp_path / "model.so", device="cuda:0", chip="sm_90")


def test_progress(capfd):
    seen: list[tuple[str, float, float]] = []
    loopc.InferenceSession(slow(), loopc.SessionOptions(progress=lambda *one: seen.append(one)))
    fractions = [fraction for _, fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] and 0.7 <= fractions[-1] <= 1
    assert {"optimising", "optimising code", "writing code"} <= {phase for phase, _, _ in seen}
    assert capfd.readouterr().err == ""
    loopc.InferenceSession(slow(240), loopc.SessionOptions(progress=True))
    assert "\rloopc: optimising" in capfd.readouterr().err


@pytest.mark.parametrize("tool", ["loopc", "loopc-run"])
def test_progress_of_tools(tmp_path, tool):
    """On a terminal, and gone at the end."""
    (tmp_path / "model.onnx").write_bytes(slow(500))
    ours, theirs = pty.openpty()
    folder = Path(loopc._loopc.__file__).parents[2] / "bin"
    last = (
        ["-o", str(tmp_path / "model.o")]
        if tool == "loopc"
        else ["-q", "--seed=1", "--dim=a=2", "--dim=b=2", "--input=axis=0"]
    )
    process = subprocess.Popen([folder / tool, tmp_path / "model.onnx", *last], stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    assert process.wait() == 0
    assert b"\r%s: " % tool.encode() in said
    assert said.split(b"\r")[-1] == b""


def test_program_that_forks():
    """A process that was forked compiles, too, and shares what was loaded before."""
    session = loopc.InferenceSession(shift())
    child = os.fork()
    if child == 0:
        code = 1
        try:
            np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)
            run(shift(7), 7)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
