# ===- passes_off.py - Models without one of the passes -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Switches off each pass that only optimises, alone, and compares with the whole pipeline.

    passes_off.py                                 all models below
    passes_off.py --models random --seeds 0:300   random models: small programs, larger models, and
                                                  larger ones of any extent, in turns
    passes_off.py --models loops                  those of test/python/loop_models
    passes_off.py --models traced,bench,suite     those that benchmarks/ traces (with all extents
                                                  and with none), that it times, and ONNX's own
                                                  tests with loops
    passes_off.py --pass cse --pass canonicalize  these passes only
    passes_off.py --filter REGEX --share 0/2      some of the models, every second one
    passes_off.py --opt-level 3                   -O3 instead of the default
    passes_off.py --keep FOLDER                   writes models that differ, with their inputs

Each model is compiled without each pass that changes it (--all: each pass). `loopc-opt
--print-passes` lists the passes, and says of which results must have the same bits; with the
others floats may be rounded otherwise. A line is printed for each failure, and at the end how many
runs were the same, rounded, chaotic (the reference's result moves with a rounding, too), errors.
LOOPC_NUM_THREADS says how many threads run a model (default: 1).

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_HERE = pathlib.Path(__file__).parent
_ROOT = _HERE.parents[1]
sys.path[:0] = [str(_ROOT / f) for f in ("test/python", "test/conformance", "benchmarks")]

import compiling  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from agreement import Agreement, Comparison, compare, results, with_types  # noqa: E402
from random_inputs import FORMS, form  # noqa: E402
from random_models import RandomModel, random_model  # noqa: E402
from random_open_models import open_model  # noqa: E402
from random_programs import random_program  # noqa: E402
from shrink import prune  # noqa: E402

TOOLS = _ROOT / "build/bin"


@dataclasses.dataclass(frozen=True)
class Case:
    """A model with the inputs of some runs."""

    name: str
    model: RandomModel
    sets: tuple[dict[str, Any], ...]
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Trial:
    """How a run of a model without a pass compares with the run with all of them."""

    case: Case
    left_out: str
    number: int
    comparison: Comparison


#: Names of cases, and what makes them.
Cases = Iterator[tuple[str, Callable[[], Case | None]]]


def optional_passes(tools: pathlib.Path = TOOLS) -> dict[str, bool]:
    """The passes that may be left out, and whether results have the same bits then."""
    command = [tools / "loopc-opt", "--print-passes"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    table = {entry["name"]: entry["use"] for entry in json.loads(printed)}
    return {name: use == "same bits" for name, use in table.items() if use != "needed"}


def failing_operators(tools: pathlib.Path = TOOLS) -> frozenset[str]:
    """The operators of ONNX that can end a run."""
    command = [tools / "loopc-opt", "--print-operators"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    return frozenset(row["operator"] for row in json.loads(printed) if row["can_fail"])


def changing_passes(
    content: bytes, tools: pathlib.Path = TOOLS, opt_level: int | None = None
) -> set[str]:
    """The passes that change a model on its way to the LLVM dialect."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(content)
        command = [tools / "loopc", path, "--emit=llvm", "-o", "/dev/null", "--verify=0"]
        command += [] if opt_level is None else [f"-O{opt_level}"]
        command += ["--print-ir-after-all-passes", "--mlir-elide-elementsattrs-if-larger=8"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            lines = (line for line in process.stderr if line.startswith(b"// -----//"))
            found = {re.search(rb"IR Dump After \S+ \(([\w-]+)", line) for line in lines}
    return {match[1].decode() for match in found if match}


def trials(
    case: Case,
    passes: dict[str, bool],
    tools: pathlib.Path = TOOLS,
    *,
    every: bool = False,
    limit: float = 60.0,
) -> Iterator[Trial]:
    """Runs a model without each of some passes.

    Args:
        case: what to run.
        passes: names, and whether results must have the same bits.
        tools: where loopc is.
        every: also passes that do not change the model.
        limit: seconds for the runs of a model.
    """
    content = case.model.proto.SerializeToString()
    level = case.options.get("opt_level")
    chosen = sorted(passes if every else set(passes) & changing_passes(content, tools, level))
    if not chosen:
        return
    want = results(content, case.sets, case.options, limit)
    if isinstance(want, str):
        yield Trial(case, "nothing", 0, Comparison(Agreement.CRASHED, want))
        return
    for name in chosen:
        got = results(content, case.sets, case.options | {"disabled_passes": [name]}, limit)
        if isinstance(got, str):
            yield Trial(case, name, 0, Comparison(Agreement.CRASHED, got))
            continue
        for number, (one, other, feeds) in enumerate(zip(got, want, case.sets, strict=True)):
            model = dataclasses.replace(case.model, feeds=feeds)
            yield Trial(case, name, number, compare(model, one, other, exact=passes[name]))


# -- Models ------------------------------------------------------------------------


def random_case(seed: int) -> Case:
    """The random model of a number: each third one is of another generator.

    Without nodes that nobody reads: their errors come and go with what is left out.
    """
    if seed % 3 == 0:
        model = random_model(seed)
        sets: tuple[dict[str, Any], ...] = (model.feeds,)
    else:
        program = (random_program if seed % 3 == 1 else open_model)(seed)
        made = form(program, FORMS[seed // 3 % len(FORMS)])
        model = RandomModel(seed, made.proto, {}, program.types)
        sets = made.sets[:5]
    prune(model.proto)
    return Case(f"random/{seed}", model, sets)


def _random(options: argparse.Namespace) -> Cases:
    for seed in options.seeds:
        yield f"random/{seed}", functools.partial(random_case, seed)


def loop_cases(_: object = None) -> Cases:
    """Those of loop_models/."""
    from models import LoopModel, all_models

    def make(model: LoopModel) -> Case | None:
        # What does not end is ended by the clock.
        if model.compile_error or model.timeout is not None:
            return None
        sets = tuple(run.feeds for run in model.runs)
        return Case(f"loops/{model.name}", with_types(model.model), sets)

    for model in all_models():
        yield f"loops/{model.name}", functools.partial(make, model)


def _bench(_: argparse.Namespace) -> Cases:
    import suite

    def make(name: str) -> Case | None:
        benchmark = suite.make(name)
        if benchmark.drive is not None:
            return None
        options = {"fp_contract": benchmark.contract}
        return Case(f"bench/{name}", with_types(benchmark.model), (benchmark.feeds,), options)

    for name in suite.BENCHMARKS:
        yield f"bench/{name}", functools.partial(make, name)


def _traced(_: argparse.Namespace) -> Cases:
    import loop_algorithms
    import loop_cells
    import loop_operators

    def make(loop: Any, shapes: str) -> Case:
        model = with_types(loop_operators.trace(loop, shapes))
        return Case(f"traced/{loop.name}/{shapes}", model, (loop.inputs,))

    for loop in (*loop_algorithms.cases(), *loop_cells.cases()):
        for shapes in ("static", "open"):
            yield f"traced/{loop.name}/{shapes}", functools.partial(make, loop, shapes)


def _suite(_: argparse.Namespace) -> Cases:
    import cases
    import ptxas

    def make(case: Any) -> Case | None:
        proto = cases.loaded(case)
        if not ptxas.has_loops(proto):
            return None
        sets = tuple(feeds for feeds, _ in cases.data_sets(case))
        return Case(f"suite/{case.name}", with_types(proto), sets)

    for case in cases.load():
        if case.kind in ("node", "simple"):
            yield f"suite/{case.name}", functools.partial(make, case)


KINDS: dict[str, Callable[[argparse.Namespace], Cases]] = {
    "random": _random,
    "loops": loop_cases,
    "traced": _traced,
    "suite": _suite,
    "bench": _bench,
}


# -- The program ---------------------------------------------------------------------


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    if not set(kinds) <= set(KINDS):
        raise argparse.ArgumentTypeError(f"'{text}' is not of {', '.join(KINDS)}")
    return kinds


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=_kinds, default=list(KINDS), metavar="KIND,KIND",
                        help=f"of {', '.join(KINDS)} (default: all)")  # fmt: skip
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(300), metavar="A:B",
                        help="random models A to B - 1 (default 0:300)")  # fmt: skip
    parser.add_argument("--pass", dest="passes", action="append", metavar="NAME", default=[],
                        help="only this one is left out; repeatable")  # fmt: skip
    parser.add_argument("--filter", default="", metavar="REGEX", help="models with such a name")
    parser.add_argument("--share", type=compiling.share, default=(0, 1), metavar="K/N")
    parser.add_argument("--all", action="store_true", help="passes that change nothing, too")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="per model")
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER",
                        help="default: build/bin")  # fmt: skip
    parser.add_argument("--opt-level", type=int, choices=range(4), help="of all compilations")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what differs")
    parser.add_argument("-v", "--verbose", action="store_true", help="all that is not the same")
    options = parser.parse_args(argv)
    known = optional_passes(options.tools)
    if unknown := [name for name in options.passes if name not in known]:
        parser.error(f"--pass: '{unknown[0]}' is not of {', '.join(known)}")
    options.passes = {k: v for k, v in known.items() if not options.passes or k in options.passes}
    if options.keep is not None and not options.keep.is_dir():
        parser.error(f"{options.keep} is not a folder")
    return options


def _keep(trial: Trial, folder: pathlib.Path) -> None:
    path = folder / f"{trial.case.name.replace('/', '-')}-{trial.left_out}.onnx"
    onnx.save(trial.case.model.proto, path)
    feeds = trial.case.sets[trial.number]
    if all(isinstance(value, np.ndarray) for value in feeds.values()):
        np.savez(path.with_suffix(".npz"), **feeds)


class Summary:
    """Counts how trials ended, by pass."""

    def __init__(self) -> None:
        self._count: collections.Counter[Agreement] = collections.Counter()
        self._rounded: collections.Counter[str] = collections.Counter()
        self._failed: collections.Counter[str] = collections.Counter()

    def add(self, trial: Trial) -> None:
        """Counts one."""
        agreement = trial.comparison.agreement
        self._count[agreement] += 1
        if agreement.bad:
            self._failed[trial.left_out] += 1
        elif agreement in (Agreement.ROUNDED, Agreement.CHAOTIC):
            self._rounded[trial.left_out] += 1

    @property
    def failures(self) -> int:
        """How many trials failed."""
        return self._failed.total()

    def __str__(self) -> str:
        parts = [f"{self._count[one]} {one.value}" for one in Agreement if self._count[one]]
        lines = [f"{self._count.total()} runs: {', '.join(parts)}"]
        for what, count in (("rounded without", self._rounded), ("failed without", self._failed)):
            if count:
                some = ", ".join(f"{name} {number}" for name, number in count.most_common())
                lines.append(f"{what}: {some}")
        return "\n".join(lines)


def _try(case: Case, options: argparse.Namespace, summary: Summary) -> None:
    """Runs a model without each pass; of what fails the first run is printed."""
    failed: set[str] = set()
    limit = options.timeout
    if options.opt_level is not None:
        case.options["opt_level"] = options.opt_level
    for trial in trials(case, options.passes, options.tools, every=options.all, limit=limit):
        summary.add(trial)
        agreement, reason = trial.comparison.agreement, trial.comparison.reason
        what = f"{case.name} #{trial.number} without {trial.left_out}: {agreement.value}"
        if agreement.bad and trial.left_out not in failed:
            failed.add(trial.left_out)
            if options.keep:
                _keep(trial, options.keep)
            print(f"{what}: {reason}", flush=True)
        elif options.verbose and reason:
            print(f"{what}: {reason}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    listed = [item for kind in options.models for item in KINDS[kind](options)]
    listed = [item for item in listed if re.search(options.filter, item[0])]
    first, step = options.share
    listed = listed[first::step]
    summary, began = Summary(), time.monotonic()
    shown, models = began, 0
    for done, (_, make) in enumerate(listed, 1):
        case = make()
        if case is not None:
            models += 1
            _try(case, options, summary)
        now = time.monotonic()
        if now - shown > 10:
            shown = now
            line = f"{done} of {len(listed)} models in {now - began:.0f} s"
            print(f"{line}, {summary.failures} failures", file=sys.stderr, flush=True)
    print(f"{models} models, {len(options.passes)} passes, {time.monotonic() - began:.0f} s")
    print(summary)
    return int(summary.failures > 0)


if __name__ == "__main__":
    sys.exit(main())
