# ===- hint.py - Hints of how fast -------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Properties that say how fast a model should be, and not what it computes."""

from enum import Enum

from loopc.openvino._properties import Property


class PerformanceMode(Enum):
    """What is wanted of runs."""

    LATENCY = 1
    THROUGHPUT = 2
    CUMULATIVE_THROUGHPUT = 3


class ExecutionMode(Enum):
    """What is wanted of numbers."""

    PERFORMANCE = 1
    ACCURACY = 2


class Priority(Enum):
    """Of a model among others."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    DEFAULT = 3


class SchedulingCoreType(Enum):
    """The cores that are wanted."""

    ANY_CORE = 0
    PCORE_ONLY = 1
    ECORE_ONLY = 2


dynamic_quantization_group_size = Property("DYNAMIC_QUANTIZATION_GROUP_SIZE")
enable_cpu_pinning = Property("ENABLE_CPU_PINNING")
enable_cpu_reservation = Property("ENABLE_CPU_RESERVATION")
enable_hyper_threading = Property("ENABLE_HYPER_THREADING")
execution_mode = Property("EXECUTION_MODE_HINT")
inference_precision = Property("INFERENCE_PRECISION_HINT")
kv_cache_precision = Property("KV_CACHE_PRECISION")
model_priority = Property("MODEL_PRIORITY")
num_requests = Property("PERFORMANCE_HINT_NUM_REQUESTS")
performance_mode = Property("PERFORMANCE_HINT")
scheduling_core_type = Property("SCHEDULING_CORE_TYPE")
