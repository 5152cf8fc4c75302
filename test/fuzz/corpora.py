# ===- corpora.py - Folders of models that others have written -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs all ONNX models below some folders beside onnxruntime.

    corpora.py FOLDER...                 all of them
    corpora.py --filter 'loop|scan' DIR  those whose path matches
    corpora.py --jobs 1 --all DIR        one at a time, and a line for those that agree, too

The test models of other projects are small and odd: old versions, control flow, sequences, forms
that are allowed and that no exporter writes. Each is run with all
of its open extents 1, 2, 3 and 0, and with random ones; extents that onnxruntime refuses are left
out. An output is wrong if it differs from onnxruntime's with all of its optimizations and from
those without. A line for each model: "agrees", "unrun" (onnxruntime loads it, but runs it with none
of the inputs), "unfed" (an input of a type that has no values here), "both refuse", "only loopc"
(onnxruntime refuses a model that is right), "peer crashed", "peer slow" (onnxruntime), or a failure:

    crashed, slow  the process died, or took longer than --patience seconds
    wrong          another value, shape or type
    refused        onnxruntime runs the model, and loopc does not compile it; any internal error
    failed         the same for a run
    accepted       loopc compiles what both onnxruntime and onnx.checker refuse

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import os
import random
import re
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import loopc
import numpy as np
import onnx
import onnxruntime
from package_extents import is_quantized, judge, perturbed
from user_models import TYPES

#: What all open extents are in the first runs; random ones are chosen among the others.
EXTENTS, OTHERS, RANDOM = (2, 1, 3, 0), (1, 2, 3, 4, 5, 8), 8
#: Elements of an input at most.
MOST = 1 << 22
#: Models that one process tries.
BATCH = 25
#: Verdicts that are no failures.
FINE = ("agrees", "unrun", "unfed", "both refuse", "only loopc", "peer crashed", "peer slow")
BY = "by "
#: Of the codes of internal errors.
INTERNAL = "LC09"
MORE_TYPES = {"tensor(uint16)": np.uint16, "tensor(uint32)": np.uint32, "tensor(uint64)": np.uint64}
NUMBERS_OF_CHANCE = re.compile("Random|Multinomial|Bernoulli|Dropout|Sampling")


def _dtype(kind: str) -> Any:
    return {**TYPES, **MORE_TYPES}[kind]


def make_value(kind: str, shape: Sequence[int], numbers: Any, largest: int) -> Any:
    """A random value; integers are up to `largest`. KeyError for a type without values here."""
    if kind.startswith(("seq(", "optional(")):
        inner = kind.split("(", 1)[1][:-1]
        value = make_value(inner, shape, numbers, largest)
        return [value, make_value(inner, shape, numbers, largest)] if kind[0] == "s" else value
    dtype = _dtype(kind)
    if dtype is np.object_:
        return numbers.choice(np.array(["a", "b c", "", "9"], np.object_), shape)
    if dtype is np.bool_:
        return numbers.integers(0, 2, shape).astype(dtype)
    if dtype in (np.uint8, np.int8) and largest > 2:
        return numbers.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return np.asarray(numbers.integers(min(1, largest), largest + 1, shape)).astype(dtype)
    return np.asarray(numbers.standard_normal(shape)).astype(dtype)


def make_feeds(session: Any, turn: int, rng: random.Random, numbers: Any) -> dict[str, Any] | None:
    """Inputs of a run; None where they would be too large."""
    extents: dict[str, int] = {}
    feeds = {}
    for port in session.get_inputs():
        shape = []
        # A sequence tells no shape.
        for axis, one in enumerate(port.shape if port.shape is not None else [None, None]):
            if not isinstance(one, int):
                key = str(one) if one else f"{port.name}.{axis}"
                fresh = EXTENTS[turn] if turn < len(EXTENTS) else rng.choice(OTHERS)
                one = extents.setdefault(key, fresh)
            shape.append(one)
        if np.prod(shape, dtype=float) > MOST:
            return None
        feeds[port.name] = make_value(port.type, shape, numbers, (2, 1, 3)[turn % 3])
    return feeds


def _peers(path: str) -> list[Any]:
    """Sessions of onnxruntime with its optimizations and without."""
    sessions = []
    for level in ("ORT_ENABLE_ALL", "ORT_DISABLE_ALL"):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        sessions.append(
            onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        )
    return sessions


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"


def _breaks_rules(path: str) -> str:
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:  # whatever it is
        return _said(error)
    return ""


def _compare(
    session: Any, peers: Sequence[Any], feeds: Mapping[str, Any], least: float, announce: Any
) -> str:
    """A failure of a run, "" for none. An error of onnxruntime is raised."""
    wants = [one.run(None, feeds) for one in peers]
    moved = peers[0].run(None, perturbed(feeds, np.random.default_rng(0)))
    announce("loopc")
    try:
        got = session.run(None, feeds)
    except Exception as error:  # whatever it is
        return f"failed: {_said(error)}"
    said = [judge(got, want, moved, least) for want in wants]
    return f"wrong: {said[0]}" if all(said) else ""


def try_model(path: str, announce: Any) -> Iterator[str]:
    """The verdicts of one model, each with its reason; announces who runs it, before it does."""
    peers, refusal = [], ""
    announce("onnxruntime")
    try:
        peers = _peers(path)
    except Exception as error:  # whatever it is
        refusal = _said(error)
    announce("loopc")
    try:
        options = loopc.SessionOptions(cache_dir="off")
        options.intra_op_num_threads = 1
        session = loopc.InferenceSession(path, options)
    except Exception as error:  # whatever it is
        session, said = None, f"refused: {_said(error)}"
    if refusal:
        if session is None:
            yield said if INTERNAL in said else f"both refuse: {refusal}; {said}"
        else:
            broken = _breaks_rules(path)
            yield f"accepted: {refusal}; {broken}" if broken else f"only loopc: {refusal}"
        return
    rng, numbers = random.Random(path), np.random.default_rng(0)
    model = onnx.load(path, load_external_data=False)
    chance = any(NUMBERS_OF_CHANCE.search(node.op_type) for node in model.graph.node)
    done, reason, failures = 0, "", set()
    is_open = any(
        not isinstance(one, int) for port in peers[0].get_inputs() for one in port.shape or "?"
    )
    for turn in range(len(EXTENTS) + RANDOM if is_open else 3):
        try:
            feeds = make_feeds(peers[0], turn, rng, numbers)
        except KeyError as error:
            yield f"unfed: {error}" if session else f"{said} (unfed)"
            return
        if feeds is None:
            continue
        announce("onnxruntime")
        try:
            if session is None:
                peers[0].run(None, feeds)
                yield said
                return
            failure = _compare(session, peers, feeds, 0.05 * is_quantized(model), announce)
        except Exception as error:  # of onnxruntime
            reason = _said(error)
            continue
        done += 1
        kind = failure.split(":", 1)[0]
        if failure and kind not in failures and not (chance and kind == "wrong"):
            failures.add(kind)
            shapes = {
                k: list(np.shape(v)) if not isinstance(v, list) else "?" for k, v in feeds.items()
            }
            yield f"{failure} of {shapes}"
    if not failures:
        yield (
            f"agrees: {done} runs"
            if done
            else f"unrun: {reason}"
            if session
            else f"{said} (unrun: {reason})"
        )


@dataclasses.dataclass
class Process:
    """Tries some models, one after the other."""

    paths: list[Path]
    number: int
    out: Any
    # Since when it has been trying its first model, and what it has said of it.
    since: float
    by: str = ""
    verdicts: list[str] = dataclasses.field(default_factory=list)


def _start(paths: list[Path]) -> Process:
    """A process that tries models. "." ends the verdicts of each; a line tells who runs one."""
    out, into = os.pipe()
    number = os.fork()
    if number:
        os.close(into)
        os.set_blocking(out, False)
        return Process(paths, number, os.fdopen(out), time.monotonic())
    os.close(out)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with os.fdopen(into, "w") as file:

        def announce(who: str) -> None:
            print(f"{BY}{who}", file=file, flush=True)

        for path in paths:
            try:
                for verdict in try_model(str(path), announce):
                    print(" ".join(verdict.split()), file=file, flush=True)
            except Exception as error:  # whatever it is
                print(f"harness: {_said(error)}", file=file, flush=True)
            print(".", file=file, flush=True)
    os._exit(0)


def _read(process: Process) -> Iterator[tuple[Path, list[str]]]:
    """The models that a process has done since it was last asked."""
    while line := process.out.readline().rstrip():
        if line.startswith(BY):
            process.by = line.removeprefix(BY)
        elif line != ".":
            process.verdicts.append(line)
        else:
            yield process.paths.pop(0), process.verdicts
            process.verdicts, process.since = [], time.monotonic()


def run(paths: Sequence[Path], jobs: int, patience: float) -> Iterator[tuple[Path, list[str]]]:
    """Tries models in some processes; the verdicts of each."""
    waiting = collections.deque(list(paths[k : k + BATCH]) for k in range(0, len(paths), BATCH))
    running: list[Process] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(_start(waiting.popleft()))
        for process in list(running):
            ended = os.waitid(os.P_PID, process.number, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            yield from _read(process)
            late = not ended and time.monotonic() - process.since > patience
            if late:
                os.kill(process.number, signal.SIGKILL)
            if not ended and not late:
                continue
            _, status = os.waitpid(process.number, 0)
            running.remove(process)
            process.out.close()
            if process.paths:
                why = "slow" if late else "crashed"
                if process.by == "onnxruntime":
                    why = "peer " + why
                code = os.waitstatus_to_exitcode(status)
                yield process.paths.pop(0), [*process.verdicts, f"{why}: status {code}"]
                waiting.appendleft(process.paths)
        time.sleep(0.01)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER")
    add("--filter", type=re.compile, default=re.compile(""), metavar="REGEX")
    add("--jobs", type=int, default=2)
    add("--patience", type=float, default=60)
    add("--all", action="store_true", help="prints models that are fine, too")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Prints failures and returns the exit status."""
    options = parse(argv)
    os.environ["LOOPC_COMPILE"] = "inprocess"
    paths = sorted(
        path
        for folder in options.folders
        for path in (folder.rglob("*.onnx") if folder.is_dir() else [folder])
        if options.filter.search(str(path))
    )
    counts: collections.Counter[str] = collections.Counter()
    for path, verdicts in run(paths, options.jobs, options.patience):
        for verdict in verdicts:
            kind = verdict.split(":", 1)[0]
            counts[kind] += 1
            if options.all or kind not in FINE:
                print(f"{path}: {verdict}", flush=True)
    print(f"{len(paths)} models: {', '.join(f'{n} {kind}' for kind, n in counts.most_common())}")
    return int(any(kind not in FINE for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
