# ===- inductor.py - Programs of torch, beside Inductor ----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Times torch.compile with the backends loopc and inductor, and torch itself, on one thread.

    PYTHONPATH=build/python .venv-apps/torch/bin/python benchmarks/inductor.py [REGEX]

The programs are those of test/apps/torch_programs.py, with inputs of the sizes below. The
backends take turns; a time is the least of all rounds. Inductor needs a C++ compiler.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "apps"))

from torch_programs import PROGRAMS, rand

BACKENDS = ("eager", "inductor", "loopc")
ROUNDS = 7

#: Inputs of the programs; others keep those of the tests.
SIZES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "cond_sum": lambda: (rand(10_000),),
    "while_count": lambda: (torch.tensor(1000), rand(64)),
    "while_captures": lambda: (rand(256, 256) / 18, rand(256)),
    "while_nested": lambda: (torch.tensor(60), torch.tensor(60)),
    "cond_in_while": lambda: (torch.tensor(500), rand(64)),
    "newton": lambda: (rand(10_000), torch.tensor(0.3)),
    "scan_cumulative": lambda: (rand(64), rand(1000, 64)),
    "scan_rnn": lambda: (rand(256), rand(256, 256), rand(256, 256) / 16),
    "scan_reversed": lambda: (rand(64), rand(1000, 64)),
    "scan_many": lambda: ((rand(64), rand(64)), (rand(500, 64), rand(500, 64))),
    "cond_in_scan": lambda: (rand(64), rand(500, 64)),
    "selective_scan": lambda: (
        rand(1, 128, 16), rand(256, 1, 128), rand(256, 1, 128).sigmoid(), rand(128, 16),
        rand(256, 1, 16), rand(256, 1, 16),
    ),
    "ScanLSTM": lambda: (rand(2, 5), rand(2, 5), rand(300, 2, 4)),
    "map_rows": lambda: (rand(500, 64), rand(64)),
    "map_cond": lambda: (rand(500, 64),),
    "associative_linear": lambda: (rand(256, 64).sigmoid(), rand(256, 64)),
    "Greedy": lambda: (rand(1, 8),),
    "Beam": lambda: (rand(3),),
    "Block": lambda: (rand(4, 128, 8),),
    "cond_nested": lambda: (rand(10_000),),
    "CondModules": lambda: (rand(512, 4),),
    "Perceptron": lambda: (rand(8, 16),),
    "Heads": lambda: (rand(1, 64, 32),),
    "Exit": lambda: (rand(8, 16),),
    "Experts": lambda: (rand(8, 16),),
    "power_iteration": lambda: (rand(64, 64), rand(64)),
    "conjugate_gradient": lambda: (torch.diag(torch.arange(1.0, 65)), rand(64)),
    "differential_equation": lambda: (rand(64), rand(64, 64) / 8),
    "bisection": lambda: (rand(1000).abs(),),
    "shortest_paths": lambda: (rand(64, 64).abs(),),
    "inverse": lambda: (torch.eye(32) + 0.1 * rand(32, 32),),
    "life": lambda: ((rand(64, 64) > 0).float(),),
    "lstm": lambda: (rand(1, 64, 4),),
}  # fmt: skip


def open_backend(backend: str, name: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """The program, ready to be called."""
    torch.manual_seed(0)
    model: Any = PROGRAMS[name].make().eval()
    if backend != "eager":
        torch._dynamo.reset()
        with warnings.catch_warnings():
            # What runs without loopc is no time of loopc's.
            warnings.filterwarnings("error", message="loopc: ")
            model = torch.compile(model, backend=backend)
            model(*args)
    return lambda: model(*args)


def seconds(run: Callable[[], Any]) -> float:
    """The time of a call; the mean of as many as fit into a tenth of a second."""
    begin = time.perf_counter()
    run()
    count = max(1, min(1000, int(0.1 / (time.perf_counter() - begin))))
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def measure(name: str) -> dict[str, float]:
    """The least time of each backend that runs the program."""
    args = SIZES[name]()
    ready = {}
    for backend in BACKENDS:
        try:
            ready[backend] = open_backend(backend, name, args)
        except Exception as error:
            text = str(error).strip().splitlines()
            print(f"    {backend}: {type(error).__name__}: {text[0] if text else ''}"[:150])
    times: dict[str, list[float]] = {backend: [] for backend in ready}
    for _ in range(ROUNDS):
        for backend, run in ready.items():
            times[backend].append(seconds(run))
    return {backend: min(values) for backend, values in times.items()}


def main() -> int:
    """Prints a row for each program, and how many of them are faster than Inductor's."""
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch._dynamo.config.allow_rnn = True
    print(f"torch {torch.__version__}, one thread; microseconds")
    print(f"{'':20}" + "".join(f"{name:>12}" for name in BACKENDS) + "   inductor / loopc")
    ratios = []
    for name in filter(pattern.search, SIZES):
        found = measure(name)
        cells = (f"{found[one] * 1e6:12.1f}" if one in found else f"{'-':>12}" for one in BACKENDS)
        ratio = found["inductor"] / found["loopc"] if {"inductor", "loopc"} <= found.keys() else 0
        ratios += [ratio] if ratio else []
        print(f"{name:20}" + "".join(cells) + (f"   {ratio:.2f}" if ratio else ""), flush=True)
    if ratios:
        faster = sum(ratio > 1 for ratio in ratios)
        mean = statistics.geometric_mean(ratios)
        print(f"faster than Inductor: {faster} of {len(ratios)}; geometric mean {mean:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
