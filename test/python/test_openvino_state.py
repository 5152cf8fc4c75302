# ===- test_openvino_state.py - ReadValue and Assign (ov_state) -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models of OpenVINO with state, run step by step by loopc and by OpenVINO's CPU runtime."""

from __future__ import annotations

import pathlib
import re
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import loopc
import numpy as np
import openvino
import openvino.opset3 as opset3
import openvino.opset16 as op
import pytest
from openvino import passes
from openvino_models import Slice, const, f32, i64, loop, model, param

Step = dict[str, np.ndarray]


def variable(name: str, shape: Any, kind: Any = openvino.Type.f32) -> Any:
    """What ReadValue and Assign share."""
    info = openvino.op.util.VariableInfo()
    info.data_shape = openvino.PartialShape(shape)
    info.data_type = kind
    info.variable_id = name
    return openvino.op.util.Variable(info)


def stateful(outputs: Sequence[Any], inputs: Sequence[Any], sinks: Sequence[Any]) -> Any:
    """A model whose outputs are called y0, y1, ..., with its Assign nodes."""
    made = model(outputs, inputs)
    return openvino.Model(made.get_results(), list(sinks), list(inputs), "model")


def save(made: openvino.Model, folder: pathlib.Path) -> str:
    path = str(folder / "model.xml")
    openvino.save_model(made, path, compress_to_fp16=False)
    return path


class Peer:
    """OpenVINO's runtime, which keeps the state in a request."""

    def __init__(self, path: str) -> None:
        config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        compiled = openvino.Core().compile_model(path, "CPU", config)
        self._request = compiled.create_infer_request()
        self._ports = compiled.outputs

    def run(self, feeds: Step) -> list[np.ndarray]:
        found = self._request.infer(feeds)
        return [np.array(found[port]) for port in self._ports]

    def reset(self) -> None:
        self._request.reset_state()


def sessions(path: str, folder: pathlib.Path) -> list[loopc.InferenceSession]:
    """In process, and ahead of time."""
    library = folder / "model.so"
    loopc.compile(path, library, emit="shared")
    return [loopc.InferenceSession(path), loopc.load(library)]


def assert_close(got: Sequence[Any], want: Sequence[Any], tolerance: float = 1e-5) -> None:
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


RNG = np.random.default_rng(11)


def random(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape).astype(np.float32)


# ===- Models ------------------------------------------------------------------===#


def accumulate(init: Any, shape: Any = (2,)) -> openvino.Model:
    """y = state = state + x."""
    x = param(shape, "x")
    total = variable("total", shape)
    read = op.read_value(total) if init is None else op.read_value(init(x), total)
    y = op.add(read, x)
    return stateful([y], [x], [op.assign(y, total)])


def constant_init() -> openvino.Model:
    return accumulate(lambda x: const(f32([10, 20])))


def computed_init() -> openvino.Model:
    """The first input is counted three times."""
    return accumulate(lambda x: op.multiply(x, const(f32(2))))


def no_init() -> openvino.Model:
    return accumulate(None)


def init_of_open_shape() -> openvino.Model:
    return accumulate(lambda x: op.broadcast(const(f32(1)), op.shape_of(x)), [-1])


def version_three() -> openvino.Model:
    x = param([2], "x")
    read = opset3.read_value(const(f32([10, 20])), "total")
    y = op.add(read, x)
    return stateful([y], [x], [opset3.assign(y, "total")])


def cache_that_grows() -> openvino.Model:
    """What attention does: keys of all steps so far."""
    x = param([-1, 3], "x")
    keys = variable("keys", [-1, 3])
    read = op.read_value(keys)
    longer = op.concat([read, x], 0)
    y = op.matmul(x, longer, False, True)
    return stateful([y, longer], [x], [op.assign(longer, keys)])


def two_swapped() -> openvino.Model:
    """Each state becomes what the other was."""
    x = param([2], "x")
    a, b = variable("a", [2]), variable("b", [2])
    old_a = op.read_value(const(f32([1, 2])), a)
    old_b = op.read_value(const(f32([3, 4])), b)
    y = op.multiply(op.add(old_a, x), old_b)
    return stateful([y, old_a], [x], [op.assign(old_b, a), op.assign(old_a, b)])


def integers() -> openvino.Model:
    """A counter, and whether it is odd."""
    x = param([], "x", np.int32)
    count = variable("count", [], openvino.Type.i32)
    odd = variable("odd", [], openvino.Type.boolean)
    total = op.add(op.read_value(const(np.int32(5)), count), x)
    was = op.read_value(const(True), odd)
    now = op.logical_not(was)
    return stateful([total, was], [x], [op.assign(total, count), op.assign(now, odd)])


def lstm_low_latency() -> openvino.Model:
    """A TensorIterator over an LSTM cell, one step a run."""
    batch, size, hidden = 2, 3, 5
    x, h0, c0 = (
        param([batch, 1, size], "x"),
        param([batch, hidden], "h"),
        param([batch, hidden], "c"),
    )
    part, h, c = param([batch, 1, size]), param([batch, hidden]), param([batch, hidden])
    w, r, b = random(4 * hidden, size), random(4 * hidden, hidden), random(4 * hidden)
    flat = op.squeeze(part, const(i64([1])))
    cell = op.lstm_cell(flat, h, c, const(w), const(r), const(b), hidden)
    outs = loop(
        None, None, results=[cell.output(0), cell.output(1),
                             op.unsqueeze(cell.output(0), const(i64([1])))],
        carried=[(h, h0, 0), (c, c0, 1)], sliced=[(part, x, Slice(axis=1))],
        outs=[(2, Slice(axis=1))],
    )  # fmt: skip
    made = model(outs, [x, h0, c0])
    manager = passes.Manager()
    manager.register_pass(passes.LowLatency2(True))
    manager.run_passes(made)
    return made


def lstm_make_stateful() -> openvino.Model:
    """An LSTM cell whose states are inputs and outputs, until they are made state."""
    size, hidden = 3, 5
    x, h, c = param([1, size], "x"), param([1, hidden], "h"), param([1, hidden], "c")
    w, r, b = random(4 * hidden, size), random(4 * hidden, hidden), random(4 * hidden)
    cell = op.lstm_cell(x, h, c, const(w), const(r), const(b), hidden)
    y = op.matmul(cell.output(0), const(random(hidden, 2)), False, False)
    made = model([cell.output(0), cell.output(1), y], [x, h, c])
    manager = passes.Manager()
    manager.register_pass(passes.MakeStateful({"h": "y0", "c": "y1"}))
    manager.run_passes(made)
    return made


MODELS: list[Callable[[], openvino.Model]] = [
    constant_init, computed_init, no_init, init_of_open_shape, version_three, cache_that_grows,
    two_swapped, integers, lstm_low_latency, lstm_make_stateful,
]  # fmt: skip


def feeds_of(session: loopc.InferenceSession, count: int) -> list[Step]:
    """Inputs for so many steps; open dimensions are 2."""
    steps = []
    for _ in range(count):
        step = {}
        for port in session.get_inputs():
            shape = [2 if extent is None else extent for extent in port.shape]
            is_integer = "int32" in port.type
            step[port.name] = RNG.integers(0, 9, shape, np.int32) if is_integer else random(*shape)
        steps.append(step)
    return steps


@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_steps(build: Callable[[], openvino.Model], tmp_path: pathlib.Path) -> None:
    """Many steps, a reset, and again many steps are what OpenVINO gives."""
    path = save(build(), tmp_path)
    peer = Peer(path)
    runners = sessions(path, tmp_path)
    assert runners[0].get_states()
    steps = feeds_of(runners[0], 12)
    for round_ in range(2):
        for feeds in steps[round_:]:
            want = peer.run(feeds)
            for session in runners:
                assert_close(session.run(None, feeds), want)
        peer.reset()
        for session in runners:
            session.reset_state()


# ===- The session's functions -------------------------------------------------===#

X = {"x": f32([1, 2])}


def test_names_and_types(tmp_path: pathlib.Path) -> None:
    """States are ports of their own: neither inputs nor outputs."""
    for session in sessions(save(integers(), tmp_path), tmp_path):
        assert [port.name for port in session.get_inputs()] == ["x"]
        assert [port.name for port in session.get_outputs()] == ["y0", "y1"]
        assert session.get_overridable_initializers() == []
        states = {port.name: (port.type, port.shape) for port in session.get_states()}
        assert states == {"count": ("tensor(int32)", []), "odd": ("tensor(bool)", [])}


def test_get_set_reset(tmp_path: pathlib.Path) -> None:
    for session in sessions(save(constant_init(), tmp_path), tmp_path):
        assert session.get_state() == {"total": None}
        assert_close(session.run(None, X), [f32([11, 22])])
        kept = session.get_state()
        assert_close([kept["total"]], [f32([11, 22])])
        session.run(None, X)
        session.set_state(kept)
        # A copy: what the session makes of it later does not show.
        kept["total"][:] = 0
        assert_close(session.run(None, X), [f32([12, 24])])
        session.set_state({"total": f32([[0, 5], [1, 6]])[:, 1]})
        assert_close(session.run(None, X), [f32([6, 8])])
        session.set_state({})
        session.set_state({"total": None})
        assert session.get_state() == {"total": None}
        assert_close(session.run(None, X), [f32([11, 22])])
        session.reset_state()
        assert_close(session.run(None, X), [f32([11, 22])])


def test_set_refuses(tmp_path: pathlib.Path) -> None:
    """What does not fit is an error, and changes nothing."""
    session = loopc.InferenceSession(save(two_swapped(), tmp_path))
    with pytest.raises(loopc.InvalidArgument, match="no state 'c'; it has: 'a', 'b'"):
        session.set_state({"c": f32([1, 2])})
    for wrong, said in [
        (f32([1, 2, 3]), "dimension 0 is 3, expected 2"),
        (f32([[1, 2]]), "rank 2, expected 1"),
        (i64([1, 2]), "int64"),
    ]:
        with pytest.raises(loopc.InvalidArgument, match=said):
            session.set_state({"a": f32([0, 0]), "b": wrong})
        assert session.get_state() == {"a": None, "b": None}


def test_failed_run(tmp_path: pathlib.Path) -> None:
    """A run that fails leaves the state as it was."""
    x, at = param([2], "x"), param([], "at", np.int64)
    total = variable("total", [2])
    y = op.add(op.read_value(const(f32([0, 0])), total), x)
    z = op.gather(y, at, const(i64(0)))
    session = loopc.InferenceSession(save(stateful([z], [x, at], [op.assign(y, total)]), tmp_path))
    assert_close(session.run(None, {**X, "at": i64(1)}), [f32(2)])
    with pytest.raises(loopc.RunError):
        session.run(None, {**X, "at": i64(7)})
    with pytest.raises(loopc.InvalidArgument):
        session.run(None, {"x": f32([1]), "at": i64(0)})
    assert_close(session.run(None, {**X, "at": i64(1)}), [f32(4)])


def test_some_outputs(tmp_path: pathlib.Path) -> None:
    """The state goes on whichever outputs are asked for, bound ones included."""
    session = loopc.InferenceSession(save(two_swapped(), tmp_path))
    assert_close(session.run(["y1"], X), [f32([1, 2])])
    binding = session.io_binding()
    binding.bind_cpu_input("x", X["x"])
    binding.bind_output("y1")
    session.run_with_iobinding(binding)
    assert_close(binding.copy_outputs_to_cpu(), [f32([3, 4])])
    assert_close(session.run(["y1"], X), [f32([1, 2])])


def test_threads(tmp_path: pathlib.Path) -> None:
    """Runs of one session take turns: none is lost."""
    session = loopc.InferenceSession(save(no_init(), tmp_path))

    def work() -> None:
        for _ in range(100):
            session.run(None, {"x": f32([1, 2])})
            session.get_state()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_close([session.get_state()["total"]], [f32([400, 800])])


def endless() -> openvino.Model:
    """A loop of n trips adds to a state, and to x."""
    x, a, inner = param([2], "x"), param([2]), param([2])
    total = variable("total", [2])
    read = op.read_value(const(f32([0, 0])), total)
    n = param([], "n", np.int64)
    [out] = loop(
        n, True, results=[op.add(a, inner)], carried=[(a, read, 0)], fixed=[(inner, x)], outs=[0]
    )
    y = op.add(out, const(f32([0, 0])))  # Assign wants a node.
    return stateful([y], [x, n], [op.assign(y, total)])


@pytest.mark.parametrize("by", ["terminate", "timeout", "interrupt"])
def test_who_waits_can_be_ended(by: str, tmp_path: pathlib.Path) -> None:
    """A run that waits for another one's states ends by its own token, timeout or Ctrl-C."""
    session = loopc.InferenceSession(save(endless(), tmp_path))
    endlessly = {**X, "n": i64(2**62)}
    holding, options = loopc.RunOptions(), loopc.RunOptions()

    def hold() -> None:
        with pytest.raises(loopc.RunCancelledError):
            session.run(None, endlessly, holding)

    holder = threading.Thread(target=hold)
    holder.start()
    time.sleep(0.2)  # Until it runs; were it late, what follows would end the same way.
    try:
        if by == "timeout":
            with pytest.raises(loopc.RunTimeoutError, match="longer than its timeout"):
                session.run(None, endlessly, loopc.RunOptions(timeout=0.1))
        elif by == "terminate":
            threading.Timer(0.1, lambda: setattr(options, "terminate", True)).start()
            with pytest.raises(loopc.RunCancelledError):
                session.run(None, endlessly, options)
        else:
            threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                session.run(None, endlessly)
    finally:
        holding.terminate = True
        holder.join()
    # Nothing was lost: the state is what it was.
    assert_close(session.run(None, {**X, "n": i64(1)}), [f32([1, 2])])


def test_shape_that_differs(tmp_path: pathlib.Path) -> None:
    """A run that would assign what the variable cannot be ends with an error."""
    x = param([-1], "x")
    total = variable("total", [2])
    read = op.read_value(const(f32([0, 0])), total)
    made = stateful([op.concat([read, x], 0)], [x], [op.assign(x, total)])
    session = loopc.InferenceSession(save(made, tmp_path))
    session.run(None, X)
    with pytest.raises(loopc.RunError, match="extent 3 in dimension 0, the variable 2"):
        session.run(None, {"x": f32([1, 2, 3])})


# ===- What is refused ---------------------------------------------------------===#


def edited(path: str, *pairs: tuple[str, str]) -> str:
    """The IR with regular expressions replaced."""
    file = pathlib.Path(path)
    text = file.read_text()
    for old, new in pairs:
        text, count = re.subn(old, new, text, flags=re.DOTALL)
        assert count
    file.write_text(text)
    return path


REFUSED = {
    "read_alone": (
        [(r'variable_id="a"( />|/>)', r'variable_id="z"\1'), (r'variable_id="b" ', 'variable_id="z" ')],
        r"(no (Assign|ReadValue) has the variable|has the variable '.', too)",
    ),
    "two_of_one": ([('variable_id="b"', 'variable_id="a"')], "has the variable 'a', too"),
    "no_name": ([('variable_id="b"', 'variable_id=""')], "'variable_id' is missing"),
    "shape": (
        [('variable_id="a" variable_type="f32" variable_shape="2"',
          'variable_id="a" variable_type="f32" variable_shape="3"')],
        "the variable 'a' is 'tensor<3xf32>'",
    ),
    "type": (
        [('variable_id="a" variable_type="f32"', 'variable_id="a" variable_type="i32"')],
        "the variable 'a' is 'tensor<2xi32>'",
    ),
    "unknown_type": ([('variable_type="f32"', 'variable_type="f99"')], "no element type 'f99'"),
    "no_shape": ([('variable_shape="2"', 'variable_shape="two"')], "'two' is no shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: pathlib.Path) -> None:
    """Errors that name the layer."""
    pairs, said = REFUSED[name]
    path = edited(save(two_swapped(), tmp_path), *pairs)
    with pytest.raises(loopc.CompileError, match=said) as caught:
        loopc.InferenceSession(path)
    assert re.search(r"main/(ReadValue|Assign) '", str(caught.value))


def test_state_in_a_body(tmp_path: pathlib.Path) -> None:
    """Variables are the model's; a body has none."""
    x, a = param([2], "x"), param([2])
    total = variable("total", [2])
    read = op.read_value(const(f32([0, 0])), total)
    y = op.add(read, a)
    body = openvino.Model([op.result(y), op.result(const(True))], [op.assign(y, total)], [a], "b")
    node = op.loop(const(i64(3)), const(True))
    node.set_function(body)
    node.set_special_body_ports([-1, 1])
    node.set_invariant_input(a, x.output(0))
    out = node.get_iter_value(body.results[0].output(0), -1)
    path = save(model([out], [x]), tmp_path)
    with pytest.raises(loopc.CompileError, match="a body has no state"):
        loopc.InferenceSession(path)


def test_variables_of_a_request(tmp_path):
    """Under OpenVINO's names: a variable is read, set and set back."""
    import loopc.openvino as ov

    request = ov.Core().compile_model(save(constant_init(), tmp_path)).create_infer_request()
    (total,) = request.query_state()
    assert total.name == "total" and total.state is None
    x = np.float32([1, 2])
    np.testing.assert_array_equal(request.infer([x])[0], [11, 22])
    assert total.state is not None
    np.testing.assert_array_equal(total.state.data, [11, 22])
    total.state = ov.Tensor(np.float32([5, 5]))
    np.testing.assert_array_equal(request.infer([x])[0], [6, 7])
    total.reset()
    np.testing.assert_array_equal(request.infer([x])[0], [11, 22])
