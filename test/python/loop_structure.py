# ===- loop_structure.py - What compiled loops consist of -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Counts what makes compiled models slow, in their buffers and loops, for one CPU.

    loop_structure.py                 prints what has changed since loop_structure.tsv was written
    loop_structure.py --write         writes that table anew
    loop_structure.py --filter REGEX  of some models

The models are those of benchmarks/suite.py and of loop_models/. Of each of these counts less is
better; test_loop_structure.py fails where one has become more:

    unproved     loops and buffers whose iterations are said to be independent, which is not proved
    allocations  buffers that are allocated in a loop
    copies       copies in a loop: of whole buffers, and loops that do nothing else
    scalar       innermost loops that compute floats one by one
    serial       loops over elements in no loop that threads may share, that they may not share
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

_HERE = pathlib.Path(__file__).parent
ROOT = _HERE.parents[1]
TOOLS = ROOT / "build/bin"
TABLE = _HERE / "loop_structure.tsv"
sys.path[:0] = [str(_HERE), str(ROOT / "benchmarks")]

import onnx  # noqa: E402

#: Options of the compiler: the counts are those of one machine, whichever this is.
OPTIONS = ("--emit=scf", "--target=x86_64-linux-gnu", "--cpu=x86-64-v4", "--remarks")
_FLOAT = re.compile(r"= (?:arith\.(?:\w+f|fptosi|sitofp)|math\.\w+) .*: (?:f|bf)\d+")
_ELEMENT = re.compile(r"= (?:memref\.load|vector\.\w*load)|^(?:memref\.store|vector\.\w*store)")
_WORK = re.compile(r"= (?:arith\.(?!index_cast|constant)\w+|math\.\w+) .*: (?:vector<|f|bf|i\d)")


@dataclasses.dataclass(frozen=True)
class Counts:
    """What of a model could be less."""

    unproved: int = 0
    allocations: int = 0
    copies: int = 0
    scalar: int = 0
    serial: int = 0

    def worse(self, than: Counts) -> list[str]:
        """The counts that are more than those of `than`, with both."""
        mine, others = dataclasses.asdict(self), dataclasses.asdict(than)
        return [
            f"{name} {others[name]} -> {mine[name]}" for name in mine if mine[name] > others[name]
        ]


@dataclasses.dataclass
class _Region:
    """An operation with regions, while its lines are read."""

    name: str
    within: _Region | None
    has_loops: bool = False
    has_vectors: bool = False
    has_work: bool = False
    polls: bool = False
    has_strips: bool = False
    floats: int = 0
    elements: int = 0
    serial: int = 0

    @property
    def is_loop(self) -> bool:
        return self.name in ("scf.for", "scf.while")

    @property
    def in_loop(self) -> bool:
        return self.is_loop or (self.within is not None and self.within.in_loop)


def count(text: str, remarks: str = "") -> Counts:
    """The counts of a module on buffers and loops, as it is printed, and of remarks on it."""
    totals = dict.fromkeys(("allocations", "copies", "scalar"), 0)
    top = current = _Region("", None)
    for line in map(str.strip, text.splitlines()):
        if line.startswith("}"):
            closed = current
            assert closed.within is not None
            if not line.endswith("{"):
                current = closed.within
                _close(closed, current, "loopc.parallel" in line, totals)
        else:
            _add(current, line, totals)
        if line.endswith("{") and not line.startswith("}"):
            found = re.match(r"(?:%\S+ = )?([\w.]+)", line)
            current = _Region(found[1] if found else "", current)
    numbers = re.findall(r"not proved: .*?(?: \((\d+) times\))?$", remarks, re.MULTILINE)
    return Counts(sum(int(number or 1) for number in numbers), serial=top.serial, **totals)


def _add(region: _Region, line: str, totals: dict[str, int]) -> None:
    if "= memref.alloc(" in line:
        totals["allocations"] += region.in_loop
    elif line.startswith("memref.copy"):
        totals["copies"] += region.in_loop
    region.floats += bool(_FLOAT.search(line))
    region.elements += bool(_ELEMENT.search(line))
    region.has_work |= bool(_WORK.search(line))
    region.has_vectors |= "vector<" in line
    region.polls |= line == "loop.poll"


def _close(region: _Region, within: _Region, is_parallel: bool, totals: dict[str, int]) -> None:
    """Counts a region that ends, or gives what it has to the one around it."""
    within.has_loops |= region.is_loop or region.has_loops
    if not region.is_loop:
        within.floats += region.floats
        within.elements += region.elements
        within.has_work |= region.has_work
        within.has_vectors |= region.has_vectors
        within.has_strips |= region.polls
    elif not region.has_loops:
        totals["scalar"] += region.floats > 0 and not region.has_vectors
        is_copy = region.elements > 0 and not region.has_work
        totals["copies"] += is_copy and within.in_loop
    if not is_parallel:
        # A loop over strips, which is polled after each, has no elements of its own.
        within.serial += region.serial + (region.name == "scf.for" and not region.has_strips)


def measure(model: onnx.ModelProto, tools: pathlib.Path = TOOLS) -> Counts:
    """The counts of a model that compiles."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder, "model.onnx"), pathlib.Path(folder, "model.mlir")
        source.write_bytes(model.SerializeToString())
        command = [tools / "loopc", source, *OPTIONS, "-o", made]
        command += ["--mlir-elide-elementsattrs-if-larger=8"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return count(made.read_text(), done.stderr)


def models() -> Iterator[tuple[str, Callable[[], onnx.ModelProto]]]:
    """Names, and what makes the models."""
    import suite
    from models import all_models

    for name in suite.BENCHMARKS:
        yield f"bench/{name}", functools.partial(_benchmark, name)
    for model in all_models():
        if not model.compile_error:
            yield f"loops/{model.name}", functools.partial(getattr, model, "model")


def _benchmark(name: str) -> onnx.ModelProto:
    import suite

    return suite.make(name).model


def read_table() -> dict[str, Counts]:
    """The counts of loop_structure.tsv."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if line[:1] != "#"]
    return {name: Counts(*map(int, numbers)) for name, *numbers in lines}


def write_table(table: dict[str, Counts]) -> None:
    """Writes loop_structure.tsv."""
    names = [field.name for field in dataclasses.fields(Counts)]
    lines = [
        "# Made by loop_structure.py --write, which says what is counted",
        "\t".join(["# model", *names]),
    ]
    lines += [
        "\t".join(map(str, (name, *dataclasses.astuple(table[name])))) for name in sorted(table)
    ]
    TABLE.write_text("\n".join(lines) + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="the table")
    parser.add_argument("--filter", default="", metavar="REGEX", help="models with such a name")
    parser.add_argument("--tools", type=pathlib.Path, default=TOOLS, metavar="FOLDER")
    options = parser.parse_args(argv)
    chosen = [(name, make) for name, make in models() if re.search(options.filter, name)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda item: measure(item[1](), options.tools), chosen)
        table = dict(zip([name for name, _ in chosen], made, strict=True))
    known = read_table() if TABLE.exists() else {}
    worse = False
    for name, counts in table.items():
        before = known.get(name)
        if before != counts:
            more = counts.worse(before) if before else []
            worse |= bool(more)
            print(f"{name}: {'worse' if more else 'new' if not before else 'better'}: {counts}")
    if options.write:
        write_table({**(known if options.filter else {}), **table})
        return 0
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
