# ===- test_random_models.py - Random models with loops -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models that random_models.py makes compute what the reference computes.

test/fuzz/loops.py runs more of them, by other ways too, and makes a failing one small.
"""

from __future__ import annotations

import collections
import dataclasses
import importlib.util
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable

import loopc
import numpy as np
import onnx
import onnx.parser
import other_machine
import pytest
import random_checks
from random_algorithms import ALGORITHMS
from random_checks import Verdict
from random_control import UPDATES
from random_engines import judge, judge_sets, settings_of
from random_inputs import FORMS, RandomProgram, constants, form
from random_models import RandomModel, random_model
from random_open_models import open_model
from random_programs import random_program
from random_state_steps import TYPES
from random_states import random_states

MODELS, CHUNK = 140, 10
IN_ONNXRUNTIME = 60
PROGRAMS, PROGRAMS_CHUNK = 300, 20
OPEN_MODELS, OPEN_CHUNK = 60, 10
STATES, STATES_CHUNK = 60, 15
FOR_AARCH64 = 12
FUZZ = pathlib.Path(__file__).parents[1] / "fuzz"


@pytest.mark.parametrize("first", range(0, MODELS, CHUNK))
def test_random_models(first: int) -> None:
    """Compiled with and without optimizations, for one thread and for two, and other CPUs."""
    count: collections.Counter[Verdict] = collections.Counter()
    wrong = []
    for seed in range(first, first + CHUNK):
        settings = settings_of(seed)
        finding = judge(random_model(seed), settings=settings)
        count[finding.verdict] += 1
        if finding.verdict.bad:
            wrong.append(f"seed {seed}: {finding.verdict.value}: {finding.reason}")
    assert not wrong, "\n".join(wrong)
    # Models that say nothing would pass too.
    assert count[Verdict.SAME] >= CHUNK * 0.7, count


@pytest.mark.parametrize("first", range(0, IN_ONNXRUNTIME, IN_ONNXRUNTIME // 2))
def test_random_models_in_onnxruntime(first: int) -> None:
    """What loopc takes of them as onnxruntime's execution provider."""
    count: collections.Counter[Verdict] = collections.Counter()
    wrong = []
    for seed in range(first, first + IN_ONNXRUNTIME // 2):
        finding = judge(random_model(seed), "onnxruntime")
        count[finding.verdict] += 1
        if finding.verdict.bad:
            wrong.append(f"seed {seed}: {finding.verdict.value}: {finding.reason}")
    assert not wrong, "\n".join(wrong)
    # onnxruntime refuses some.
    assert count[Verdict.SAME] >= IN_ONNXRUNTIME // 2 * 0.5, count


@pytest.mark.skipif(not other_machine.is_there(), reason="no cross compiler and qemu for AArch64")
@pytest.mark.parametrize("cpu", ["native", "neoverse-v1"])
def test_random_models_for_aarch64(cpu: str) -> None:
    """Compiled for the other kind of machine: the baseline, and one that has SVE."""
    count: collections.Counter[Verdict] = collections.Counter()
    wrong = []
    for seed in range(FOR_AARCH64):
        settings = dataclasses.replace(settings_of(seed), cpu=cpu)
        findings = [judge(random_model(seed), "aarch64", settings)]
        program = random_program(seed)
        made = form(program, FORMS[seed % len(FORMS)])
        model = RandomModel(seed, made.proto, {}, program.types)
        findings += judge_sets(model, made.sets[:3], settings, 60, "aarch64")
        for finding in findings:
            count[finding.verdict] += 1
            if finding.verdict.bad:
                wrong.append(f"seed {seed}: {finding.verdict.value}: {finding.reason}")
    assert not wrong, "\n".join(wrong)
    assert count[Verdict.SAME] >= FOR_AARCH64 * 0.7, count


class Findings:
    """What became of the sets of inputs of some programs."""

    def __init__(self) -> None:
        self.count: collections.Counter[Verdict] = collections.Counter()
        self.wrong: list[str] = []

    def judge(self, program: RandomProgram, name: str, timeout: float, most: int = 1000) -> None:
        """Those of a program in the form `name`, or `most` of them, drawn by its seed."""
        made = form(program, name)
        model = RandomModel(program.seed, made.proto, {}, program.types)
        sets = made.sets
        if len(sets) > most:
            sets = random.Random(program.seed).sample(sets, most)
        settings = settings_of(program.seed)
        for number, finding in enumerate(judge_sets(model, sets, settings, timeout)):
            self.count[finding.verdict] += 1
            if finding.verdict.bad:
                what = f"{finding.verdict.value}: {finding.reason}"
                self.wrong.append(f"program {program.seed} {name} #{number}: {what}")

    def check(self, same: float, refused: float = 1) -> None:
        """Nothing is wrong; how many are at least the same, at most refused."""
        total = self.count.total()
        assert not self.wrong, "\n".join(self.wrong)
        assert self.count[Verdict.SAME] >= total * same, self.count
        assert self.count[Verdict.REFUSED] <= total * refused, self.count


@pytest.mark.parametrize("first", range(0, PROGRAMS, PROGRAMS_CHUNK))
def test_random_programs(first: int) -> None:
    """Each in two forms of declared shapes, with all sets of inputs."""
    found = Findings()
    for seed in range(first, first + PROGRAMS_CHUNK):
        program = random_program(seed)
        for name in {FORMS[seed % len(FORMS)], FORMS[seed // 3 % len(FORMS)]}:
            found.judge(program, name, 60)
    found.check(same=0.7, refused=0.05)


@pytest.mark.parametrize("first", range(0, OPEN_MODELS, OPEN_CHUNK))
def test_random_models_of_any_extent(first: int) -> None:
    """Each in one form of declared shapes, with three of its sets of inputs."""
    found = Findings()
    for seed in range(first, first + OPEN_CHUNK):
        found.judge(open_model(seed), FORMS[seed % len(FORMS)], 100, most=3)
    found.check(same=0.5, refused=0.2)


@pytest.mark.parametrize("first", range(0, STATES, STATES_CHUNK))
def test_random_states(first: int) -> None:
    """Programs over values of every element type, in one form of declared shapes each."""
    found = Findings()
    for seed in range(first, first + STATES_CHUNK):
        found.judge(random_states(seed), FORMS[seed % len(FORMS)], 60)
    found.check(same=0.9)


def test_states_are_of_every_kind() -> None:
    programs = [random_states(seed) for seed in range(300)]
    kinds = collections.Counter(kind for program in programs for kind in program.kinds)
    wanted = ["loop", "scan", "branch", "collection", "optional", "depth 0", "depth 1", "depth 2"]
    wanted += [f"state of type {elem}" for elem in TYPES]
    wanted += [f"collected of type {elem}" for elem in TYPES if TYPES[elem] > 1]
    assert not [kind for kind in wanted if not kinds[kind]], kinds
    for program in programs[:20]:
        again = random_states(program.seed)
        assert again.proto == program.proto
        for one, other in zip(program.sets, again.sets, strict=True):
            assert {k: v.tolist() for k, v in one.items()} == {
                k: v.tolist() for k, v in other.items()
            }


def test_models_of_any_extent_are_of_every_kind() -> None:
    programs = [open_model(seed) for seed in range(150)]
    kinds = collections.Counter(kind for program in programs for kind in program.kinds)
    wanted = ["Loop", "Scan", "If", "SequenceInsert", "Optional", "StringConcat", "Div", "Conv"]
    wanted += ["ConvTranspose", "Resize", "TopK", "Einsum", "Gemm", "MatMulInteger", "Softmax"]
    assert not [kind for kind in wanted if kinds[kind] < 2], kinds
    shapes = {tuple(v.shape for v in feeds.values()) for feeds in programs[0].sets}
    assert len(shapes) > 3
    for program in programs[:20]:
        again = open_model(program.seed)
        assert again.proto == program.proto


def test_programs_are_of_every_kind() -> None:
    programs = [random_program(seed) for seed in range(PROGRAMS)]
    kinds = collections.Counter(kind for program in programs for kind in program.kinds)
    wanted = [*UPDATES, *(algorithm.__name__ for algorithm in ALGORITHMS)]
    wanted += ["Loop at depth 0", "Loop at depth 1", "Scan", "If", "sequence", "function"]
    wanted += ["only the size", "guarded", "states in an If", "broadcast Einsum"]
    assert not [kind for kind in wanted if kinds[kind] < 2], kinds
    for program in programs[:40]:
        again = random_program(program.seed)
        assert again.proto == program.proto
        for one, other in zip(program.sets, again.sets, strict=True):
            assert {k: v.tolist() for k, v in one.items()} == {
                k: v.tolist() for k, v in other.items()
            }


def test_programs_have_inputs_of_many_extents() -> None:
    extents: collections.Counter[str] = collections.Counter()
    forms: collections.Counter[str] = collections.Counter()
    for seed in range(100):
        program = random_program(seed)
        known = constants(program.proto)
        for feeds in program.sets:
            found = {extent for value in feeds.values() for extent in value.shape}
            named = {"0": 0 in found, "1": 1 in found, "many": max(found, default=0) > 10}
            extents.update(k for k, is_so in named.items() if is_so)
            extents["constant"] += bool(found & set(known))
            extents["no trip"] += feeds["n"].item() == 0
        for name in FORMS:
            made = form(program, name)
            forms[name] += len(made.sets)
            assert made.sets
    assert not [kind for kind in extents if extents[kind] < 50], extents
    assert forms["static"] < forms["open"] * 2, forms


def test_errors_are_due() -> None:
    """What ends in an error must do so, but for errors of what nobody reads."""
    model = _model(
        "main (int64[n] x) => (int64[n] y) { d = Div(x, x) \n y = Neg(x) }",
        x=np.zeros(2, np.int64),
    )
    read = _model("main (int64[n] x) => (int64[n] y) { y = Div(x, x) }", x=np.zeros(2, np.int64))

    def fails(message: str) -> Callable[[RandomModel], list[np.ndarray]]:
        def run(_: RandomModel) -> list[np.ndarray]:
            raise RuntimeError(message)

        return run

    zeros = [np.zeros(2, np.int64)]
    found = {
        "unread": random_checks.check_strictly(model, lambda _: zeros),
        "unread and wrong": random_checks.check_strictly(model, lambda _: [zeros[0] + 1]),
        "none": random_checks.check_strictly(read, lambda _: zeros),
        "due": random_checks.check_strictly(read, fails("integer division by zero")),
        "other": random_checks.check_strictly(read, fails("an index is out of range")),
        "not due": random_checks.check_strictly(
            dataclasses.replace(read, feeds={"x": np.ones(2, np.int64)}), fails("out of range")
        ),
    }
    assert {name: finding.verdict for name, finding in found.items()} == {
        "unread": Verdict.SAME,
        "unread and wrong": Verdict.WRONG,
        "none": Verdict.WRONG,
        "due": Verdict.ERROR,
        "other": Verdict.OTHER_ERROR,
        "not due": Verdict.FAILED,
    }


def test_a_seed_is_a_model() -> None:
    one, other = (random_model(7) for _ in range(2))
    assert one.proto == other.proto
    assert one.proto != random_model(8).proto
    for name, value in one.feeds.items():
        np.testing.assert_array_equal(value, other.feeds[name])


def test_models_are_of_every_kind() -> None:
    kinds: collections.Counter[str] = collections.Counter()
    for seed in range(MODELS):
        proto = random_model(seed).proto
        kinds[f"opset {proto.opset_import[0].version}"] += 1
        for depth, graph in _with_depth(proto.graph, 0):
            for node in graph.node:
                kinds[node.op_type] += 1
                kinds[f"{node.op_type} at depth {depth}"] += 1
                if node.op_type == "Loop":
                    kinds["Loop without a trip count"] += not node.input[0]
                    kinds["Loop without a condition"] += not node.input[1]
    wanted = [f"opset {version}" for version in (8, 9, 11, 13, 16, 21)]
    wanted += ["Loop", "Scan", "If", "SequenceInsert", "Loop at depth 1", "Scan at depth 1"]
    wanted += ["If at depth 2", "Loop without a trip count", "Loop without a condition"]
    assert not [kind for kind in wanted if kinds[kind] < 3], kinds


def _with_depth(graph: onnx.GraphProto, depth: int):  # type: ignore[no-untyped-def]
    yield depth, graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _with_depth(attribute.g, depth + 1)


def _model(text: str, **feeds: np.ndarray) -> RandomModel:
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    types = {name: onnx.TensorProto.FLOAT for name in ("y", "z")}
    return RandomModel(0, proto, feeds, types)


def test_resize_to_one_element_is_the_first_one() -> None:
    """The reference has the place that the operator's definition says, on each axis."""
    text = """main (float[2, 5] x, float[2] s) => (float[a, b] y) {
        y = Resize <mode = "cubic", coordinate_transformation_mode = "pytorch_half_pixel"> (x, , s)
    }"""
    x = np.arange(10, dtype=np.float32).reshape(2, 5) ** 2
    for scales, want in (((1, 0.2), x[:, :1]), ((0.5, 1), x[:1]), ((0.5, 0.37), x[:1, :1])):
        model = _model(text, x=x, s=np.array(scales, np.float32))
        np.testing.assert_allclose(random_checks.run_reference(model)[0], want, atol=1e-6)


def test_what_is_found() -> None:
    """A wrong result is one, and what a rounding changes is not."""
    plain = _model("main (float[n] x) => (float[n] y) { y = Neg(x) }", x=np.ones(3, np.float32))
    right = -np.ones(3, np.float32)
    found = {
        "same": random_checks.check(plain, lambda _: [right]),
        "wrong": random_checks.check(plain, lambda _: [right + 1]),
        "shape": random_checks.check(plain, lambda _: [right[None]]),
        "count": random_checks.check(plain, lambda _: []),
        "failed": random_checks.check(plain, lambda _: 1 / 0),  # type: ignore[arg-type, return-value]
    }
    assert {name: finding.verdict for name, finding in found.items()} == {
        "same": Verdict.SAME,
        "wrong": Verdict.WRONG,
        "shape": Verdict.WRONG,
        "count": Verdict.WRONG,
        "failed": Verdict.FAILED,
    }
    # What another engine computes as well is disputed.
    peer = random_checks.compare_with_peer(found["wrong"], [right + 1])
    assert peer.verdict is Verdict.DISPUTED
    assert random_checks.compare_with_peer(found["wrong"], [right]) == found["wrong"]

    step = _model(
        "main (float[n] x) => (float[n] y) { z = Neg(x) \n y = Floor(z) }", x=np.ones(3, np.float32)
    )
    other = random_checks.check(step, lambda _: [right - 1])
    assert other.verdict is Verdict.CHAOTIC

    # Numbers that no tensor holds are rounded as well: that they fail says nothing of the model.
    number = _model(
        "main (float[n] x) => (float[n] y) { z = ReduceSum <keepdims = 0> (x) \n y = Add(x, z) }",
        x=np.ones(3, np.float32),
    )
    wrong = random_checks.check(number, lambda _: [np.full(3, 5, np.float32)])
    assert wrong.verdict is Verdict.WRONG

    empty = _model("main (float[n] x) => (float[n] y) { y = Neg(x) }", x=np.ones(0, np.float32))
    extents = random_checks.check(empty, lambda _: [np.ones((0, 4), np.float32)])
    assert extents.verdict is Verdict.WRONG
    # Nobody knows an extent of what a loop of no trips collects.
    unknown = _model(
        """main (float[n, m] x, int64[2] s, int64 k) => (float[t, a, b] y) {
            y = Loop(k, "") <body = l (int64 i, bool c) => (bool c, float[p, 4] r) { r = Reshape(x, s) }>
        }""",
        x=np.ones((2, 2), np.float32),
        s=np.array([1, 4]),
        k=np.array(0),
    )
    extents = random_checks.check(unknown, lambda _: [np.ones((0, 3, 4), np.float32)])
    assert extents.verdict is Verdict.EXTENTS


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_programs_of_the_loop_dialect(first: int) -> None:
    """MLIR as people write it, after passes alone too, with several sets of inputs."""
    sys.path.insert(0, str(FUZZ))
    from mlir_loops import problems

    tools = pathlib.Path(loopc.__file__).parents[2] / "bin"
    wrong = [
        f"seed {seed}: {problem}"
        for seed in range(first, first + 8)
        for problem in problems(seed, tools, passes=1)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_chains_of_generics(first: int) -> None:
    """linalg.generic as people write it, beside NumPy."""
    sys.path.insert(0, str(FUZZ))
    from mlir_generics import problems

    wrong = [
        f"seed {seed}: {problem}" for seed in range(first, first + 8) for problem in problems(seed)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_programs_on_buffers(first: int) -> None:
    """Buffers as people write them, beside NumPy."""
    sys.path.insert(0, str(FUZZ))
    from mlir_buffers import problems

    wrong = [
        f"seed {seed}: {problem}" for seed in range(first, first + 8) for problem in problems(seed)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_what_must_not_run(first: int) -> None:
    """Loops and branches that do not happen hold what would trap, or read beyond its operands."""
    sys.path.insert(0, str(FUZZ))
    from mlir_speculation import problems

    tools = pathlib.Path(loopc.__file__).parents[2] / "bin"
    wrong = [
        f"seed {seed}: {problem}"
        for seed in range(first, first + 8)
        for problem in problems(seed, tools)
    ]
    assert not wrong, "\n".join(wrong)


# In the last ones a pass loses the rank of a result, which then has its shape as a second block,
# and packed weights are read as buffers.
@pytest.mark.parametrize("seed", [*range(6), 9028, 200015, 200017])
def test_stages_are_read_again(seed: int) -> None:
    sys.path.insert(0, str(FUZZ))
    from stages import problems

    tools = pathlib.Path(loopc.__file__).parents[2] / "bin"
    wrong = list(problems(seed, tools))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_networks(first: int) -> None:
    sys.path.insert(0, str(FUZZ))
    from network_programs import RandomNetwork
    from random_networks import GOOD, outcome

    found = {seed: outcome(RandomNetwork(seed), seed % 4) for seed in range(first, first + 8)}
    assert not {seed: text for seed, text in found.items() if text not in GOOD}
    assert "same" in found.values()


@pytest.mark.parametrize("first", range(0, 18, 6))
def test_networks_of_open_extents(first: int) -> None:
    sys.path.insert(0, str(FUZZ))
    from open_networks import GOOD, outcomes

    found = {seed: [*outcomes(seed)] for seed in range(first, first + 6)}
    wrong = {seed: [text for text in ends if text not in GOOD] for seed, ends in found.items()}
    assert not any(wrong.values()), wrong
    assert any("same" in ends for ends in found.values())


def _fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ / "loops.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_long_runs() -> None:
    run = _fuzz("--seeds", "0:2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2 models in ")
    assert _fuzz("--seeds", "3:1").returncode == 2
    run = _fuzz("--seeds", "0:3", "--programs", "--forms", "open")
    assert run.stdout.startswith("3 models in "), run.stderr
    assert _fuzz("--seeds", "0:3", "--programs", "--forms", "x").returncode == 2
    assert _fuzz("--seeds", "0:3", "--programs", "--engine", "cuda").returncode == 2
    run = _fuzz("--seeds", "0:1", "--open")
    assert run.stdout.startswith("1 models in "), run.stderr
    assert _fuzz("--seeds", "0:1", "--open", "--programs").returncode == 2
    assert _fuzz().returncode == 2


def test_a_failing_model_becomes_small() -> None:
    spec = importlib.util.spec_from_file_location("shrink", FUZZ / "shrink.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    asked = 0

    def fails(model: RandomModel) -> bool:
        nonlocal asked
        asked += 1
        try:
            random_checks.expected(model)
        except Exception:
            return False
        kinds = {n.op_type for g in random_checks.graphs(model.proto.graph) for n in g.node}
        return {"Loop", "Scan"} <= kinds

    seed = next(seed for seed in range(30, 100) if fails(random_model(seed)))
    small = module.shrink(random_model(seed), fails, lambda _: None)
    assert asked > 5
    assert fails(small)
    sizes = [
        sum(len(graph.node) for graph in random_checks.graphs(model.proto.graph))
        for model in (random_model(seed), small)
    ]
    assert sizes[1] <= 16 < sizes[0], sizes
    assert len(small.feeds) <= len(random_model(seed).feeds)
