# ===- twins.py - Programs that move elements, over every type ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random_twins.py's programs over their element type, beside int64's codes by onnxruntime.

    twins.py --seeds 0:1000
    twins.py --seeds 7:8 --keep /tmp    the model, with inputs as .npz

Results have the bits of the elements that the codes stand for. Where onnxruntime has no answer (a
Scan of no trips), loopc.reference computes the codes. A line is printed for each failure: wrong,
failed, refused or crashed. Unfit is a program that neither computes.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import compiling
import engines
import numpy as np
import onnx
import transplants
from onnx import TensorProto
from random_twins import Twin, elements, random_twin

#: Verdicts that are loopc's fault.
BAD = ("wrong", "failed", "refused", "crashed")
LEVELS = (3, 3, 1, 0)
NARROW = (TensorProto.INT2, TensorProto.UINT2, TensorProto.INT4, TensorProto.UINT4)


def _reference(content: bytes, feeds: dict[str, Any]) -> engines.Outcome:
    from loopc import reference

    try:
        model = onnx.load_model_from_string(content)
        return engines.Outcome(values=reference.run(model, feeds, max_trips=100))
    except Exception as error:
        return engines.Outcome(error=f"{type(error).__name__}: {error}")


def difference(got: Sequence[Any], codes: Sequence[Any], elem: int) -> str | None:
    """Where results are not those that the codes stand for."""
    for k, (one, code) in enumerate(zip(got, codes, strict=True)):
        want = elements(code, elem)
        if one.shape != want.shape:
            if one.size == want.size == 0:
                continue  # of values of no trips, engines know other extents
            return f"output {k}: shape {one.shape}, expected {want.shape}"
        if one.dtype != want.dtype:
            return f"output {k}: {one.dtype}, expected {want.dtype}"
        if elem in NARROW:  # a byte has more bits than the element
            one, want = one.astype(np.int8), want.astype(np.int8)
        same = (one.tolist() == want.tolist() if want.dtype == object
                else one.tobytes() == want.tobytes())  # fmt: skip
        if not same:
            return f"output {k}: {one.dtype} {one.ravel()[:8]}, expected {want.dtype} {want.ravel()[:8]}"
    return None


class Judge:
    """Runs programs, and counts how that ends."""

    def __init__(self, keep: pathlib.Path | None, verbose: bool) -> None:
        self._keep, self._verbose = keep, verbose
        self.count: collections.Counter[str] = collections.Counter()

    def _codes(self, twin: Twin, one: dict[str, Any]) -> list[Any] | None:
        content = twin.make(TensorProto.INT64, False).SerializeToString()
        feeds = twin.feeds(one, TensorProto.INT64)
        for run in (engines.run_ort, _reference):
            theirs = engines.worker(run, 60.0).ask((content, feeds))
            if theirs.values is not None:
                return list(theirs.values)
            self.error = str(theirs.error)
        return None

    def run(self, seed: int) -> None:
        """One program, with all its sets of inputs."""
        twin = random_twin(seed)
        is_open, level = seed % 3 == 0, LEVELS[seed // 3 % 4]
        model = twin.make(twin.elem, is_open)
        content = model.SerializeToString()
        for number, one in enumerate(twin.sets):
            codes = self._codes(twin, one)
            feeds = twin.feeds(one, twin.elem)
            verdict, problem = "same", ""
            if codes is None:
                verdict, problem = "unfit", self.error
            else:
                ours = engines.worker(transplants._run, 120.0).ask((content, feeds, level))
                if ours.values is None:
                    problem = str(ours.error)
                    verdict = "crashed" if ours.crashed else problem.partition(":")[0]
                else:
                    found = difference(ours.values, codes, twin.elem)
                    verdict, problem = ("wrong", found) if found else ("same", "")
            self.count[verdict] += 1
            if verdict in BAD or (self._verbose and verdict != "same"):
                kind = TensorProto.DataType.Name(twin.elem)
                print(f"{seed} #{number} {kind} -O{level}{' open' if is_open else ''}: {verdict}: "
                      f"{problem[:400]}", flush=True)  # fmt: skip
                if self._keep:
                    onnx.save(model, self._keep / f"twin-{seed}.onnx")
                    np.savez(self._keep / f"twin-{seed}-{number}.npz", **feeds)
                break


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(42), metavar="A:B",
                        help="programs A to B - 1")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="write failing models")
    parser.add_argument("-v", "--verbose", action="store_true", help="say all that differs")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    judge = Judge(options.keep, options.verbose)
    began = time.monotonic()
    for seed in options.seeds:
        judge.run(seed)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(judge.count.items()))
    print(f"{len(options.seeds)} programs in {time.monotonic() - began:.0f} s: {parts}")
    return int(any(judge.count[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
