# ===- gpu_page.py - The page about a run on a GPU ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What the stages of gpu.py printed, and the page docs/GPUResults.md of it."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence
from typing import Any

_CASE = re.compile(r"^(pass|compile error|run error|mismatch|crash|timeout)\s+(test_\S+)\s*(.*)$")
_TEST = re.compile(r"(PASSED|FAILED|ERROR)\s+(?:\[.*?\]\s*)?(test\S+::\S+)")
_TEST_BEHIND = re.compile(r"^(test\S+::\S+)\s+(PASSED|FAILED|ERROR)")
#: What test/conformance/run.py prints when it is through.
_THROUGH = re.compile(r"^\d+ of \d+ passed \(")
_SANITIZER = re.compile(r"ERROR SUMMARY: (\d+) error")
_HAZARDS = re.compile(r"RACECHECK SUMMARY: (\d+) hazard")
#: Nanoseconds an iteration of the empty loop may take, by form.
_GOALS = {"kernel": 50.0, "graph": 2000.0}


def read_lines(stage: str, lines: Sequence[str], root: pathlib.Path) -> dict[str, Any]:
    """What `lines` say, also of a stage that did not end: a summary, failures, figures."""
    about: dict[str, Any] = {"summary": "", "failures": [], "table": []}
    if stage in ("loops", "bench", "products"):
        about["table"] = [line for line in lines if line.strip()]
        if stage == "loops":
            about["goals"] = _loop_goals(lines)
        return about
    errors = sum(int(m[1]) for m in map(_SANITIZER.search, lines) if m)
    errors += sum(int(m[1]) for m in map(_HAZARDS.search, lines) if m)
    cases = [match.groups() for match in map(_CASE.match, lines) if match]
    if cases:
        _read_cases(stage, cases, root, about)
    elif stage == "tests":
        _read_tests(lines, about)
    if errors:
        about["failures"].insert(0, f"compute-sanitizer found {errors} errors (log.txt)")
    return about


def _read_cases(
    stage: str, cases: Sequence[tuple[str, ...]], root: pathlib.Path, about: dict[str, Any]
) -> None:
    """Cases of ONNX's suite; those that fail on the CPU, too, are no failures."""
    required = root / "test/conformance/required.txt"
    listed = set(re.findall(r"^(test_\S+)", required.read_text(), re.M))
    passed = {name for status, name, _ in cases if status == "pass"}
    about["failures"] = [
        f"{name}: {status} {why}".rstrip()
        for status, name, why in cases
        if name not in passed and name in listed
    ]
    about["summary"] = f"{len(passed)} of {len(cases)} cases pass"
    if stage == "conformance":
        wanted = sum(name in listed for _, name, _ in cases)
        good = len(passed & listed)
        about["summary"] += f"; {good} of {wanted} that pass on the CPU"


def is_as_on_the_cpu(lines: Sequence[str], about: dict[str, Any]) -> bool:
    """Whether a run of ONNX's suite came to its end, and only cases failed that fail on the CPU."""
    return not about["failures"] and any(map(_THROUGH.match, lines))


def _read_tests(lines: Sequence[str], about: dict[str, Any]) -> None:
    found: dict[str, str] = {}
    for line in lines:
        if match := _TEST.search(line):
            found[match[2]] = match[1]
        elif match := _TEST_BEHIND.match(line):
            found[match[1]] = match[2]
    about["failures"] = [name for name, status in found.items() if status != "PASSED"]
    about["summary"] = f"{len(found) - len(about['failures'])} of {len(found)} tests pass"


def _loop_goals(lines: Sequence[str]) -> list[str]:
    """Each form's time beside what it shall be at most."""
    heads = next((line.split()[3:] for line in lines if line.startswith("nanoseconds")), [])
    row = next((line for line in lines if line.startswith("an element alone")), "")
    said = []
    for form, text in zip(heads, row.removeprefix("an element alone").split(), strict=False):
        if form in _GOALS and re.fullmatch(r"-?\d+(\.\d+)?", text):
            value = float(text)
            met = "met" if value <= _GOALS[form] else "missed"
            said.append(f"{form}: {value:.0f} ns an iteration, goal {_GOALS[form]:.0f} ns: {met}")
    return said


_INTRODUCTION = """\
# Results on a GPU

<!-- Written by `./dev gpu` (utils/gpu_page.py); do not edit. -->
"""

NOT_RUN = f"""{_INTRODUCTION}
**This has not been run on a device.** No machine with a GPU was at hand, so that there are no
figures: neither the times of loops, nor those beside JAX and torch, nor ONNX's suite, nor
compute-sanitizer. All that is known of kernels comes from the driver for tests, which
interprets PTX, and from ptxas ([GPU.md](GPU.md)).

`./dev gpu`, on a machine with a GPU, runs it all and writes this page: card, driver, date and
figures. `./dev gpu --quick` takes less than ten minutes. Where that machine has no network, or
nothing to build with, `./dev gpu --pack` makes an archive with all that is needed; unpack it
there and run its `gpu.sh`.
"""


def page(results: dict[str, Any] | None) -> str:
    """The page of what gpu.py found; of None: that it was never run."""
    if results is None:
        return NOT_RUN
    machine = results["machine"]
    lines = [_INTRODUCTION]
    if "Driver in place of libcuda.so.1" in machine:
        lines += [
            "**Not a GPU**: another driver stood in for libcuda.so.1; times mean nothing.",
            "",
        ]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in machine.items()]
    lines += ["", "| stage | result | seconds | |", "|---|---|--:|---|"]
    for stage in results["stages"]:
        said = "; ".join(filter(None, (stage["why"], stage["summary"])))
        verdict = stage["verdict"] if stage["verdict"] == "passed" else f"**{stage['verdict']}**"
        lines.append(f"| {stage['title']} | {verdict} | {stage['seconds']:.0f} | {_cell(said)} |")
    for stage in results["stages"]:
        lines += _section(stage)
    missing = [stage["title"] for stage in results["stages"] if stage["verdict"] == "not run"]
    if missing:
        lines += ["", "## Not run", "", *(f"- {title}" for title in missing)]
    return "\n".join(lines) + "\n"


def _section(stage: dict[str, Any]) -> list[str]:
    """What there is to say of a stage beside its row."""
    lines: list[str] = []
    if stage.get("goals"):
        lines += ["", *(f"- {goal}" for goal in stage["goals"])]
    if stage["table"]:
        lines += ["", "```", *stage["table"], "```"]
    if stage["failures"]:
        shown = stage["failures"][:50]
        lines += ["", *(f"- `{_cell(failure)}`" for failure in shown)]
        if len(stage["failures"]) > len(shown):
            lines.append(f"- and {len(stage['failures']) - len(shown)} more (results.json)")
    if not lines and stage["verdict"] in ("failed", "timed out"):
        lines = ["", "```", *stage["tail"], "```"]
    return ["", f"## {stage['title']}", *lines] if lines else []


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
