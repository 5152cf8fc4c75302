# ===- every_argument.py - Calls with one argument that is something else -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Calls the Python package: valid calls, of which each argument is each hostile value once.

    every_argument.py GROUP     options, session, bindings, network, layers, tensorrt or openvino

Each call is printed before it is made, as it may end the process. A call may do what it is asked
for, or fail by an error of loopc's, or by a TypeError that names an argument of the signature. A
line that begins with BAD is one that ended otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
import re
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling

compiling.set_environment()

import loopc  # noqa: E402
import numpy as np  # noqa: E402
import onnx.parser  # noqa: E402
from loopc import network as trt  # noqa: E402

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    m (float[N, 2] x, int64 n) => (float[N, 2] y) {
      y = Loop (n, "", x) <body = b (int64 i, bool c, float[N, 2] a) => (bool c, float[N, 2] d) {
        d = Add (a, x)
      }>
    }""").SerializeToString()
X = np.ones((3, 2), np.float32)
FEEDS = {"x": X, "n": np.array(2)}


class Odd:
    """An object whose every question is answered by an error, which is its own."""

    SAID = ("no _raw", "no array", "neither", "no number", "no __numpy_dtype__")

    def __getattr__(self, name: str) -> Any:
        raise ValueError(f"no {name}")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")

    def __bool__(self) -> bool:
        raise ValueError("neither")

    def __index__(self) -> int:
        raise ValueError("no number")

    def __len__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "Odd()"


#: What an argument may be as well.
HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2**31, 2**63, -(2**63) - 1, 1.5, float("nan"), "", "x", "y\0", "\ud800",
    "n" * 4000, b"x", b"", (), [], [None], [-1], [2**62, 4], ["x"], [[1], [1, 2]], {}, {"x": None},
    {1: 2}, set(), X, X[:0], np.array(3), np.array("text"), np.array([None, {}], object),
    np.zeros((2,) * 20, np.int8), np.float32, np.dtype("M8[s]"), object(), Odd(), int, print, ...,
    1j, range(3), iter([1]), memoryview(b"abcd"), loopc, pathlib.Path("/nowhere"),
)  # fmt: skip
#: A call, its arguments by name, and the things that each call needs anew.
Call = tuple[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]]


def _options() -> Iterator[Call]:
    for name in list(loopc.SessionOptions.__init__.__annotations__):
        if name != "return":
            yield f"SessionOptions({name})", lambda n=name: (
                lambda **v: loopc.InferenceSession(MODEL, loopc.SessionOptions(**v)), {n: None}
            )  # fmt: skip
    session = loopc.InferenceSession(MODEL)
    for name in list(loopc.RunOptions.__init__.__annotations__):
        if name != "return":
            yield f"RunOptions({name})", lambda n=name: (
                lambda **v: session.run(None, FEEDS, loopc.RunOptions(**v)), {n: None}
            )  # fmt: skip
    for kind in (loopc.SessionOptions, loopc.RunOptions):
        for name in [n for n in vars(kind) if isinstance(vars(kind)[n], property)]:
            yield f"{kind.__name__}.{name}", lambda k=kind, n=name: (
                lambda value: setattr(k(), n, value), {"value": None}
            )  # fmt: skip
    made = loopc.SessionOptions
    yield from (
        ("add_free_dimension_override_by_name",
         lambda: (made().add_free_dimension_override_by_name, {"dim_name": "N", "dim_value": 3})),
        ("add_state", lambda: (made().add_state, {"input_name": "x", "output_name": "y"})),
        ("add_session_config_entry",
         lambda: (made().add_session_config_entry, {"key": "loopc.name", "value": "m"})),
        ("add_initializer", lambda: (made().add_initializer, {"name": "w", "ort_value": X})),
        ("add_external_initializers",
         lambda: (made().add_external_initializers, {"names": ["w"], "ort_values": [X]})),
        ("register_custom_ops_library",
         lambda: (made().register_custom_ops_library, {"path": "/nowhere/x.so"})),
    )  # fmt: skip


def _session() -> Iterator[Call]:
    session = loopc.InferenceSession(MODEL)
    make = loopc.InferenceSession
    value = {"path_or_bytes": MODEL, "sess_options": None, "providers": None,
             "provider_options": None, "device": None, "chip": None, "min_kernel_work": None,
             "allow_tf32": False, "device_loops": None, "cublas": None, "device_outputs": False}  # fmt: skip
    yield "InferenceSession", lambda: (make, dict(value))
    run = {"output_names": None, "input_feed": FEEDS, "run_options": None}
    yield "run", lambda: (session.run, dict(run))
    yield "run, x", lambda: (
        lambda x, n: session.run(None, {"x": x, "n": n}), {"x": X, "n": np.array(2)}
    )  # fmt: skip
    for name in ("run_with_ort_values", "run_async", "set_state", "set_providers", "reset_state"):
        method = getattr(session, name, None)
        if method is not None:
            names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
            yield name, lambda m=method, ns=names: (m, dict.fromkeys(ns))
    folder = tempfile.mkdtemp()
    output = pathlib.Path(folder) / "m.o"
    keys = [k for k in loopc.compile.__annotations__ if k not in ("return", "model", "output")]
    known = loopc.compile.__kwdefaults__ or {}
    base = {"model": MODEL, "output": output, **{k: known.get(k) for k in keys if k in known}}
    yield "compile", lambda: (loopc.compile, dict(base))
    yield "load", lambda: (loopc.load, {"path": "/nowhere", "name": None})


def _bindings() -> Iterator[Call]:
    session = loopc.InferenceSession(MODEL)
    value = loopc.OrtValue
    of_numpy = lambda: value.ortvalue_from_numpy(X)  # noqa: E731
    yield "run_with_iobinding", lambda: (
        session.run_with_iobinding, {"iobinding": session.io_binding(), "run_options": None}
    )  # fmt: skip
    for name, given in (
        ("bind_cpu_input", {"name": "x", "arr_on_cpu": X}),
        ("bind_input", {"name": "x", "device_type": "cpu", "device_id": 0, "element_type": np.float32,
                        "shape": [3, 2], "buffer_ptr": X.ctypes.data}),
        ("bind_output", {"name": "y", "device_type": "cpu", "device_id": 0,
                         "element_type": np.float32, "shape": [3, 2]}),
        ("bind_ortvalue_input", {"name": "x", "ortvalue": of_numpy()}),
        ("bind_ortvalue_output", {"name": "y", "ortvalue": of_numpy()}),
    ):  # fmt: skip
        yield name, lambda n=name, g=given: (
            lambda **v: _bound(session, n, v), dict(g)
        )  # fmt: skip
    for name, given in (
        ("ortvalue_from_numpy", {"numpy_obj": X, "device_type": "cpu", "device_id": 0}),
        ("ortvalue_from_shape_and_type", {"shape": [2], "element_type": np.float32,
                                          "device_type": "cpu", "device_id": 0}),
        ("ort_value_from_sparse_tensor", {"sparse_tensor": None}),
        ("from_dlpack", {"data": X}),
    ):  # fmt: skip
        method = getattr(value, name, None)
        if method is not None:
            yield name, lambda m=method, g=given: (m, dict(g))
    yield "update_inplace", lambda: (of_numpy().update_inplace, {"np_arr": X})


def _bound(session: Any, name: str, values: dict[str, Any]) -> None:
    binding = session.io_binding()
    getattr(binding, name)(**values)
    if name.endswith("input") and values.get("buffer_ptr", X.ctypes.data) == X.ctypes.data:
        binding.bind_cpu_input("n", np.array(2))
        binding.bind_output("y")
        # What is at an address that somebody made up is nobody's to tell.
        session.run_with_iobinding(binding)


def _built(network: Any) -> None:
    """Compiles what there is."""
    loopc.InferenceSession(network)


def _network() -> Iterator[Call]:
    def method(called: str, /, **given: Any) -> Call:
        def make() -> tuple[Callable[..., Any], dict[str, Any]]:
            net = trt.create_network("n")
            x = net.add_input("x", np.float32, (2, 3))
            values = {
                k: v(net, x) if isinstance(v, types.FunctionType) else v for k, v in given.items()
            }

            def call(**arguments: Any) -> None:
                layer = getattr(net, called)(**arguments)
                output = layer if isinstance(layer, trt.ITensor) else layer.get_output(0)
                output.name = "y"
                net.mark_output(output)
                _built(net)

            return call, values

        return f"network.{called}", make

    def x(_: Any, tensor: Any) -> Any:
        return tensor

    def ints(*values: int) -> Callable[[Any, Any], Any]:
        return lambda net, _: net.add_constant(
            (len(values),), np.array(values, np.int32)
        ).get_output(0)  # fmt: skip

    yield method("add_input", name="z", dtype=np.float32, shape=(2, -1))
    yield method("add_constant", shape=(2,), weights=np.ones(2, np.float32))
    yield method("add_elementwise", input1=x, input2=x, op=trt.ElementWiseOperation.SUM)
    yield method("add_unary", input=x, op=trt.UnaryOperation.EXP)
    yield method("add_activation", input=x, type=trt.ActivationType.RELU)
    yield method("add_matrix_multiply", input0=x, op0=trt.MatrixOperation.NONE, input1=x,
                 op1=trt.MatrixOperation.TRANSPOSE)  # fmt: skip
    yield method("add_reduce", input=x, op=trt.ReduceOperation.SUM, axes=1, keep_dims=True)
    yield method("add_slice", input=x, start=(0, 0), shape=(1, 1), stride=(1, 1))
    yield method("add_concatenation", inputs=lambda net, t: [t, t])
    yield method("add_gather", input=x, indices=ints(0), axis=0)
    yield method("add_cast", input=x, to_type=np.int32)
    yield method("add_topk", input=x, op=trt.TopKOperation.MAX, k=1, axes=1)
    yield method("add_einsum", inputs=lambda net, t: [t], equation="ij->ji")
    yield method("add_unsqueeze", input=x, axes=ints(0))
    yield method("add_non_zero", input=x, indices_type=np.int32)
    yield method("add_assertion", condition=x, message="m")
    yield method("add_convolution_nd", input=x, num_output_maps=1, kernel_shape=(1, 1),
                 kernel=np.ones((1, 3, 1, 1), np.float32), bias=None)  # fmt: skip
    yield method("add_pooling_nd", input=x, type=trt.PoolingType.MAX, window_size=(1, 1))
    yield method("add_node", op_type="Neg", inputs=lambda net, t: [t])
    yield method("get_layer", index=0)
    yield method("get_input", index=0)
    yield method("mark_output", tensor=x)
    yield "create_network", lambda: (trt.create_network, {"name": "n"})


def _looped() -> tuple[Any, Any, Any, Any, Any]:
    net = trt.create_network("n")
    x = net.add_input("x", np.float32, (2, 3))
    count = net.add_constant((), np.array(3, np.int32)).get_output(0)
    loop = net.add_loop()
    loop.add_trip_limit(count, trt.TripLimit.COUNT)
    carried = loop.add_recurrence(x)
    carried.set_input(
        1, net.add_elementwise(carried.get_output(0), x, trt.ElementWiseOperation.SUM).get_output(0)
    )
    last = loop.add_loop_output(carried.get_output(0), trt.LoopOutput.LAST_VALUE)
    last.get_output(0).name = "y"
    net.mark_output(last.get_output(0))
    return net, x, loop, carried, last


def _layers() -> Iterator[Call]:
    """Loops, conditionals and what layers are set to."""
    for name, given in (
        ("add_trip_limit", {"tensor": "x", "kind": trt.TripLimit.WHILE}),
        ("add_iterator", {"tensor": "x", "axis": 0, "reverse": False}),
        ("add_recurrence", {"initial_value": "x"}),
        ("add_loop_output", {"tensor": "x", "kind": trt.LoopOutput.CONCATENATE, "axis": 0}),
    ):

        def make(name: str = name, given: dict[str, Any] = given) -> Any:
            net, x, loop, _, _ = _looped()
            values = {k: x if isinstance(v, str) else v for k, v in given.items()}

            def call(**arguments: Any) -> None:
                getattr(loop, name)(**arguments)
                _built(net)

            return call, values

        yield f"loop.{name}", make

    def set_input() -> Any:
        net, x, _, carried, _ = _looped()

        def call(index: Any, tensor: Any) -> None:
            carried.set_input(index, tensor)
            _built(net)

        return call, {"index": 1, "tensor": x}

    yield "recurrence.set_input", set_input
    for name in ("name", "dtype", "shape"):
        yield f"tensor.{name}", lambda n=name: (
            lambda value: setattr(_looped()[1], n, value), {"value": None}
        )  # fmt: skip
    yield "tensor.set_dimension_name", lambda: (
        _looped()[1].set_dimension_name, {"index": 0, "name": "N"}
    )  # fmt: skip
    choices: dict[str, Callable[[Any, Any], Any]] = {
        "shuffle": lambda net, x: net.add_shuffle(x),
        "softmax": lambda net, x: net.add_softmax(x),
        "slice": lambda net, x: net.add_slice(x, (0, 0), (1, 1), (1, 1)),
        "reduce": lambda net, x: net.add_reduce(x, trt.ReduceOperation.SUM, 1, True),
        "elementwise": lambda net, x: net.add_elementwise(x, x, trt.ElementWiseOperation.SUM),
        "activation": lambda net, x: net.add_activation(x, trt.ActivationType.RELU),
        "pooling": lambda net, x: net.add_pooling_nd(x, trt.PoolingType.MAX, (1, 1)),
        "constant": lambda net, x: net.add_constant((2,), np.ones(2, np.float32)),
    }
    for kind, build in choices.items():
        sample = build(*(lambda net: (net, net.add_input("x", np.float32, (1, 1, 2, 3))))(
            trt.create_network("n")))  # fmt: skip
        own = [n for c in type(sample).__mro__ for n, v in vars(c).items() if hasattr(v, "__set__")]
        for name in sorted({n for n in own if not n.startswith("_")}):

            def change(build: Any = build, name: str = name) -> Any:
                net = trt.create_network("n")
                layer = build(net, net.add_input("x", np.float32, (1, 1, 2, 3)))

                def call(value: Any) -> None:
                    setattr(layer, name, value)
                    layer.get_output(0).name = "y"
                    net.mark_output(layer.get_output(0))
                    _built(net)

                return call, {"value": None}

            yield f"{kind}.{name}", change


def _engine() -> Any:
    from loopc import tensorrt

    logger = tensorrt.Logger(tensorrt.Logger.ERROR)
    builder = tensorrt.Builder(logger)
    net = builder.create_network()
    x = net.add_input("x", np.float32, (2, 3))
    y = net.add_activation(x, tensorrt.ActivationType.RELU).get_output(0)
    y.name = "y"
    net.mark_output(y)
    plan = builder.build_serialized_network(net, builder.create_builder_config())
    return tensorrt, logger, builder, net, plan


def _tensorrt() -> Iterator[Call]:
    rt, logger, builder, net, plan = _engine()
    engine = rt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context
    yield from (
        ("Logger", lambda: (rt.Logger, {"min_severity": rt.Logger.ERROR})),
        ("Builder", lambda: (rt.Builder, {"logger": logger})),
        ("create_network", lambda: (builder.create_network, {"flags": 0})),
        ("build", lambda: (builder.build_serialized_network,
                           {"network": net, "config": builder.create_builder_config()})),
        ("deserialize", lambda: (rt.Runtime(logger).deserialize_cuda_engine,
                                 {"serialized_engine": plan})),
        ("tensor_name", lambda: (engine.get_tensor_name, {"index": 0})),
        ("engine[]", lambda: (lambda key: engine[key], {"key": 0})),
        ("tensor_mode", lambda: (engine.get_tensor_mode, {"name": "x"})),
        ("tensor_shape", lambda: (engine.get_tensor_shape, {"name": "x"})),
        ("input_shape", lambda: (context().set_input_shape, {"name": "x", "shape": (2, 3)})),
        ("address", lambda: (context().set_tensor_address, {"name": "x", "memory": 0})),
        ("execute_async_v3", lambda: (context().execute_async_v3, {"stream_handle": 0})),
        ("profile", lambda: (builder.create_optimization_profile().set_shape,
                             {"input": "x", "min": (1, 3), "opt": (2, 3), "max": (3, 3)})),
        ("parse", lambda: (rt.OnnxParser(builder.create_network(), logger).parse,
                           {"model": MODEL, "path": None})),
        ("parse_from_file", lambda: (rt.OnnxParser(builder.create_network(), logger).parse_from_file,
                                     {"path": "/nowhere"})),
        ("nptype", lambda: (rt.nptype, {"trt_type": rt.DataType.FLOAT})),
        ("volume", lambda: (rt.volume, {"iterable": (2, 3)})),
    )  # fmt: skip


def _openvino() -> Iterator[Call]:
    from loopc import openvino as ov

    folder = tempfile.mkdtemp()
    path = pathlib.Path(folder) / "m.onnx"
    path.write_bytes(MODEL)
    core = ov.Core()
    compiled = core.compile_model(str(path))
    request = compiled.create_infer_request
    tensor = ov.Tensor(X)
    yield from (
        ("Tensor", lambda: (ov.Tensor, {"array": X, "shared_memory": False})),
        ("read_model", lambda: (core.read_model, {"model": str(path), "weights": None})),
        ("compile_model", lambda: (core.compile_model,
                                   {"model": str(path), "device_name": "CPU", "config": None})),
        ("reshape", lambda: (core.read_model(str(path)).reshape, {"shapes": {"x": [3, 2]}})),
        ("input", lambda: (compiled.input, {"key": 0})),
        ("output", lambda: (compiled.output, {"key": 0})),
        ("call", lambda: (compiled, {"inputs": {"x": X, "n": np.array(2)}})),
        ("call, x", lambda: (lambda x: compiled({"x": x, "n": np.array(2)}), {"x": X})),
        ("results[]", lambda: (lambda key: compiled(FEEDS)[key], {"key": 0})),
        ("set_tensor", lambda: (request().set_tensor, {"name": "x", "tensor": tensor})),
        ("set_input_tensor", lambda: (request().set_input_tensor, {"index": 0, "tensor": tensor})),
        ("get_tensor", lambda: (request().get_tensor, {"name": "x"})),
        ("get_output_tensor", lambda: (request().get_output_tensor, {"index": 0})),
        ("infer", lambda: (request().infer, {"inputs": FEEDS, "share_inputs": False})),
        ("wait_for", lambda: (request().wait_for, {"timeout": 0})),
        ("set_callback", lambda: (request().set_callback, {"callback": print, "userdata": None})),
        ("AsyncInferQueue", lambda: (ov.AsyncInferQueue, {"model": compiled, "jobs": 1})),
    )  # fmt: skip


GROUPS: dict[str, Callable[[], Iterator[Call]]] = {
    "options": _options, "session": _session, "bindings": _bindings, "network": _network,
    "layers": _layers, "tensorrt": _tensorrt, "openvino": _openvino,
}  # fmt: skip
#: Errors of Python that say what is wrong by themselves, of calls and names that Python looks up.
_PYTHONS = re.compile(
    r"unexpected keyword|missing \d+ required|positional argument|has no setter|no setter"
    r"|can't set attribute|not enough values|is not a valid"
)


def judge(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Empty, or what is wrong with how it ended."""
    try:
        function(**arguments)
    except loopc.Error as error:
        said = str(error)
        if not said.strip():
            return "it says nothing"
        if re.search(r"nanobind|incompatible function arguments|Traceback|std::", said):
            return said
        return ""
    except (TypeError, AttributeError, ValueError) as error:
        expected = str(error) in Odd.SAID or _PYTHONS.search(str(error))
        return "" if expected else f"{type(error).__name__}: {error}"
    except (KeyError, FileNotFoundError) as error:
        # Of a mapping, and of a file; both say what there is, and what is not.
        expected = re.search("the model has no|expected a|cannot read", str(error))
        return "" if expected else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Makes the calls of a group."""
    import warnings

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("group", choices=sorted(GROUPS))
    group = parser.parse_args().group
    warnings.simplefilter("ignore")
    # A path that is asked for is written to.
    os.chdir(tempfile.mkdtemp())
    bad = count = 0
    for name, make in GROUPS[group]():
        arguments = list(make()[1])
        for argument, hostile in itertools.product(arguments, HOSTILE):
            what = f"{name}({argument}={hostile!r:.60})"
            print(what, flush=True)
            function, values = make()
            problem = judge(function, values | {argument: hostile})
            count += 1
            if problem:
                bad += 1
                print(f"BAD {what}: {problem}", flush=True)
    print(f"{count} calls, {bad} bad")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
