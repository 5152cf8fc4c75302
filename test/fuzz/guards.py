# ===- guards.py - Long runs of failing nodes deep within control flow ----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the models of test/python/random_guards.py.

    guards.py --seeds 0:1000
    guards.py --seeds 77:78 --keep /tmp      writes what fails, as guards-77.onnx

Each model has one or two nodes that fail for some operands, in nests of loops, scans and branches
that may not happen. An error must come where one is due, of the first iteration that fails, and no
error where none is. Each model is compiled once, at a level, and with accesses checked or not, that its
seed chooses. A line is printed for each failure. Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import re
import sys
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import engines
import guard_models as gm
import numpy as np
import onnx
from guard_cases import GuardCase
from random_guards import Array, Feeds, Guards, Run

#: Results that are drawn.
DRAWN = ("Multinomial", "Dropout")


def answer(content: bytes, level: int, checked: bool, sets: Sequence[Feeds]) -> engines.Outcome:
    """Outputs, or an error's text, of each run of one session."""
    import loopc

    options = loopc.SessionOptions(opt_level=level, check_accesses=checked)
    try:
        session = loopc.InferenceSession(content, options)
    except loopc.Error as error:
        return engines.Outcome(error=str(error))
    made: list[list[Any] | str] = []
    for feeds in sets:
        try:
            made.append(session.run(None, feeds))
        except loopc.Error as error:
            made.append(str(error))
    return engines.Outcome(values=made)


#: What cases give by themselves, by their names.
_ALONE: dict[str, Array | None] = {}


def _alone(case: GuardCase) -> Array | None:
    """What the case's nodes give by themselves, for operands that fit."""
    if case.name not in _ALONE:
        _ALONE[case.name] = _compute_alone(case)
    return _ALONE[case.name]


def _compute_alone(case: GuardCase) -> Array | None:
    content = gm.plain_model(case).SerializeToString()
    outcome = engines.worker(answer).ask((content, 0, False, [case.good]))
    if outcome.values is None or isinstance(outcome.values[0], str):
        return None
    return np.asarray(outcome.values[0][0])


def _value_problem(guards: Guards, run: Run, values: Sequence[Any]) -> str:
    """How results of a run that does not fail are wrong; empty if they are not."""
    taken = [n for n, kind in zip(run.counts, guards.levels, strict=True) if kind == "branch"]
    if 0 in taken:
        return ""
    leading = [n for n, kind in zip(run.counts, guards.levels, strict=True) if kind != "branch"]
    known = leading[: leading.index(0) + 1] if 0 in leading else leading
    for victim, value in zip(guards.victims, values, strict=False):
        got = np.asarray(value)
        if list(got.shape[: len(known)]) != known:
            return f"{victim.node}: shape {got.shape}, expected {known} in front"
        if 0 in leading or victim.case.short in DRAWN:
            continue
        want = _alone(victim.case)
        if want is None:
            continue
        want = np.broadcast_to(np.tanh(want) if victim.inner else want, (*leading, *want.shape))
        if got.shape != want.shape:
            return f"{victim.node}: shape {got.shape}, expected {want.shape}"
        if want.dtype.kind in "OUS":
            same = got.tolist() == want.tolist()
        else:
            same = np.allclose(got, want, 2e-3, 1e-5, equal_nan=True)
        if not same:
            return f"{victim.node}: {got.ravel()[:6]}, expected {want.ravel()[:6]}"
    return ""


def _run_problem(guards: Guards, run: Run, got: Any, checked: bool) -> str:
    if not isinstance(got, str):
        if run.failing:
            return f"a result, and no error of {[guards.victims[k].node for k in run.failing]}"
        return _value_problem(guards, run, got)
    if not run.failing:
        return f"no error is due, but: {got}"
    # Who checks accesses, or knows no rank or the operands, may find the same in other words.
    loose = checked or guards.form == "unranked"
    for victim in (guards.victims[k] for k in run.failing):
        if f"{victim.case.short} '{victim.node}'" in got and (
            loose or victim.always or re.search(victim.case.error, got)
        ):
            return ""
    due = [(guards.victims[k].node, guards.victims[k].case.error) for k in run.failing]
    return f"expected one of {due}, but: {got}"


def problem(seed: int, runs: int = 6) -> tuple[str, Guards]:
    """How the model of a seed ends wrong; empty if it does not."""
    guards = Guards(seed)
    dice = random.Random(f"how {seed}")
    level, checked = dice.choice((0, 1, 2, 3, 3)), dice.random() < 0.3
    head = (f"-O{level}{' checked' if checked else ''} {guards.form} {'/'.join(guards.levels)} "
            f"{', '.join(v.case.name for v in guards.victims)}")  # fmt: skip
    todo = guards.runs(runs)
    content = guards.model.SerializeToString()
    outcome = engines.worker(answer).ask((content, level, checked, [run.feeds for run in todo]))
    if outcome.values is None:
        return f"{head}: {outcome.error}", guards
    for number, (run, got) in enumerate(zip(todo, outcome.values, strict=True)):
        if found := _run_problem(guards, run, got, checked):
            return f"{head}, run {number} {list(run.counts)}: {found}", guards
    return "", guards


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="models A to B - 1")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what fails")
    options = parser.parse_args(argv)
    failures = 0
    for seed in options.seeds:
        found, guards = problem(seed)
        if not found:
            continue
        failures += 1
        print(f"{seed}: {found[:700]}", flush=True)
        if options.keep:
            onnx.save(guards.model, options.keep / f"guards-{seed}.onnx")
    print(f"{len(options.seeds)} models, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
