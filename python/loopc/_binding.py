# ===- _binding.py - Inputs and outputs bound to a session ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""IOBinding, for programs that were written for onnxruntime's."""

from collections.abc import Sequence
from typing import Any

from loopc._errors import InvalidArgument


class IOBinding:
    """Values of a session's inputs, and the outputs that are wanted.

    `InferenceSession.io_binding` makes one. Everything is on the CPU, so it saves
    no copies beside `InferenceSession.run`, which makes none.
    """

    def __init__(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self._names = {"input": list(inputs), "output": list(outputs)}
        self._feeds: dict[str, Any] = {}
        self._wanted: list[str] = []
        self._results: list[Any] = []

    def _check(self, kind: str, name: str) -> None:
        if name not in self._names[kind]:
            known = ", ".join(map(repr, self._names[kind])) or "none"
            raise InvalidArgument(f"the model has no {kind} {name!r}; it has: {known}")

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Sets the value of an input: whatever `InferenceSession.run` takes.

        Raises:
            InvalidArgument: the model has no such input.
        """
        self._check("input", name)
        self._feeds[name] = arr_on_cpu

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0) -> None:
        """Asks for an output.

        Raises:
            InvalidArgument: the model has no such output, or the device is not
                the CPU.
        """
        self._check("output", name)
        if device_type != "cpu" or device_id != 0:
            raise InvalidArgument(f"device {device_type}:{device_id}: outputs are on cpu:0")
        if name not in self._wanted:
            self._wanted.append(name)

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run, in the order in which they were bound."""
        return list(self._results)

    def clear_binding_inputs(self) -> None:
        """Forgets all inputs."""
        self._feeds.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets all outputs, and their values."""
        self._wanted.clear()
        self._results = []
