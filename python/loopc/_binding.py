# ===- _binding.py - Inputs and outputs bound to a session -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""IOBinding, for programs that were written for onnxruntime's."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loopc import _loopc
from loopc._errors import InvalidArgument
from loopc._ort_value import OrtValue, array_at, copy_into, device_view, host_place, is_cuda


def _checked(value: Any) -> OrtValue:
    if not isinstance(value, OrtValue):
        raise InvalidArgument(f"ortvalue: expected an OrtValue, got {type(value).__qualname__}")
    return value


class IOBinding:
    """Values of a session's inputs, and the outputs that are wanted.

    `InferenceSession.io_binding` makes one. Inputs are read where they are, and outputs
    that are bound to memory are written there: computed in place where the address is a
    multiple of 64, no input lies there and the shape is known before the values
    (docs/ABI.md), and copied there at the end of the run where not. Of a model for a GPU
    inputs and outputs can be bound to its memory, too.
    """

    def __init__(
        self,
        names: Mapping[str, Sequence[str]],
        uses_device: bool = False,
        outputs: Mapping[str, Any] | None = None,
    ) -> None:
        # Of inputs and outputs: "input" and "output".
        self._names = names
        self._outputs = outputs or {}
        self._uses_device = uses_device
        self._feeds: dict[str, Any] = {}
        # By name: the memory that the output is written to, or None.
        self._wanted: dict[str, np.ndarray | _loopc.DeviceTensor | None] = {}
        # The outputs that stay on the device.
        self._on_device: set[str] = set()
        self._results: list[Any] = []

    def _check(self, kind: str, name: str) -> None:
        if not isinstance(name, str) or name not in self._names[kind]:
            known = ", ".join(map(repr, self._names[kind])) or "none"
            raise InvalidArgument(f"the model has no {kind} {name!r}; it has: {known}")

    def _is_cuda(self, device_type: str, device_id: int) -> bool:
        on_cuda = is_cuda(device_type, device_id)
        if on_cuda and not self._uses_device:
            raise InvalidArgument(
                f"device {device_type}:{device_id}: the model was compiled for the CPU"
            )
        return on_cuda

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
            device_type: "cpu", or "cuda" of a model for a GPU.
            device_id: 0, or the number of the GPU.
            element_type: a NumPy type, or ONNX's number of one.
            shape: the extents.
            buffer_ptr: the address of the first element; they lie in C order.

        Raises:
            InvalidArgument: the model has no such input, or an argument is wrong.
        """
        self._check("input", name)
        if self._is_cuda(device_type, device_id):
            self._feeds[name] = device_view(device_id, element_type, shape, buffer_ptr)
        else:
            self._feeds[name] = array_at(element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Sets the value of an input.

        Raises:
            InvalidArgument: the model has no such input.
        """
        self._check("input", name)
        self._feeds[name] = _checked(ortvalue)._loopc_value

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
            InvalidArgument: the model has no such output, does not run on the
                device, or another argument is wrong.
        """
        self._check("output", name)
        on_cuda = self._is_cuda(device_type, device_id)
        (self._on_device.add if on_cuda else self._on_device.discard)(name)
        if buffer_ptr is None:
            self._wanted[name] = None
            return
        if element_type is None or shape is None:
            raise InvalidArgument(
                f"output {name!r}: element_type and shape are needed beside buffer_ptr"
            )
        self._wanted[name] = (
            device_view(device_id, element_type, shape, buffer_ptr)
            if on_cuda
            else array_at(element_type, shape, buffer_ptr)
        )

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Asks for an output, to be written into a tensor.

        Raises:
            InvalidArgument: the model has no such output, or the value is no tensor.
        """
        self._check("output", name)
        if not _checked(ortvalue).is_tensor():
            raise InvalidArgument(f"output {name!r}: only tensors can be bound")
        memory = ortvalue._loopc_value
        on_cuda = isinstance(memory, _loopc.DeviceTensor)
        if on_cuda and not self._uses_device:
            raise InvalidArgument(f"output {name!r}: the model was compiled for the CPU")
        (self._on_device.add if on_cuda else self._on_device.discard)(name)
        self._wanted[name] = memory

    def _wants_device(self) -> bool:
        """Whether outputs that the run allocates stay on the device."""
        return any(self._wanted[name] is None for name in self._on_device)

    def _buffers(self) -> dict[str, Any]:
        """Memory that the run writes outputs to."""
        found: dict[str, Any] = {}
        for name, memory in self._wanted.items():
            if isinstance(memory, _loopc.DeviceTensor):
                found[name] = memory
            elif memory is not None and (place := host_place(self._outputs.get(name), memory)):
                found[name] = place
        return found

    def _finish(self, results: list[Any]) -> None:
        """Takes the values of a run: of the wanted outputs, or of all."""
        for at, (name, memory) in enumerate(self._wanted.items()):
            if name not in self._on_device and isinstance(results[at], _loopc.DeviceTensor):
                results[at] = results[at].numpy()
            if isinstance(memory, np.ndarray):
                if results[at] is memory:
                    continue
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
        return [OrtValue(value).numpy() for value in self._results]

    def synchronize_inputs(self) -> None:
        """Nothing: a run waits for CUDA's default stream, or its own."""

    def synchronize_outputs(self) -> None:
        """Nothing: outputs are complete when a run returns."""

    def clear_binding_inputs(self) -> None:
        """Forgets all inputs."""
        self._feeds.clear()

    def clear_binding_outputs(self) -> None:
        """Forgets all outputs, and their values."""
        self._wanted.clear()
        self._on_device.clear()
        self._results = []
