# ===- network_sources.py - Networks as programs of C and C++ --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes the calls that built a network in Python as C and as C++.

`recorded()` keeps the calls of all networks that are created in it. In C each is the same call of
loopc-c/network.h; in C++ a layer is added by the function of its kind, and its other values are
set by its class. A program of several networks is one translation unit, which prints a line for
each output of each run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy.typing as npt
from loopc import _loopc
from loopc import network as trt

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "utils"))

import network_table

Array = npt.NDArray[Any]
#: Calls that only ask.
ASKS = ("text", "num_layers", "tensor_", "inputs", "outputs", "layer_", "get_", "loop_name",
        "conditional_name")  # fmt: skip
#: How C++ adds a layer: its inputs by number (`*`: all) and its values by name.
ADDS: dict[str, tuple[str, str]] = {
    "ElementWise": ("addElementWise", "0 1 operation"),
    "Unary": ("addUnary", "0 operation"),
    "Activation": ("addActivation", "0 type"),
    "MatrixMultiply": ("addMatrixMultiply", "0 op0 1 op1"),
    "Convolution": ("addConvolutionNd", "0 nb_output_maps kernel_size kernel bias"),
    "Deconvolution": ("addDeconvolutionNd", "0 nb_output_maps kernel_size kernel bias"),
    "Pooling": ("addPoolingNd", "0 type window_size"),
    "Reduce": ("addReduce", "0 operation axes keep_dimensions"),
    "Shuffle": ("addShuffle", "0"),
    "Slice": ("addSlice", "0 start size stride"),
    "Concatenation": ("addConcatenation", "*"),
    "Gather": ("addGather", "0 1 axis"),
    "Select": ("addSelect", "0 1 2"),
    "Shape": ("addShape", "0"),
    "Identity": ("addIdentity", "0"),
    "Cast": ("addCast", "0 to_type"),
    "SoftMax": ("addSoftMax", "0"),
    "TopK": ("addTopK", "0 operation k axes indices_type"),
    "Fill": ("addFill", "dimensions operation to_type"),
    "Scatter": ("addScatter", "0 1 2 mode"),
    "Normalization": ("addNormalization", "0 1 2 axes"),
    "Einsum": ("addEinsum", "* equation"),
    "OneHot": ("addOneHot", "0 1 2 axis"),
    "NonZero": ("addNonZero", "0 indices_type"),
    "ParametricReLU": ("addParametricReLU", "0 1"),
    "Squeeze": ("addSqueeze", "0 1"),
    "Unsqueeze": ("addUnsqueeze", "0 1"),
    "Cumulative": ("addCumulative", "0 1 operation exclusive reverse"),
    "ReverseSequence": ("addReverseSequence", "0 1"),
    "LRN": ("addLRN", "0 window_size alpha beta k"),
    "GridSample": ("addGridSample", "0 1"),
    "NMS": ("addNMS", "0 1 2"),
    "Scale": ("addScaleNd", "0 mode shift scale power channel_axis"),
    "Padding": ("addPaddingNd", "0 pre_padding post_padding"),
    "Resize": ("addResize", "0"),
    "Quantize": ("addQuantize", "0 1 to_type"),
    "Dequantize": ("addDequantize", "0 1 to_type"),
    "RaggedSoftMax": ("addRaggedSoftMax", "0 1"),
    "Assertion": ("addAssertion", "0 message"),
    "TripLimit": ("addTripLimit", "0 limit"),
    "Iterator": ("addIterator", "0 axis reverse"),
    "Recurrence": ("addRecurrence", "0"),
    "LoopOutput": ("addLoopOutput", "0 output axis"),
    "Condition": ("setCondition", "0"),
    "ConditionalInput": ("addInput", "0"),
    "ConditionalOutput": ("addOutput", "0 1"),
}
CONDITIONAL = ("Condition", "ConditionalInput", "ConditionalOutput")


class Recorder:
    """A network that keeps what is done to it."""

    def __init__(self, raw: _loopc.Network) -> None:
        self.raw = raw
        #: Name, arguments and result of each call that changed the network.
        self.calls: list[tuple[str, tuple[Any, ...], Any]] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.raw, name)
        if name.startswith(ASKS):
            return function

        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            self.calls.append((name, arguments, result))
            return result

        return call


@contextlib.contextmanager
def recorded() -> Iterator[dict[int, Recorder]]:
    """The recorders of the networks that are created, by `id()` of the network."""
    found: dict[int, Recorder] = {}
    create = trt.INetworkDefinition.__init__

    def init(self: trt.INetworkDefinition, name: str = "") -> None:
        create(self, name)
        found[id(self)] = self._raw = Recorder(self._raw)  # type: ignore[assignment]

    trt.INetworkDefinition.__init__ = init  # type: ignore[method-assign]
    try:
        yield found
    finally:
        trt.INetworkDefinition.__init__ = create  # type: ignore[method-assign]


@dataclasses.dataclass
class Network:
    """A network, and what it is run with."""

    seed: int
    level: int
    recorder: Recorder
    sets: Sequence[Mapping[str, Array]]


def quoted(text: str) -> str:
    """A literal; json's escapes are C's, as all is ASCII."""
    return json.dumps(text)


def number_of(array: Array) -> tuple[int, bytes]:
    """The data type's number, and the bytes."""
    from loopc._network_types import packed

    dtype, data = packed(array)
    return int(dtype), data


class Writer:
    """What programs of both languages have: arrays of bytes, and lines."""

    def __init__(self) -> None:
        self.globals: list[str] = []
        self.lines: list[str] = []
        self._known: dict[bytes, str] = {}

    def bytes(self, data: bytes) -> str:
        """An array with these bytes."""
        if data not in self._known:
            name = self._known[data] = f"bytes{len(self._known)}"
            each = ", ".join(str(one) for one in data) or "0"
            self.globals.append(f"{self.ALIGNED} static unsigned char {name}[] = {{{each}}};")
        return self._known[data]

    ALIGNED = "_Alignas(64)"

    def say(self, line: str) -> None:
        self.lines.append(f"  {line}")


# ===- C -----------------------------------------------------------------------===#


class WriterC(Writer):
    """The same calls of the C API."""

    def ints(self, kind: str, values: Sequence[int]) -> str:
        return f"({kind}[]){{{', '.join(map(str, values))}}}" if values else "NULL"

    def network(self, made: Network) -> None:
        """A function that builds the network and runs it."""
        self.lines.append(f"static void network{made.seed}(void) {{")
        self.say(f'loopc_network *n = loopc_network_create("c_{made.seed}");')
        for name, arguments, result in made.recorder.calls:
            getattr(self, f"_{name}", self._value)(made.recorder.raw, name, arguments, result)
        self.say(f"begin(n, {made.seed}, {made.level});")
        for k, feeds in enumerate(made.sets):
            self.say(f"first({k});")
            for name, array in feeds.items():
                dtype, data = number_of(array)
                shape = self.ints("int64_t", array.shape)
                self.say(f"feed({quoted(name)}, {dtype}, {shape}, {array.ndim}, "
                         f"{self.bytes(data)});")  # fmt: skip
            self.say("run();")
        self.say("end(n);")
        self.lines.append("}\n")

    def _outputs(self, raw: Any, layer: int) -> None:
        for k, tensor in enumerate(raw.layer_outputs(layer)):
            self.say(f"int32_t t{tensor} = loopc_network_layer_output(n, l{layer}, {k});")
            self.say(f"(void)t{tensor};")

    def _add_input(self, raw: Any, _: str, given: tuple[Any, ...], result: int) -> None:
        name, dtype, extents, rank = given
        self.say(f"int32_t t{result} = loopc_network_add_input(n, {quoted(name)}, {int(dtype)}, "
                 f"{self.ints('int64_t', extents)}, {rank});")  # fmt: skip

    def _add_constant(self, raw: Any, _: str, given: tuple[Any, ...], result: int) -> None:
        dtype, extents, data = given
        self.say(f"int32_t l{result} = loopc_network_add_constant(n, {int(dtype)}, "
                 f"{self.ints('int64_t', extents)}, {len(extents)}, {self.bytes(data)}, "
                 f"{len(data)});")  # fmt: skip
        self._outputs(raw, result)

    def _add_layer(self, raw: Any, _: str, given: tuple[Any, ...], result: int) -> None:
        kind, inputs, scope, outputs = given
        names = [f"t{one}" if one >= 0 else "-1" for one in inputs]
        array = f"(int32_t[]){{{', '.join(names)}}}" if names else "NULL"
        place = "-1" if scope < 0 else f"{'c' if kind in CONDITIONAL else 'o'}{scope}"
        self.say(f"int32_t l{result} = loopc_network_add_layer(n, {quoted(kind)}, {array}, "
                 f"{len(names)}, {place}, {outputs});")  # fmt: skip
        self.say(f"(void)l{result};")
        self._outputs(raw, result)

    def _add_loop(self, raw: Any, _: str, given: tuple[Any, ...], result: int) -> None:
        self.say(f"int32_t o{result} = loopc_network_add_loop(n);")

    def _add_conditional(self, raw: Any, _: str, given: tuple[Any, ...], result: int) -> None:
        self.say(f"int32_t c{result} = loopc_network_add_conditional(n);")

    def _set_dimension_name(self, raw: Any, _: str, given: tuple[Any, ...], result: Any) -> None:
        tensor, index, name = given
        self.say(f"loopc_network_set_dimension_name(n, t{tensor}, {index}, {quoted(name)});")

    def _mark_output(self, raw: Any, _: str, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"loopc_network_mark_output(n, t{given[0]}, {int(given[1])});")

    def _set_tensor_name(self, raw: Any, _: str, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"loopc_network_set_tensor_name(n, t{given[0]}, {quoted(given[1])});")

    def _set_input(self, raw: Any, _: str, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"loopc_network_set_input(n, l{given[0]}, {given[1]}, t{given[2]});")

    def _set_weights(self, raw: Any, _: str, given: tuple[Any, ...], result: Any) -> None:
        layer, name, dtype, extents, data = given
        self.say(f"loopc_network_set_weights(n, l{layer}, {quoted(name)}, {int(dtype)}, "
                 f"{self.ints('int64_t', extents)}, {len(extents)}, {self.bytes(data)}, "
                 f"{len(data)});")  # fmt: skip

    def _value(self, raw: Any, call: str, given: tuple[Any, ...], result: Any) -> None:
        layer, name, value = given
        text = {
            "set_int": lambda: f"{int(value)}",
            "set_float": lambda: real(value),
            "set_string": lambda: quoted(value),
            "set_ints": lambda: f"{self.ints('int64_t', value)}, {len(value)}",
        }[call]()
        self.say(f"loopc_network_{call}(n, l{layer}, {quoted(name)}, {text});")


def real(value: float) -> str:
    """A literal of a double, all bits of it."""
    if math.isfinite(value):
        return float(value).hex()
    return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"


# ===- C++ ---------------------------------------------------------------------===#


@functools.cache
def kinds() -> dict[str, network_table.Layer]:
    """The rows of Layers.def."""
    return {layer.name: layer for layer in network_table.layers()}


@functools.cache
def enumerators() -> dict[str, dict[int, str]]:
    """Names of the values of C++'s enumerations."""
    found = {one.name: {n: name for name, n, _ in one.enumerators} for one in network_table.enums()}
    found["DataType"] = {one.number: one.name for one in network_table.data_types()}
    return found


class WriterCxx(Writer):
    """Functions of the network's and the layers' classes."""

    ALIGNED = "alignas(64)"

    def network(self, made: Network) -> None:
        """A function that builds the network and runs it."""
        self.raw = made.recorder.raw
        self.kinds: dict[int, str] = {}
        self.lines.append(f"static void network{made.seed}() {{")
        self.say(f'auto made = create("cxx_{made.seed}");')
        self.say("INetworkDefinition &n = *made;")
        calls = made.recorder.calls
        done = 0
        for at, (name, arguments, result) in enumerate(calls):
            if at < done:
                continue
            if name == "add_layer":
                done = at + 1
                while done < len(calls) and self._is_value(calls[done], result):
                    done += 1
                given = {call[1][1]: (call[0], call[1]) for call in calls[at + 1 : done]}
                self._add(arguments, result, given)
            elif name.startswith("set_") and name not in SETS:
                self._set(arguments[0], arguments[1], (name, arguments))
            else:
                getattr(self, f"_{name}")(arguments, result)
        self.say(f"Engine engine(n, {made.seed}, {made.level});")
        for k, feeds in enumerate(made.sets):
            each = []
            for name, array in feeds.items():
                data = self.bytes(number_of(array)[1])
                each.append(f"{{{quoted(name)}, {self.dims(array.shape)}, {data}}}")
            self.say(f"engine.run({k}, {{{', '.join(each)}}});")
        self.lines.append("}\n")

    @staticmethod
    def _is_value(call: tuple[str, tuple[Any, ...], Any], layer: int) -> bool:
        return call[0].startswith("set_") and call[0] not in SETS and call[1][0] == layer

    def dims(self, extents: Sequence[int]) -> str:
        return f"Dims({len(extents)}, {{{', '.join(map(str, extents))}}})"

    def literal(self, kind: str, given: tuple[str, tuple[Any, ...]]) -> str:
        """What was given to a call, as C++ takes it."""
        call, arguments = given
        value = arguments[2]
        if call == "set_weights":
            _, _, dtype, extents, data = arguments
            return (f"Weights{{DataType::k{enumerators()['DataType'][int(dtype)]}, "
                    f"{self.bytes(data)}, {math.prod(extents)}}}")  # fmt: skip
        if kind in enumerators():
            return f"{kind}::k{enumerators()[kind][int(value)]}"
        if kind == "Dims":
            return self.dims(value)
        if kind == "Permutation":
            return f"Permutation{{{{{', '.join(map(str, value))}}}}}"
        if kind == "bool":
            return "true" if value else "false"
        if kind == "std::string_view":
            return quoted(value)
        return f"static_cast<{kind}>({real(value) if kind in ('float', 'double') else int(value)})"

    def _absent(self, value: network_table.Value) -> str:
        """The value that a function is given where Python gave none."""
        return value.initial if value.initial != "none" else f"{value.kind}{{}}"

    def _add(self, arguments: tuple[Any, ...], layer: int, given: dict[str, Any]) -> None:
        kind, inputs, scope, _ = arguments
        self.kinds[layer] = kind
        function, parameters = ADDS[kind]
        values = {value.name: value for value in kinds()[kind].values}
        place = "n." if scope < 0 else f"{'c' if kind in CONDITIONAL else 'o'}{scope}->"
        passed, taken, used = [], set(), 0
        for one in parameters.split():
            if one == "*":
                used = len(inputs)
                self.say(f"ITensor *all{layer}[] = {{{', '.join(f't{k}' for k in inputs)}}};")
                passed.append(f"all{layer}, {used}")
            elif one.isdigit():
                used = int(one) + 1
                passed.append(f"*t{inputs[int(one)]}")
            else:
                taken.add(one)
                known = one in given
                passed.append(self.literal(values[one].kind, given[one]) if known
                              else self._absent(values[one]))  # fmt: skip
        self.say(f"auto *l{layer} = {place}{function}({', '.join(passed)});")
        self.say(f"(void)l{layer};")
        for k in range(used, len(inputs)):
            if inputs[k] >= 0:
                self._set_input((layer, k, inputs[k]), None)
        for name, one in given.items():
            if name not in taken:
                self._set(layer, name, one)
        self._outputs(layer)

    def _set(self, layer: int, name: str, given: tuple[str, tuple[Any, ...]]) -> None:
        (value,) = [one for one in kinds()[self.kinds[layer]].values if one.name == name]
        if value.access:
            self.say(f"l{layer}->set{value.access}({self.literal(value.kind, given)});")
        elif name == "scales":
            data = self.bytes(given[1][4])
            count = math.prod(given[1][3])
            self.say(f"l{layer}->setScales(reinterpret_cast<const float *>({data}), {count});")
        else:
            raise NotImplementedError(f"{self.kinds[layer]}: {name}")

    def _outputs(self, layer: int) -> None:
        for k, tensor in enumerate(self.raw.layer_outputs(layer)):
            self.say(f"ITensor *t{tensor} = l{layer}->getOutput({k});")
            self.say(f"(void)t{tensor};")

    def _add_input(self, given: tuple[Any, ...], result: int) -> None:
        name, dtype, extents, rank = given
        dims = self.dims(extents) if rank >= 0 else "Dims(-1, {})"
        kind = enumerators()["DataType"][int(dtype)]
        self.say(f"ITensor *t{result} = n.addInput({quoted(name)}, DataType::k{kind}, {dims});")

    def _add_constant(self, given: tuple[Any, ...], result: int) -> None:
        dtype, extents, data = given
        kind = enumerators()["DataType"][int(dtype)]
        self.kinds[result] = "Constant"
        self.say(f"auto *l{result} = n.addConstant({self.dims(extents)}, Weights{{DataType::"
                 f"k{kind}, {self.bytes(data)}, {math.prod(extents)}}});")  # fmt: skip
        self._outputs(result)

    def _add_loop(self, given: tuple[Any, ...], result: int) -> None:
        self.say(f"ILoop *o{result} = n.addLoop();")

    def _add_conditional(self, given: tuple[Any, ...], result: int) -> None:
        self.say(f"IIfConditional *c{result} = n.addIfConditional();")

    def _set_dimension_name(self, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"t{given[0]}->setDimensionName({given[1]}, {quoted(given[2])});")

    def _mark_output(self, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"n.{'mark' if given[1] else 'unmark'}Output(*t{given[0]});")

    def _set_tensor_name(self, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"t{given[0]}->setName({quoted(given[1])});")

    def _set_input(self, given: tuple[Any, ...], result: Any) -> None:
        self.say(f"l{given[0]}->setInput({given[1]}, *t{given[2]});")


#: Calls that set no value of a layer.
SETS = ("set_input", "set_dimension_name", "set_tensor_name")
