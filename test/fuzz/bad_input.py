# ===- bad_input.py - Long runs of damaged input -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Gives loopc damaged input and sorts how it ends.

    bad_input.py onnx --seeds 0:1000         models of ONNX's tests, and with loops
    bad_input.py openvino --seeds 0:1000     OpenVINO's IR
    bad_input.py mlir --seeds 0:1000         MLIR of test/ through passes and the compiler
    bad_input.py types --seeds 0:1000        the same with other types all over, or numbers and
                                             strides more, which mostly verify
    bad_input.py calls --seeds 0:100         the C API, 300 calls a seed
    bad_input.py options --seeds 0:1000      wrong command lines of loopc and loopc-run
    bad_input.py runs --seeds 0:1000         valid models with inputs that do not fit them
    bad_input.py contradictions --seeds 0:1000   random models of which one type, shape or constant
                                             is another: refused, or what the reference computes
    bad_input.py passes                      each pass alone, MLIR's that pipelines use too, on each
                                             file of test/
    bad_input.py ... --keep FOLDER           writes inputs that end badly

A line is printed for each input that ends badly, and at the end how many ended how: fine; refused
(by one clear error); bad error (several, of no place, unclear), hang and crash are failures.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

_HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(_HERE.parent / "python"), str(_HERE.parent / "conformance")]

import compiling  # noqa: E402
from bad_outcomes import Ending, Verdict, limit_memory, of_process  # noqa: E402

#: The name of an input, its suffix and content, and how it ended.
Trial = tuple[str, str, bytes, Verdict]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--seeds", type=compiling.seed_range, metavar="A:B", default=range(100))
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="per input")
    parser.add_argument(
        "--only",
        default="",
        metavar="TEXT",
        help="bases whose name has it, as loop/, random/7, onnx/test_add, Dialect/ONNX",
    )
    parser.add_argument("--tools", type=pathlib.Path, metavar="FOLDER",
                        default=_HERE.parents[1] / "build/bin", help="default: build/bin")  # fmt: skip
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="for what ends badly")
    parser.add_argument("-v", "--verbose", action="store_true", help="all, with what was said")
    return parser.parse_args(argv)


def _onnx(options: argparse.Namespace) -> Iterator[Trial]:
    import bad_answers
    import engines
    from onnx_bases import bases
    from onnx_mutants import mutant

    models = bases(options.only)
    worker = engines.worker(bad_answers.compile_and_run, options.timeout)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        for seed in options.seeds:
            name, model, feeds = models[seed % len(models)]
            data = mutant(model, seed)
            outcome = worker.ask((str(log), data, feeds, 0 if seed % 3 == 0 else 3))
            yield f"{seed} ({name})", ".onnx", data, _verdict(outcome, log)


def _runs(options: argparse.Namespace) -> Iterator[Trial]:
    import bad_answers
    import engines
    from onnx_bases import bases

    models = bases(options.only)
    worker = engines.worker(bad_answers.run_badly, options.timeout)
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        for seed in options.seeds:
            # Each model some times, so that it is not compiled for each run.
            name, model, feeds = models[seed // 8 % len(models)]
            data = model.SerializeToString()
            outcome = worker.ask((str(log), data, feeds, seed))
            yield f"{seed} ({name})", ".onnx", data, _verdict(outcome, log)


#: Values that some option does not take, files among them.
_VALUES = (
    *(
        "",
        "foo",
        "-1",
        "0",
        "1",
        "9" * 30,
        "nan",
        "inf",
        "1e999",
        "=",
        "x=",
        "=x",
        "x=y",
        "x=1x?x3",
    ),
    *("/", "/dev/null", "/dev/full", "/dev/zero", "nofile", "no/file", ".", "x" * 3000, "\n", "%s"),
    *("x=[[1,2", "x=nofile.npy", "N=2", "N=-1", "sm_90", "sm_1", "+avx", "native", "cuda:9", "-"),
)


def _options(options: argparse.Namespace) -> Iterator[Trial]:
    model = _HERE.parent / "Tools/loopc-run/Inputs/add.onnxtxt"
    for seed in options.seeds:
        dice = random.Random(seed)
        tool = dice.choice(("loopc", "loopc-run"))
        shown = subprocess.run(
            [options.tools / tool, "--help"], capture_output=True, text=True
        ).stdout
        known = re.findall(r"^  +(--?[\w-]+)(=<|\[=<| <)?", shown, re.M)
        known = [option for option in known if not option[0].startswith("--help")]
        arguments = [tool, str(model) if dice.random() < 0.9 else dice.choice(_VALUES)]
        for name, takes in (dice.choice(known) for _ in range(dice.choice((1, 1, 2)))):
            value = dice.choice(_VALUES)
            arguments += [f"{name}={value}"] if takes.strip() != "<" else [name, value]
        if tool == "loopc" and dice.random() < 0.7:
            arguments += ["-o", "out.o"]
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "out.o"
            kept.write_text("before")
            verdict = _tool(options, tool, *arguments[1:], folder=folder)
            if verdict.ending is Ending.REFUSED and kept.read_text(errors="replace") != "before":
                verdict = Verdict(Ending.BAD_ERROR, f"out.o is changed\n{verdict.said}")
        yield f"{seed} {arguments}", ".txt", repr(arguments).encode(), verdict


def _contradictions(options: argparse.Namespace) -> Iterator[Trial]:
    import dataclasses

    import random_checks
    from onnx_mutants import contradiction
    from random_engines import judge
    from random_models import random_model

    for seed in options.seeds:
        made = random_model(seed)
        model = dataclasses.replace(made, proto=contradiction(made.proto, seed))
        found = judge(model, limit=options.timeout)
        ending = {
            random_checks.Verdict.CRASHED: Ending.CRASH,
            random_checks.Verdict.WRONG: Ending.BAD_ERROR,
            random_checks.Verdict.FAILED: Ending.REFUSED,
            random_checks.Verdict.REFUSED: Ending.REFUSED,
        }.get(found.verdict, Ending.FINE)
        said = f"{found.verdict.value}: {found.reason}"
        yield f"{seed}", ".onnx", model.proto.SerializeToString(), Verdict(ending, said)


def _verdict(outcome: object, log: pathlib.Path) -> Verdict:
    import engines

    assert isinstance(outcome, engines.Outcome)
    if outcome.values is not None:
        verdict = outcome.values[0]
        assert isinstance(verdict, Verdict)
        return verdict
    said = outcome.error or ""
    ending = Ending.HANG if said.startswith("no answer") else Ending.CRASH
    return Verdict(ending, f"{said}\n{log.read_text(errors='replace')[-2000:]}")


def _openvino(options: argparse.Namespace) -> Iterator[Trial]:
    import bad_answers
    import engines
    from text_mutants import xml_mutant
    from xml_bases import bases

    models = bases(options.only)
    worker = engines.worker(bad_answers.compile_and_run, options.timeout)
    with tempfile.TemporaryDirectory() as folder:
        log, path = pathlib.Path(folder) / "log", pathlib.Path(folder) / "model.xml"
        for seed in options.seeds:
            name, text, weights, feeds = models[seed % len(models)]
            data = xml_mutant(text, seed)
            path.write_bytes(data)
            # Now and then weights are cut off.
            cut = weights[: seed % max(len(weights), 1)] if seed % 25 == 0 else weights
            path.with_suffix(".bin").write_bytes(cut)
            outcome = worker.ask((str(log), str(path), feeds, 0 if seed % 3 == 0 else 3))
            yield f"{seed} ({name})", ".xml", data, _verdict(outcome, log)


def _pieces(only: str) -> list[tuple[str, str, list[list[str]]]]:
    """The parts of test/'s MLIR files, and the passes that these are tests of."""
    found = []
    for path in sorted(_HERE.parent.rglob("*.mlir")):
        name = str(path.relative_to(_HERE.parent))
        if only in name:
            parts = re.split(r"^// -----.*$", path.read_text(), flags=re.M)
            runs = _runs_of(parts[0])
            found += [(f"{name}#{k}", part, runs) for k, part in enumerate(parts)]
    return found


def _runs_of(text: str) -> list[list[str]]:
    """The passes that lit gives a file to, with their options."""
    lines = re.sub(r"\\\n// RUN:", "", text)
    runs = re.findall(r"^// RUN:.*?\bloopc-opt\b([^|]*)", lines, re.M)
    whole = [run for run in runs if run.count("'") % 2 == 0 and run.count('"') % 2 == 0]
    words = [[word for word in shlex.split(run) if re.match(r"--?[a-z]", word)] for run in whole]
    return [
        [
            word
            for word in run
            if not re.match(r"-(o$|-?(verify-diag|split-input|remark|allow))", word)
        ]
        for run in words
    ]


def _tool(
    options: argparse.Namespace, tool: str, *arguments: str, folder: str | None = None
) -> Verdict:
    """How a tool ends. In a `folder` its command line is what is tried, else its input."""
    command = [str(options.tools.absolute() / tool), *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=options.timeout,
            preexec_fn=limit_memory,
            stdin=subprocess.DEVNULL,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        return Verdict(Ending.HANG, " ".join(command))
    printed = done.stderr.decode(errors="replace")
    if folder is not None:
        # Exit status 1 of loopc-run: a difference to what is expected, which is told as output.
        if tool == "loopc-run" and done.returncode == 1:
            return Verdict(Ending.REFUSED, printed)
        return of_process(done.returncode, printed, located=False, coded=tool == "loopc")
    # Who writes MLIR is told what MLIR says, in as many errors as it has.
    verdict = of_process(done.returncode, printed, located=False, coded=False)
    silent = done.returncode and "error:" not in printed
    if verdict.ending is Ending.BAD_ERROR and not silent:
        return Verdict(Ending.REFUSED, verdict.said)
    return verdict


def passes(folder: str = ".") -> list[str]:
    """The passes that are loopc's own, or those of a folder of its libraries."""
    found = (_HERE.parents[1] / "include/loopc" / folder).rglob("*Passes.td")
    text = "".join(path.read_text() for path in found)
    return sorted(re.findall(r'Pass<"([\w-]+)"', text))


def mlir_passes(tools: pathlib.Path) -> list[str]:
    """The passes of MLIR that loopc's pipelines use."""
    command = [tools / "loopc-opt", "--print-passes"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    return sorted({row["name"] for row in json.loads(printed)} - set(passes()))


def _mlir(options: argparse.Namespace) -> Iterator[Trial]:
    from text_mutants import text_mutant

    yield from _changed(options, text_mutant)


def _types(options: argparse.Namespace) -> Iterator[Trial]:
    from text_mutants import extended, retyped

    yield from _changed(options, lambda text, seed: (retyped, extended)[seed % 2](text, seed // 2))


def _changed(options: argparse.Namespace, mutant: Callable[[str, int], bytes]) -> Iterator[Trial]:
    """Pieces of MLIR, changed, through the passes they test, a pass alone or the compiler."""
    pieces, steps = _pieces(options.only), [*passes(), *mlir_passes(options.tools)]
    random.Random(1).shuffle(pieces)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.mlir"
        for seed in options.seeds:
            name, text, runs = pieces[seed % len(pieces)]
            data = mutant(text, seed)
            path.write_bytes(data)
            dice = random.Random(seed)
            step = [f"--{dice.choice(steps)}"]
            if runs and dice.random() < 0.6:
                step = dice.choice(runs)
            if dice.random() < 0.1:
                step = ["loopc"]
                verdict = _tool(options, "loopc", str(path), "-o", str(path.with_suffix(".o")))
            else:
                verdict = _tool(options, "loopc-opt", *step, str(path), "-o", "/dev/null",
                                "--allow-unregistered-dialect")  # fmt: skip
            yield f"{seed} ({name}, {' '.join(step)})", ".mlir", data, verdict


def _passes(options: argparse.Namespace) -> Iterator[Trial]:
    for path in sorted(_HERE.parent.rglob("*.mlir")):
        name = str(path.relative_to(_HERE.parent))
        if options.only not in name:
            continue
        for step in (*passes(), *mlir_passes(options.tools)):
            verdict = _tool(options, "loopc-opt", f"--{step}", "--split-input-file",
                            "--allow-unregistered-dialect", str(path), "-o", "/dev/null")  # fmt: skip
            yield f"{step} {name}", ".mlir", path.read_bytes(), verdict


def _calls(options: argparse.Namespace) -> Iterator[Trial]:
    for seed in options.seeds:
        command = [sys.executable, str(_HERE / "bad_calls.py"), str(seed), "300"]
        try:
            done = subprocess.run(command, capture_output=True, timeout=options.timeout)
            verdict = of_process(done.returncode, done.stderr.decode(errors="replace"))
            made = done.stdout
        except subprocess.TimeoutExpired as late:
            made = late.stdout or b""
            verdict = Verdict(Ending.HANG)
        last = made.decode(errors="replace").splitlines()[-1:]
        yield f"{seed} ({len(made.splitlines())} calls, the last {last})", ".txt", made, verdict


KINDS: dict[str, Callable[[argparse.Namespace], Iterator[Trial]]] = {
    "calls": _calls,
    "contradictions": _contradictions,
    "mlir": _mlir,
    "onnx": _onnx,
    "openvino": _openvino,
    "options": _options,
    "passes": _passes,
    "runs": _runs,
    "types": _types,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    compiling.set_environment()
    options = _arguments(argv)
    count: collections.Counter[Ending] = collections.Counter()
    began = shown = time.monotonic()
    for name, suffix, data, verdict in KINDS[options.kind](options):
        count[verdict.ending] += 1
        if verdict.ending.bad or options.verbose:
            print(f"{name}: {verdict.ending.value}: {verdict.said}", flush=True)
        if verdict.ending.bad and options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{options.kind}-{name.split()[0]}{suffix}").write_bytes(data)
        now = time.monotonic()
        if now - shown > 20:
            shown = now
            bad = sum(number for ending, number in count.items() if ending.bad)
            line = f"{count.total()} inputs in {now - began:.0f} s, {bad} failures"
            print(line, file=sys.stderr, flush=True)
    parts = (f"{count[ending]} {ending.value}" for ending in Ending if count[ending])
    print(f"{count.total()} inputs in {time.monotonic() - began:.0f} s: {', '.join(parts)}")
    return int(any(ending.bad for ending in count))


if __name__ == "__main__":
    sys.exit(main())
