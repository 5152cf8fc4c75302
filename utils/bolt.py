# ===- bolt.py - A library with its code in the order that it runs -----------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""LLVM's BOLT over a library that is linked; used by what packs loopc.

BOLT counts how often each branch of a library is taken while programs are trained, and then
writes the library again: blocks of functions in the order in which they run, hot functions
side by side, code that never ran apart. (docs/Rationale/Ready.md says what that gains.)

All functions are counted, but not all at a time where memory is short: BOLT takes each that it
counts apart, and the compiler has 145,000. They are dealt into hands; each is trained alone.
"""

from __future__ import annotations

import collections
import pathlib
import platform
import re
import shutil
from collections.abc import Callable

from standalone import PackError, run

#: Where Debian's package bolt-22 has it, if it is not on the path.
FOLDER = pathlib.Path("/usr/lib/llvm-22/bin")
#: What the linker has to keep for BOLT. Relocations may not be packed: BOLT 22 writes a wrong
#: dynamic section for a library with packed ones.
LINK_OPTIONS = ("-Wl,--emit-relocs",)
#: The order of blocks and functions, and what is apart. Pages of a file are never huge ones.
#: Functions that were called less often than that stay where they are: what moves is in the
#: library twice.
REWRITE = ("--reorder-blocks=ext-tsp", "--reorder-functions=cdsort", "--split-functions",
           "--split-all-cold", "--split-eh", "--no-huge-pages",
           "--lite-threshold-count=500")  # fmt: skip
#: Memory that BOLT takes for the compiler, and for each function that it counts: 5.7 GB for a
#: quarter of 145,000, 9.9 for half of them.
BASE, EACH = 1.5e9, 120e3
#: Functions that are counted at a time, at least, and the memory without which that is not begun.
LEAST = 20_000
ENOUGH = 6e9


def find_tool(name: str) -> pathlib.Path | None:
    """A program of BOLT."""
    for place in (shutil.which(f"{name}-22"), FOLDER / name):
        if place and pathlib.Path(place).exists():
            return pathlib.Path(place)
    return None


def why_not() -> str:
    """Why nothing can be written again here, or an empty text.

    On other machines than x86-64 BOLT was never tried.
    """
    if platform.machine() != "x86_64":
        return f"BOLT is for x86-64, and this is {platform.machine()}"
    if not find_tool("llvm-bolt") or not find_tool("merge-fdata"):
        return "BOLT is not here (Debian: apt-get install bolt-22)"
    free = free_memory()
    if not choose_hand(free):
        return f"BOLT takes {ENOUGH / 1e9:.0f} GB of memory, and {free / 1e9:.1f} are free"
    return ""


def list_functions(table: str) -> list[list[str]]:
    r"""The functions in what nm prints, by their addresses, each with BOLT's names of it.

    Local functions of one name are numbered; equal code may have several names.

    >>> list_functions("0020 t b\n0010 T a\n0020 t c\n0030 t b\n0040 d x")
    [['a'], ['b/1', 'c/1'], ['b/2']]
    """
    seen: collections.Counter[str] = collections.Counter()
    functions: dict[int, list[str]] = {}
    for line in table.splitlines():
        address, kind, name = line.split()[:3]
        if kind not in "tTwW":
            continue
        if kind == "t":
            seen[name] += 1
            name = f"{name}/{seen[name]}"
        functions.setdefault(int(address, 16), []).append(name)
    return [functions[address] for address in sorted(functions)]


def free_memory() -> float:
    """The bytes of memory that this machine has to give."""
    text = pathlib.Path("/proc/meminfo").read_text()
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else 0


def choose_hand(free: float) -> int:
    """How many functions to count at a time, so that half of the memory that is free will do.

    None where even the fewest would take more than there is.

    >>> [choose_hand(gigabytes * 1e9) for gigabytes in (4, 8, 24)]
    [0, 20833, 87500]
    """
    return max(LEAST, int((free / 2 - BASE) / EACH)) if free >= ENOUGH else 0


def _count(
    tool: pathlib.Path, library: pathlib.Path, names: list[str], counting: pathlib.Path
) -> None:
    """Writes a library that counts these functions into files beside it, one a process."""
    listed = counting.parent / "functions"
    listed.write_text("\n".join(names) + "\n")
    run([str(tool), str(library), "-o", str(counting), "--instrument",
         f"--funcs-file-no-regex={listed}", f"--instrumentation-file={counting.parent}/profile",
         "--instrumentation-file-append-pid", f"--instrumentation-binpath={counting}"],
        counting.parent)  # fmt: skip


def rewrite(
    library: pathlib.Path,
    made: pathlib.Path,
    train: Callable[[pathlib.Path], object],
    scratch: pathlib.Path,
    hand: int = 0,
) -> None:
    """Writes `library` again as `made`, without symbols.

    Args:
        library: linked with LINK_OPTIONS, and with its symbols.
        made: what is written.
        train: runs programs with a library that it is given.
        scratch: a folder that is empty, or is made.
        hand: functions that are counted at a time; 0: as many as memory allows.

    Raises:
        PackError: BOLT is not there or fails, or no counted function ran.
    """
    tool, merge = find_tool("llvm-bolt"), find_tool("merge-fdata")
    if not tool or not merge:
        raise PackError(why_not())
    library, made, scratch = library.resolve(), made.resolve(), scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    symbols = [str(FOLDER / "llvm-nm"), "--defined-only", "--numeric-sort", str(library)]
    functions = list_functions(run(symbols, scratch))
    hands = -(-len(functions) // (hand or choose_hand(free_memory()) or LEAST))
    profiles: list[str] = []
    for k in range(hands):
        folder = scratch / str(k)
        folder.mkdir()
        counting = folder / library.name
        _count(tool, library, [name for names in functions[k::hands] for name in names], counting)
        train(counting)
        counting.unlink()
        parts = sorted(map(str, folder.glob("profile.*")))
        if parts:
            profiles.append(str(scratch / f"profile{k}"))
            run([str(merge), *parts, "-o", profiles[-1]], folder)
        shutil.rmtree(folder)
    if not profiles:
        raise PackError(f"no function of {library.name} was counted")
    profile = scratch / "profile"
    run([str(merge), *profiles, "-o", str(profile)], scratch)
    run([str(tool), str(library), "-o", str(made), f"--data={profile}", *REWRITE], scratch)
    run([str(FOLDER / "llvm-strip"), str(made)], scratch)
