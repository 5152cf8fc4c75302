# ===- compiling.py - How tests and fuzzers compile --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The environment of programs that test the compiler."""

import os


def set_environment() -> None:
    """Models are compiled, and not found: a test of a session is one of the compiler.

    That is done in the process itself, which loads the compiler once: a process for each of
    thousands of models would load it anew. The IR is verified after every pass, which
    LOOPC_VERIFY_EACH=0 leaves out. A run has one thread where it says no number. test_ready.py
    has what users have.
    """
    os.environ["LOOPC_CACHE_DIR"] = "off"
    os.environ.setdefault("LOOPC_COMPILE", "inprocess")
    os.environ.setdefault("LOOPC_VERIFY_EACH", "1")
    os.environ.setdefault("LOOPC_NUM_THREADS", "1")
