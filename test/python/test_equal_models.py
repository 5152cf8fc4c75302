# ===- test_equal_models.py - Models that mean the same, passes left out -------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The short form of test/fuzz/equal_models.py and test/fuzz/passes_off.py, and that both can fail."""

from __future__ import annotations

import collections
import copy
import dataclasses
import os
import pathlib
import subprocess
import sys
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest

FUZZ = pathlib.Path(__file__).parents[1] / "fuzz"
TOOLS = pathlib.Path(loopc.__file__).parents[2] / "bin"
sys.path.insert(0, str(FUZZ))

import agreement  # noqa: E402
import engines  # noqa: E402
import equal_models  # noqa: E402
import passes_off  # noqa: E402
import rewrites  # noqa: E402
from agreement import Agreement, compare, results, same_bits, with_types  # noqa: E402

PAIRS, CHUNK = 100, 25


@pytest.mark.parametrize("first", range(0, PAIRS, CHUNK))
def test_equal_models(first: int) -> None:
    """What is written in another way gives the same."""
    failing = passes_off.failing_operators(TOOLS)
    count: collections.Counter[Agreement] = collections.Counter()
    wrong = []
    for seed in range(first, first + CHUNK):
        both = equal_models.pair(seed, failing=failing)
        options = {"opt_level": equal_models.level_of(seed)}
        for number, found in equal_models.comparisons(both, options) if both else ():
            count[found.agreement] += 1
            if found.agreement.bad:
                wrong.append(f"{seed} #{number} {both.rewrite}: {found.reason}")
    assert not wrong, "\n".join(wrong)
    assert count[Agreement.SAME] >= count.total() * 0.7, count


def test_pairs_are_of_every_kind() -> None:
    """Each rewrite is made of some model, and a seed is a pair."""
    for name in equal_models.REWRITES:
        both = equal_models.pair(3, [name])
        assert both is not None, name
        assert both.rewrite == name
        assert both.other != both.model.proto
        again = equal_models.pair(3, [name])
        assert again is not None and again.other == both.other


#: Passes that none of the models below goes through: those of kernels, and of very large functions;
#: test_attention_tiles.py leaves cpu-tile-chains out, test_attention_groups.py tensor-expand-repeats,
#: test_elementwise.py has what tensor-version-extents changes, test_threads.py what
#: nest-make-sections does, test_shifted_fields.py loop-carry-padded, test_sums_of_classes.py
#: tensor-sum-classes. cpu-cut-sections cuts very large functions only.
UNTRIED = {
    "buffer-write-carried",
    "cpu-cut-sections",
    "cpu-reduce-columns",
    "loop-carry-padded",
    "loop-merge-lengths",
    "tensor-expand-fourier",
    "tensor-expand-repeats",
    "loop-fuse-loops",
    "cpu-tile-chains",
    "tensor-scale-subnormals",
    "tensor-sum-classes",
    "tensor-tabulate-bytes",
    "tensor-version-extents",
    "tensor-widen-factors",
    "loopc-divide-blocks",
    "loopc-externalize-weights",
    "loopc-lift-growth",
    "nest-contract-buffers",
    "nest-fuse-strips",
    "nest-make-sections",
}
#: Models that go through all others, and take little time.
MODELS = [
    "loops/rank_1",
    "loops/grows_by_itself",
    "loops/update_a_row_in_place",
    "loops/cell_that_may_stop",
    "loops/inner_bodies_shadow_each_other",
    "loops/captured_constant_is_folded",
    "loops/scan_zero_length",
    "loops/torch_stack_of_list",
    "loops/growing_cache",
    "loops/captured_in_nested_loop",
    "loops/scan_without_states",
    "loops/conjugate_gradient",
    "loops/dtype_bool",
]


def _case(name: str) -> passes_off.Case:
    kind, _, rest = name.partition("/")
    if kind == "random":
        return passes_off.random_case(int(rest))
    [make] = [make for found, make in passes_off.loop_cases() if found == name]
    case = make()
    assert case is not None
    return case


@pytest.mark.parametrize("part", range(4))
def test_without_a_pass(part: int) -> None:
    """Results without each pass that changes a model are those with all passes."""
    passes = passes_off.optional_passes(TOOLS)
    wrong = []
    for name in MODELS[part::4]:
        for trial in passes_off.trials(_case(name), passes, TOOLS):
            if trial.comparison.agreement.bad:
                what = f"{name} #{trial.number} without {trial.left_out}"
                wrong.append(f"{what}: {trial.comparison.reason}")
    assert not wrong, "\n".join(wrong)


def test_names_of_passes(tmp_path: pathlib.Path) -> None:
    proto, feeds = _loop(3)
    content = proto.SerializeToString()
    options = loopc.SessionOptions(disabled_passes=["loopc-eliminate-common", "canonicalize"])
    outputs = loopc.InferenceSession(content, options).run(None, feeds)
    assert all(map(same_bits, outputs, loopc.InferenceSession(content).run(None, feeds)))
    for name, reason in (("c", "there is no pass 'c'"), ("loopc-bufferize", "is needed: tensors")):
        with pytest.raises(loopc.CompileError, match=reason):
            loopc.InferenceSession(content, loopc.SessionOptions(disabled_passes=[name]))
        with pytest.raises(loopc.CompileError, match=reason):
            loopc.compile(content, tmp_path / "model.o", disabled_passes=[name])
    assert list(tmp_path.iterdir()) == []


#: A value that is collected along its second axis, and summed up.
SUMMED = """<ir_version: 10, opset_import: ["" : 21]>
summed (float[T,37,3] x, float[37,3] h0) => (float[37,3] h, float[] s, float[37,T,3] ys) {
  zero = Constant <value = float {0.0}> ()
  h, s, ys = Scan <num_scan_inputs = 1, scan_output_axes = [1],
                   body = step (float[37,3] p, float[] q, float[37,3] u)
    => (float[37,3] n, float[] r, float[37,3] n) {
      a = Add (p, u)
      n = Tanh (a)
      t = ReduceSum <keepdims = 0> (n)
      g = Sigmoid (t)
      r = Add (q, g)
    }> (h0, zero, x)
}"""


@pytest.mark.parametrize("name", ["loopc-eliminate-empty-tensors", "loop-collect-in-place"])
def test_sums_of_what_is_in_its_place(name: str) -> None:
    """Rows that lie apart are summed up one by one: the table says that this may round."""
    model = with_types(onnx.parser.parse_model(SUMMED))
    content, random = model.proto.SerializeToString(), np.random.default_rng(0)
    made = [random.standard_normal((5, 37, 3), np.float32) for _ in range(6)]
    sets = [{"x": x, "h0": x[0]} for x in made]
    ones = results(content, sets, {"disabled_passes": [name]})
    others = results(content, sets, {})
    exact = passes_off.optional_passes(TOOLS)[name]
    for one, other in zip(ones, others, strict=True):
        found = compare(model, one, other, exact=exact)
        assert found.agreement in (Agreement.SAME, Agreement.ROUNDED), found.reason


@pytest.mark.parametrize("name", ["loopc-lift-growth", "tensor-expand-fourier"])
def test_without_a_pass_for_kernels(name: str) -> None:
    """On the driver for tests, in a process of its own: a process has one driver."""
    run = engines.worker(kernels_without)
    outcome = run.ask((str(TOOLS.parent / "test/cuda/libcuda.so.1"), name))
    assert outcome.error is None, outcome.error
    [one, other] = outcome.values or []
    assert compare(with_types(onnx.ModelProto()), one, other,
                   exact=passes_off.optional_passes(TOOLS)[name]).agreement in (
        Agreement.SAME, Agreement.ROUNDED)  # fmt: skip


def kernels_without(driver: str, name: str) -> engines.Outcome:
    """What a growing loop and a transform give without a pass, and with all."""
    os.environ |= {"LOOPC_CUDA_DRIVER": driver, "LOOPC_FAKE_CUDA_QUIET": "1", "LOOPC_PTXAS": ""}
    proto = onnx.parser.parse_model(KERNELS)
    feeds = {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 6, 2), "M": np.int64(9)}
    values = []
    for off in ([name], []):
        options = loopc.SessionOptions(disabled_passes=off)
        session = loopc.InferenceSession(
            proto.SerializeToString(), options, device="cuda:0", min_kernel_work=0
        )
        values.append(session.run(None, feeds))
    return engines.Outcome(values=values)


def test_models_go_through_all_passes() -> None:
    changing: set[str] = set()
    for name in MODELS:
        changing |= passes_off.changing_passes(_case(name).model.proto.SerializeToString(), TOOLS)
    assert set(passes_off.optional_passes(TOOLS)) - changing == UNTRIED


# -- That they can fail ----------------------------------------------------------------

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
main (float[n] x, int64 M) => (float[n] y, float[m, n] rows) {
    y, rows = Loop <body = body (int64 i, bool c, float[n] s) => (bool go, float[n] t, float[n] r) {
        go = Identity(c)
        f = Cast <to = 1> (i)
        r = Add(s, f)
        t = Mul(r, x)
    }> (M, "", x)
}"""


KERNELS = """<ir_version: 10, opset_import: ["" : 21]>
main (float[1, n, 2] x, int64 M) => (float[1, m, 2] y, float[1, n, 2] z) {
    y = Loop <body = body (int64 i, bool c, float[1, k, 2] s) => (bool go, float[1, l, 2] t) {
        go = Identity(c)
        axis = Constant <value = int64[1] {1}> ()
        row = ReduceSum <keepdims = 1> (s, axis)
        new = Tanh(row)
        t = Concat <axis = 1> (s, new)
    }> (M, "", x)
    z = DFT(x)
}"""


def _loop(trips: int) -> tuple[onnx.ModelProto, dict[str, Any]]:
    feeds = {"x": np.asarray([1, 2, -3], np.float32), "M": np.asarray(trips, np.int64)}
    return onnx.parser.parse_model(TEXT), feeds


@pytest.mark.parametrize("name", ["peel", "split", "unroll", "nest", "while", "outline"])
def test_rewrites_mean_the_same(name: str) -> None:
    """By the reference, which knows of no pass."""
    from loopc import reference

    for trips in (0, 1, 2, 5):
        proto, feeds = _loop(trips)
        other = rewrites.rewrite_node(proto, name, 1)
        assert other is not None
        for one, two in zip(reference.run(proto, feeds), reference.run(other, feeds), strict=True):
            assert one.tolist() == two.tolist()


def test_a_wrong_rewrite_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second piece of a loop begins one iteration too late, results differ."""
    proto, feeds = _loop(5)
    plain = rewrites.Writer.piece

    def late(self: Any, nodes: Any, loop: Any, trips: str, go: str, inits: Any, offset: str = "",
             copies: int = 1) -> Any:  # fmt: skip
        if offset:
            offset = self.op(nodes, "Add", offset, self.const(nodes, 1))
        return plain(self, nodes, loop, trips, go, inits, offset, copies)

    monkeypatch.setattr(rewrites.Writer, "piece", late)
    other = rewrites.rewrite_node(proto, "split", 1)
    assert other is not None
    both = equal_models.Pair(0, "split", with_types(proto), (feeds,), other, (feeds,))
    [(_, found)] = equal_models.comparisons(both, {})
    assert found.agreement is Agreement.DIFFERENT
    assert "the rewrite is wrong" in found.reason


def test_a_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a result that is off by a bit, where bits must be the same; by more elsewhere."""
    proto, feeds = _loop(3)
    case = passes_off.Case("loop", with_types(proto), (feeds,))
    plain = agreement.results

    def disturbed(bits: int) -> Any:
        def run(content: bytes, sets: Any, options: dict[str, Any], limit: float = 60.0) -> Any:
            found = plain(content, sets, options, limit)
            if options.get("disabled_passes"):
                outputs = copy.deepcopy(found[0])
                outputs[0].view(np.int32)[1] += bits
                return [outputs]
            return found

        return run

    def verdicts(bits: int, exact: bool) -> set[Agreement]:
        monkeypatch.setattr(passes_off, "results", disturbed(bits))
        tried = list(passes_off.trials(case, {"loopc-eliminate-common": exact}, TOOLS, every=True))
        assert len(tried) == 1
        return {trial.comparison.agreement for trial in tried}

    assert verdicts(0, exact=True) == {Agreement.SAME}
    assert verdicts(1, exact=True) == {Agreement.DIFFERENT}
    assert verdicts(1, exact=False) == {Agreement.ROUNDED}
    assert verdicts(1 << 20, exact=False) == {Agreement.DIFFERENT}


def test_what_is_compared() -> None:
    proto, feeds = _loop(2)
    model = dataclasses.replace(with_types(proto), feeds=feeds)
    nan, other = (
        np.asarray([bits], np.uint32).view(np.float32) for bits in (0x7FC00000, 0xFFC00001)
    )
    assert same_bits(nan, other)
    assert not same_bits(np.float32(0), np.float32(-0.0))
    assert not same_bits([nan], [nan, nan])
    assert same_bits(None, None) and not same_bits(None, nan)
    both = [np.ones(3, np.float32), np.ones((2, 3), np.float32)]
    assert compare(model, both[:1], both, exact=False).agreement is Agreement.DIFFERENT
    empty = [np.ones((0, 3), np.float32)], [np.ones((0, 0), np.float32)]
    assert compare(model, *empty, exact=True).agreement is Agreement.UNKNOWN
    # An error that is not due.
    error = compare(model, "integer division by zero", both, exact=False)
    assert error.agreement is Agreement.DIFFERENT


def test_long_runs() -> None:
    def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(FUZZ / tool), *arguments, "--tools", str(TOOLS)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)

    done = run("equal_models.py", "--seeds", "0:4", "--rewrite", "peel")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 pairs in ")
    assert run("equal_models.py", "--seeds", "0:4", "--rewrite", "x").returncode == 2
    done = run(
        "passes_off.py", "--models", "random", "--seeds", "1:2", "--pass", "loopc-eliminate-common"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 models, 1 passes, ")
    assert run("passes_off.py", "--pass", "loopc-bufferize").returncode == 2
    assert run("passes_off.py", "--models", "x").returncode == 2
