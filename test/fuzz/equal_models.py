# ===- equal_models.py - Pairs of models that mean the same -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes random models in another way that means the same, and runs both.

    equal_models.py --seeds 0:2000
    equal_models.py --seeds 0:2000 --rewrite peel --rewrite split
    equal_models.py --seeds 77:78 -v --keep /tmp    writes both models, with their inputs

A model is one of random_models.py, random_programs.py or random_open_models.py, in turns; a pair
is a model and one rewrite of it (rewrites.py): a Loop whose first iteration is in front of it, or
that is two loops, unrolled by two, in a loop of one iteration, with its trip count as a condition,
with its body in a function; a Scan as a Loop; an If as a Where; constants as inputs; inputs whose
extents are open; parts of graphs, bodies and functions in functions (functions.py). Ways take turns; a seed goes on to another model where its own cannot be
written in its way.

Both must give the same bits. Floats may be rounded otherwise (docs/Numerics.md: sums in another
order); what differs by more is compared with the reference, which says whether the model is chaotic
or which of both is wrong. A line is printed for each difference, and at the end how many pairs were
compared, by rewrite, and how their runs ended. A rewrite that changes what the reference computes
is a fault of rewrites.py, and a failure as well.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import pathlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE.parent / "python"))

import compiling  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from agreement import Agreement, Comparison, Result, compare, far, results  # noqa: E402
from passes_off import TOOLS, failing_operators, random_case  # noqa: E402
from random_checks import run_reference  # noqa: E402
from random_models import RandomModel  # noqa: E402
from rewrites import LEAST_OPSET, MODEL_REWRITES, NODE_REWRITES, rewrite_node  # noqa: E402

#: How many models a seed tries for its rewrite, and how far apart their numbers are.
_MODELS, _STRIDE = 40, 1_000_003
REWRITES = (*NODE_REWRITES, *MODEL_REWRITES)


@dataclasses.dataclass(frozen=True)
class Pair:
    """A model and another that means the same, with the inputs of some runs of each."""

    seed: int
    rewrite: str
    model: RandomModel
    sets: tuple[dict[str, Any], ...]
    other: onnx.ModelProto
    other_sets: tuple[dict[str, Any], ...]


def pair(
    seed: int, chosen: Sequence[str] = REWRITES, failing: frozenset[str] = frozenset()
) -> Pair | None:
    """The pair of a number; None where none of some models can be written in its way.

    Args:
        seed: the number.
        chosen: of REWRITES, which take turns.
        failing: operators that can end a run.
    """
    name = chosen[seed % len(chosen)]
    for attempt in range(_MODELS):
        case = random_case(seed + attempt * _STRIDE)
        proto = case.model.proto
        opset = next(one.version for one in proto.opset_import if not one.domain)
        if name in MODEL_REWRITES:
            fed = MODEL_REWRITES[name](proto, seed)
            if fed is not None:
                sets = tuple(feeds | fed[1] for feeds in case.sets)
                return Pair(seed, name, case.model, case.sets, fed[0], sets)
        elif opset >= LEAST_OPSET:
            other = rewrite_node(proto, name, seed, failing)
            if other is not None:
                return Pair(seed, name, case.model, case.sets, other, case.sets)
    return None


def comparisons(
    both: Pair, options: dict[str, Any], limit: float = 60.0
) -> Iterator[tuple[int, Comparison]]:
    """How the runs of a pair compare, by their numbers.

    Args:
        both: the pair.
        options: loopc.SessionOptions of the same names, for both.
        limit: seconds for the runs of one model.
    """
    want = results(both.model.proto.SerializeToString(), both.sets, options, limit)
    got = results(both.other.SerializeToString(), both.other_sets, options, limit)
    if isinstance(want, str) or isinstance(got, str):
        text = got if isinstance(got, str) else f"{want} (as it was made)"
        yield 0, Comparison(Agreement.CRASHED, text)
        return
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        model = dataclasses.replace(both.model, feeds=both.sets[number])
        comparison = compare(model, one, other, exact=False)
        if comparison.agreement is Agreement.DIFFERENT:
            comparison = _explained(both, number, model, comparison, (one, other))
        yield number, comparison


def _explained(
    both: Pair,
    number: int,
    model: RandomModel,
    comparison: Comparison,
    ends: tuple[Result, Result],
) -> Comparison:
    """Says of a difference whether it is loopc's."""
    for end in ends:
        if isinstance(end, str) and "LC0501" in end:
            return Comparison(Agreement.UNKNOWN, f"loopc lacks it: {end.splitlines()[0]}")
        if isinstance(end, str) and both.rewrite == "scan as loop" and "LC0411" in end:
            return Comparison(Agreement.UNKNOWN, "a Loop's states may change their shapes")
    other = dataclasses.replace(model, proto=both.other, feeds=both.other_sets[number])
    found: list[Any] = []
    for one in (model, other):
        try:
            found.append(run_reference(one))
        except Exception as error:
            found.append(f"{error}")
    values, others = found
    if isinstance(values, str) or isinstance(others, str):
        same = isinstance(values, str) and isinstance(others, str)
    else:
        same = not any(far(*both) for both in zip(values, others, strict=True))
    if same:
        return comparison
    if both.rewrite == "open extents":
        return Comparison(Agreement.UNKNOWN, f"extents that nobody knows now: {comparison.reason}")
    shown = f"{others}"[:200]
    return Comparison(comparison.agreement, f"the rewrite is wrong: {shown}; {comparison.reason}")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B")
    parser.add_argument("--rewrite", dest="rewrites", action="append", choices=REWRITES,
                        help="only this one; repeatable")  # fmt: skip
    parser.add_argument("--share", type=compiling.share, default=(0, 1), metavar="K/N",
                        help="each Nth seed from the Kth on")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="per model")
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER",
                        help="default: build/bin")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    parser.add_argument("-v", "--verbose", action="store_true", help="all that is not the same")
    options = parser.parse_args(argv)
    if options.keep is not None and not options.keep.is_dir():
        parser.error(f"{options.keep} is not a folder")
    options.rewrites = tuple(dict.fromkeys(options.rewrites or REWRITES))
    return options


def _keep(both: Pair, number: int, folder: pathlib.Path) -> None:
    for name, proto, feeds in (
        ("a", both.model.proto, both.sets[number]),
        ("b", both.other, both.other_sets[number]),
    ):
        path = folder / f"pair-{both.seed}-{name}.onnx"
        onnx.save(proto, path)
        np.savez(path.with_suffix(".npz"), **feeds)


def level_of(seed: int) -> int:
    """The optimisation level that a pair is compiled with: seldom another than the default."""
    return {1: 0, 3: 1}.get(seed // len(REWRITES) % 11, 3)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    failing = failing_operators(options.tools)
    first, step = options.share
    seeds = options.seeds[first::step]
    ways: collections.Counter[str] = collections.Counter()
    ends: collections.Counter[Agreement] = collections.Counter()
    failures: set[int] = set()
    began = shown = time.monotonic()
    for done, seed in enumerate(seeds, 1):
        both = pair(seed, options.rewrites, failing)
        ways[both.rewrite if both else "none"] += 1
        found = comparisons(both, {"opt_level": level_of(seed)}, options.timeout) if both else ()
        for number, comparison in found:
            assert both is not None
            ends[comparison.agreement] += 1
            bad = comparison.agreement.bad
            if bad and seed not in failures and options.keep:
                _keep(both, number, options.keep)
            if (bad and seed not in failures) or (options.verbose and comparison.reason):
                what = f"{seed} #{number} {both.rewrite}"
                print(f"{what}: {comparison.agreement.value}: {comparison.reason}", flush=True)
            failures |= {seed} if bad else set()
        now = time.monotonic()
        if now - shown > 10:
            shown = now
            line = f"{done} of {len(seeds)} pairs in {now - began:.0f} s"
            print(f"{line}, {len(failures)} failures", file=sys.stderr, flush=True)
    counted = ", ".join(f"{name} {ways[name]}" for name in (*REWRITES, "none") if ways[name])
    print(f"{ways.total() - ways['none']} pairs in {time.monotonic() - began:.0f} s: {counted}")
    parts = [f"{ends[one]} {one.value}" for one in Agreement if ends[one]]
    print(f"{ends.total()} runs: {', '.join(parts)}; {len(failures)} pairs differ")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
