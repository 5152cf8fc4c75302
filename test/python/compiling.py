# ===- compiling.py - How tests and fuzzers compile --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The environment of programs that test the compiler, and how they are told what to try."""

import argparse
import os
import re


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


def seed_range(text: str) -> range:
    """The seeds that "FIRST:END" stands for: a type of an argument."""
    match = re.fullmatch(r"(\d+):(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not FIRST:END")
    return range(int(match[1]), int(match[2]))


def share(text: str) -> tuple[int, int]:
    """Which of how many parts "K/N" stands for: a type of an argument."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not K/N with K < N")
    return int(match[1]), int(match[2])
