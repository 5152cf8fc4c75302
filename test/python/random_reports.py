# ===- random_reports.py - What random models do wrong, printed and kept ----===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The end of a fuzzer: its models, one by one, and a line about all of them."""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import onnx


class RandomModel(Protocol):
    """A model and the sets of inputs that it runs with."""

    sets: Sequence[Mapping[str, Any]]

    def model(self) -> onnx.ModelProto:
        """The model in its first form."""


def run_seeds(
    seeds: Sequence[int],
    make: Callable[[int], Any],
    problems: Callable[[Any, collections.Counter[str]], list[str]],
    keep: pathlib.Path | None,
    name: str,
) -> int:
    """Prints the problems of the models of some seeds, and returns the exit status.

    A model that has some is kept in the folder `keep` with its inputs, as NAME-SEED.onnx and
    NAME-SEED-SET.npz.
    """
    count: collections.Counter[str] = collections.Counter()
    for seed in seeds:
        made: RandomModel = make(seed)
        found = problems(made, count)
        count["failures"] += bool(found)
        for text in found[:3]:
            print(f"{seed} ({made}): {text[:400]}", flush=True)
        if found and keep:
            onnx.save(made.model(), keep / f"{name}-{seed}.onnx")
            for k, feeds in enumerate(made.sets):
                arrays: dict[str, Any] = dict(feeds)
                np.savez(keep / f"{name}-{seed}-{k}.npz", **arrays)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()))
    print(f"{len(seeds)} models: {parts}")
    return 1 if count["failures"] else 0
