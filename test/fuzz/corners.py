# ===- corners.py - Operators in the corners of their definitions, anywhere -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random nodes with all their attributes, by themselves and in loops, scans and branches.

    corners.py --seeds 0:20                     20 cases of each operator
    corners.py --seeds 0:100 --filter einsum    of those whose function has such a name
    corners.py --seeds 0:20 --places 4          each in four places
    corners.py --seeds 0:20 --keep /tmp         failing models, with inputs as .npz

What random_corners.py makes is computed by onnxruntime and by ONNX's own evaluator. Where loopc
agrees with one of them the node is put where it is repeated, for any shapes that are declared, as
transplants.py does. A line is printed for each failure: wrong, refused, failed, crashed, or alone
(the node by itself is). Not failures are disputed (the others do not agree with each other, and loopc
is one of them), unfit (neither has an answer) and lacking. -v says which, and why.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import random
import re
import sys
import time
import unittest.mock
import warnings
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import compiling
import donors
import engines
import numpy as np
import onnx
import random_checks
import transplants
from onnx.reference.ops import op_resize
from random_corners import CORNERS, Corner, corner

Values = list[Any]
#: Verdicts that are loopc's fault.
BAD = ("alone", "wrong", "failed", "refused", "crashed")


def _run_reference(content: bytes, feeds: donors.Feeds) -> engines.Outcome:
    """ONNX's evaluator, with what random_checks.py mends."""
    from onnx.reference import ReferenceEvaluator

    warnings.simplefilter("ignore")
    with unittest.mock.patch.object(op_resize, "_compute_x_ori", random_checks._place_in_input):
        try:
            evaluator = ReferenceEvaluator(onnx.load_model_from_string(content))
            return engines.Outcome(values=list(evaluator.run(None, feeds)))
        except Exception as error:  # an evaluator of NumPy's: errors of any kind
            return engines.Outcome(error=f"{type(error).__name__}: {error}")


def _differ(got: Values, want: Values, tolerance: float) -> str | None:
    problem: str | None = cases.compare(got, want, tolerance, tolerance)
    return problem


class Judge:
    """Runs a case by itself and elsewhere, and counts how that ends."""

    def __init__(self, keep: pathlib.Path | None, verbose: bool) -> None:
        self._keep, self._verbose = keep, verbose
        self.count: collections.Counter[str] = collections.Counter()

    def _tell(self, verdict: str, what: str, problem: str = "") -> None:
        self.count[verdict] += 1
        if verdict in BAD or (self._verbose and verdict != "same"):
            print(f"{what}: {verdict}: {problem[:300]}", flush=True)

    def _alone(self, what: str, made: Corner) -> donors.Donor | None:
        """The case with results that loopc and another engine agree on; None without any."""
        model = made.model()
        content = model.SerializeToString()
        sets, results = [], []
        constants = {t.name: onnx.numpy_helper.to_array(t) for t in made.constants.values()}
        for number, feeds in enumerate(made.sets):
            others = [engines.worker(run, 30.0).ask((content, feeds))
                      for run in (engines.run_ort, _run_reference)]  # fmt: skip
            answers = [list(other.values) for other in others if other.values is not None]
            outcome = engines.worker(transplants._run, 180.0).ask((content, feeds, 3))
            where = f"{what} #{number}"
            if outcome.values is None:
                lacking = str(outcome.error).startswith("lacking")
                verdict = "lacking" if lacking else "alone" if answers else "unfit"
                self._tell(verdict, where, str(outcome.error))
                answer = None
            else:
                answer = self._compare(where, made, list(outcome.values), answers)
            if answer is None and self.count["alone"]:
                self._write(where, model, feeds)
            if answer is not None and (not results or donors._like(answer, results[0])):
                sets.append(feeds | constants)
                results.append(answer)
        if not sets:
            return None
        return donors.Donor(what, model, sets, results, made.tolerance, made.tolerance)

    def _compare(
        self, what: str, made: Corner, got: Values, answers: list[Values]
    ) -> Values | None:
        """The answer of another engine that loopc's results agree with."""
        if not answers:
            self._tell("unfit", what, "no other engine computes it")
            return None
        problems = [_differ(got, answer, made.tolerance) for answer in answers]
        if all(problems):
            self._tell("alone", what, " | ".join(map(str, problems)))
            return None
        if any(problems):
            self._tell("disputed", what, str(next(filter(None, problems))))
        return answers[problems.index(None)]

    def _write(self, what: str, model: onnx.ModelProto, feeds: dict[str, Any]) -> None:
        if self._keep:
            path = self._keep / f"{re.sub(r'[^a-z0-9_]+', '-', what)}.onnx"
            onnx.save(model, path)
            np.savez(path.with_suffix(".npz"), **feeds)

    def run(self, name: str, seed: int, places: int) -> None:
        """One case, by itself and in so many places."""
        what = f"{name} {seed}"
        donor = self._alone(what, corner(name, seed))
        for place in range(places if donor else 0):
            assert donor is not None
            where, host, level = transplants.transplant(donor, place)
            problem = transplants._judge(host, level)
            verdict, _, text = (problem or "same").partition(":")
            self._tell(verdict, where, text)
            if verdict in BAD:
                self._write(f"{what} {place}", host.model(), host.given)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(1), metavar="A:B",
                        help="cases A to B - 1 of each")  # fmt: skip
    parser.add_argument("--filter", default="", metavar="REGEX", help="functions of such a name")
    parser.add_argument("--some", type=int, metavar="N", help="so many cases in all, by the seed")
    parser.add_argument("--places", type=int, default=2, metavar="N", help="of each (default 2)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="write failing models")
    parser.add_argument("-v", "--verbose", action="store_true", help="say all that differs")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    chosen = [(name, seed) for seed in options.seeds for name in CORNERS
              if re.search(options.filter, name)]  # fmt: skip
    if options.some is not None:
        chosen = random.Random(options.seeds[0]).sample(chosen, min(options.some, len(chosen)))
    judge = Judge(options.keep, options.verbose)
    began = time.monotonic()
    for name, seed in chosen:
        judge.run(name, seed, options.places)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(judge.count.items()))
    print(f"{len(chosen)} cases in {time.monotonic() - began:.0f} s: {parts}")
    return int(any(judge.count[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
