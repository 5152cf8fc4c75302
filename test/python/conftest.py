# ===- conftest.py - Where the tests find what they import ------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""What holds for all tests: where they find what they import, and the environment."""

import ctypes
import os
import pathlib
import signal
import sys
import types
import zlib

import numpy as np
import pytest

_HERE = pathlib.Path(__file__).parent
# A shell ignores interrupts for what it starts in the background; tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, str(_HERE))
# OpenVINO's converter reports each of its calls to a server, but not from such machines.
os.environ.setdefault("CI", "true")
# The compiler verifies the IR after every pass; 0 leaves that out.
os.environ.setdefault("LOOPC_VERIFY_EACH", "1")
# Models are compiled, and not found: a test of a session is one of the compiler. In the process
# itself: the compiler is loaded once, and not by a process for each of thousands of models.
# test_ready.py has the other way.
os.environ["LOOPC_CACHE_DIR"] = "off"
os.environ.setdefault("LOOPC_COMPILE", "inprocess")
# Where threads are the subject the test says how many.
os.environ.setdefault("LOOPC_NUM_THREADS", "1")
# Threads of BLAS go on looking for work, on cores that other tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import loopc  # noqa: F401
except ImportError:
    # The reference is plain Python. Tests of the compiler fail then: there is none.
    for name in [n for n in sys.modules if n.split(".")[0] == "loopc"]:
        del sys.modules[name]
    package = types.ModuleType("loopc")
    package.__path__ = [str(_HERE.parents[1] / "python" / "loopc")]
    sys.modules["loopc"] = package
else:
    import checked_accesses

    checked_accesses.install()


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(request: pytest.FixtureRequest) -> None:
    """A module's `RNG` begins anew for each test, whichever ran before it in its process."""
    if hasattr(request.module, "RNG"):
        request.module.RNG = np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


class _SignalStack(ctypes.Structure):
    """stack_t of sigaltstack(2)."""

    _fields_ = [("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


@pytest.fixture(autouse=True)
def _own_signal_stack() -> None:
    """Signal handlers run on the thread's own stack.

    OpenVINO's CPU runtime leaves the thread an alternate signal stack that it has freed, and
    Python's handlers ask for the alternate stack: the next SIGINT of a test would end the process.
    """
    if "openvino" in sys.modules and sys.platform == "linux":
        ss_disable = 2
        stack = _SignalStack(None, ss_disable, 0)
        ctypes.CDLL(None).sigaltstack(ctypes.byref(stack), None)
