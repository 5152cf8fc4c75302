# ===- through_openvino.py - ONNX's suite by way of OpenVINO IR -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Counts what of ONNX's suite comes back through OpenVINO IR.

    through_openvino.py                     the whole suite, some ten minutes
    through_openvino.py --filter '^test_loop'

Every case goes through OpenVINO's converter and its own runtime; what passes there, and by loopc
from ONNX, is to pass by loopc from the IR that OpenVINO writes. Exit status: 1 where less than
--least percent do.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

import cases
from onnx.backend.test.case.test_case import TestCase
from pool import run_all
from runners import PASS, Result


def _run(chosen: Sequence[TestCase], engine: str, jobs: int) -> dict[str, Result]:
    return {r.name: r for r in run_all(list(chosen), engine, jobs, 120)} if chosen else {}


def _passed(chosen: Sequence[TestCase], results: dict[str, Result]) -> list[TestCase]:
    return [case for case in chosen if results[case.name].status == PASS]


def main() -> int:
    """Runs what the command line asks for and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--filter", metavar="REGEX", default="", help="only cases that match")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default 2)")
    parser.add_argument("--least", type=float, default=98, metavar="PERCENT", help="default 98")
    options = parser.parse_args()
    everything = [case for case in cases.load() if re.search(options.filter, case.name)]
    by_peer = _passed(everything, _run(everything, "openvino", options.jobs))
    expected = _passed(by_peer, _run(by_peer, "loopc", options.jobs))
    results = _run(expected, "loopc-ir", options.jobs)
    passed = _passed(expected, results)
    for name, result in sorted(results.items()):
        if result.status != PASS:
            print(f"{result.status:13} {name} {result.code} {result.reason}")
    percent = 100 * len(passed) / len(expected) if expected else 100.0
    print(
        f"{len(everything)} cases; {len(by_peer)} pass by OpenVINO, {len(expected)} of them by "
        f"loopc from ONNX, {len(passed)} of those through OpenVINO IR: {percent:.1f} percent"
    )
    return int(percent < options.least)


if __name__ == "__main__":
    sys.exit(main())
