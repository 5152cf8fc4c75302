# ===- conftest.py - Where the tests find what they import ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Puts this folder on the path and, where loopc is not installed, its sources."""

import importlib.util
import pathlib
import sys

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE))
if importlib.util.find_spec("loopc") is None:
    # The reference is plain Python and can be tested without a build.
    sys.path.insert(0, str(_HERE.parents[1] / "python"))
