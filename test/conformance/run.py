# ===- run.py - ONNX's own test suite, all of it -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the backend tests of the installed onnx package and says what passes.

    run.py                                  all 2,033 cases in process
    run.py --filter '^test_loop' -v         some of them, with reasons
    run.py --aot                            ahead of time: compiled to shared objects
    run.py --table docs/Support.md          write what passes today
    run.py --check docs/Support.md          fail where the page is out of date
    run.py --required                       only the cases of required.txt: all must pass
    run.py --expect FILE                    fail where a listed case fails

Exit status: 0; 1 a listed case failed, the page is out of date, or (without
--expect, --table and --check) some case did not pass; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import sys
import time
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cases
from control import Control, control_of
from onnx.backend.test.case.test_case import TestCase
from pool import run_all
from runners import CLASSES, ENGINES, MISMATCH, PASS, Result

REQUIRED = pathlib.Path(__file__).with_name("required.txt")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", metavar="REGEX", help="only cases whose name matches")
    parser.add_argument("--subset", choices=("all", "expanded", "control"), default="all",
                        help="control: models with control flow or collections; "
                        "expanded: those, and with it in an operator's function body")  # fmt: skip
    parser.add_argument("--aot", action="store_true", help="compile ahead of time (loopc.aot)")
    parser.add_argument("--engine", default="loopc",
                        choices=("loopc", "loopc-cuda", "loopc-cuda-kernel", "loopc-cuda-cluster",
                                 "loopc-cuda-graph", "loopc-cuda-host", "onnxruntime",
                                 "reference", "openvino", "loopc-ir"),
                        help="another engine, for comparison; loopc-cuda: on the first GPU, or "
                        "what LOOPC_CUDA_DRIVER names; loopc-cuda-kernel, -cluster, -graph, "
                        "-host: with loops as one kernel, of one cluster, as graphs or driven "
                        "by the host there; "
                        "loopc-ir: loopc on what OpenVINO writes of the model")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="per case")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every result")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="write the page")
    parser.add_argument("--check", type=pathlib.Path, metavar="FILE", help="compare the page")
    parser.add_argument("--expect", type=pathlib.Path, metavar="FILE", help="cases that must pass")
    parser.add_argument("--required", nargs="?", const=REQUIRED, type=pathlib.Path, metavar="FILE",
                        help="run the cases listed in FILE (required.txt); all must pass")  # fmt: skip
    parser.add_argument("--write-expect", type=pathlib.Path, metavar="FILE",
                        help="write the names of the cases that passed")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for every case")
    options = parser.parse_args(argv)
    if options.jobs < 1 or options.timeout <= 0:
        parser.error("--jobs and --timeout must be positive")
    if options.aot and options.engine != "loopc":
        parser.error("--aot is loopc's")
    if options.required and (options.expect or options.write_expect):
        parser.error("--required has its own list")
    if options.required:
        options.expect = options.required
    if options.expect and not options.expect.is_file():
        parser.error(f"{options.expect} is not a file")
    if _is_partial(options) and (options.table or options.check):
        parser.error("--table and --check are about the whole suite")
    return options


def _is_partial(options: argparse.Namespace) -> bool:
    """Whether some cases of the suite are left out on purpose."""
    return bool(options.filter or options.subset != "all" or options.required)


def _listed(path: pathlib.Path) -> list[str]:
    """The names in a list of cases: one a line, # begins a comment."""
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    # As test/python/compiling.py has it: models are compiled, in the process itself, and the IR
    # is verified after every pass.
    os.environ["LOOPC_CACHE_DIR"] = "off"
    for name, value in (("LOOPC_COMPILE", "inprocess"), ("LOOPC_VERIFY_EACH", "1")):
        os.environ.setdefault(name, value)
    options = _arguments(argv)
    chosen = _choose(cases.load(), options)
    if not chosen:
        print("no case matches", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    engine = "loopc-aot" if options.aot else options.engine
    assert engine in ENGINES
    results = _run(chosen, engine, options)
    control = {case.name: control_of(cases.loaded(case)) for case in chosen}
    print(_summary(results, control))
    if options.json:
        _write_json(options.json, engine, results, control)
    if options.write_expect:
        names = sorted(name for name, result in results.items() if result.status == PASS)
        options.write_expect.write_text("".join(f"{name}\n" for name in names))
    return _verdict(options, chosen, results, control)


def _choose(everything: list[TestCase], options: argparse.Namespace) -> list[TestCase]:
    chosen = everything
    if options.required:
        required = set(_listed(options.required))
        unknown = required - {case.name for case in everything}
        if unknown:
            raise SystemExit(f"{options.required}: no such case: {', '.join(sorted(unknown))}")
        chosen = [case for case in chosen if case.name in required]
    if options.filter:
        chosen = [case for case in chosen if re.search(options.filter, case.name)]
    if options.subset != "all":
        least = Control.WRITTEN if options.subset == "control" else Control.EXPANDED
        chosen = [case for case in chosen if control_of(cases.loaded(case)) >= least]
    return chosen


def _run(chosen: list[TestCase], engine: str, options: argparse.Namespace) -> dict[str, Result]:
    results: dict[str, Result] = {}
    began = time.monotonic()
    terminal = sys.stderr.isatty()
    for result in run_all(chosen, engine, options.jobs, options.timeout):
        results[result.name] = result
        if options.verbose:
            reason = " ".join(filter(None, (result.code, result.reason)))
            print(f"{result.status:13} {result.name} {reason}".rstrip(), flush=True)
        elif terminal or len(results) % 200 == 0:
            passed = sum(r.status == PASS for r in results.values())
            line = f"{len(results)}/{len(chosen)} run, {passed} passed"
            print(line, end="\r" if terminal else "\n", file=sys.stderr, flush=True)
    print(f"{len(results)} cases in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return dict(sorted(results.items()))


def _summary(results: dict[str, Result], control: dict[str, Control]) -> str:
    counts = collections.Counter(r.status for r in results.values())
    named = ", ".join(f"{counts[c]} {c}" for c in CLASSES if counts[c])
    total = f"{counts[PASS]} of {len(results)} passed ({named}); control flow and collections: "
    return total + ", ".join(
        f"{sum(r.status == PASS for r in some)} of {len(some)} {title}"
        for title, some in (
            ("as written", _with_control(results, control, Control.WRITTEN)),
            ("once functions are expanded", _with_control(results, control, Control.EXPANDED)),
        )
    )


def _with_control(
    results: dict[str, Result], control: dict[str, Control], least: Control
) -> list[Result]:
    return [r for r in results.values() if control[r.name] >= least]


def _write_json(
    path: pathlib.Path, engine: str, results: dict[str, Result], control: dict[str, Control]
) -> None:
    rows = [
        {**dataclasses.asdict(r), "control": control[r.name].name.lower()} for r in results.values()
    ]
    path.write_text(json.dumps({"engine": engine, "results": rows}, indent=1) + "\n")


def _verdict(
    options: argparse.Namespace,
    chosen: list[TestCase],
    results: dict[str, Result],
    control: dict[str, Control],
) -> int:
    failed = False
    if options.expect:
        failed |= _regressions(options, results)
    if options.table or options.check:
        page = table(chosen, results, control)
        if options.table:
            options.table.write_text(page)
        if options.check and options.check.read_text() != page:
            print(f"{options.check} is out of date: run with --table", file=sys.stderr)
            failed = True
    if not (options.expect or options.table or options.check):
        failed = any(r.status != PASS for r in results.values())
    return int(failed)


def _regressions(options: argparse.Namespace, results: dict[str, Result]) -> bool:
    expected = _listed(options.expect)
    partial = _is_partial(options)
    bad = []
    for name in expected:
        if name not in results:
            # A name that the suite no longer has would be checked never again.
            bad += [] if partial else [f"{name}: no such case"]
        elif results[name].status != PASS:
            result = results[name]
            bad.append(f"{name}: {result.status} {result.code} {result.reason}")
    for line in bad:
        print(f"must pass: {line}", file=sys.stderr)
    return bool(bad)


# ===- The page --------------------------------------------------------------===#


@dataclasses.dataclass
class _Row:
    passed: int = 0
    total: int = 0
    # Of the failures, that of the model with the fewest operators tells most.
    failure: tuple[int, str, str] | None = None


def table(chosen: list[TestCase], results: dict[str, Result], control: dict[str, Control]) -> str:
    """The page docs/Support.md: what of ONNX's suite passes, by operator."""
    rows: dict[tuple[str, str], _Row] = collections.defaultdict(_Row)
    for case in chosen:
        result = results[case.name]
        found = cases.operators(cases.loaded(case))
        for operator in found:
            row = rows[operator]
            row.total += 1
            if result.status == PASS:
                row.passed += 1
                continue
            status = result.status if not result.code else f"{result.status} {result.code}"
            # How many values differ depends on the CPU, and on random numbers.
            told = result.reason and result.status != MISMATCH
            reason = f"{status}: {result.reason}" if told else status
            failure = (len(found), case.name, reason)
            row.failure = min(row.failure or failure, failure)
    totals = [("All of the suite", list(results.values()))]
    for title, least in (
        ("Control flow and collections", Control.WRITTEN),
        ("The same, in function bodies too", Control.EXPANDED),
    ):
        totals.append((title, _with_control(results, control, least)))
    lines = [
        "# What passes today",
        "",
        "<!-- Written by test/conformance/run.py --table; do not edit. -->",
        "",
        "ONNX's own backend tests, from the installed onnx package, run in process. A test counts",
        "for every operator that its model contains. Control flow and collections are the models",
        "with Loop, Scan, If, sequences or optionals; more models hold them in the function body of",
        "an operator's schema.",
        "",
        "| | passed | of | " + " | ".join(c for c in CLASSES if c != PASS) + " |",
        "|---|--:|--:|" + "--:|" * (len(CLASSES) - 1),
    ]
    for title, some in totals:
        counts = collections.Counter(r.status for r in some)
        rest = " | ".join(str(counts[c]) for c in CLASSES if c != PASS)
        lines.append(f"| {title} | {counts[PASS]} | {len(some)} | {rest} |")
    lines += ["", "| operator | passed | of | first failure |", "|---|--:|--:|---|"]
    for (domain, op_type), row in sorted(rows.items()):
        name = f"{domain}.{op_type}" if domain else op_type
        reason = "" if row.failure is None else f"`{row.failure[1]}`: {_cell(row.failure[2])}"
        lines.append(f"| {name} | {row.passed} | {row.total} | {reason} |".replace("  |", " |"))
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main())
