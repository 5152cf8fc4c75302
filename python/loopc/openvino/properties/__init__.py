# ===- __init__.py - Names of properties -------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The names of OpenVINO's properties; docs/OpenVINO.md says what they change."""

from enum import Enum

from loopc.openvino._properties import Property
from loopc.openvino.properties import device, hint, intel_cpu, log, streams


class CacheMode(Enum):
    """What is saved in the cache."""

    OPTIMIZE_SIZE = 0
    OPTIMIZE_SPEED = 1


auto_batch_timeout = Property("AUTO_BATCH_TIMEOUT")
available_devices = Property("AVAILABLE_DEVICES")
cache_dir = Property("CACHE_DIR")
cache_mode = Property("CACHE_MODE")
compilation_num_threads = Property("COMPILATION_NUM_THREADS")
enable_mmap = Property("ENABLE_MMAP")
enable_profiling = Property("PERF_COUNT")
execution_devices = Property("EXECUTION_DEVICES")
inference_num_threads = Property("INFERENCE_NUM_THREADS")
loaded_from_cache = Property("LOADED_FROM_CACHE")
model_name = Property("NETWORK_NAME")
num_streams = Property("NUM_STREAMS")
optimal_number_of_infer_requests = Property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
range_for_async_infer_requests = Property("RANGE_FOR_ASYNC_INFER_REQUESTS")
range_for_streams = Property("RANGE_FOR_STREAMS")
supported_properties = Property("SUPPORTED_PROPERTIES")

__all__ = [
    "CacheMode",
    "auto_batch_timeout",
    "available_devices",
    "cache_dir",
    "cache_mode",
    "compilation_num_threads",
    "device",
    "enable_mmap",
    "enable_profiling",
    "execution_devices",
    "hint",
    "inference_num_threads",
    "intel_cpu",
    "loaded_from_cache",
    "log",
    "model_name",
    "num_streams",
    "optimal_number_of_infer_requests",
    "range_for_async_infer_requests",
    "range_for_streams",
    "streams",
    "supported_properties",
]
