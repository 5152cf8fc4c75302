# ===- random_open_models.py - Large random models of any extent ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models of random_models.py, with many sets of inputs and declared shapes.

`open_model(seed)` is the same model for the same seed: layers, images, attention, texts and
values that may be missing, in loops, scans and branches within each other, as random_models.py
makes them. Some of their extents are open when they are made, so that inputs of any shape fit;
others are those that its nodes are made for, and are something else in some sets. Nodes of
random_program_steps.py are among them, which fail for some values: what fails does so in
iterations that happen and in ones that do not, since sets have trip counts of zero.

Sets and forms are those of random_inputs.py.
"""

from __future__ import annotations

from typing import Any

from onnx import helper
from random_checks import graphs
from random_inputs import Given, RandomProgram, input_sets
from random_models import OPSETS, Generator
from random_operators import BOOL, F16, F32, F64, I32, I64, Block, Dim, Step, Value
from random_program_steps import PROGRAM_STEPS, Steps

#: How many sets of inputs a model has.
SETS = 8
#: The nodes of random_program_steps.py are of this operator set and later ones.
OPEN_OPSETS = [opset for opset in OPSETS if opset >= 13]
#: What runs know the extent of.
OPEN = ("A", "B")


def open_model(seed: int, sets: int = SETS) -> RandomProgram:
    """The model of that number."""
    return _OpenGenerator(seed).program(sets)


class _OpenGenerator(Generator, Steps):
    """Makes one model."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.opset = self.random.choices(OPEN_OPSETS, (6, 1, 1))[0]
        self.dynamic = True
        self.risk = self.random.choice((0.0, 0.03, 0.1))

    def program(self, sets: int) -> RandomProgram:
        """The model with its inputs."""
        model = self.model()
        givens = tuple(self.given_as(value) for value in self.inputs)
        kinds = frozenset(
            node.op_type for graph in graphs(model.proto.graph) for node in graph.node
        )
        return RandomProgram(
            self.seed, model.proto, givens, self.types, kinds,
            input_sets(givens, model.proto, self.random, sets),
        )  # fmt: skip

    @staticmethod
    def given_as(value: Value) -> Given:
        """An input, with the extents that its sets have."""
        dims = (dim if isinstance(dim, str) else f"D{dim}" for dim in value.shape)
        return Given(value.name, value.elem, tuple(dims))

    # -- Nodes ----------------------------------------------------------------------

    def steps(self) -> dict[Step, int]:
        made = super().steps()
        return {step: 2 * weight for step, weight in made.items()} | PROGRAM_STEPS

    def filled(self, value: Value) -> bool:
        return all(not isinstance(dim, int) or dim > 0 for dim in value.shape)

    def certain(self, dim: Dim) -> bool:
        return isinstance(dim, int) and self.risk == 0

    def index(self, block: Block, extent: int) -> Value:
        """An index that may be out of range, where the model takes risks."""
        if self.chance(self.risk):
            data = self.pick(block, lambda v: v.elem == I64 and not v.shape)
            if data is not None:
                return data
        return super().index(block, extent)

    def guarded(self, block: Block, kind: str, value: Value, by: Value) -> Value | None:
        zero = self.const(block, 0, by.elem)
        fails = self.op(block, "Equal", [by, zero], BOOL, ())
        graphs = []
        for safe in (True, False):
            inner = block.inner()
            made = (
                self.identity(inner, value) if safe
                else self.op(inner, kind, [value, by], value.elem, value.shape)
            )  # fmt: skip
            graphs.append(self.graph(inner, [], [made]))
        branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
        return self.node(block, "If", [fails], [value], **branches)[0]

    def trips(self, block: Block) -> tuple[Value, int | None]:
        """A trip count: what an input says is another number in each set."""
        count, known = super().trips(block)
        return count, None if count in self.inputs else known

    # -- Inputs ---------------------------------------------------------------------

    def given(self) -> list[Value]:
        """The inputs that the model begins with."""
        made = []
        for _ in range(self.random.randrange(2, 5)):
            rank = self.random.choice((0, 1, 2, 2, 3))
            elem = self.random.choices((F32, F64, F16, I32, I64, BOOL), (12, 1, 1, 1, 2, 1))[0]
            made.append(self.value("x", elem, [self.dim() for _ in range(rank)]))
        if all(value.elem != F32 for value in made):
            made.append(self.value("x", F32, [self.dim()]))
        made += [self.value("n", I64) for _ in range(self.random.randrange(1, 3))]
        self.inputs += made
        return made

    def dim(self) -> Dim:
        """An extent of an input."""
        return self.random.choice(OPEN) if self.chance(0.5) else self.random.choice(self.extents)

    def input_info(self, value: Value) -> Any:
        """An input's type, as form "open" has it."""
        shape = [dim if isinstance(dim, str) else f"D{dim}" for dim in value.shape]
        return helper.make_tensor_value_info(value.name, value.elem, shape)
