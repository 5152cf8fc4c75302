# ===- random_programs.py - Small random programs of any extent ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Small programs of loops from a seed, each with many sets of inputs and declared shapes.

`random_program(seed)` is the same program for the same seed. random_models.py makes large models
whose nodes cannot fail, with one set of inputs. These here are small, no extent is known when
they are made, and what they are about is what only some inputs show: carried values that grow,
shrink, are replaced, rotate, or gain an axis, and of which maybe nothing but the size is read;
nodes that fail (division by zero, an index out of range, shapes that do not fit) in iterations
that happen and in ones that do not; extents that are 0, 1, or a constant of the program;
operands that broadcast either way.

random_program_steps.py makes the nodes that are not control flow, random_control.py what is,
random_algorithms.py loops that people write, and random_inputs.py the inputs and the forms in
which a program declares them.
"""

from __future__ import annotations

import onnx
from onnx import helper
from random_algorithms import ALGORITHMS, Algorithms
from random_control import PROGRAM_OPSETS
from random_inputs import Given, RandomProgram, input_sets
from random_operators import BOOL, F32, I32, I64, Block, Dim, Value
from random_program_steps import UNRANKED

#: How many sets of inputs a program has.
SETS = 10


def random_program(seed: int, sets: int = SETS) -> RandomProgram:
    """The program of that number."""
    return _Programs(seed).program(sets)


class _Programs(Algorithms):
    """Makes one program."""

    def program(self, sets: int) -> RandomProgram:
        """Inputs, an algorithm or some loops, and what else there is around them."""
        block = Block()
        self.begin(block)
        only = self.random.random()
        if only < 0.6:
            made = self.random.choices(list(ALGORITHMS), list(ALGORITHMS.values()))[0]
            self.kinds.add(made.__name__)
            made(self, block)
            if only < 0.3:
                self.fill(block, self.random.choice((0, 0, 1, 2)))
        else:
            self.fill(block, self.random.choice((0, 0, 1)))
            self.offer(block, self.loop(block))
            if self.chance(0.3):
                self.offer(block, self.random.choice((self.loop, self.scan, self.sequence))(block))
            self.fill(block, self.random.choice((0, 0, 1)))
        proto = self.model(block)
        givens = tuple(self.givens)
        return RandomProgram(
            self.seed, proto, givens, self.types, frozenset(self.kinds),
            input_sets(givens, proto, self.random, sets),
        )  # fmt: skip

    def begin(self, block: Block) -> None:
        """The inputs: vectors, numbers and a condition."""
        elem = self.random.choices((I64, F32, I32), (5, 3, 1))[0]
        self.start(block, "x", elem, ("A",))
        if self.chance(0.4):
            self.start(block, "y", self.random.choice((elem, I64)), (self.random.choice("AB"),))
        if self.chance(0.2):
            self.start(block, "m", self.random.choice((elem, F32)), ("A", "B"))
        self.start(block, "n", I64)
        if self.chance(0.7):
            self.start(block, "k", self.random.choice((I64, I64, elem)))
        if self.chance(0.5):
            self.start(block, "go", BOOL)

    def start(self, block: Block, name: str, elem: int, dims: tuple[str, ...] = ()) -> None:
        """One input, under a name that steps look for."""
        self.types[name] = elem
        self.givens.append(Given(name, elem, dims))
        block.values.append(Value(name, elem, dims))

    def model(self, block: Block) -> onnx.ModelProto:
        """The model of what was made, with the last values as outputs."""
        names = {given.name for given in self.givens}
        outputs = [v for v in block.values if v.name not in names and not v.sequence][-6:]
        if not outputs:
            outputs = [self.like(block, "Identity", block.values[0])]
        unique = list({value.name: value for value in outputs}.values())
        graph = helper.make_graph(
            block.nodes,
            "program",
            [helper.make_tensor_value_info(g.name, g.elem, _declared(g)) for g in self.givens],
            [self.output(value) for value in unique],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid("local", 1)] if self.functions else []
        return helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=PROGRAM_OPSETS[self.opset],
            functions=self.functions,
        )

    def output(self, value: Value) -> onnx.ValueInfoProto:
        """An output's type: no extents, and not always a rank."""
        unknown = value.shape == UNRANKED or (value.shape and self.chance(0.1))
        shape = None if unknown else [self.fresh("o") for _ in value.shape]
        return helper.make_tensor_value_info(value.name, value.elem, shape)


def _declared(given: Given) -> list[Dim]:
    """Extents that are certain, or a name."""
    return [
        int(dim) if dim.isdigit() else dim.replace("?", "").replace(".", "_") for dim in given.dims
    ]
