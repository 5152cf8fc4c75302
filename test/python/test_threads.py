# ===- test_threads.py - Runs on several threads ----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Large nests give the same bits on one thread and on several."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import subprocess
import sys
from typing import Any

import loopc
import numpy as np
import onnx.parser
import pytest

HEADER = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'

MANDELBROT = """
main (float[H,W] x, float[H,W] y, int64 n) => (float[H,W] a, float[H,W] b) {
  z = Sub(x, x)
  four = Constant<value = float {4.0}>()
  a, b = Loop(n, , z, z) <body = body (int64 i, bool c, float[H,W] r, float[H,W] s) =>
      (bool go, float[H,W] r2, float[H,W] s2) {
    go = Identity(c)
    rr = Mul(r, r)
    ss = Mul(s, s)
    d = Sub(rr, ss)
    e = Add(d, x)
    rs = Mul(r, s)
    f = Add(rs, rs)
    g = Add(f, y)
    sum = Add(rr, ss)
    inside = Less(sum, four)
    r2 = Where(inside, e, r)
    s2 = Where(inside, g, s)
  }>
}
"""

#: A selective scan: no channel depends on another.
CHANNELS = """
main (float[T,1,D] x, float[T,1,D] t, float[D,N] a, float[T,1,N] b, float[1,D,N] s)
    => (float[1,D,N] e, float[T,1,D] y) {
  last = Constant<value = int64[1] {-1}>()
  middle = Constant<value = int64[1] {1}>()
  e, y = Scan<num_scan_inputs = 3, body = step (float[1,D,N] p, float[1,D] u, float[1,D] v,
      float[1,N] w) => (float[1,D,N] n, float[1,D] r) {
    c = Unsqueeze(v, last)
    d = Mul(c, a)
    f = Sigmoid(d)
    g = Mul(f, p)
    h = Unsqueeze(u, last)
    i = Unsqueeze(w, middle)
    j = Mul(h, i)
    n = Add(g, j)
    k = Mul(n, i)
    r = ReduceSum<keepdims = 0>(k, last)
  }>(s, x, t, b)
}
"""

#: Keys and values grow by a row in each step, and a query attends to all of them.
CACHE = """
main (float[B,H,T,64] k, float[B,H,T,64] v, float[B,H,1,64] q, float[steps] steps)
    => (float[B,H,U,64] keys, float[B,H,U,64] values, float[B,H,1,64] last) {
  count = Size(steps)
  keys, values, last = Loop<body = step (int64 i, bool go, float[B,H,P,64] pk, float[B,H,P,64] pv,
      float[B,H,1,64] x) => (bool go, float[B,H,R,64] nk, float[B,H,R,64] nv, float[B,H,1,64] y) {
    kt = Tanh(x)
    vt = Sub(x, kt)
    nk = Concat<axis = 2>(pk, kt)
    nv = Concat<axis = 2>(pv, vt)
    turned = Transpose<perm = [0, 1, 3, 2]>(nk)
    s = MatMul(x, turned)
    p = Softmax<axis = -1>(s)
    o = MatMul(p, nv)
    y = Add(o, kt)
  }>(count, "", k, v, q)
}
"""

#: Models whose nests are large enough for threads, and feeds.
MODELS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "matmul": (
        "main (float[300,400] a, float[400,333] b) => (float[300,333] y) { y = MatMul(a, b) }",
        {"a": (300, 400), "b": (400, 333)},
    ),
    "open matmul": (
        "main (float[B,M,K] a, float[K,N] b) => (float[B,M,N] y) { y = MatMul(a, b) }",
        {"a": (2, 200, 130), "b": (130, 250)},
    ),
    "batches": (
        "main (float[B,M,K] a, float[B,K,N] b) => (float[B,M,N] y) { y = MatMul(a, b) }",
        {"a": (37, 33, 40), "b": (37, 40, 65)},
    ),
    "convolution": (
        "main (float[2,16,40,41] x, float[24,16,3,3] w) => (float[2,24,40,41] y) "
        "{ y = Conv<pads = [1, 1, 1, 1]>(x, w) }",
        {"x": (2, 16, 40, 41), "w": (24, 16, 3, 3)},
    ),
    "elements": (
        "main (float[N] a, float[N] b) => (float[N] y) { c = Mul(a, b) d = Tanh(c) y = Add(d, a) }",
        {"a": (500_003,), "b": (500_003,)},
    ),
    "attention": (
        "main (float[8,S,64] q, float[8,T,64] k, float[8,T,64] v) => (float[8,S,64] y) "
        "{ t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }",
        {"q": (8, 190, 64), "k": (8, 300, 64), "v": (8, 300, 64)},
    ),
    "heads": (
        "main (float[8,200,64] q, float[8,64,300] k, float[8,300,64] v) => (float[8,200,64] y) "
        "{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }",
        {"q": (8, 200, 64), "k": (8, 64, 300), "v": (8, 300, 64)},
    ),
    # One image: the channels are shared out, which lie within the batch.
    "open batch": (
        "main (float[N,16,H,W] x, float[64,16,3,3] w, float[64,64,3,3] v) => (float[N,64,H,W] y) "
        "{ a = Conv<pads = [1, 1, 1, 1]>(x, w) b = Relu(a) y = Conv<pads = [1, 1, 1, 1]>(b, v) }",
        {"x": (1, 16, 41, 43), "w": (64, 16, 3, 3), "v": (64, 64, 3, 3)},
    ),
    "attention in an open batch": (
        "main (float[B,8,S,64] q, float[B,8,64,T] k, float[B,8,T,64] v) => (float[B,8,S,64] y) "
        "{ s = MatMul(q, k) p = Softmax(s) y = MatMul(p, v) }",
        {"q": (1, 8, 100, 64), "k": (1, 8, 64, 130), "v": (1, 8, 130, 64)},
    ),
    # Heads go through all steps by themselves.
    "linear attention": (
        "main (float[1,L,256] q, float[1,L,256] k, float[1,L,256] v, float[1,4,64,64] s) "
        "=> (float[1,L,256] y, float[1,4,64,64] t) { y, t = com.microsoft.LinearAttention"
        '<q_num_heads = 4, kv_num_heads = 4, update_rule = "linear">(q, k, v, s) }',
        {"q": (1, 256, 256), "k": (1, 256, 256), "v": (1, 256, 256), "s": (1, 4, 64, 64)},
    ),
    # Threads take blocks of channels, each through all steps; the last block is less than others.
    **{
        f"{kind} channels": (
            CHANNELS,
            {"x": (70, 1, d), "t": (70, 1, d), "a": (d, n), "b": (70, 1, n), "s": (1, d, n)},
        )
        for kind, d, n in (("many", 700, 9), ("few", 130, 33), ("single", 1, 5), ("wide", 64, 200))
    },
    "known channels": (
        CHANNELS.replace("D", "512").replace("N", "16"),
        {
            "x": (400, 1, 512),
            "t": (400, 1, 512),
            "a": (512, 16),
            "b": (400, 1, 16),
            "s": (1, 512, 16),
        },
    ),
    # A head's keys and values are written where they stay, whoever computes them.
    **{
        f"a cache of {batch} by {heads}": (
            CACHE,
            {
                "k": (batch, heads, 1, 64),
                "v": (batch, heads, 1, 64),
                "q": (batch, heads, 1, 64),
                "steps": (90,),
            },
        )
        for batch, heads in ((1, 8), (3, 5), (2, 1))
    },
    "recurrence": (
        "main (float[T,B,I] x, float[1,G,I] w, float[1,G,H] r) => (float[T,1,B,256] y) "
        "{ y = LSTM<hidden_size = 256>(x, w, r) }",
        {"x": (40, 1, 200), "w": (1, 1024, 200), "r": (1, 1024, 256)},
    ),
    # Each thread computes a direction; with four, threads share the steps of both.
    **{
        f"two directions of {kind} by {batch}": (
            f"main (float[T,B,80] x, float[2,{gates * 128},80] w, float[2,{gates * 128},128] r) => "
            f"(float[T,2,B,128] y, float[2,B,128] h) {{ y, h = {kind}"
            '<hidden_size = 128, direction = "bidirectional">(x, w, r) }',
            {
                "x": (60, batch, 80),
                "w": (2, gates * 128, 80),
                "r": (2, gates * 128, 128),
            },
        )
        for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1))
        for batch in (1, 3)
    },
    "bytes times a vector": (
        "main (float[B,T,S,256] x, float[256,1] w) => (float[B,T,S,1] y) "
        "{ t = Tanh(x) a, s, z = DynamicQuantizeLinear(t) b, r, q = DynamicQuantizeLinear(w) "
        "p = MatMulInteger(a, b, z, q) f = Cast<to = 1>(p) u = Mul(s, r) y = Mul(f, u) }",
        {"x": (1, 40, 33, 256), "w": (256, 1)},
    ),
    "rows": (
        "main (float[N,M] x, float[M] w) => (float[N,M] y, float[N] m) "
        "{ s = Softmax(x) y = Mul(s, w) ax = Constant<value = int64[1] {1}>() "
        "m = ReduceMax<axes = [1], keepdims = 0>(x) }",
        {"x": (501, 1003), "w": (1003,)},
    ),
}


def sessions(model: bytes) -> dict[int, loopc.InferenceSession]:
    """The model on 1, 2 and 4 threads."""
    return {
        threads: loopc.InferenceSession(
            model, sess_options=loopc.SessionOptions(intra_op_num_threads=threads)
        )
        for threads in (1, 2, 4)
    }


def parse(text: str) -> bytes:
    return bytes(onnx.parser.parse_model(HEADER + text).SerializeToString())


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_on_all_threads(name: str) -> None:
    text, shapes = MODELS[name]
    random = np.random.default_rng(0)
    feeds = {key: random.standard_normal(shape, dtype=np.float32) for key, shape in shapes.items()}
    runs = {threads: s.run(None, feeds) for threads, s in sessions(parse(text)).items()}
    for threads in (2, 4):
        for one, other in zip(runs[1], runs[threads], strict=True):
            np.testing.assert_array_equal(one, other)
    if name in ("attention", "heads"):
        queries, keys, values = (value.astype(np.float64) for value in feeds.values())
        scores = queries @ (keys if name == "heads" else keys.swapaxes(1, 2))
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        want = shares / shares.sum(-1, keepdims=True) @ values
        np.testing.assert_allclose(runs[2][0], want, rtol=1e-3, atol=1e-4)
    if name.endswith("matmul"):
        np.testing.assert_allclose(runs[2][0], feeds["a"] @ feeds["b"], rtol=1e-4, atol=1e-3)


def test_nothing_to_do() -> None:
    text, _ = MODELS["open matmul"]
    for session in sessions(parse(text)).values():
        for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 1)):
            a = np.ones(shape, np.float32)
            b = np.ones((shape[2], 5), np.float32)
            (y,) = session.run(None, {"a": a, "b": b})
            np.testing.assert_array_equal(y, a @ b)


def mandelbrot_feeds(height: int, width: int, n: int) -> dict[str, np.ndarray[Any, Any]]:
    x, y = np.meshgrid(
        np.linspace(-2, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    )
    return {"x": x, "y": y, "n": np.asarray(n)}


def test_tiles_of_a_loop() -> None:
    """All iterations of a tile run on one thread."""
    feeds = mandelbrot_feeds(129, 131, 60)
    runs = {threads: s.run(None, feeds) for threads, s in sessions(parse(MANDELBROT)).items()}
    for threads in (2, 4):
        for one, other in zip(runs[1], runs[threads], strict=True):
            np.testing.assert_array_equal(one, other)
    z = np.zeros((129, 131), np.complex64)
    c = feeds["x"] + 1j * feeds["y"]
    for _ in range(60):
        z = np.where(z.real**2 + z.imag**2 < 4, z * z + c, z)
    assert np.mean(np.isclose(runs[2][0], z.real, rtol=1e-2, atol=1e-2)) > 0.98


def test_the_end_of_a_run_on_threads() -> None:
    """A timeout ends the tiles on every thread (loop_cancel)."""
    session = sessions(parse(MANDELBROT))[2]
    options = loopc.RunOptions(timeout=0.05)
    feeds = mandelbrot_feeds(256, 256, 2**40)
    feeds["x"] *= 0.01
    feeds["y"] *= 0.01
    with pytest.raises(loopc.RunTimeoutError):
        session.run(None, feeds, options)
    feeds["n"] = np.asarray(3)
    session.run(None, feeds)


def test_runs_at_the_same_time() -> None:
    """Each run has threads of its own."""
    text, shapes = MODELS["matmul"]
    random = np.random.default_rng(0)
    feeds = {key: random.standard_normal(shape, dtype=np.float32) for key, shape in shapes.items()}
    session = sessions(parse(text))[2]
    (want,) = session.run(None, feeds)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for (got,) in pool.map(lambda _: session.run(None, feeds), range(20)):
            np.testing.assert_array_equal(got, want)


def test_an_error_on_threads() -> None:
    """The same error on one thread and on several."""
    text = """main (float[N] x, int64[400000] i) => (float[400000] y) {
      g = Gather(x, i)
      y = Tanh(g)
    }"""
    indices = np.zeros(400_000, np.int64)
    indices[[200_000, 300_000]] = 50
    feeds = {"x": np.ones(50, np.float32), "i": indices}
    messages = set()
    for session in sessions(parse(text)).values():
        with pytest.raises(loopc.RunError) as caught:
            session.run(None, feeds)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert "out of range for an axis of extent 50" in messages.pop()


def test_counts_of_threads() -> None:
    """More threads than there is work, and as many as a run takes."""
    text, shapes = MODELS["open matmul"]
    feeds = {key: np.ones(shape, np.float32) for key, shape in shapes.items()}
    for threads in (0, 3, 64, 10_000):
        options = loopc.SessionOptions(intra_op_num_threads=threads)
        session = loopc.InferenceSession(parse(text), sess_options=options)
        (y,) = session.run(None, feeds)
        np.testing.assert_array_equal(y, np.full((2, 200, 250), 130, np.float32))


#: Prints how many threads the process has gained by runs of a model, and what it computes while
#: nobody runs anything.
COUNTS = """
import os, pathlib, sys, threading, time
mask = os.environ.pop("TEST_MASK", None)
import loopc, numpy as np

def count():
    return len(os.listdir("/proc/self/task"))

model, number, callers, shape = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), eval(sys.argv[4])
session = loopc.InferenceSession(model, loopc.SessionOptions(intra_op_num_threads=number))
if mask:
    os.sched_setaffinity(0, {int(mask)})
feeds = {p.name: np.ones(s, np.float32) for p, s in zip(session.get_inputs(), shape)}
before, most = count(), 0
together = threading.Barrier(callers)

def work():
    global most
    together.wait()
    for _ in range(20):
        session.run(None, feeds)
        most = max(most, count() - before - callers)
    together.wait()

threads = [threading.Thread(target=work) for _ in range(callers)]
for one in threads:
    one.start()
for one in threads:
    one.join()
time.sleep(0.05)
begin = time.process_time()
time.sleep(0.3)
print(most, time.process_time() - begin < 0.1)
"""

LARGE = "main (float[M,N] a, float[N,K] b) => (float[M,K] y) { y = MatMul(a, b) }"
LARGE_SHAPES = ((600, 500), (500, 700))

#: Less than a thread takes to start, in loops or not.
SMALL = {
    "elements": (
        "main (float[N] a, float[N] b) => (float[N] y) { y = Add(a, b) }",
        ((1000,), (1000,)),
    ),
    "recurrence": (
        "main (float[T,B,16] x, float[1,128,16] w, float[1,128,32] r) => (float[T,1,B,32] y) "
        "{ y = LSTM<hidden_size = 32>(x, w, r) }",
        ((6, 2, 16), (1, 128, 16), (1, 128, 32)),
    ),
}


def gained(
    tmp_path: pathlib.Path,
    text: str,
    shapes: tuple[tuple[int, ...], ...],
    *,
    number: int = 0,
    callers: int = 1,
    **environment: str,
) -> int:
    """How many threads a process has in runs of a model beside those that call it."""
    path = tmp_path / "model.onnx"
    path.write_bytes(parse(text))
    given = {
        key: value
        for key, value in os.environ.items()
        if key not in ("LOOPC_NUM_THREADS", "OMP_NUM_THREADS")
    }
    python = str(pathlib.Path(loopc.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", COUNTS, str(path), str(number), str(callers), str(shapes)],
        env={**given, "PYTHONPATH": python, "OPENBLAS_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    threads, is_idle = done.stdout.split()
    assert is_idle == "True"
    return int(threads)


@pytest.mark.parametrize(
    ("environment", "number", "expected"),
    [
        ({"LOOPC_NUM_THREADS": "3"}, 0, 2),
        ({"LOOPC_NUM_THREADS": "3", "OMP_NUM_THREADS": "1"}, 0, 2),
        ({"OMP_NUM_THREADS": "1"}, 0, 0),
        ({"LOOPC_NUM_THREADS": "3"}, 1, 0),
        ({"LOOPC_NUM_THREADS": "1"}, 4, 3),
        ({"LOOPC_NUM_THREADS": "3"}, -1, 2),
    ],
)
def test_the_default_number(
    tmp_path: pathlib.Path, environment: dict[str, str], number: int, expected: int
) -> None:
    """Where nobody says a number it is the environment's; a number that is said holds."""
    assert gained(tmp_path, LARGE, LARGE_SHAPES, number=number, **environment) == expected


def test_the_cores_of_the_process(tmp_path: pathlib.Path) -> None:
    """Without a number at most the processors of the mask, also where it is set later."""
    cores = sorted(os.sched_getaffinity(0))
    assert 0 <= gained(tmp_path, LARGE, LARGE_SHAPES) <= len(cores) - 1
    assert gained(tmp_path, LARGE, LARGE_SHAPES, TEST_MASK=str(cores[0])) == 0


@pytest.mark.parametrize("name", SMALL)
def test_small_models_start_no_thread(tmp_path: pathlib.Path, name: str) -> None:
    text, shapes = SMALL[name]
    assert gained(tmp_path, text, shapes, LOOPC_NUM_THREADS="2") == 0


@pytest.mark.parametrize(
    "name",
    [
        "open batch",
        "attention in an open batch",
        "linear attention",
        "known channels",
        "a cache of 1 by 8",
    ],
)
def test_threads_within_a_batch_of_one(tmp_path: pathlib.Path, name: str) -> None:
    text, shapes = MODELS[name]
    assert gained(tmp_path, text, tuple(shapes.values()), LOOPC_NUM_THREADS="2") == 1


def test_runs_at_a_time_share_the_cores(tmp_path: pathlib.Path) -> None:
    """Many callers have no more threads than one of them; only what is said is taken."""
    assert gained(tmp_path, LARGE, LARGE_SHAPES, callers=6, LOOPC_NUM_THREADS="2") <= 1
