# ===- transplants.py - Nodes of ONNX's own tests in other places -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Puts each node of ONNX's backend tests into loops, scans and branches, and compares.

    transplants.py --seeds 0:1                    every case of the suite in one place
    transplants.py --seeds 0:4 --filter gather    those of some name in four
    transplants.py --seeds 7:8 --some 40          40 of them, others with each seed
    transplants.py --seeds 0:1 --keep /tmp        failing models, with inputs as .npz

What a model must give is what the suite says of the node, so nothing here computes what loops do.
A line is printed for each failure: wrong (another result), refused (an error of the compiler),
failed (one of the run), crashed. Not failures are lacking (loopc says that it has no such thing:
too many combinations of unknown ranks, say) and unfit: cases that loopc does not pass as they are,
or that loops cannot have. -v says which, and why.

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
from places import CONTROLS, FORMS, Host, Place

LEVELS = (3, 3, 1, 0, 2)


def _run(content: bytes, feeds: dict[str, Any], level: int) -> engines.Outcome:
    import warnings

    import loopc

    warnings.simplefilter("ignore")
    options = loopc.SessionOptions()
    options.opt_level = level
    try:
        session = loopc.InferenceSession(content, options)
    except loopc.Error as error:
        # What loopc says that it lacks is no fault: combinations of unknown ranks, say.
        lacks = error.code in ("LC0301", "LC0501")
        return engines.Outcome(error=f"{'lacking' if lacks else 'refused'}: {error}")
    try:
        first = session.run(None, feeds)
        again = session.run(None, feeds)
    except loopc.Error as error:
        return engines.Outcome(error=f"failed: {error}")
    for k, (one, other) in enumerate(zip(first, again, strict=True)):
        if isinstance(one, np.ndarray) and one.tobytes() != other.tobytes() and one.dtype != object:
            return engines.Outcome(error=f"wrong: output {k} differs in the second run")
    return engines.Outcome(values=first)


def _alone(content: bytes, feeds: dict[str, Any]) -> list[Any]:
    outcome = engines.worker(_run, 180.0).ask((content, feeds, 3))
    if outcome.values is None:
        raise donors.UnfitError(f"by itself: {outcome.error}")
    return list(outcome.values)


def problem_of(host: Host, got: list[Any]) -> str | None:
    """What is wrong with a model's results."""
    donor = host.donor
    for result, value in zip(host.results, got, strict=True):
        want = np.asarray(result.value)
        one = np.asarray(value)
        if want.size == 0 and one.size == 0 and one.dtype == want.dtype:
            continue
        atol, rtol = donor.atol, donor.rtol
        if want.dtype == np.float16:
            rtol = max(rtol, 2**-9)  # two ulp
        if "sum" in host.notes and want.dtype.kind == "f":
            finite = np.abs(want[np.isfinite(want)])
            atol = max(atol, 1e-4 * float(finite.max(initial=0.0)))
        problem = cases.compare([one], [want], rtol, atol)
        if problem:
            return f"{result.name}: {problem}"
    return None


def transplant(donor: donors.Donor, seed: int) -> tuple[str, Host, int]:
    """A model around a donor: what it is, the model, how to compile it."""
    draw = random.Random(f"{donor.name} {seed}")
    form, control, level = draw.choice(FORMS), draw.choice(CONTROLS), draw.choice(LEVELS)
    if not any(map(donors.is_tensor, donor.results[0])):
        control = "branch"  # nothing else has results that are collections alone
    host = Host(donor, draw, form)
    Place(host, control).make()
    what = f"{donor.name} {seed}: {control}, {form}, -O{level}, {' '.join(host.notes)}"
    return what, host, level


def _judge(host: Host, level: int) -> str | None:
    outcome = engines.worker(_run, 180.0).ask((host.model().SerializeToString(), host.given, level))
    if outcome.crashed:
        return f"crashed: {outcome.error}"
    if outcome.values is None:
        return outcome.error
    problem = problem_of(host, outcome.values)
    return f"wrong: {problem}" if problem else None


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(1), metavar="A:B",
                        help="models A to B - 1 of each")  # fmt: skip
    parser.add_argument("--filter", default="", metavar="REGEX", help="cases of such a name")
    parser.add_argument("--some", type=int, metavar="N", help="so many of them, by the seed")
    parser.add_argument("--part", type=compiling.share, default=(0, 1), metavar="K/N",
                        help="every Nth case from the Kth")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="write failing models")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is unfit, and why")
    return parser.parse_args(argv)


def _keep(host: Host, folder: pathlib.Path, seed: int) -> None:
    path = folder / f"{host.donor.name}-{seed}.onnx"
    onnx.save(host.model(), path)
    np.savez(path.with_suffix(".npz"), **{k: v for k, v in host.given.items()})


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    chosen = [c for c in donors.all_cases() if re.search(options.filter, c.name)]
    chosen = chosen[options.part[0] :: options.part[1]]
    if options.some is not None:
        draw = random.Random(options.seeds[0])
        chosen = draw.sample(chosen, min(options.some, len(chosen)))
    count: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    for case in chosen:
        try:
            donor = donors.donor(case, random.Random(case.name), _alone)
        except donors.UnfitError as error:
            count["unfit"] += 1
            if options.verbose:
                print(f"{case.name}: unfit: {error}", flush=True)
            continue
        for seed in options.seeds:
            what, host, level = transplant(donor, seed)
            problem = _judge(host, level)
            count[problem.split(":")[0] if problem else "same"] += 1
            if problem and (options.verbose or not problem.startswith("lacking")):
                print(f"{what}: {problem[:300]}", flush=True)
                if options.keep:
                    _keep(host, options.keep, seed)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()))
    print(f"{len(chosen)} cases in {time.monotonic() - began:.0f} s: {parts}")
    return int(any(count[kind] for kind in ("wrong", "failed", "refused", "crashed")))


if __name__ == "__main__":
    sys.exit(main())
