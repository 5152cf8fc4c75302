# ===- cxx_networks.py - Random networks built in C and C++ ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes random networks as programs of C and C++, beside the same networks in Python.

    cxx_networks.py --seeds 0:40
    cxx_networks.py --seeds 7:8 --language c --keep FOLDER

The networks are those of random_networks.py and, every second one, open_networks.py. All outputs
must have the same bits and errors the same text. The programs of a batch are one translation unit,
compiled and linked as the build tree does its examples. A line is printed for each failure. Exit
status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import loopc
import network_sources as sources
import numpy as np
from network_programs import RandomNetwork
from open_networks import OpenNetwork

ROOT = pathlib.Path(__file__).parents[2]
HERE = pathlib.Path(__file__).parent
#: By language: the end of a file's name, the first line, and a program of the build tree.
LANGUAGES = {
    "c": (".c", '#include "network_program.h"', "loopc-capi-c"),
    "c++": (".cpp", '#include "network_program.hpp"', "loopc-example-engine"),
}
#: DLPack's codes of types.
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


def network_of(seed: int) -> sources.Network:
    """The network of a seed, with one or several sets of inputs."""
    with sources.recorded() as recorders:
        made = OpenNetwork(seed) if seed % 2 else RandomNetwork(seed)
        recorder = recorders[id(made.net)]
    made.net._raw = recorder.raw
    sets = [made.feeds] if isinstance(made, RandomNetwork) else [f for _, f in made.sets(3)]
    return sources.Network(seed, seed % 4, recorder, [dict(feeds) for feeds in sets])


def in_python(network: sources.Network, language: str) -> list[str]:
    """The lines that a program must print."""
    raw = network.recorder.raw
    seed, level = network.seed, network.level
    status, session, said = loopc._loopc.create_from_network(raw, {"opt_level": level})
    if status or session is None:
        text = loopc._errors.diagnostics_of(said)[0]
        return [f"{seed} -1 refused {text}".replace("\n", " ")]
    del session
    return [line for k in range(len(network.sets)) for line in _run(network, k, language)]


def _run(network: sources.Network, number: int, language: str) -> Iterator[str]:
    net = loopc.network.INetworkDefinition()
    net._raw = network.recorder.raw
    session = loopc.InferenceSession(net, loopc.SessionOptions(opt_level=network.level))
    names = {port.name for port in session.get_inputs()}
    feeds = {k: v for k, v in network.sets[number].items() if k in names}
    try:
        results = session.run(None, feeds)
    except loopc.RunError as error:
        yield f"{network.seed} {number} error {error}".replace("\n", " ")
        return
    for k, one in enumerate(map(np.asarray, results)):
        kind = f"{CODES[one.dtype.kind]} {8 * one.itemsize}"
        if language == "c++":
            kind = str(int(loopc._network_types.data_type(one.dtype)))
        extents = ",".join(map(str, one.shape))
        data = np.ascontiguousarray(one).tobytes().hex()
        yield f"{network.seed} {number} {k} {kind} [{extents}] {data}"


def build(networks: Sequence[sources.Network], language: str, folder: pathlib.Path) -> pathlib.Path:
    """A program that builds and runs all of them."""
    ending, head, example = LANGUAGES[language]
    writer = sources.WriterC() if language == "c" else sources.WriterCxx()
    for network in networks:
        writer.network(network)
    calls = [f"  network{network.seed}();" for network in networks]
    main = ["int main(void) {", *calls, "  return 0;", "}"]
    source = folder / f"networks{ending}"
    source.write_text("\n".join([head, "", *writer.globals, "", *writer.lines, *main, ""]))
    program = folder / f"networks-{'c' if language == 'c' else 'cxx'}"
    found = subprocess.run(["ninja", "-C", ROOT / "build", "-t", "commands", example],
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    commands = found.splitlines()
    (compiled,) = [one for one in commands if " -c " in one and f"/{example}.dir/" in one]
    (linked,) = [one for one in commands if re.search(rf" -o \S*{example} ", one)]
    compiled = re.sub(r" -o \S+ -c \S+", f" -O0 -o {program}.o -c {shlex.quote(str(source))}",
                      re.sub(r" -M[TF] \S+| -MD", "", compiled))  # fmt: skip
    linked = re.sub(r"\S+\.o -o \S+", f"{program}.o -o {program}", linked)
    for command in (f"{compiled} -I{HERE} -Wno-unused-function -Wno-unused-variable", linked):
        done = subprocess.run(command, shell=True, cwd=ROOT / "build", capture_output=True,
                              text=True, check=False)  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)
    return program


def differences(seeds: Sequence[int], language: str, folder: pathlib.Path) -> Iterator[str]:
    """What a program of these networks has other than Python."""
    networks = [network_of(seed) for seed in seeds]
    program = build(networks, language, folder)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    got = done.stdout.splitlines()
    if done.returncode:
        yield f"{language}: exit status {done.returncode} after {got[-1:]}: {done.stderr[-500:]}"
    for network in networks:
        mine = [line for line in got if line.startswith(f"{network.seed} ")]
        want = in_python(network, language)
        for k in range(max(len(mine), len(want))):
            one, other = ("".join(lines[k : k + 1]) for lines in (mine, want))
            if one != other:
                yield f"{language} {one[:300]!r}, expected {other[:300]!r}"
                break


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=compiling.seed_range, required=True, metavar="A:B",
                        help="networks A to B - 1")  # fmt: skip
    parser.add_argument("--language", choices=LANGUAGES, help="one of the two")
    parser.add_argument("--batch", type=int, default=40, help="networks of a program")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep programs there")
    options = parser.parse_args(argv)
    count = 0
    seeds = list(options.seeds)
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(seeds), options.batch):
            for language in [options.language] if options.language else [*LANGUAGES]:
                some = seeds[first : first + options.batch]
                for text in differences(some, language, options.keep or pathlib.Path(folder)):
                    count += 1
                    print(text, flush=True)
    print(f"{len(seeds)} networks: {count} failures")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
