# ===- through_openvino.py - ONNX's suite by way of OpenVINO IR -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Counts what of ONNX's suite comes back through OpenVINO IR.

    through_openvino.py                               the whole suite, some ten minutes
    through_openvino.py --filter '^test_loop'         some of it
    through_openvino.py --state FILE --minutes 5      a part; the same again goes on
    through_openvino.py --state FILE --again loopc-ir anew by a loopc that has changed
    through_openvino.py --markdown docs/OpenVINOSuite.md

Every case goes through OpenVINO's converter and its own runtime; what passes there, and by loopc
from ONNX, is to pass by loopc from the IR that OpenVINO writes. What loopc passes from ONNX says
required.txt, which CI holds it to; --run-onnx runs it instead.

Exit status: 0; 1 less than --least percent pass; 2 wrong usage; 3 --minutes ended, or a key.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
import time
from collections.abc import Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cases
from onnx.backend.test.case.test_case import TestCase
from pool import run_all
from runners import PASS, Result

REQUIRED = pathlib.Path(__file__).with_name("required.txt")
#: What is known of cases that do not pass: how the page explains them.
NOTES = {
    r"^test_div_.*_trunc$": "OpenVINO's converter writes a division that rounds down "
    "(m_pythondiv), which its runtime truncates as ONNX does; loopc does what the IR says",
}
PEER, ONNX, IR = "openvino", "loopc", "loopc-ir"


class UnfinishedError(Exception):
    """The time was not enough."""


class Store:
    """Results by engine and case, kept in a file of JSON lines where there is one."""

    def __init__(self, path: pathlib.Path | None, again: Sequence[str]) -> None:
        self._path = path
        self._found: dict[tuple[str, str], Result] = {}
        if path is None or not path.exists():
            return
        for line in path.read_text().splitlines():
            try:
                row = json.loads(line)
                engine = row.pop("engine")
                result = Result(**row)
            except (ValueError, TypeError, KeyError):
                continue  # a line that was cut off when the program was ended
            if engine not in again:
                self._found[engine, result.name] = result
        # Without what is to be run again, and without what was cut off.
        path.write_text("".join(map(self._line, self._found, self._found.values())))

    @staticmethod
    def _line(key: tuple[str, str], result: Result) -> str:
        return json.dumps({"engine": key[0], **dataclasses.asdict(result)}) + "\n"

    def get(self, engine: str, name: str) -> Result | None:
        """The result of a case, if it was run."""
        return self._found.get((engine, name))

    def add(self, engine: str, result: Result) -> None:
        """Keeps a result, in the file too."""
        key = engine, result.name
        self._found[key] = result
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(self._line(key, result))


class Runs:
    """Runs cases by one engine after the other, and says how far it is."""

    def __init__(self, store: Store, options: argparse.Namespace) -> None:
        self._store, self._jobs, self._limit = store, options.jobs, options.timeout
        minutes = options.minutes or float("inf")
        self._end = time.monotonic() + 60 * minutes

    def run(self, chosen: Sequence[TestCase], engine: str) -> dict[str, Result]:
        """The results of all cases, those that are known included."""
        open_cases = [case for case in chosen if self._store.get(engine, case.name) is None]
        known = len(chosen) - len(open_cases)
        shown = 0.0
        running = run_all(open_cases, engine, self._jobs, self._limit)
        for done, result in enumerate(running, known + 1):
            self._store.add(engine, result)
            now = time.monotonic()
            if now - shown > 5 or done == len(chosen):
                shown = now
                print(f"{engine}: {done}/{len(chosen)}", file=sys.stderr, flush=True)
            if now > self._end:
                running.close()
                raise UnfinishedError(f"{engine}: {done} of {len(chosen)} cases are done")
        results = {case.name: self._store.get(engine, case.name) for case in chosen}
        return {name: result for name, result in results.items() if result is not None}


def _passed(chosen: Sequence[TestCase], results: dict[str, Result]) -> list[TestCase]:
    return [case for case in chosen if results[case.name].status == PASS]


@dataclasses.dataclass
class Report:
    """How many cases there are, and how those ended that were expected to pass."""

    cases: int
    by_peer: int
    results: dict[str, Result]

    @property
    def failed(self) -> list[Result]:
        """Those that did not pass, by name."""
        return [r for _, r in sorted(self.results.items()) if r.status != PASS]

    @property
    def passed(self) -> int:
        """How many did."""
        return len(self.results) - len(self.failed)

    @property
    def percent(self) -> float:
        """How many of a hundred did."""
        return 100 * self.passed / len(self.results) if self.results else 100.0

    def summary(self) -> str:
        """One line."""
        return (
            f"{self.cases} cases; {self.by_peer} pass by OpenVINO, {len(self.results)} of them by "
            f"loopc from ONNX, {self.passed} of those through OpenVINO IR: {self.percent:.1f} "
            "percent"
        )

    def json(self) -> str:
        """Everything."""
        return json.dumps(
            {
                "cases": self.cases,
                "passed_by_openvino": self.by_peer,
                "expected": len(self.results),
                "passed": self.passed,
                "failed": [dataclasses.asdict(r) for r in self.failed],
            },
            indent=1,
        )

    def markdown(self) -> str:
        """The page of docs/."""
        import onnx
        import openvino

        rows = "".join(f"| {r.name} | {r.status} | {_cell(_why(r))} |\n" for r in self.failed)
        version = openvino.__version__.split("-")[0]
        return (
            "<!-- Made by test/conformance/through_openvino.py --markdown. -->\n\n"
            "# ONNX's suite through OpenVINO IR\n\n"
            f"Each case of onnx {onnx.__version__}'s backend suite is converted and written as IR "
            f"by OpenVINO {version}, and\nrun by its own runtime. Of those that pass there, and by "
            "loopc from ONNX, loopc is to pass the same from the IR.\n\n"
            "| | cases |\n|---|---:|\n"
            f"| in the suite | {self.cases:,} |\n"
            f"| converted by OpenVINO, and right by its runtime | {self.by_peer:,} |\n"
            f"| of them right by loopc from ONNX | {len(self.results):,} |\n"
            f"| of those right by loopc through IR | {self.passed:,} ({self.percent:.1f} percent) |"
            "\n\n## What does not pass\n\n"
            + (f"| case | how it ends | why |\n|---|---|---|\n{rows}" if rows else "Nothing.\n")
        )


def _why(result: Result) -> str:
    """What a case says of its end, and what is known of it."""
    known = [note for pattern, note in NOTES.items() if re.search(pattern, result.name)]
    return "; ".join(filter(None, (f"{result.code} {result.reason}".strip(), *known)))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", metavar="REGEX", default="", help="only cases that match")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="per case")
    parser.add_argument("--least", type=float, default=98, metavar="PERCENT", help="default 98")
    parser.add_argument("--run-onnx", action="store_true",
                        help="run what loopc passes from ONNX, rather than read it")  # fmt: skip
    parser.add_argument("--state", type=pathlib.Path, metavar="FILE",
                        help="keep results here, and begin with those that are there")  # fmt: skip
    parser.add_argument("--again", action="append", default=[], choices=(PEER, ONNX, IR),
                        help="forget the results of this engine; repeatable")  # fmt: skip
    parser.add_argument("--minutes", type=float, metavar="N", help="stop after this time")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the page")
    options = parser.parse_args()
    if options.jobs < 1 or options.timeout <= 0 or (options.minutes or 1) <= 0:
        parser.error("--jobs, --timeout and --minutes must be positive")
    if options.filter and options.markdown:
        parser.error("--markdown is about the whole suite")
    return options


def _report(options: argparse.Namespace) -> Report:
    runs = Runs(Store(options.state, options.again), options)
    everything = [case for case in cases.load() if re.search(options.filter, case.name)]
    by_peer = _passed(everything, runs.run(everything, PEER))
    if options.run_onnx:
        expected = _passed(by_peer, runs.run(by_peer, ONNX))
    else:
        required = {line.split("#")[0].strip() for line in REQUIRED.read_text().splitlines()}
        expected = [case for case in by_peer if case.name in required]
    return Report(len(everything), len(by_peer), runs.run(expected, IR))


def main() -> int:
    """Runs what the command line asks for and returns the exit status."""
    options = _arguments()
    try:
        report = _report(options)
    except (UnfinishedError, KeyboardInterrupt) as error:
        again = ": the same command goes on" if options.state else ""
        print(f"not finished: {error}{again}", file=sys.stderr)
        return 3
    for result in report.failed:
        print(f"{result.status:13} {result.name} {result.code} {result.reason}")
    print(report.summary())
    if options.json:
        options.json.write_text(report.json() + "\n")
    if options.markdown:
        options.markdown.write_text(report.markdown())
    return int(report.percent < options.least)


if __name__ == "__main__":
    sys.exit(main())
