# ===- test_bench_torch.py - The models that are timed, in torch -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""benchmarks/torch_models.py computes what the models compute.

torch itself may be missing: what of it the models need NumPy has by other names.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import peers
import suite


class _Tensor(np.ndarray):
    """NumPy's array with torch's methods."""

    def to(self, what: Any) -> _Tensor:
        return self if isinstance(what, str) else self.astype(what).view(_Tensor)

    def cpu(self) -> _Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return np.asarray(self)

    def chunk(self, count: int, axis: int) -> list[np.ndarray]:
        return np.split(self, count, axis)


def _tensor(value: Any) -> _Tensor:
    return np.asarray(value).view(_Tensor)


def _make_torch() -> types.ModuleType:
    made: Any = types.ModuleType("torch")
    made.Tensor = _Tensor
    made.int32, made.int64 = np.int32, np.int64
    made.from_numpy = _tensor
    made.zeros = lambda shape, dtype, device: _tensor(np.zeros(shape, dtype))
    made.zeros_like = lambda x, dtype=None: _tensor(np.zeros_like(x, dtype))
    made.stack = lambda values: _tensor(np.stack(values))
    made.argmax = lambda x, axis: _tensor(np.argmax(x, axis))
    made.sigmoid = lambda x: 1 / (1 + np.exp(-x))
    made.where = lambda *given: _tensor(np.where(*given))
    made.tanh, made.exp = np.tanh, np.exp
    made.inference_mode = contextlib.nullcontext
    made.backends = types.SimpleNamespace(
        cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=True))
    )
    made.cuda = types.SimpleNamespace(is_available=lambda: False)
    return made


@pytest.fixture
def torch_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setitem(sys.modules, "torch", _make_torch())
    monkeypatch.delitem(sys.modules, "torch_models", raising=False)
    yield importlib.import_module("torch_models")
    sys.modules.pop("torch_models", None)


KEYS = [
    "empty_loop",
    "collect",
    "mandelbrot",
    "if_in_loop",
    "rnn_cell_b1",
    "lstm_cell_b1",
    "mamba_scan",
    "greedy_decoding",
    "sample_loop",
]


@pytest.mark.parametrize("key", KEYS)
def test_models(torch_models: Any, key: str) -> None:
    found = [name for name in suite.BENCHMARKS if name == key or name.startswith(f"{key}_")]
    assert found, f"no benchmark {key}"
    benchmark = suite.make(found[0])
    run = torch_models.find(found[0], "eager", "cpu")
    assert run is not None
    got, want = run(benchmark.feeds), benchmark.expect(benchmark.feeds)
    for one, other in zip(got, want, strict=True):
        assert one.shape == np.shape(other)
        differ = ~np.isclose(one, other, rtol=benchmark.rtol, atol=benchmark.atol)
        assert differ.mean() <= benchmark.stray


def test_ways(torch_models: Any) -> None:
    """What looks at a value is not recorded; what has no counterpart is not run."""
    assert torch_models.find("greedy_decoding", "graph") is None
    assert torch_models.find("if_in_loop", "compile") is None
    assert torch_models.find("nested", "eager") is None


def test_no_gpu(torch_models: Any) -> None:
    with pytest.raises(peers.Unable, match="no GPU"):
        peers.GPU_ENGINES["torch-cuda"]("collect", suite.make("collect"), 1)


@pytest.mark.parametrize("engine", ["torch-cuda", "torch-compile-cuda", "torch-graph-cuda"])
def test_not_installed(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Then the table has no column for it."""

    def version(name: str) -> str:
        assert name == "torch"
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert peers.version_of(engine) is None
