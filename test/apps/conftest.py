# ===- conftest.py - The environment of tests of other packages --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Models are compiled, and not found; nothing here asks for a network or a GPU."""

import os

# As the tests of test/python. The compiler's process is the one of users: this one has other
# packages' LLVM in it.
os.environ["LOOPC_CACHE_DIR"] = "off"
os.environ.setdefault("LOOPC_COMPILE", "inprocess")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Ray's clusters here are of this machine, and of a moment.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
