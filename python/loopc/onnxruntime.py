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

import ctypes
import functools
import importlib
import os
from collections.abc import Mapping
from typing import Any

import loopc
from loopc._errors import Error, InvalidArgument
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


def _texts_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Options of the provider as onnxruntime takes them.

    They are checked here: where they are wrong, onnxruntime's module makes the session
    without the provider.
    """
    texts = {
        name: str(int(value) if isinstance(value, bool) else value)
        for name, value in options.items()
    }
    library = ctypes.CDLL(get_ep_library())
    problem = ctypes.create_string_buffer(1024)
    for name, value in texts.items():
        library.loopc_ep_check_option(
            name.encode(), os.fsencode(value), problem, ctypes.c_size_t(len(problem))
        )
        if problem.value:
            raise InvalidArgument(problem.value.decode(errors="replace"))
    return texts


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
        InvalidArgument: an option does not exist, or cannot have its value.
        Error: as `register` does.
    """
    texts = _for_session(_texts_of(provider_options), options)
    options.add_provider_for_devices(register(), texts)
    return options


def _for_session(texts: dict[str, str], options: Any) -> dict[str, str]:
    """Options of the provider, with the number of threads that a session's options say."""
    threads = 0 if options is None else options.intra_op_num_threads
    return {"intra_op_num_threads": str(threads), **texts} if threads > 0 else texts


#: onnxruntime's own `InferenceSession.__init__` while `enable` has put another in its place.
_original: Any = None


#: Providers that run nothing of most models: the second one has operators of a service.
_PLAIN = ("CPUExecutionProvider", "AzureExecutionProvider")


def _names_of(providers: Any) -> list[str]:
    return [one[0] if isinstance(one, tuple) else one for one in providers or ()]


def _is_for_cpu(module: Any, providers: Any, options: Any) -> bool:
    """Whether a session is to have the CPU alone, as far as its maker says.

    onnxruntime leaves out providers that it knows and does not have.
    """
    if options is not None and options.has_providers():
        return False
    missing = set(module.get_all_providers()) - set(module.get_available_providers())
    return set(_names_of(providers)) <= {*_PLAIN, PROVIDER, *missing}


def _in_front_of_cpu(providers: Any, texts: dict[str, str]) -> list[Any]:
    """`providers` with loopc's before the CPU, which would take all nodes first."""
    own = {}
    for one in providers:
        if isinstance(one, tuple) and one[0] == PROVIDER:
            own = dict(one[1])
    entry = (PROVIDER, {**texts, **own})
    others = [one for one in providers if _names_of([one]) != [PROVIDER]]
    names = _names_of(others)
    at = names.index(_PLAIN[0]) if _PLAIN[0] in names else len(names)
    return [*others[:at], entry, *others[at:]]


def enable(**provider_options: str | os.PathLike[str] | int | float) -> None:
    """Adds the provider to the sessions on the CPU that are made from now on.

    For packages that make their sessions themselves. Sessions that name providers of other
    devices which onnxruntime has, and options that have some, stay as they are. Where a session
    names providers, loopc's comes before the CPU's. A second call replaces the options.

    Args:
        provider_options: as those of `add_provider`.

    Raises:
        InvalidArgument, Error: as `add_provider`.
    """
    global _original
    disable()
    register()
    texts = _texts_of(provider_options)
    module = _import_onnxruntime()
    original = module.InferenceSession.__init__

    @functools.wraps(original)
    def __init__(  # noqa: N807
        self: Any,
        path_or_bytes: Any,
        sess_options: Any = None,
        providers: Any = None,
        options_of_providers: Any = None,
        **keywords: Any,
    ) -> None:
        given = keywords.pop("provider_options", options_of_providers)
        if _is_for_cpu(module, providers, sess_options):
            if set(_names_of(providers)) <= {_PLAIN[0]}:
                sess_options = sess_options or module.SessionOptions()
                add_provider(sess_options, **provider_options)
                providers = None
            else:
                if given:
                    providers = list(zip(providers, given, strict=True))
                providers = _in_front_of_cpu(providers, _for_session(texts, sess_options))
            given = None
        original(self, path_or_bytes, sess_options, providers, given, **keywords)

    module.InferenceSession.__init__ = __init__
    _original = original


def disable() -> None:
    """Takes back what `enable` did; sessions that were made stay as they are."""
    global _original
    if _original is not None:
        _import_onnxruntime().InferenceSession.__init__ = _original
        _original = None
