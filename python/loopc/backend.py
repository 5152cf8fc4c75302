# ===- backend.py - loopc behind onnx.backend -------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""onnx's backend interface: ``onnx.backend.test`` and others run loopc by it.

The module is itself a backend: ``loopc.backend.prepare(model).run(inputs)``.
It needs the onnx package.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper
from onnx.backend.base import Backend, BackendRep

from loopc._errors import CompileError, InvalidArgument
from loopc._options import RunOptions, SessionOptions
from loopc._session import InferenceSession
from loopc.aot import feeds_of


class LoopcBackendRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session

    def run(
        self,
        inputs: Sequence[Any] | Mapping[str, Any] | np.ndarray[Any, Any],
        run_options: RunOptions | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs the model with inputs in order or by name; returns all outputs.

        An array stands for itself where the model has one input, as with onnxruntime.
        """
        _no_more(kwargs)
        given: Any = inputs
        if isinstance(inputs, np.ndarray) and len(self.session.get_inputs()) == 1:
            given = [inputs]
        return tuple(self.session.run(None, feeds_of(self.session, given), run_options))


class LoopcBackend(Backend):
    """onnx.backend.base.Backend over `loopc.InferenceSession`."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """True for "CPU" (and "CPU:0")."""
        return device in ("CPU", "CPU:0")

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """True where `model` can be compiled for `device`."""
        if not cls.supports_device(device):
            return False
        try:
            cls.prepare(model, device, **kwargs)
        except CompileError:
            return False
        return True

    @classmethod
    def prepare(
        cls,
        model: onnx.ModelProto,
        device: str = "CPU",
        sess_options: SessionOptions | None = None,
        **kwargs: Any,
    ) -> LoopcBackendRep:
        """Compiles `model` (a ModelProto, a path or bytes)."""
        _no_more(kwargs)
        if not cls.supports_device(device):
            raise InvalidArgument(f"device: expected CPU, got {device}")
        return LoopcBackendRep(InferenceSession(model, sess_options))

    @classmethod
    def run_model(
        cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any
    ) -> tuple[Any, ...]:
        """Compiles and runs `model`."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Compiles and runs a model of one node.

        Args:
            node: the node.
            inputs: arrays for its inputs; those that are left out ("") have none.
            device: "CPU".
            outputs_info: element type and shape of each output; the types are
                inferred where it is None.
            **kwargs: ``opset_imports`` (a list of OperatorSetIdProto) and what
                `prepare` takes.
        """
        opsets = kwargs.pop("opset_imports", None)
        names = [name for name in node.input if name]
        if len(set(names)) != len(inputs):
            raise InvalidArgument(f"the node has {len(set(names))} inputs, got {len(inputs)}")
        values = dict(zip(dict.fromkeys(names), inputs, strict=True))
        graph = onnx.helper.make_graph(
            [node],
            "run_node",
            [_value_info(name, value) for name, value in values.items()],
            _outputs(node, outputs_info),
        )
        model = onnx.helper.make_model(graph, opset_imports=opsets, producer_name="loopc")
        return cls.prepare(model, device, **kwargs).run(values)


def _no_more(kwargs: Mapping[str, Any]) -> None:
    if kwargs:
        raise InvalidArgument(f"unknown arguments: {', '.join(sorted(kwargs))}")


def _value_info(name: str, value: Any) -> onnx.ValueInfoProto:
    return onnx.helper.make_value_info(name, _type_of(value))


def _type_of(value: Any, with_shape: bool = True) -> onnx.TypeProto:
    if isinstance(value, list | tuple):
        if not value:
            raise InvalidArgument("an empty list does not tell the type of a sequence")
        # Elements may differ in shape and rank.
        return onnx.helper.make_sequence_type_proto(_type_of(value[0], with_shape=False))
    shape = value.shape if with_shape else None
    return onnx.helper.make_tensor_type_proto(_element_type(value), shape)


def _element_type(value: Any) -> int:
    if value.dtype.kind in "OSTU":
        return onnx.TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(value.dtype)


def _outputs(
    node: onnx.NodeProto, info: Sequence[tuple[Any, tuple[int, ...]]] | None
) -> list[onnx.ValueInfoProto]:
    names = [name for name in node.output if name]
    if info is None:
        return [onnx.helper.make_empty_tensor_value_info(name) for name in names]
    return [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)
        for name, (dtype, shape) in zip(names, info, strict=True)
    ]


prepare = LoopcBackend.prepare
run_model = LoopcBackend.run_model
run_node = LoopcBackend.run_node
supports_device = LoopcBackend.supports_device
is_compatible = LoopcBackend.is_compatible
