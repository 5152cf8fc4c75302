# ===- turns.py - Engines that are measured in turns ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What all programs here do between the turns of two engines."""

import time

#: Seconds: onnxruntime's threads busy-wait for 40 ms after a run, on cores that the other engine
#: is to have.
REST = 0.06


def rest(threads: int) -> None:
    """Waits until the threads of the engine that ran last have gone to sleep."""
    if threads > 1:
        time.sleep(REST)
