# ===- suite.py - All models that are timed ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The benchmarks of all files, by the name that ``--filter`` sees."""

from __future__ import annotations

from collections.abc import Callable

import models_algorithms
import models_attention
import models_basic
import models_decoders
import models_loops
import models_networks
import models_programs
import models_recurrences
import models_recurrent
import models_trees
from models_basic import Benchmark

#: Made when asked for.
BENCHMARKS: dict[str, Callable[[], Benchmark]] = {
    **models_basic.BENCHMARKS,
    **models_algorithms.BENCHMARKS,
    **models_loops.BENCHMARKS,
    **models_recurrent.BENCHMARKS,
    **models_attention.BENCHMARKS,
    **models_recurrences.BENCHMARKS,
    **models_networks.BENCHMARKS,
    **models_decoders.BENCHMARKS,
    **models_programs.BENCHMARKS,
    **models_trees.BENCHMARKS,
}


def make(key: str) -> Benchmark:
    """The benchmark of a name."""
    return BENCHMARKS[key]()
