# ===- _properties.py - What properties say ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The properties of models and devices: which there are, and what they change."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from loopc._arguments import file_path, flag, index_of, mapping, string
from loopc._errors import InvalidArgument
from loopc._options import SessionOptions


class Property(str):
    """The name of a property; called with a value, the pair that `set_property` takes."""

    def __call__(self, value: Any = None) -> Any:
        """The pair of name and value; without a value the name."""
        return str(self) if value is None else (str(self), value)


# ===------------------------------------------------------------------------===#
# Values
# ===------------------------------------------------------------------------===#


def _number(name: str, value: Any) -> int:
    # OpenVINO takes a text, too.
    is_text = isinstance(value, str) and value.isascii() and value.isdecimal()
    return index_of(name, int(value) if is_text else value)


def _switch(name: str, value: Any) -> bool:
    texts = {"YES": True, "NO": False, "TRUE": True, "FALSE": False}
    if isinstance(value, str):
        if value.upper() not in texts:
            raise InvalidArgument(f"{name}: expected YES or NO, got {value!r}")
        return texts[value.upper()]
    return flag(name, value)


def _any(name: str, value: Any) -> Any:
    return value


def _one_of(*known: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        text = value.name if isinstance(value, Enum) else value
        if not isinstance(text, str) or text not in known:
            raise InvalidArgument(f"{name}: {value!r}: it is one of {', '.join(known)}")
        return value

    return check


def _folder(name: str, value: Any) -> str:
    return file_path(name, value)


#: Properties of models that can be set: the value's check, and what it is without.
#: All but three say how fast, and not what; nothing here depends on them.
SETTABLE: dict[str, tuple[Callable[[str, Any], Any], Any]] = {
    "INFERENCE_NUM_THREADS": (_number, 0),
    "CACHE_DIR": (_folder, ""),
    "PERF_COUNT": (_switch, False),
    "AUTO_BATCH_TIMEOUT": (_number, 1000),
    "CACHE_MODE": (_one_of("OPTIMIZE_SIZE", "OPTIMIZE_SPEED"), "OPTIMIZE_SPEED"),
    "COMPILATION_NUM_THREADS": (_number, 0),
    "CPU_DENORMALS_OPTIMIZATION": (_switch, False),
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": (_number, 0),
    "ENABLE_CPU_PINNING": (_switch, False),
    "ENABLE_CPU_RESERVATION": (_switch, False),
    "ENABLE_HYPER_THREADING": (_switch, True),
    "ENABLE_MMAP": (_switch, True),
    "EXECUTION_MODE_HINT": (_one_of("ACCURACY", "PERFORMANCE"), "ACCURACY"),
    "INFERENCE_PRECISION_HINT": (_any, "f32"),
    "KV_CACHE_PRECISION": (_any, "dynamic"),
    "LOG_LEVEL": (_any, "LOG_NONE"),
    "MODEL_PRIORITY": (_one_of("LOW", "MEDIUM", "HIGH", "DEFAULT"), "MEDIUM"),
    "NUM_STREAMS": (_any, 1),
    "PERFORMANCE_HINT": (
        _one_of("LATENCY", "THROUGHPUT", "CUMULATIVE_THROUGHPUT"),
        "LATENCY",
    ),
    "PERFORMANCE_HINT_NUM_REQUESTS": (_number, 0),
    "SCHEDULING_CORE_TYPE": (_one_of("ANY_CORE", "PCORE_ONLY", "ECORE_ONLY"), "ANY_CORE"),
}

#: Properties that only tell.
TOLD = {
    "AVAILABLE_DEVICES",
    "DEVICE_ARCHITECTURE",
    "EXECUTION_DEVICES",
    "FULL_DEVICE_NAME",
    "OPTIMIZATION_CAPABILITIES",
    "RANGE_FOR_ASYNC_INFER_REQUESTS",
    "RANGE_FOR_STREAMS",
    "SUPPORTED_PROPERTIES",
}
#: The same of a compiled model.
TOLD_BY_MODELS = {
    "EXECUTION_DEVICES",
    "LOADED_FROM_CACHE",
    "NETWORK_NAME",
    "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
    "SUPPORTED_PROPERTIES",
}


def properties_of(name: str, value: Any) -> dict[str, Any]:
    """A dict, or pairs, of properties, with each value checked.

    Raises:
        InvalidArgument: there is no such property, or it has no such value.
    """
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        pairs = [value]
    else:
        pairs = mapping(name, value).items()
    made = {}
    for key, given in pairs:
        if isinstance(key, str) and key in TOLD | TOLD_BY_MODELS:
            raise InvalidArgument(f"{name}: {str(key)!r} can be read, and not set")
        if not isinstance(key, str) or key not in SETTABLE:
            shown = str(key) if isinstance(key, str) else key
            known = ", ".join(sorted(SETTABLE))
            raise InvalidArgument(f"{name}: there is no property {shown!r}; there are: {known}")
        made[str(key)] = SETTABLE[key][0](str(key), given)
    return made


def options_of(properties: Mapping[str, Any]) -> SessionOptions:
    """What properties say of a session."""
    options = SessionOptions()
    if threads := properties.get("INFERENCE_NUM_THREADS"):
        options.intra_op_num_threads = threads
    options.cache_dir = properties.get("CACHE_DIR") or options.cache_dir
    options.enable_profiling = properties.get("PERF_COUNT", False)
    return options


# ===------------------------------------------------------------------------===#
# What is told
# ===------------------------------------------------------------------------===#


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def of_device(device: str, key: str, properties: Mapping[str, Any]) -> Any:
    """A property of a device.

    Raises:
        InvalidArgument: there is no such property.
    """
    name = str(string("property", key))
    if name in SETTABLE:
        return properties.get(name, SETTABLE[name][1])
    told: dict[str, Callable[[], Any]] = {
        "AVAILABLE_DEVICES": lambda: [""],
        "DEVICE_ARCHITECTURE": platform.machine,
        "EXECUTION_DEVICES": lambda: [device],
        "FULL_DEVICE_NAME": lambda: _cpu_name() if device == "CPU" else device,
        "OPTIMIZATION_CAPABILITIES": lambda: ["FP32", "FP16", "BF16", "INT8", "EXPORT_IMPORT"],
        "RANGE_FOR_ASYNC_INFER_REQUESTS": lambda: (1, os.cpu_count() or 1, 1),
        "RANGE_FOR_STREAMS": lambda: (1, os.cpu_count() or 1),
        "SUPPORTED_PROPERTIES": lambda: _supported(TOLD, "RW"),
    }
    if name not in told:
        raise InvalidArgument(_unknown(name, TOLD | set(SETTABLE)))
    return told[name]()


def of_model(name: str, device: str, key: str, properties: Mapping[str, Any]) -> Any:
    """A property of a compiled model, `name`.

    Raises:
        InvalidArgument: there is no such property.
    """
    asked = str(string("property", key))
    if asked in SETTABLE:
        return properties.get(asked, SETTABLE[asked][1])
    if asked not in TOLD_BY_MODELS:
        raise InvalidArgument(_unknown(asked, TOLD_BY_MODELS | set(SETTABLE)))
    if asked == "OPTIMAL_NUMBER_OF_INFER_REQUESTS":
        hint = properties.get("PERFORMANCE_HINT", "LATENCY")
        is_latency = getattr(hint, "name", hint) == "LATENCY"
        return 1 if is_latency else os.cpu_count() or 1
    return {
        "EXECUTION_DEVICES": [device],
        "LOADED_FROM_CACHE": False,
        "NETWORK_NAME": name,
        "SUPPORTED_PROPERTIES": _supported(TOLD_BY_MODELS, "RO"),
    }[asked]


def _supported(told: set[str], settable: str) -> dict[str, str]:
    return {**{one: "RO" for one in sorted(told)}, **{one: settable for one in sorted(SETTABLE)}}


def _unknown(name: str, known: set[str]) -> str:
    return f"there is no property {name!r}; there are: {', '.join(sorted(known))}"
