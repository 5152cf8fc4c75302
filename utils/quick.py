#!/usr/bin/env python3
# ===- quick.py - The tests of one pass, in half a minute ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Chooses the tests that exercise what was changed: ./dev test quick PASS|FILE...

A PASS is a name as loopc-opt knows it. A FILE of lib/ or include/ stands for the
pass that it defines, else for those that include it, else for those of its
folder; one of the operators' lowerings stands for the operators of its table, one
of a tool for the tool's tests, and a test for itself.

The lit tests are those that name the pass in a RUN line, and those of the folder
that mirrors the file's. The meaning tests are those in which the pass changed
something, as test/quick.tsv says: the compiler writes it down while the tests run
(LOOPC_TRACE_PASSES), and ./dev test quick --update collects it.
"""

import argparse
import difflib
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from repo import ROOT, files, read

MAP = Path("test/quick.tsv")
# Seconds of one core: of lit tests, whose times nobody keeps, a number.
PYTEST_SECONDS, LIT_TESTS = 14.0, 24
# Each file of tests costs its imports.
TEST_FILES = 6
TOOLS = ("loopc-opt", "loopc-run", "loopc-translate", "loopc-reduce", "loopc-lsp-server", "loopc")


class QuickError(Exception):
    """What is asked for and is not there."""


@dataclass(frozen=True)
class Meaning:
    """A test of pytest, and what its models exercise."""

    name: str  # test_loops.py::test_models[loopc]
    seconds: float
    passes: frozenset[str]
    operators: frozenset[str]

    @property
    def file(self) -> str:
        """Relative to test/python."""
        return self.name.split("::")[0]

    @property
    def function(self) -> str:
        """The name without parameters."""
        return self.name.split("[")[0]


@dataclass
class Wanted:
    """What is to be exercised."""

    passes: set[str] = field(default_factory=set)
    operators: set[str] = field(default_factory=set)
    folders: set[Path] = field(default_factory=set)  # of lit tests
    lit: set[Path] = field(default_factory=set)
    python: set[str] = field(default_factory=set)


# ---------------------------------------------------------------- the map


def parse_map(text: str) -> list[Meaning]:
    """The rows of test/quick.tsv: a first line with all passes, then a test a line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    if not lines:
        return []
    names = lines[0].split()
    tests = []
    for line in lines[1:]:
        name, seconds, mask, operators = line.split("\t")
        bits = int(mask, 16)
        passes = frozenset(one for at, one in enumerate(names) if bits >> at & 1)
        tests.append(Meaning(name, float(seconds), passes, frozenset(operators.split())))
    return tests


def print_map(tests: Iterable[Meaning]) -> str:
    """What parse_map() reads."""
    tests = sorted(tests, key=lambda test: test.name)
    names = sorted({name for test in tests for name in test.passes})
    lines = [
        "# Made by ./dev test quick --update: which passes change something in a test, and which",
        "# operators it has. Passes (bits from the lowest); then test, seconds, passes, operators.",
        " ".join(names),
    ]
    for test in tests:
        mask = sum(1 << at for at, name in enumerate(names) if name in test.passes)
        operators = " ".join(sorted(test.operators))
        lines.append(f"{test.name}\t{test.seconds:.2f}\t{mask:x}\t{operators}")
    return "\n".join(lines) + "\n"


def merge(old: Iterable[Meaning], new: list[Meaning]) -> list[Meaning]:
    """`new`, and of `old` what was not run again and is still there."""
    fresh = {test.function for test in new}
    kept = [test for test in old if test.function not in fresh and is_there(test.name)]
    return kept + new


def is_there(name: str) -> bool:
    """Whether the function of a test is still in its file."""
    file, function = name.split("::")[0], name.split("::")[-1].split("[")[0]
    path = ROOT / "test/python" / file
    return path.exists() and f"def {function}(" in path.read_text(encoding="utf-8")


def read_traces(folder: Path) -> list[Meaning]:
    """What pass_trace.py wrote: of each function the run that exercises most in least time."""
    best: dict[str, Meaning] = {}
    for file in sorted(folder.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            name, seconds, passes, operators = line.split("\t")
            one = Meaning(
                name, float(seconds), frozenset(passes.split()), frozenset(operators.split())
            )
            known = best.get(one.function)
            if known is None or (-len(one.passes), one.seconds) < (
                -len(known.passes),
                known.seconds,
            ):
                best[one.function] = one
    return list(best.values())


# ---------------------------------------------------------------- what was asked for


def definitions_of(path: Path) -> dict[str, str]:
    """The passes of a .td file by their definitions: LoopLowerScan -> loop-lower-scan."""
    return dict(re.findall(r"\bdef (\w+)\s*:\s*Pass<\s*\"([\w-]+)\"", read(path)))


def defined_passes() -> dict[str, str]:
    """All passes by their definitions."""
    passes: dict[str, str] = {}
    for path in files({".td"}, ("include/loopc",)):
        passes |= definitions_of(path)
    return passes


def passes_of(path: Path, defined: dict[str, str]) -> set[str]:
    """The passes that a file implements."""
    upper = {name.upper(): argument for name, argument in defined.items()}
    return {
        upper[name]
        for name in re.findall(r"#define GEN_PASS_DEF_(\w+)", read(path))
        if name in upper
    }


def users_of(path: Path, sources: list[Path]) -> list[Path]:
    """The files that include the header of `path`."""
    stem = re.escape(path.stem)
    include = re.compile(rf'#include "(?:[\w/]*/)?{stem}\.h"')
    near = [one for one in sources if one.parent == path.parent or path.is_relative_to("include")]
    return [one for one in near if one != path and include.search(read(one))]


def want_source(path: Path, wanted: Wanted) -> None:
    """What exercises a file of the compiler."""
    inner = Path(*path.parts[2 if path.parts[0] == "include" else 1 :])
    mirror = Path("test") / inner.parent
    while len(mirror.parts) > 2 and not (ROOT / mirror).is_dir():
        mirror = mirror.parent
    if (ROOT / mirror).is_dir():
        wanted.folders.add(mirror)
    operators = set(re.findall(r'\{"[\w.]*", "(\w+)", \d+, \w+,', read(path)))
    if operators and "ONNXToLinalg" in path.parts:
        wanted.operators |= operators
        return
    if path.suffix == ".td":
        wanted.passes |= set(definitions_of(path).values())
        return
    defined = defined_passes()
    sources = files({".cpp", ".h"}, ("lib",))
    passes = passes_of(path, defined)
    for user in [] if passes else users_of(path, sources):
        passes |= passes_of(user, defined)
    if not passes:
        for other in sources:
            if other.parent == Path("lib") / inner.parent:
                passes |= passes_of(other, defined)
    wanted.passes |= passes
    if not passes and not wanted.folders:
        raise QuickError(f"'{path}' is part of no pass, and has no folder of lit tests")


def want(name: str, known: set[str], wanted: Wanted) -> None:
    """Adds what `name` stands for."""
    path = Path(name)
    if path.is_absolute() and path.is_relative_to(ROOT):
        path = path.relative_to(ROOT)
    if name in known:
        wanted.passes.add(name)
    elif not (ROOT / path).is_file():
        close = difflib.get_close_matches(name, sorted(known), 3)
        raise QuickError(
            f"there is neither a pass nor a file '{name}'"
            + (f"; similar passes: {', '.join(close)}" if close else "")
        )
    elif path.is_relative_to("test/python"):
        wanted.python.add(str(path.relative_to("test/python")))
    elif path.parts[0] == "test":
        wanted.lit.add(path)
    elif path.parts[0] in ("lib", "include") and path.suffix in (".cpp", ".h", ".td", ".def"):
        want_source(path, wanted)
    elif path.parts[0] == "tools":
        wanted.folders.add(Path("test/Tools") / path.parts[1])
    else:
        raise QuickError(f"'{name}' is no file of lib/, include/, tools/ or test/")


# ---------------------------------------------------------------- the choice


def one_of(names: Iterable[str]) -> str:
    """An expression for any of the names; for none of them one that nothing fits."""
    return "|".join(map(re.escape, sorted(names))) or r"(?!)"


def choose_lit(wanted: Wanted) -> list[Path]:
    """Lit tests: those asked for, then those that name a pass or operator, and of its folder."""
    passes = re.compile(rf"(?:^|[\s('\",=]|--?)(?:{one_of(wanted.passes)})(?![\w-])")
    operators = re.compile(rf'"(?:{one_of(wanted.operators)})"')
    is_exact = bool(wanted.passes or wanted.operators)
    ranks: dict[Path, int] = {path: 0 for path in wanted.lit}
    for path in files({".mlir", ".test", ".onnxtxt"}, ("test",)):
        if "Inputs" in path.parts or path.is_relative_to("test/python"):
            continue
        text = read(path)
        runs = "\n".join(line for line in text.splitlines() if "RUN:" in line)
        is_named = bool(passes.search(runs) or operators.search(text))
        is_near = any(path.is_relative_to(folder) for folder in wanted.folders)
        if runs and (is_named or (is_near and not is_exact)):
            ranks.setdefault(path, 3 - is_named - is_near)
    return sorted(ranks, key=lambda path: (ranks[path], path))[: max(LIT_TESTS, len(wanted.lit))]


def choose_python(wanted: Wanted, tests: list[Meaning]) -> list[str]:
    """Meaning tests of each pass and operator in turn, the cheap ones of each file first."""
    chosen: dict[str, Meaning] = {}
    seconds = 0.0
    goals = [("passes", name) for name in sorted(wanted.passes)]
    goals += [("operators", name) for name in sorted(wanted.operators)]
    queues = []
    for kind, name in goals:
        fits = sorted((t for t in tests if name in getattr(t, kind)), key=lambda t: t.seconds)
        count: dict[str, int] = {}
        order = []
        for one in fits:
            count[one.file] = count.get(one.file, 0) + 1
            order.append((count[one.file], one.seconds, one.name, one))
        queues.append(iter([entry[-1] for entry in sorted(order)]))
    while queues:
        for queue in list(queues):
            test = next(queue, None)
            if test is None:
                queues.remove(queue)
                continue
            used = {one.file for one in chosen.values()}
            is_dear = seconds + test.seconds > PYTEST_SECONDS
            is_far = len(used) >= TEST_FILES and test.file not in used
            if test.name in chosen or is_dear or is_far:
                continue
            chosen[test.name] = test
            seconds += test.seconds
    return sorted(wanted.python) + sorted(chosen)


def plan(names: list[str]) -> list[str]:
    """Lines "build TARGET", "lit FILE", "pytest TEST"."""
    tests = parse_map(read(MAP)) if (ROOT / MAP).exists() else []
    known = set(defined_passes().values()) | {name for test in tests for name in test.passes}
    wanted = Wanted()
    for name in names:
        want(name, known, wanted)
    lit, python = choose_lit(wanted), choose_python(wanted, tests)
    if not lit and not python:
        raise QuickError(f"no test exercises {', '.join(names)}")
    runs = "\n".join(line for path in lit for line in read(path).splitlines() if "RUN:" in line)
    targets = [tool for tool in TOOLS if re.search(rf"(?<![\w/-]){tool}(?![\w-])", runs)]
    if python:
        targets += ["loopc_capi", "loopc_python", "loopc_fake_cuda", "loopc_fake_cublas"]
    lines = [f"build {one}" for one in targets]
    lines += [f"lit {path}" for path in lit]
    return lines + [f"pytest test/python/{one}" for one in python]


def main() -> int:
    """Prints the plan, or updates the map; returns the exit status."""
    parser = argparse.ArgumentParser(
        usage="./dev test quick PASS|FILE...\n       ./dev test quick --update [PYTEST ARGS]",
        description="Run the tests that exercise passes or files. With --update: run the meaning "
        "tests (all without arguments), and write anew which passes they exercise.",
    )
    parser.add_argument("names", nargs="*", metavar="PASS|FILE", help="a pass, or a file with one")
    # A folder of what pass_trace.py wrote; ./dev makes it.
    parser.add_argument("--update", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.update:
        new = read_traces(arguments.update)
        old = parse_map(read(MAP)) if (ROOT / MAP).exists() else []
        (ROOT / MAP).write_text(print_map(merge(old, new)), encoding="utf-8")
        print(f"{MAP}: {len(new)} tests are new or were run again")
        return 0
    if not arguments.names:
        parser.error("what was changed? A pass (loop-fuse-loops) or a file (lib/Tensor/X.cpp)")
    try:
        print("\n".join(plan(arguments.names)))
    except QuickError as error:
        print(f"quick: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
