# ===- _reference_collections.py - Sequences and optionals ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Section 5 of docs/Spec.md, where onnx.reference differs from it.

The library takes the length of a sequence for position 0, forgets the outputs
of a SequenceMap over nothing, and wraps what an Optional holds in a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from loopc._reference_base import ControlOp, Op, ReferenceError_, Scope, Value, kind, one, stack


def _index(position: Value, size: int, extra: int, what: str) -> int:
    """seq_index: negative positions count from the end, the rest is an error."""
    at: int = one(position, f"{what}: position")
    if not -size <= at < size + extra:
        raise ReferenceError_(f"{what}: position {at} is out of range for a sequence of {size}")
    return at + size if at < 0 else at


class SequenceEmpty(Op):
    def _run(self, **_: Any) -> tuple[Value]:
        return ([],)


class SequenceConstruct(Op):
    def _run(self, *elements: Value) -> tuple[Value]:
        if len({e.dtype for e in elements}) > 1:
            raise ReferenceError_(f"{self._where}: elements differ in type")
        return (list(elements),)


class SequenceLength(Op):
    def _run(self, sequence: list[Value]) -> tuple[Value]:
        return (np.array(len(sequence), np.int64),)


class SequenceAt(Op):
    def _run(self, sequence: list[Value], position: Value) -> tuple[Value]:
        return (sequence[_index(position, len(sequence), 0, self._where)],)


class SequenceInsert(Op):
    def _run(
        self, sequence: list[Value], element: np.ndarray, position: Value = None
    ) -> tuple[Value]:
        if sequence and sequence[0].dtype != element.dtype:
            raise ReferenceError_(
                f"{self._where}: element is {kind(element)}, others {kind(sequence[0])}"
            )
        at = len(sequence)
        if position is not None:
            at = _index(position, len(sequence), 1, self._where)
        return ([*sequence[:at], element, *sequence[at:]],)  # seq_value: a new list


class SequenceErase(Op):
    def _run(self, sequence: list[Value], position: Value = None) -> tuple[Value]:
        last = np.array(-1, np.int64)
        at = _index(last if position is None else position, len(sequence), 0, self._where)
        return ([*sequence[:at], *sequence[at + 1 :]],)


class SplitToSequence(Op):
    def _run(
        self, data: np.ndarray, split: Value = None, axis: int = 0, keepdims: int = 1
    ) -> tuple[Value]:
        if not -data.ndim <= axis < data.ndim:
            raise ReferenceError_(
                f"{self._where}: axis {axis} is out of range for rank {data.ndim}"
            )
        extent = data.shape[axis]
        if split is None:
            slices = np.split(data, extent, axis) if extent else []
            return ([s if keepdims else np.squeeze(s, axis) for s in slices],)
        sizes = np.asarray(split).tolist()
        if not isinstance(sizes, list):  # Equal parts; the last may be smaller.
            if sizes <= 0:
                raise ReferenceError_(f"{self._where}: split is {sizes}")
            sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)]
        if sum(sizes) != extent or any(size < 0 for size in sizes):
            raise ReferenceError_(f"{self._where}: split {sizes} does not add up to {extent}")
        return (np.split(data, np.cumsum(sizes)[:-1], axis) if sizes else [],)


class ConcatFromSequence(Op):
    def _run(self, sequence: list[Value], axis: int, new_axis: int = 0) -> tuple[Value]:
        if not sequence:
            raise ReferenceError_(f"{self._where}: the sequence is empty")
        if new_axis:
            return (stack(sequence, self._where, axis),)
        return (np.concatenate(sequence, axis),)


class SequenceMap(ControlOp):
    def _run(
        self, *inputs: Value, context: Scope, attributes: Any = None, **_: Any
    ) -> tuple[Value, ...]:
        sequences = [v for v in inputs if isinstance(v, list)]
        if any(len(s) != len(sequences[0]) for s in sequences):
            raise ReferenceError_(f"{self._where}: sequences differ in length")
        rows = []
        for at in range(len(sequences[0])):
            elements = [v[at] if isinstance(v, list) else v for v in inputs]
            feeds = dict(zip(self.body.input_names, elements, strict=True))
            rows.append(self.body.run(None, feeds, attributes=attributes, outer=context))
        return tuple([row[k] for row in rows] for k in range(len(self.body.output_names)))


class Optional(Op):
    def _run(self, value: Value = None, **_: Any) -> tuple[Value]:
        return (value,)


class OptionalHasElement(Op):
    def _run(self, value: Value = None) -> tuple[Value]:
        return (np.array(value is not None),)  # opt_run


class OptionalGetElement(Op):
    def _run(self, value: Value) -> tuple[Value]:
        if value is None:
            raise ReferenceError_(f"{self._where}: the optional is empty")
        return (value,)


class Identity(Op):
    def _run(self, value: Value) -> tuple[Value]:
        return (value,)  # Values are immutable: no copy is needed.


COLLECTION_OPERATORS = (
    ConcatFromSequence,
    Identity,
    Optional,
    OptionalGetElement,
    OptionalHasElement,
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SequenceMap,
    SplitToSequence,
)
