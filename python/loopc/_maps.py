# ===- _maps.py - Maps at the border of a model -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Dicts for the inputs and outputs of a model that ONNX calls maps.

The compiled model has two tensors for a map, its keys and its values.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loopc import _loopc
from loopc._errors import InvalidArgument

#: (name, type, shape) of a port.
Port = tuple[str, str, list[int | str | None] | None]

_DTYPES = {"int64": np.int64, "float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class _Map:
    name: str
    is_sequence: bool
    keys: str
    values: str
    key_type: str  #: "int64" or "string"
    value_type: str  #: "float", "double", "int64" or "string"

    @property
    def port(self) -> Port:
        kind = f"map({self.key_type},tensor({self.value_type}))"
        return self.name, f"seq({kind})" if self.is_sequence else kind, []

    def tensors(self, given: Any) -> dict[str, Any]:
        """The keys and the values of a dict."""
        where = f"input '{self.name}'"
        if not isinstance(given, Mapping):
            raise InvalidArgument(f"{where}: expected a dict for a map, got {type(given).__name__}")
        return {
            self.keys: _array(given.keys(), self.key_type, f"{where}: a key"),
            self.values: _array(given.values(), self.value_type, f"{where}: a value"),
        }

    def dicts(self, keys: Any, values: Any) -> Any:
        """A dict by ascending keys, or a list of one for each row of the values."""
        names = keys.tolist()
        order = sorted(range(len(names)), key=names.__getitem__)
        names = [names[k] for k in order]
        if self.is_sequence and self.value_type != "string":
            return _loopc.make_dicts(names, order, np.ascontiguousarray(values))
        rows = values[..., order].tolist()
        if self.is_sequence:
            return [dict(zip(names, row, strict=True)) for row in rows]
        return dict(zip(names, rows, strict=True))


def _array(values: Iterable[Any], kind: str, where: str) -> Any:
    """A row of the elements; nothing is rounded."""
    items = list(values)
    if kind == "string":
        for item in items:
            if not isinstance(item, (str, bytes)):
                raise InvalidArgument(f"{where} is {item!r}, expected str")
        return np.array(items, object)
    wanted = np.dtype(_DTYPES[kind])
    for item in items:
        given = np.asarray(item)
        if (
            given.ndim
            or given.dtype.kind not in "biuf"
            or (wanted.kind == "i" and given.dtype.kind == "f")
        ):
            raise InvalidArgument(f"{where} is {item!r}, expected a number of type {kind}")
    return np.array(items, wanted)


def _element(port: Port) -> str:
    return port[1].removeprefix("tensor(").removesuffix(")")


class Maps:
    """The maps of a model; false where it has none."""

    def __init__(
        self,
        described: Sequence[tuple[str, bool, bool, int]],
        inputs: Sequence[Port],
        outputs: Sequence[Port],
    ) -> None:
        self._maps: dict[bool, dict[str, _Map]] = {False: {}, True: {}}
        for name, is_output, is_sequence, keys in described:
            pair = (outputs if is_output else inputs)[keys : keys + 2]
            self._maps[is_output][name] = _Map(
                name, is_sequence, pair[0][0], pair[1][0], _element(pair[0]), _element(pair[1])
            )

    def __bool__(self) -> bool:
        return any(self._maps.values())

    def ports(self, ports: Sequence[Port], is_output: bool) -> list[Port]:
        """The ports as the model has them: a map is one."""
        maps = self._maps[is_output].values()
        first, second = {m.keys: m for m in maps}, {m.values for m in maps}
        return [
            first[port[0]].port if port[0] in first else port
            for port in ports
            if port[0] not in second
        ]

    def feeds(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values for the inputs of the compiled model."""
        feeds: dict[str, Any] = {}
        for name, value in given.items():
            one = self._maps[False].get(name)
            feeds.update({name: value} if one is None else one.tensors(value))
        return feeds

    def names(self, wanted: Sequence[str]) -> list[str]:
        """Names of outputs of the compiled model for those of the model."""
        names: list[str] = []
        for name in wanted:
            one = self._maps[True].get(name)
            names.extend([name] if one is None else [one.keys, one.values])
        return names

    def results(self, wanted: Sequence[str], results: Sequence[Any]) -> list[Any]:
        """What a run with `names(wanted)` returned, with dicts for maps."""
        left = iter(results)
        found = []
        for name in wanted:
            one = self._maps[True].get(name)
            found.append(next(left) if one is None else one.dicts(next(left), next(left)))
        return found
