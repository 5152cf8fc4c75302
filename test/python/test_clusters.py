# ===- test_clusters.py - Loops as clusters of blocks -------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Loops whose blocks are one cluster compute what they compute on the CPU.

The GPU is that of test_kernels.py: the driver for tests, which lets the blocks of
a cluster run by turns, and here looks for what one of them reads and another one
wrote without a barrier of the cluster between.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import loopc
import numpy as np
import onnx
import pytest
import test_graphs as graphs
import test_kernels as kernels
from test_kernels import Feeds, Gpu, numbers, parse, trips

plain = kernels.gpu


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    """One that finds races."""
    made = Gpu(tmp_path_factory.mktemp("races"), LOOPC_FAKE_CUDA_RACES="1")
    yield made
    made.pool.shutdown()


def clusters(gpu: Gpu) -> list[int]:
    """Blocks of the clusters that were begun."""
    found = (re.search(r"^cuLaunchKernelEx .*cluster=(\d+)x1x1", line) for line in gpu.lines())
    return [int(match[1]) for match in found if match]


def check(
    gpu: Gpu, text: str | onnx.ModelProto, feeds: Feeds, waits: bool = True, **options: Any
) -> None:
    """Holds a model whose loops are clusters against the CPU; `waits` where blocks have to."""
    model = parse(text) if isinstance(text, str) else text
    before = len(clusters(gpu))
    grids = gpu.count("cuLaunchCooperativeKernel")
    kernels.check(gpu, model, feeds, device_loops="cluster", **options)
    if gpu.counts:
        assert all(2 <= count <= 8 for count in clusters(gpu))
        assert not waits or len(clusters(gpu)) > before
        assert gpu.count("cuLaunchCooperativeKernel") == grids


@pytest.mark.parametrize("size", [2, 33, 700, 3000])
@pytest.mark.parametrize("count", [0, 1, 70])
def test_carried(gpu: Gpu, size: int, count: int) -> None:
    feeds = {"M": trips(count), "x": numbers(size), "K": trips(2)}
    check(gpu, graphs.fix(kernels.NESTED, n=size), feeds, waits=False, rtol=1e-4)


@pytest.mark.parametrize("limit", [1e9, 1.0, 1e-20])
def test_ends_by_condition(gpu: Gpu, limit: float) -> None:
    check(gpu, kernels.CONVERGE, {"x": numbers(300), "limit": np.float32(limit)})


@pytest.mark.parametrize("count", [0, 1, 2, 7])
@pytest.mark.parametrize("size", [17, graphs.SIDE])
def test_buffers_change_places(gpu: Gpu, size: int, count: int) -> None:
    feeds = {
        "M": trips(count),
        "x": numbers(size, size) / size**0.5,
        "z": numbers(size, size, seed=1) / size**0.5,
    }
    check(gpu, graphs.fix(kernels.SWAPPED, n=size), feeds, rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (5, 40), (40, 5), (3, 1000)])
def test_collected(gpu: Gpu, shape: tuple[int, int]) -> None:
    feeds = {"M": trips(5), "x": numbers(*shape)}
    check(gpu, kernels.SOFTMAX, feeds, waits=False, rtol=1e-4)


@pytest.mark.parametrize("inner", [0, 1, 4])
@pytest.mark.parametrize("outer", [0, 1, 6])
def test_branches_in_loops_in_loops(gpu: Gpu, outer: int, inner: int) -> None:
    feeds = {"M": trips(outer), "K": trips(inner), "x": numbers(60, seed=outer * 7 + inner)}
    check(gpu, graphs.fix(graphs.DEEP, n=60), feeds, rtol=1e-4)


def test_growing(gpu: Gpu) -> None:
    feeds = {"M": trips(40), "first": numbers(1, 24), "w": numbers(24, 24, seed=1) / 5}
    check(gpu, kernels.GROWING, feeds, rtol=1e-4)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    """One that has no clusters, and finds races: blocks count their arrivals."""
    made = Gpu(tmp_path_factory.mktemp("grid"), LOOPC_FAKE_CUDA_RACES="1",
               LOOPC_FAKE_CUDA_CLUSTERS="0")  # fmt: skip
    yield made
    made.pool.shutdown()


#: Loops whose blocks wait for one another, with what they are given.
GRIDS: dict[str, tuple[str | onnx.ModelProto, Feeds]] = {
    "ends": (kernels.CONVERGE, {"x": numbers(300), "limit": np.float32(1.0)}),
    "swapped": (
        graphs.fix(kernels.SWAPPED, n=40),
        {"M": trips(5), "x": numbers(40, 40) / 6, "z": numbers(40, 40, seed=1) / 6},
    ),
    "nested": (graphs.fix(graphs.DEEP, n=60), {"M": trips(4), "K": trips(3), "x": numbers(60)}),
    "growing": (
        kernels.GROWING,
        {"M": trips(20), "first": numbers(1, 24), "w": numbers(24, 24, seed=1) / 5},
    ),
}


@pytest.mark.parametrize("name", GRIDS)
def test_blocks_of_a_grid(grid: Gpu, name: str) -> None:
    text, feeds = GRIDS[name]
    model = parse(text) if isinstance(text, str) else text
    before = grid.count("cuLaunchCooperativeKernel")
    kernels.check(grid, model, feeds, device_loops="cluster", rtol=1e-4)
    assert not grid.counts or grid.count("cuLaunchCooperativeKernel") > before


def test_check_in_an_iteration(gpu: Gpu) -> None:
    """What fails in one iteration ends the loop, with the CPU's words."""
    model = parse(graphs.ROWS)
    at = np.array([1, -1, 5, 2, 0] * 40, dtype=np.int64)
    feeds = {"M": trips(200), "x": numbers(6, 40), "at": at}
    kernels.check(gpu, model, feeds, rtol=1e-4, device_loops="cluster")
    at[103] = 9
    with pytest.raises(loopc.RunError) as expected:
        loopc.InferenceSession(model).run(None, feeds)
    assert gpu.run(model, feeds, device_loops="cluster") == str(expected.value)


#: A state times weights.
STATE = """(int64 M, float[1, n] x, float[n, n] w) => (float[1, n] y) {
  cond = Constant<value: tensor = bool {1}>()
  y = Loop(M, cond, x) <body = body (int64 i, bool c, float[1, n] s) => (bool go, float[1, n] t) {
    go = Identity(c)
    p = MatMul(s, w)
    t = Tanh(p)
  }>
}"""


def state_model(size: int) -> onnx.ModelProto:
    return parse(re.sub(r"\bn\b", str(size), STATE))


def state(size: int, count: int) -> Feeds:
    weights = numbers(size, size, seed=1) / size**0.5
    return {"M": trips(count), "x": numbers(1, size), "w": weights}


def test_timeout(gpu: Gpu) -> None:
    """A loop of many iterations ends soon after its time is over."""
    got = gpu.run(state_model(40), state(40, 1 << 40), device_loops="cluster", timeout=0.2)
    assert isinstance(got, str)
    assert "time" in got


@pytest.mark.parametrize(("size", "kinds"), [(32, [0, 0]), (300, [1, 0]), (1100, [0, 1])])
def test_is_chosen(plain: Gpu, size: int, kinds: list[int]) -> None:
    """Little work is one block's, more is a cluster's, and much the whole device's."""
    calls = ("cuLaunchKernelEx", "cuLaunchCooperativeKernel")
    before = [plain.count(name) for name in calls]
    kernels.check(plain, state_model(size), state(size, 3), rtol=1e-4)
    if plain.counts:
        assert [plain.count(name) - old for name, old in zip(calls, before, strict=True)] == kinds


def test_one_launch(plain: Gpu) -> None:
    """As many calls for a thousand iterations as for ten."""
    counts = []
    for count in (10, 1000):
        before = {name: plain.count(name) for name in kernels.CALLS}
        outputs = plain.run(state_model(16), state(16, count), device_loops="cluster")
        assert not isinstance(outputs, str), outputs
        counts.append({name: plain.count(name) - before[name] for name in kernels.CALLS})
    assert counts[0] == counts[1]
    if plain.counts:
        assert counts[0]["cuLaunchKernelEx"] == 1


def test_older_chips(plain: Gpu) -> None:
    before = plain.count("cuLaunchKernelEx")
    model = state_model(300)
    kernels.check(plain, model, state(300, 3), rtol=1e-4, chip="sm_80", device_loops="cluster")
    assert plain.count("cuLaunchKernelEx") == before


@pytest.mark.parametrize("most", ["0", "2"])
def test_devices_with_smaller_clusters(tmp_path: pathlib.Path, most: str) -> None:
    """A cluster that the device does not take is a grid."""
    gpu = Gpu(tmp_path, LOOPC_FAKE_CUDA_CLUSTERS=most)
    if not gpu.counts:
        pytest.skip("the machine's own driver")
    kernels.check(gpu, state_model(300), state(300, 3), rtol=1e-4, count=3)
    assert gpu.count("cuLaunchCooperativeKernel") == 3
    assert gpu.count("cuLaunchKernelEx") == int(most != "0")
    gpu.pool.shutdown()


def test_older_drivers(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that has no function for it is not asked."""
    built = pathlib.Path(loopc.__file__).parents[2] / "test/cuda/libcuda.so.1"
    older = tmp_path / "libcuda.so.1"
    name = b"\0cuLaunchKernelEx\0"
    content = built.read_bytes()
    assert content.count(name) >= 1
    older.write_bytes(content.replace(name, b"\0cuLaunchKernel__\0"))
    monkeypatch.setenv("LOOPC_TEST_CUDA_DRIVER", str(older))
    gpu = Gpu(tmp_path)
    kernels.check(gpu, state_model(300), state(300, 3), rtol=1e-4)
    assert gpu.count("cuLaunchCooperativeKernel") == 1
    gpu.pool.shutdown()


#: Elements move along, so that threads read what others wrote.
MOVES = """(int64 M, {dtype}[3, 5] x) => ({dtype}[3, 5] y, {dtype}[5] last) {{
  cond = Constant<value: tensor = bool {{1}}>()
  at = Constant<value: tensor = int64[5] {{1, 2, 3, 4, 0}}>()
  two = Constant<value: tensor = int64 {{2}}>()
  first = Gather<axis: int = 0>(x, two)
  y, last = Loop(M, cond, x, first) <body = body (int64 i, bool c, {dtype}[3, 5] s, {dtype}[5] r) => (bool go, {dtype}[3, 5] t, {dtype}[5] q) {{
    go = Identity(c)
    moved = Gather<axis: int = 1>(s, at)
    t = Where(c, moved, s)
    q = Gather<axis: int = 0>(t, two)
  }}>
}}"""


@pytest.mark.parametrize("form", ["kernel", "cluster"])
@pytest.mark.parametrize(
    "dtype", ["float", "double", "float16", "bfloat16", "int64", "uint8", "bool"]
)
@pytest.mark.parametrize("count", [0, 1, 7])
def test_state_of_known_extents(gpu: Gpu, dtype: str, count: int, form: str) -> None:
    """What one block's loop writes is in shared memory, and comes in and out."""
    import ml_dtypes

    kinds = {"float": np.float32, "double": np.float64, "bfloat16": ml_dtypes.bfloat16}
    kind = np.dtype(kinds.get(dtype, dtype))
    x = (np.arange(15) % 7 if dtype != "bool" else np.arange(15) % 3 == 0).astype(kind)
    model = parse(MOVES.format(dtype=dtype))
    kernels.check(gpu, model, {"M": trips(count), "x": x.reshape(3, 5)}, device_loops=form)
