#!/usr/bin/env python3
# ===- check_rules.py - Every rule of the specification in its places ------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Checks that the rules of docs/Spec.md and the sources agree.

A rule of the specification begins a paragraph: its label in bold code, then the
places that enforce it (``PLACES`` below), as in::

    **`loop_zero`** (pass, run time): after zero trips ...

The label must occur in the sources of each of these places and in a test of each
(``TESTED``), and in the ODS description where a verifier enforces it. Rules of a section whose
heading ends in "(planned)" are only counted. A label that is cited as
``(`label`)`` must be a rule.

Prints one line for each fault and exits with 1 if there was any.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from repo import files, read

SPEC = Path("docs/Spec.md")

# What begins a label; the part of the specification that the rule belongs to.
PREFIXES = ("loop", "scan", "scan8", "name", "if", "seq", "opt", "ov", "trt")

# Where the sources of each place are (fnmatch patterns; "*" matches "/", too; a
# pattern after "!" takes files out).
PLACES: dict[str, tuple[str, ...]] = {
    "verifier": ("lib/Dialect/*/IR/*", "!*Canonicalize*"),
    "importer": ("lib/Frontend/*",),
    # What the compiled code or the runtime checks. A front end may insert such
    # a check, but the label belongs where the check is made.
    "run time": (
        "lib/Bufferize/*",
        "lib/Codegen/*",
        "lib/Conversion/*",
        "lib/Dialect/*/Transforms/*",
        "lib/Pipelines/*",
        "lib/Runtime/*",
        "lib/Target/*",
        "lib/Tensor/*",
    ),
    # Folds and canonicalisations are in IR.
    "pass": (
        "lib/Bufferize/*",
        "lib/Codegen/*",
        "lib/Conversion/*",
        "lib/Dialect/*/Transforms/*",
        "lib/Dialect/*/IR/*Canonicalize*",
        "lib/Pipelines/*",
        "lib/Target/*",
        "lib/Tensor/*",
    ),
}
# Where the tests of each place are.
TESTED: dict[str, tuple[str, ...]] = {
    # What it refuses and what it accepts.
    "verifier": ("test/Dialect/*invalid*", "test/Dialect/*ops*", "test/Dialect/*type*"),
    "importer": ("test/Frontend/*", "test/python/*"),
    "run time": ("test/python/*", "unittests/Runtime/*", "test/Tools/loopc-run/*"),
    "pass": (
        "test/Bufferize/*",
        "test/Codegen/*",
        "test/Conversion/*",
        "test/Dialect/*",
        "test/Pipelines/*",
        "test/Tensor/*",
        "test/python/*",
    ),
}
CODE = {".cpp", ".c", ".h", ".def"}
TESTS = {".mlir", ".test", ".onnxtxt", ".py", ".cpp", ".c"}

_RULE = re.compile(r"^\*\*`(?P<label>\w+)`\*\* \((?P<places>[^)]*)\):", re.MULTILINE)
_HEADING = re.compile(r"^## (?P<title>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """A rule of the specification."""

    label: str
    places: tuple[str, ...]
    line: int
    planned: bool


def parse_spec(text: str) -> tuple[list[Rule], list[str]]:
    """The rules of the specification, and what is wrong with how they stand."""
    headings = [(match.start(), match["title"]) for match in _HEADING.finditer(text)]
    rules: list[Rule] = []
    faults: list[str] = []
    for match in _RULE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        label = match["label"]
        places = tuple(place.strip() for place in match["places"].split(","))
        title = next((title for at, title in reversed(headings) if at < match.start()), "")
        for place in places:
            if place not in PLACES:
                faults.append(f"{SPEC}:{line}: '{label}': no such place: '{place}'")
        if label.split("_")[0] not in PREFIXES:
            faults.append(f"{SPEC}:{line}: '{label}' begins with none of {', '.join(PREFIXES)}")
        if any(rule.label == label for rule in rules):
            faults.append(f"{SPEC}:{line}: '{label}' is defined twice")
        rules.append(Rule(label, places, line, title.endswith("(planned)")))
    # A rule that the pattern misses would go unchecked.
    for number, content in enumerate(text.splitlines(), 1):
        if content.startswith("**`") and not _RULE.match(content):
            faults.append(f"{SPEC}:{number}: not of the form **`label`** (places):")
    if not rules:
        faults.append(f"{SPEC}:1: no rules found")
    return rules, faults


def _is_among(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a pattern takes `path` in, and none takes it out."""
    wanted = any(fnmatch(path, pattern) for pattern in patterns if pattern[0] != "!")
    return wanted and not any(fnmatch(path, p[1:]) for p in patterns if p[0] == "!")


class Occurrences:
    """Which labels occur in which file; the longest label that fits counts."""

    def __init__(self, labels: list[str]) -> None:
        longest_first = sorted(labels, key=len, reverse=True)
        # test_loop_zero_scan cites loop_zero: "_" may stand on either side.
        self._pattern = re.compile(
            r"(?<![A-Za-z0-9])(" + "|".join(map(re.escape, longest_first)) + r")(?![A-Za-z0-9])"
        )

    def within(self, suffixes: set[str], patterns: tuple[str, ...]) -> set[str]:
        """Labels that occur in the files whose paths match a pattern."""
        found: set[str] = set()
        for path in files(suffixes):
            if not _is_among(str(path), patterns):
                continue
            found.update(match[1] for match in self._pattern.finditer(f"{path.stem}\n{read(path)}"))
        return found


def check_places(rules: list[Rule]) -> list[str]:
    """Faults of rules whose label is missing in one of its places."""
    occurrences = Occurrences([rule.label for rule in rules])
    code = {place: occurrences.within(CODE, patterns) for place, patterns in PLACES.items()}
    ods = occurrences.within({".td"}, ("include/loopc/*",))
    tests = {place: occurrences.within(TESTS, patterns) for place, patterns in TESTED.items()}
    faults = []
    for rule in rules:
        if rule.planned:
            continue
        at = f"{SPEC}:{rule.line}: '{rule.label}'"
        for place in rule.places:
            if rule.label not in code.get(place, set()):
                faults.append(
                    f"{at}: no source of the place '{place}' ({', '.join(PLACES[place])})"
                )
            if rule.label not in tests.get(place, set()):
                faults.append(f"{at}: no test of the place '{place}' ({', '.join(TESTED[place])})")
        if "verifier" in rule.places and rule.label not in ods:
            faults.append(f"{at}: no ODS description (include/loopc/**/*.td)")
    return faults


def check_citations(rules: list[Rule]) -> list[str]:
    """Faults of citations of rules that do not exist."""
    known = {rule.label for rule in rules}
    citation = re.compile(r"\(`((?:" + "|".join(PREFIXES) + r")_[a-z0-9_]+)`\)")
    faults = []
    for path in files(CODE | {".td", ".mlir", ".md"}, ("include", "lib", "test", "docs")):
        for number, line in enumerate(read(path).splitlines(), 1):
            for match in citation.finditer(line):
                if match[1] not in known:
                    faults.append(f"{path}:{number}: '{match[1]}' is no rule of {SPEC}")
    return faults


def main() -> int:
    """Checks everything; returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare docs/Spec.md with the sources.")
    parser.add_argument("--list", action="store_true", help="print the rules and their places")
    arguments = parser.parse_args()
    rules, faults = parse_spec(read(SPEC))
    if arguments.list:
        for rule in rules:
            state = " (planned)" if rule.planned else ""
            print(f"{rule.label:24} {', '.join(rule.places)}{state}")
    if not faults:
        faults = check_places(rules) + check_citations(rules)
    for fault in faults:
        print(fault)
    planned = sum(rule.planned for rule in rules)
    print(f"{len(rules) - planned} rules checked, {planned} planned, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
