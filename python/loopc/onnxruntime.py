# ===- onnxruntime.py - loopc inside onnxruntime ----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""loopc as an execution provider of onnxruntime, for the loops of models.

    import loopc.onnxruntime, onnxruntime

    options = loopc.onnxruntime.add_provider(onnxruntime.SessionOptions())
    session = onnxruntime.InferenceSession("model.onnx", options)

Loops, branches and recurrent operators run compiled, the rest is onnxruntime's. It
takes onnxruntime 1.27 or later.
"""

import importlib
import os
from typing import Any

import loopc
from loopc._errors import Error
from loopc._paths import get_ep_library

PROVIDER = "LoopcExecutionProvider"
"""The provider's name, as onnxruntime's sessions report it."""

_REGISTRATION = "loopc"


def _import_onnxruntime() -> Any:
    module = importlib.import_module("onnxruntime")
    if module is loopc:
        raise Error(
            "sys.modules['onnxruntime'] is loopc itself: its sessions need no execution provider"
        )
    if not hasattr(module, "register_execution_provider_library"):
        raise Error(
            "loopc needs onnxruntime 1.27 or a later 1.x, "
            f"this is onnxruntime {getattr(module, '__version__', 'of unknown version')}"
        )
    return module


def _find_devices(module: Any) -> list[Any]:
    return [device for device in module.get_ep_devices() if device.ep_name == PROVIDER]


def register() -> list[Any]:
    """Makes onnxruntime load the provider, once a process.

    Returns:
        the devices (``onnxruntime.OrtEpDevice``) that it runs on: this CPU.

    Raises:
        Error: onnxruntime is too old, or the library is missing.
    """
    module = _import_onnxruntime()
    devices = _find_devices(module)
    if not devices:
        library = get_ep_library()
        try:
            module.register_execution_provider_library(_REGISTRATION, library)
        except Exception as error:
            raise Error(f"onnxruntime does not load loopc: {error}") from error
        devices = _find_devices(module)
    if not devices:
        raise Error("onnxruntime has found no CPU that loopc could run on")
    return devices


def add_provider(options: Any, **provider_options: str | os.PathLike[str] | int | float) -> Any:
    """Adds the provider to options of a session, behind those that are there already.

    Args:
        options: ``onnxruntime.SessionOptions``.
        provider_options: what the provider is to do, by name (docs/OnnxRuntimeEP.md):
            ``claim="loops"``, ``cache_dir="off"``, ``intra_op_num_threads=2``. Threads are
            those that `options` have, where these say a number.

    Returns:
        `options`.

    Raises:
        Error: as `register` does.
    """
    texts = {
        name: str(int(value) if isinstance(value, bool) else value)
        for name, value in provider_options.items()
    }
    if options.intra_op_num_threads > 0:
        texts.setdefault("intra_op_num_threads", str(options.intra_op_num_threads))
    options.add_provider_for_devices(register(), texts)
    return options
