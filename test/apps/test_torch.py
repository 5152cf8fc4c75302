# ===- test_torch.py - Models of torch -----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.export` and the backend of torch.compile compute what torch computes."""

import pickle
import subprocess
import sys
import warnings

import loopc
import numpy as np
import pytest
import torch
import torch._dynamo
from pages import run_page
from torch import nn
from torch.utils import _pytree as pytree
from torch_programs import PROGRAMS, Function, rand


@pytest.fixture(autouse=True)
def _fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield


def compare(got, want):
    ours, structure = pytree.tree_flatten(got)
    theirs, expected = pytree.tree_flatten(want)
    assert structure == expected
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, torch.Tensor):
            assert one.dtype == other.dtype
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
        else:
            assert one == other


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_export(name):
    program = PROGRAMS[name]
    model = program.make().eval()
    compiled = loopc.export(model, program.args, dynamic_shapes=program.dynamic)
    for args in (program.args, *program.others):
        compare(compiled(*args), model(*args))


#: Those that torch.compile captures as one graph.
COMPILED = """rnn_any_length Exit inverse cond_sum cond_nested CondModules while_halve while_gcd Greedy Beam scan_rnn
    scan_any_length selective_scan map_rows lstm lstm_any_length Block types
    lstm_projected_layers lstm_projected_begun Encoder EncoderFirst AttentionWeights""".split()


@pytest.mark.parametrize("name", COMPILED)
# Else torch leaves its recurrent modules out, without a word.
@torch._dynamo.config.patch(allow_rnn=True)
def test_compile(name):
    program = PROGRAMS[name]
    model = program.make().eval()
    compiled = torch.compile(model, backend="loopc")
    with warnings.catch_warnings(), torch.no_grad():
        # What runs without loopc says so.
        warnings.filterwarnings("error", message="loopc: ")
        for args in (program.args, *program.others):
            compare(compiled(*args), model(*args))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}])
def test_recurrent_layers_of_a_named_length(kind, options):
    """torch's own types of these layers go through the steps of the example."""

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = getattr(nn, kind)(4, 6, batch_first=True, **options)

        def forward(self, x):
            return self.layer(x)[0]

    model = Rows().eval()
    batch, steps = torch.export.Dim("batch"), torch.export.Dim("steps")
    for shapes in ({1: steps}, {0: batch, 1: steps}):
        compiled = loopc.export(model, (rand(2, 5, 4),), dynamic_shapes=(shapes,))
        for extents in ((2, 9), (2, 1), *([(3, 7)] if 0 in shapes else [])):
            x = rand(*extents, 4)
            compare(compiled(x), model(x))


def test_steps_that_are_written_out_are_of_one_length():
    """A loop of Python fixes the extent that its trips are, where torch only warns."""

    class Steps(nn.Module):
        def forward(self, x):
            state = torch.zeros(x.shape[0])
            for step in range(x.shape[1]):
                state = torch.tanh(state + x[:, step])
            return state

    auto = torch.export.Dim.AUTO
    compiled = loopc.export(Steps(), (rand(2, 5),), dynamic_shapes=({0: auto, 1: auto},))
    x = rand(3, 5)
    compare(compiled(x), Steps()(x))
    with pytest.raises(loopc.InvalidArgument, match="dimension 1 is 9, expected 5"):
        compiled(rand(3, 9))


def test_exported_program():
    program = torch.export.export(nn.Linear(4, 3), (rand(2, 4),))
    compiled = loopc.export(program)
    x = rand(2, 4)
    compare(compiled(x), program.module()(x))


def test_no_copies():
    compiled = loopc.export(nn.Identity(), (rand(1000, 4),))
    x = rand(1000, 4)
    result = compiled(x)
    assert compiled.session.last_run_statistics.allocations == 1
    result += 1
    assert not torch.equal(result, x)
    # Neither strides nor gradients stop a tensor from being read where it is.
    compare(compiled(nn.Parameter(rand(4, 1000)).t()).shape, x.shape)
    assert compiled.session.last_run_statistics.allocations == 1


def test_names():
    class Model(nn.Module):
        def forward(self, x, *, scale):
            return x * scale

    compiled = loopc.export(Model(), (rand(3),), {"scale": rand(3)})
    compare(compiled(torch.ones(3), scale=torch.full((3,), 2.0)), torch.full((3,), 2.0))
    assert [port.name for port in compiled.session.get_inputs()] == ["x", "scale"]


def test_pickled():
    program = PROGRAMS["scan_many"]
    compiled = pickle.loads(pickle.dumps(loopc.export(program.make(), program.args)))
    compare(compiled(*program.args), program.make()(*program.args))


def test_refused():
    compiled = loopc.export(nn.Identity(), (rand(3),))
    with pytest.raises(loopc.InvalidArgument, match="args: expected TreeSpec"):
        compiled(rand(3), rand(3))
    with pytest.raises(loopc.InvalidArgument, match="input 'input'"):
        compiled(rand(4))

    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls.add_(1)
            return x + self.calls

    with pytest.raises(loopc.CompileError, match="the model changes 'calls'"):
        loopc.export(Counts(), (rand(3),))
    with pytest.raises(loopc.CompileError, match="torch cannot write the model as ONNX"):
        loopc.export(PROGRAMS["structures"].make().__class__(torch.linalg.eigvals), (rand(3, 3),))


class Operators(nn.Module):
    """What torch's exporter to ONNX has no translation of."""

    def forward(self, x, y, z):
        return {
            "cumprod": [x.cumprod(0), x.cumprod(-1)],
            "cummax": [x.round().cummax(1), x.cummin(0), z.cummax(0)],
            "median": [x.median(), x.median(1).values, x.median(0, True).values, z.median(1)[0]],
            "nanmedian": [z.nanmedian(), z.nanmedian(0)[0]],
            "kthvalue": [x.kthvalue(2, 1), x.kthvalue(1, 0, True)],
            "fmax": [x.fmax(z), torch.fmin(z, x)],
            "signs": [torch.copysign(x, -x.relu()), x.relu().neg().signbit()],
            "aminmax": [torch.aminmax(x), torch.aminmax(x, dim=0)],
            "cdist": [torch.cdist(x, y, p) for p in (0.0, 1.0, 2.0, 3.0, torch.inf)],
            "selected": x.masked_select(x > 0),
            "average": nn.functional.adaptive_avg_pool3d(x.expand(3, 5, 4, 5), (2, 3, 4)),
            "maximum": nn.functional.adaptive_max_pool2d(
                x.expand(2, 4, 5), (3, 2), return_indices=True
            ),
            "hypot": [x.hypot(z), (1e30 * x).hypot(1e30 * x), (x * 0).hypot(z * 0)],
        }


def test_operators_that_torch_does_not_write():
    x, z = rand(4, 5), rand(4, 5)
    z[1, 2] = z[3, 0] = z[3, 1] = torch.nan
    model, args = Operators(), (x, rand(3, 5), z)

    compiled = loopc.export(model, args)
    for given in (args, (-x.abs(), *args[1:])):
        for got, want in zip(compiled(*given).items(), model(*given).items(), strict=True):
            ours, theirs = pytree.tree_leaves(got[1]), pytree.tree_leaves(want[1])
            for one, other in zip(ours, theirs, strict=True):
                torch.testing.assert_close(one, other, equal_nan=True, msg=got[0])


class Places(nn.Module):
    """Operators that search, and that put together what goes to one place."""

    def forward(self, rows, x, index, source):
        sides = {"right": True}, {"side": "left", "out_int32": True}
        reduced = [
            torch.index_reduce(x, 1, index[0], source, how, include_self=own)
            for how in ("amax", "amin", "prod", "mean")
            for own in (True, False)
        ]
        scattered = [
            torch.scatter_reduce(x, 1, index, source, how, include_self=own)
            for how in ("sum", "amax", "amin", "prod", "mean")
            for own in (True, False)
        ]
        rounded = source.clamp(-9, 9).to(torch.int64)
        whole = (9 * x).nan_to_num().to(torch.int64).scatter_reduce(1, index, rounded, "mean")
        return {
            "searched": [torch.searchsorted(rows, x, **side) for side in ({}, *sides)],
            "of each row": torch.searchsorted(rows.expand(3, -1).contiguous(), x),
            "among none": torch.searchsorted(rows[:0], x),
            "number": torch.searchsorted(rows, 0.3),
            "order": torch.searchsorted(-rows, x, sorter=torch.arange(len(rows)).flip(0)),
            "buckets": [torch.bucketize(x, rows), torch.bucketize(x, rows, right=True)],
            "reduced": reduced,
            "scattered": [*scattered, whole],
            "added": x.scatter(1, index, source, reduce="add"),
            "multiplied": x.scatter(1, index, 2.5, reduce="multiply"),
        }


def test_operators_of_places():
    rows, x = rand(9).sort()[0], rand(3, 4)
    x[0, :3] = torch.tensor([rows[2], rows[5], torch.nan])
    index, source = torch.tensor([[0, 2, 2]] * 3), 9 * rand(3, 3)
    source[1, 0] = -torch.inf
    model, args = Places(), (rows, x, index, source)
    got, want = loopc.export(model, args)(*args), model(*args)
    for name, one in want.items():
        ours, theirs = pytree.tree_leaves(got[name]), pytree.tree_leaves(one)
        for number, (first, second) in enumerate(zip(ours, theirs, strict=True)):
            torch.testing.assert_close(first, second, equal_nan=True, msg=f"{name} {number}")


def test_divisors_of_average_pools():
    def function(x, y):
        pool, flat = nn.functional.avg_pool2d, x[0]
        return (
            pool(x, (3, 3), 1, 1, True, False, 2), pool(x, 3, 2, 1, True, True, 5),
            pool(flat, (3, 2), None, 0, True, True, 5), pool(x, 3, 2, 1),
            nn.functional.avg_pool3d(y, 2, 2, 0, True, True, 3),
        )  # fmt: skip

    args = rand(2, 3, 8, 7), rand(2, 3, 5, 4, 7)
    compare(loopc.export(Function(function), args)(*args), function(*args))


def test_what_is_not_added_is_not_read():
    def function(x, a, b):
        return (
            torch.addbmm(x, a, b, beta=0, alpha=2), torch.baddbmm(x, a, b, beta=0),
            torch.addmm(x, a[0], b[0], beta=0), torch.addmv(x[:, 0], a[0], b[0, :, 0], beta=0),
            torch.addr(x, a[0, :, 0], b[0, 0], beta=0), torch.addbmm(x * 0 + 1, a, b, beta=2),
        )  # fmt: skip

    args = torch.full((3, 5), torch.nan), rand(2, 3, 4), rand(2, 4, 5)
    got, want = loopc.export(Function(function), args)(*args), function(*args)
    torch.testing.assert_close(got, want, equal_nan=True)


def test_other_names_of_operators():
    def function(x, n):
        return (
            torch.divide(x, n), torch.multiply(n, x), torch.subtract(x, n, alpha=2),
            torch.true_divide(n, n + 1), x.round().sort(dim=0, descending=True, stable=True),
            x.round().argsort(stable=True),
        )  # fmt: skip

    args = rand(5, 6), torch.arange(1, 7)
    compare(loopc.export(Function(function), args)(*args), function(*args))


def test_scalars_along_an_axis():
    def function(x, y):
        norm, place = torch.linalg.vector_norm, torch.tensor(0)
        scattered = [
            x.scatter_reduce(0, place, y[0, 0], how, include_self=False) for how in ("mean", "amax")
        ]
        return (
            scattered,
            x.prod(0, True),
            y.prod(1),
            norm(x, 0, dim=0),
            norm(x, dim=-1),
            norm(y, 3, dim=1),
        )

    args = torch.tensor(-3.0), rand(2, 3)
    compare(loopc.export(Function(function), args)(*args), function(*args))


def test_arguments_that_operators_return():
    """torch's exporter gives such an argument the name of the result."""

    def function(x, y, z):
        return x.t() + y, torch.min(z, 0)

    args = rand(4), rand(4), torch.tensor(3.0)
    compiled = loopc.export(Function(function), args)
    assert [port.name for port in compiled.session.get_inputs()] == ["args_0", "args_1", "args_2"]
    compare(compiled(*args), function(*args))


def test_complex_numbers():
    def function(x, c, d):
        return (
            torch.stft(x, 16, window=torch.hann_window(16), return_complex=True),
            c * d,
            c.abs(),
            3,
        )

    c = torch.complex(rand(3, 4), rand(3, 4))
    args = rand(2, 100), c, c.conj()
    compiled = loopc.export(Function(function), args)
    compare(compiled(*args), function(*args))
    compare(pickle.loads(pickle.dumps(compiled))(*args), function(*args))


def run_and_record(function, *args):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = torch.compile(function, backend="loopc")(*args)
    return result, [str(one.message) for one in said if str(one.message).startswith("loopc: ")]


def test_falls_back_with_one_line():
    model, x = nn.BatchNorm1d(4), rand(3, 4)
    _, said = run_and_record(model, x)
    assert len(said) == 1 and "gradients are wanted" in said[0]
    with torch.no_grad():
        _, said = run_and_record(model, x)
        assert len(said) == 1 and "the model changes" in said[0] and "\n" not in said[0]
        assert model.num_batches_tracked == 2
        _, said = run_and_record(lambda x: x + torch.rand_like(x), x)
        assert len(said) == 1 and "random numbers" in said[0]
        _, said = run_and_record(lambda x: torch.linalg.eigvals(x @ x.T), x)
        assert len(said) == 1 and "torch cannot write" in said[0]


def test_errors_of_runs_are_those_of_torch():
    """A wrong place is an IndexError, after which the graph is still loopc's."""
    compiled = torch.compile(lambda rows, at: rows[at] + 1, backend="loopc")
    rows = rand(3, 4)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="loopc: ")
        for _ in range(2):
            compare(compiled(rows, torch.tensor([2, 0])), rows[[2, 0]] + 1)
            with pytest.raises(IndexError):
                compiled(rows, torch.tensor([2, 7]))


class Associative(nn.Module):
    """A recurrence of pairs, scanned, and another one with a tensor of the outside."""

    def __init__(self, mode, reverse):
        super().__init__()
        self.mode, self.reverse = mode, reverse

    def forward(self, decay, x):
        from torch._higher_order_ops.associative_scan import associative_scan

        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        _, states = associative_scan(
            combine, (decay, x), 0, reverse=self.reverse, combine_mode=self.mode
        )
        largest = associative_scan(torch.maximum, x, 1, combine_mode=self.mode)
        return states, largest + states


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode", ["generic", "pointwise"])
@pytest.mark.parametrize("steps", [1, 2, 9])
def test_associative_scans(mode, reverse, steps):
    model, args = Associative(mode, reverse), (rand(steps, 4).sigmoid(), rand(steps, 4))
    torch.testing.assert_close(loopc.export(model, args)(*args), model(*args))


def test_associative_scans_of_any_length():
    model = Associative("pointwise", False)
    args = rand(5, 4).sigmoid(), rand(5, 4)
    steps = torch.export.Dim("steps", min=2)
    compiled = loopc.export(model, args, dynamic_shapes=({0: steps}, {0: steps}))
    for length in (5, 2, 31):
        args = rand(length, 4).sigmoid(), rand(length, 4)
        torch.testing.assert_close(compiled(*args), model(*args))


NUMBERS = {
    "exponent": (lambda x, a: x.abs() ** a, (1.5, 2.5, 3.25)),
    "attribute": (lambda x, a: nn.functional.leaky_relu(x, a), (0.1, 0.2, 0.3)),
    "bounds": (lambda x, a: torch.clamp(x, -a, a), (0.5, 1.0, 0.25)),
    "full": (lambda x, a: x + torch.full((4,), a), (1.0, 2.0, 3.0)),
    "count": (lambda x, n: x.repeat(n, 1) + n, (2, 3, 5)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_change(name):
    """What torch leaves open at the second value, and ONNX wants as an attribute."""
    function, values = NUMBERS[name]
    torch._dynamo.reset()
    compiled, x = torch.compile(function, backend="loopc"), rand(3, 4)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (*values, values[0], values[2]):
            torch.testing.assert_close(compiled(x, value), function(x, value))


def test_numbers_of_too_many_values():
    torch._dynamo.reset()
    compiled, x = torch.compile(nn.functional.leaky_relu, backend="loopc"), rand(3, 4)
    with torch.no_grad(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for value in range(20):
            wanted = nn.functional.leaky_relu(x, 0.01 * value)
            torch.testing.assert_close(compiled(x, 0.01 * value), wanted)
    texts = [str(one.message) for one in said if str(one.message).startswith("loopc: ")]
    assert len(texts) == 1 and "more than 8 values" in texts[0] and "\n" not in texts[0]


def test_gradients_flow_where_they_are_wanted():
    model, x = nn.Linear(4, 1), rand(3, 4)
    result, _ = run_and_record(model, x)
    result.sum().backward()
    assert model.weight.grad is not None


def test_parameters_may_change():
    model, x = nn.Linear(4, 3), rand(2, 4)
    compiled = torch.compile(model, backend="loopc")
    with torch.no_grad():
        compare(compiled(x), model(x))
        model.weight.mul_(2)
        compare(compiled(x), model(x))
        model.load_state_dict(nn.Linear(4, 3).state_dict())
        compare(compiled(x), model(x))


def write_through_numpy(model):
    model.weight.detach().numpy()[...] *= 2


def write_in_inference_mode(model):
    with torch.inference_mode():
        model.weight.mul_(2)


def exchange_storage(model):
    model.weight.data = model.weight.data * 2


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.weight.mul_(2),
        lambda model: model.weight.data.mul_(2),
        lambda model: model.weight.data.t().mul_(2),
        write_through_numpy,
        write_in_inference_mode,
        exchange_storage,
    ],
)
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("is_inference", [False, True])
def test_each_write_to_a_parameter_is_seen(change, is_transposed, is_inference):
    """Also those that torch does not count."""
    with torch.inference_mode(is_inference):
        model, x = nn.Linear(4, 4), rand(2, 4)
        if is_transposed:
            model.weight = nn.Parameter(model.weight.detach().t(), requires_grad=False)
    compiled = torch.compile(model, backend="loopc")
    with torch.inference_mode(is_inference), torch.no_grad():
        compare(compiled(x), model(x))
        change(model)
        compare(compiled(x), model(x))


def test_freezing():
    """Writes are not looked for; another module's tensors are others."""
    options = {"freezing": True}
    models, x = [nn.Linear(4, 3), nn.Linear(4, 3)], rand(2, 4)
    compiled = torch.compile(lambda model, x: model(x), backend="loopc", options=options)
    with torch.no_grad():
        before = [compiled(model, x) for model in models]
        compare(before, [model(x) for model in models])
        models[0].weight.mul_(2)
        compare(compiled(models[0], x), before[0])


def test_modules_share_a_graph():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(rand(4, 4))

        @torch.compile(backend="loopc")
        def forward(self, x):
            return x @ self.weight

    layers, x = [Layer(), Layer()], rand(2, 4)
    with torch.no_grad():
        for layer in (*layers, *layers):
            compare(layer(x), x @ layer.weight)


@pytest.mark.parametrize("dynamic", [None, True])
def test_shapes_may_change(dynamic):
    def function(x):
        return x.view(x.shape[0] * 2, -1).sum(0), x.shape[0]

    compiled = torch.compile(function, backend="loopc", dynamic=dynamic)
    for rows in (3, 5, 6, 1):
        x = rand(rows, 4)
        compare(compiled(x), function(x))


def test_options():
    compiled = torch.compile(lambda x: x + 1, backend="loopc", options={"opt_level": 1})
    compare(compiled(torch.zeros(3)), torch.ones(3))
    with pytest.raises(Exception, match=r"options: .*nothing"):
        torch.compile(lambda x: x + 1, backend="loopc", options={"nothing": 1})(torch.zeros(3))


def test_is_a_backend_by_its_entry_point():
    assert "loopc" in torch._dynamo.list_backends()


def test_without_onnxscript():
    code = """
import sys
sys.modules["onnxscript"] = None
import loopc, torch
try:
    loopc.export(torch.nn.Identity(), (torch.zeros(3),))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "loopc.export needs the package onnxscript: pip install torch onnxscript" in done.stdout


def test_results_of_numpy_types_that_torch_has_itself():
    compiled = loopc.export(nn.Identity(), (torch.zeros(3, dtype=torch.bfloat16),))
    assert compiled(torch.ones(3, dtype=torch.bfloat16)).dtype == torch.bfloat16
    raw = compiled.session.run(None, {"input": torch.ones(3, dtype=torch.bfloat16)})[0]
    assert np.dtype(raw.dtype).name == "bfloat16"


def test_page(tmp_path):
    run_page("Torch.md", "", tmp_path)
