# ===- ir_programs.py - Random programs of OpenVINO IR ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs random nests of Loop, TensorIterator and If, beside NumPy and OpenVINO's CPU runtime.

    ir_programs.py --seeds 0:1000
    ir_programs.py --seeds 7:8 --keep /tmp     failing models, with inputs as .npz

test/python/random_ir_programs.py makes them. Each session runs several sets of inputs of other
extents; every other program is compiled with known extents as well. A line is printed for each
failure: values where an error is due, and errors for a reason that the program does not have, too.
Counted, and no failures, are outputs of which nothing says what they are (extents that
only an iteration would tell), errors of values of which nobody reads an element, and programs that
OpenVINO's API does not build. -v says where OpenVINO's runtime has something else than NumPy.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "conformance"))

import cases
import compiling
import engines
import numpy as np
from bad_outcomes import INTERNAL

#: Errors of lowering and of code generation: a program that OpenVINO builds has none.
OWN_FAULTS = re.compile(r"LC0[56]\d\d")
GOOD = ("same", "same error", "unclear", "unread error", "eager error", "too long", "unfit")
SETS = 4


def make(seed: int, static: dict[str, int] | None, path: str) -> engines.Outcome:
    """Writes a program; its sets of inputs, and what NumPy makes of each."""
    warnings.simplefilter("ignore")
    from random_ir_files import write
    from random_ir_programs import IrProgram

    try:
        made = IrProgram(seed, static)
        write(made.model, pathlib.Path(path), seed)
    except RuntimeError as error:  # OpenVINO's have no other base.
        return engines.Outcome(error=str(error))
    found = []
    for extents, feeds in made.sets(SETS):
        if static and extents != static:
            continue
        ending = made.ending(feeds)
        found.append((extents, feeds, ending.verdict, ending.values, ending.errors))
        if made.variables and (ending.errors or ending.verdict != "same"):
            # Whether that run has assigned its variables is no more known.
            break
    return engines.Outcome(values=found)


def ours(path: str, level: int, checks: bool, sets: list[dict[str, Any]]) -> engines.Outcome:
    """Values of each set, or an error's text."""
    import loopc

    options = loopc.SessionOptions(opt_level=level, check_accesses=checks)
    try:
        session = loopc.InferenceSession(path, options)
    except loopc.Error as error:
        return engines.Outcome(error=f"{getattr(error, 'code', '')}: {error}")
    names = {port.name for port in session.get_inputs()}
    found: list[Any] = []
    for feeds in sets:
        try:
            found.append(session.run(None, {k: v for k, v in feeds.items() if k in names}))
        except loopc.Error as error:
            found.append(str(error))
    return engines.Outcome(values=found)


def theirs(seed: int, sets: list[dict[str, Any]]) -> engines.Outcome:
    """The same by OpenVINO's CPU runtime."""
    warnings.simplefilter("ignore")
    import openvino
    from random_ir_programs import IrProgram

    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    found: list[Any] = []
    try:
        compiled = openvino.Core().compile_model(IrProgram(seed).model, "CPU", config)
    except RuntimeError as error:
        return engines.Outcome(error=str(error))
    for feeds in sets:
        try:
            results = compiled(feeds)
            found.append([np.array(results[port]) for port in compiled.outputs])
        except RuntimeError as error:
            found.append(str(error))
    return engines.Outcome(values=found)


def _plain(arrays: Any) -> Any:
    """Texts of every engine alike."""
    return [np.asarray(a).astype(str) if np.asarray(a).dtype.kind in "OSU" else a for a in arrays]


def judged(got: Any, wanted: str, values: Any = (), errors: Iterable[str] = ()) -> str:
    """One of `GOOD`, else what is wrong.

    `got` are values or an error's text; the others are random_ir_programs' Ending.
    """
    if isinstance(got, str):
        if " of a buffer of " in got:
            return f"access: {got}"
        if INTERNAL.search(got) or OWN_FAULTS.match(got):
            return f"fault of the compiler: {got}"
        if wanted in ("unclear", "too long"):
            return wanted
        if any(re.search(error, got) for error in errors):
            return "eager error" if wanted == "same" else wanted
        return f"fails: {got}"
    if wanted == "same error":
        return "does not fail"
    if wanted != "same":
        return wanted
    return cases.compare(_plain(got), _plain(values), 1e-5, 1e-5) or "same"


class Judge:
    """Runs programs, and counts how that ends."""

    def __init__(self, folder: pathlib.Path, verbose: bool, peer: bool) -> None:
        self._folder, self._verbose, self._peer = folder, verbose, peer
        self.count: collections.Counter[str] = collections.Counter()

    def run(self, seed: int) -> None:
        """One program: open, and every other one with each set's extents."""
        found = self._run(seed, None)
        if seed % 2:
            for extents, *_ in found[: 1 + seed % 3]:
                self._run(seed, extents)

    def _run(self, seed: int, static: dict[str, int] | None) -> list[Any]:
        known = "-".join(str(e) for e in static.values()) if static else "open"
        path = self._folder / f"{seed}-{known}.xml"
        made = engines.worker(make).ask((seed, static, str(path)))
        if made.values is None:
            verdict = "NumPy's side crashed" if made.crashed else "unfit"
            self._tell(verdict, f"{seed} {known}", str(made.error))
            return []
        sets = [feeds for _, feeds, *_ in made.values]
        for k, feeds in enumerate(sets):
            np.savez(path.with_name(f"{path.stem}-{k}.npz"), **feeds)
        got = engines.worker(ours).ask((str(path), seed % 4, seed % 3 == 0, sets))
        if got.values is None:
            verdict = "crashed" if got.crashed else "refused"
            if static and not got.crashed:
                # What a run of these extents would say may be said when it is compiled.
                found = {judged(str(got.error), *ending) for _, _, *ending in made.values}
                verdict = found.pop() if len(found) == 1 else verdict
            self._tell(verdict, f"{seed} {known}", str(got.error))
            return made.values
        other = engines.worker(theirs).ask((seed, sets)) if self._peer and not static else None
        for k, (_, _, wanted, values, errors) in enumerate(made.values):
            verdict = judged(got.values[k], wanted, values, errors)
            if other and wanted == "same":
                peer = judged(other.values[k] if other.values else str(other.error), "same", values)
                self.count["OpenVINO as NumPy" if peer == "same" else "OpenVINO not"] += 1
                if peer != "same" and self._verbose:
                    print(
                        f"{seed} {known} set {k}: OpenVINO: {' '.join(peer.split())[:300]}",
                        flush=True,
                    )
                if verdict != "same" and peer != "same" and other.values and (
                    judged(got.values[k], "same", other.values[k]) == "same"
                ):  # fmt: skip
                    verdict = f"as OpenVINO, not as NumPy: {verdict}"
            self._tell(verdict, f"{seed} {known} set {k}")
        return made.values

    def _tell(self, verdict: str, what: str, problem: str = "") -> None:
        self.count[verdict if verdict in GOOD else "failures"] += 1
        if verdict not in GOOD or (self._verbose and verdict == "unfit"):
            print(f"{what}: {' '.join(f'{verdict} {problem}'.split())}"[:500], flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="programs A to B - 1")  # fmt: skip
    parser.add_argument("--least", type=int, default=0, metavar="N",
                        help="fail with fewer runs that are the same")  # fmt: skip
    parser.add_argument("--no-peer", action="store_true", help="do not ask OpenVINO's runtime")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep the models there")
    parser.add_argument("-v", "--verbose", action="store_true", help="say all that differs")
    options = parser.parse_args(argv)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options.keep or pathlib.Path(folder), options.verbose, not options.no_peer)
        for seed in options.seeds:
            judge.run(seed)
    if judge.count["same"] < options.least:
        judge.count["failures"] += 1
        print(f"{judge.count['same']} runs gave what NumPy has, expected {options.least}")
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(judge.count.items()))
    print(f"{len(options.seeds)} programs in {time.monotonic() - began:.0f} s: {parts}")
    return int(judge.count["failures"] > 0)


if __name__ == "__main__":
    sys.exit(main())
