# ===- mlserver.py - MLServer --------------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A runtime of MLServer: ``"implementation": "loopc.mlserver.LoopcModel"``."""

import asyncio
import re
from typing import Any

import mlserver
import numpy as np
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor
from mlserver.utils import get_model_uri

from loopc._errors import InvalidArgument
from loopc._metadata import NodeArg
from loopc._options import SessionOptions
from loopc._session import InferenceSession

__all__ = ["LoopcModel"]

#: The Open Inference Protocol's names of element types, by ONNX's.
_DATATYPES = {
    "bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64", "float16": "FP16",
    "float": "FP32", "double": "FP64",
}  # fmt: skip


class LoopcModel(mlserver.MLModel):  # type: ignore[misc]
    """An ONNX model, compiled when it is loaded.

    model-settings.json has the path in `parameters.uri` (or a folder with a model.onnx), and
    in `parameters.extra` arguments of `SessionOptions` and `device`. Requests run in threads
    beside the server's loop, which the compiled code does not stop. Batches of several requests are
    MLServer's own (`max_batch_size`).
    """

    async def load(self) -> bool:
        """Makes the session, from the cache where another worker has compiled the model.

        Raises:
            CompileError, DeviceError, InvalidArgument: as `InferenceSession`.
        """
        path = await get_model_uri(self._settings, wellknown_filenames=["model.onnx"])
        parameters = self._settings.parameters
        extra = dict((parameters and parameters.extra) or {})
        device = extra.pop("device", None)
        try:
            options = SessionOptions(**extra)
        except TypeError as error:
            raise InvalidArgument(f"parameters.extra: {error}") from error
        self._session = await asyncio.to_thread(InferenceSession, path, options, device=device)
        if not self._settings.inputs:
            self.inputs = _metadata(self._session.get_inputs())
        if not self._settings.outputs:
            self.outputs = _metadata(self._session.get_outputs())
        return True

    async def unload(self) -> bool:
        """Gives the session up."""
        self.__dict__.pop("_session", None)
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        """Runs the model on a request's inputs, by their names.

        Raises:
            InferenceError: an input does not fit the model, or the computation failed: what
                clients are told.
        """
        feeds = {one.name: self.decode(one, default_codec=NumpyCodec) for one in payload.inputs}
        names = [one.name for one in payload.outputs or []] or None
        try:
            results = await asyncio.to_thread(self._session.run, names, feeds)
        except Exception as error:
            raise InferenceError(str(error)) from error
        names = names or [port.name for port in self._session.get_outputs()]
        return InferenceResponse(
            model_name=self.name,
            model_version=self.version,
            outputs=[
                NumpyCodec.encode_output(name, np.asarray(result))
                for name, result in zip(names, results, strict=True)
            ],
        )


def _metadata(ports: list[NodeArg]) -> list[Any]:
    """What the protocol says of inputs or outputs; -1 is an open extent."""
    found = []
    for port in ports:
        match = re.fullmatch(r"tensor\((\w+)\)", port.type)
        datatype = _DATATYPES.get(match[1]) if match else None
        if datatype is not None:
            shape = [one if isinstance(one, int) else -1 for one in port.shape or []]
            found.append(MetadataTensor(name=port.name, datatype=datatype, shape=shape))
    return found
