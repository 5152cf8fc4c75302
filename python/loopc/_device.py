# ===- _device.py - Where models run ----------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Devices and onnxruntime's providers."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loopc import _loopc
from loopc._errors import DeviceError, InvalidArgument, InvalidType, Status

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"

_ALIASES = {"cpu": CPU, "cuda": CUDA}

#: Options of onnxruntime's CUDA provider that change no result here.
_IGNORED_OPTIONS = {
    "arena_extend_strategy",
    "cudnn_conv_algo_search",
    "cudnn_conv_use_max_workspace",
    "do_copy_in_default_stream",
    "enable_cuda_graph",
    "gpu_mem_limit",
    "prefer_nhwc",
    "tunable_op_enable",
    "tunable_op_tuning_enable",
    "use_ep_level_unified_stream",
}

_HEEDED_OPTIONS = {"device_id", "use_tf32", "user_compute_stream"}


@dataclass(frozen=True)
class Place:
    """Where a session runs.

    Attributes:
        device: number of the CUDA device; None for the CPU.
        stream: a CUstream that runs work on; 0 for loopc's own.
        allow_tf32: whether tensor cores may round what products of float32 multiply.
        options: what the provider's options said, as onnxruntime returns them.
    """

    device: int | None = None
    stream: int = 0
    allow_tf32: bool = False
    options: tuple[tuple[str, str], ...] = ()

    @property
    def providers(self) -> list[str]:
        """onnxruntime's names of the place, the most wanted first."""
        return [CPU] if self.device is None else [CUDA, CPU]


def cuda_devices() -> tuple[int, str]:
    """Number of CUDA devices, and why there are none."""
    return _loopc.device_count()


def available_providers() -> list[str]:
    """onnxruntime's names of where models can run, the fastest first."""
    return [CUDA, CPU] if cuda_devices()[0] else [CPU]


def chip_of(device: int) -> str:
    """What to compile for so that a CUDA device runs it: "sm_90".

    Raises:
        DeviceError: there is no driver or no such device.
    """
    return _loopc.device_chip(device)


def parse_device(device: Any) -> Place:
    """The place that "cpu", "cuda" or "cuda:1" names.

    Raises:
        InvalidArgument: it is none of these.
    """
    match = re.fullmatch(r"(cpu|cuda)(?::(\d{1,4}))?", device) if isinstance(device, str) else None
    if match is None or (match[1] == "cpu" and match[2] not in (None, "0")):
        raise InvalidArgument(f"device: expected 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    if match[1] == "cpu":
        return Place()
    return Place(int(match[2] or 0))


def _whole(name: str, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < 2**63:
        raise InvalidArgument(f"provider_options: {name}: expected a number, got {value!r}")
    return number


def _cuda_place(options: Mapping[str, Any]) -> Place:
    """The place that options of onnxruntime's CUDA provider describe."""
    unknown = options.keys() - _IGNORED_OPTIONS - _HEEDED_OPTIONS
    if unknown:
        names = ", ".join(sorted(map(repr, unknown)))
        raise InvalidArgument(f"provider_options: {CUDA} has no option {names}")
    device = _whole("device_id", options.get("device_id", 0))
    if device > 9999:
        raise InvalidArgument(f"provider_options: device_id: there is no device {device}")
    stream = _whole("user_compute_stream", options.get("user_compute_stream", 0))
    allow_tf32 = _whole("use_tf32", options.get("use_tf32", 0)) != 0
    texts = {str(name): str(value) for name, value in options.items()}
    texts.setdefault("device_id", "0")
    return Place(device, stream, allow_tf32, tuple(sorted(texts.items())))


def _provider(provider: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(provider, str):
        return _ALIASES.get(provider, provider), {}
    if isinstance(provider, tuple | list) and len(provider) == 2:
        name, options = provider
        if isinstance(name, str) and isinstance(options, Mapping):
            return _ALIASES.get(name, name), options
    raise InvalidArgument(
        f"providers: expected a name or a pair of a name and a dict, got {provider!r}"
    )


def _with_options(
    providers: Sequence[Any], provider_options: Sequence[Mapping[str, Any]] | None
) -> list[tuple[str, Mapping[str, Any]]]:
    named = [_provider(provider) for provider in providers]
    if provider_options is None:
        return named
    if len(provider_options) != len(named):
        raise InvalidArgument(
            f"provider_options: expected one for each of {len(named)} providers, "
            f"got {len(provider_options)}"
        )
    merged: list[tuple[str, Mapping[str, Any]]] = []
    for (name, own), options in zip(named, provider_options, strict=True):
        if not isinstance(options, Mapping):
            raise InvalidArgument(f"provider_options: expected dicts, got {options!r}")
        merged.append((name, {**own, **options}))
    return merged


def choose_place(
    providers: Sequence[Any] | None,
    provider_options: Sequence[Mapping[str, Any]] | None,
    device: Any,
    stacklevel: int,
) -> Place:
    """The place that a session's arguments ask for: the first that there is.

    Providers that are not available are warned about, and an error where no other
    is given.

    Raises:
        InvalidArgument: an argument is wrong.
    """
    if device is not None:
        if providers is not None or provider_options:
            raise InvalidArgument("device: providers are given, too; one of both says where to run")
        return parse_device(device)
    if providers is None:
        given: Any = provider_options
        if given is not None and not isinstance(given, Sequence):
            kind = type(given).__qualname__
            raise InvalidType(f"provider_options: expected a list of dicts, got {kind}")
        if any(given or ()):
            raise InvalidArgument("provider_options: there are no providers that they are for")
        return Place()
    if isinstance(providers, str) or not isinstance(providers, Sequence):
        kind = f"{type(providers).__module__}.{type(providers).__qualname__}"
        raise InvalidType(f"providers: expected a list of names, got {kind}")
    named = _with_options(providers, provider_options)
    places: list[Place] = []
    missing: list[str] = []
    count, reason = cuda_devices() if CUDA in (name for name, _ in named) else (0, "")
    for name, options in named:
        if name == CPU:
            places.append(Place())
        elif name == CUDA:
            place = _cuda_place(options)
            if count:
                places.append(place)
            else:
                missing.append(name)
        else:
            missing.append(name)
    if missing:
        message = (
            f"providers: {', '.join(missing)} not available; "
            f"available: {', '.join(available_providers())}"
        )
        if CUDA in missing:
            message += f" ({reason})"
        if not places:
            raise InvalidArgument(message)
        warnings.warn(message, stacklevel=stacklevel)
    return places[0] if places else Place()


def require_device(place: Place) -> None:
    """Checks that there is the CUDA device of a place.

    Raises:
        DeviceError: there is no driver or no such device.
    """
    if place.device is None:
        return
    count, reason = cuda_devices()
    if place.device >= count:
        text = reason or f"there is no CUDA device {place.device}: this machine has {count}"
        raise DeviceError(text, Status.DEVICE)
