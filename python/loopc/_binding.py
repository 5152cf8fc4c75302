# ===- _binding.py - Inputs and outputs bound to a session -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""IOBinding, for programs that were written for onnxruntime's."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from loopc._errors import InvalidArgument
from loopc._ort_value import OrtValue, array_at, check_device, copy_into


def _checked(value: Any) -> OrtValue:
    if not isinstance(value, OrtValue):
        raise InvalidArgument(f"ortvalue: expected an OrtValue, got {type(value).__qualname__}")
    return value


class IOBinding:
    """Values of a session's inputs, and the outputs that are wanted.

    `InferenceSession.io_binding` makes one. Everything is on the CPU, so it saves
    no copies beside `InferenceSession.run`, which makes none; an output that is
    bound to memory is copied there after the run.
    """

    def __init__(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self._names = {"input": list(inputs), "output": list(outputs)}
        self._feeds: dict[str, Any] = {}
        # By name: the memory that the output is copied to, or None.
        self._wanted: dict[str, np.ndarray | None] = {}
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

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: Any,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Sets an input to memory of the caller, who keeps it until the run.

        Args:
            name: the input.
            device_type: "cpu".
            device_id: 0.
            element_type: a NumPy type, or ONNX's number of one.
            shape: the extents.
            buffer_ptr: the address of the first element; they lie in C order.

        Raises:
            InvalidArgument: the model has no such input, or an argument is wrong.
        """
        self._check("input", name)
        check_device(device_type, device_id)
        self._feeds[name] = array_at(element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Sets the value of an input.

        Raises:
            InvalidArgument: the model has no such input.
        """
        self._check("input", name)
        self._feeds[name] = _checked(ortvalue).numpy()

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Asks for an output, in memory of its own or at `buffer_ptr`.

        Raises:
            InvalidArgument: the model has no such output, the device is not
                the CPU, or another argument is wrong.
        """
        self._check("output", name)
        check_device(device_type, device_id)
        if buffer_ptr is None:
            self._wanted[name] = None
            return
        if element_type is None or shape is None:
            raise InvalidArgument(
                f"output {name!r}: element_type and shape are needed beside buffer_ptr"
            )
        self._wanted[name] = array_at(element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Asks for an output, to be written into a tensor.

        Raises:
            InvalidArgument: the model has no such output, or the value is no tensor.
        """
        self._check("output", name)
        if not _checked(ortvalue).is_tensor():
            raise InvalidArgument(f"output {name!r}: only tensors can be bound")
        self._wanted[name] = ortvalue.numpy()

    def _finish(self, results: list[Any]) -> None:
        """Takes the values of a run: of the wanted outputs, or of all."""
        for at, (name, memory) in enumerate(self._wanted.items()):
            if memory is not None:
                copy_into(memory, results[at], f"output {name!r}")
                results[at] = memory
        self._results = results

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, in the order in which they were bound."""
        return [OrtValue(value) for value in self._results]

    def get_outputs_as_ortvaluevector(self) -> list[OrtValue]:
        """The same."""
        return self.get_outputs()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run, in the order in which they were bound."""
        return list(self._results)

    def synchronize_inputs(self) -> None:
        """Nothing: the CPU has nothing to wait for."""

    def synchronize_outputs(self) -> None:
        """Nothing: the CPU has nothing to wait for."""

    def clear_binding_inputs(self) -> None:
        """Forgets all inputs."""
        self._feeds.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets all outputs, and their values."""
        self._wanted.clear()
        self._results = []
