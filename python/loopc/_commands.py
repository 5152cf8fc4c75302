# ===- _commands.py - The commands of the wheel -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The commands ``loopc`` and ``loopc-run`` where the package was installed as a wheel.

There they are functions of the package's own library, called by these scripts.
"""

import ctypes
import os
import signal
import sys

from loopc._paths import get_library_dirs


def _call(function: str, name: str) -> int:
    # The commands end by Ctrl-C and by a closed pipe as programs do, not as Python does.
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    library = ctypes.CDLL(os.path.join(get_library_dirs()[0], "libloopc.so.0"))
    arguments = [name, *sys.argv[1:]]
    values = (ctypes.c_char_p * (len(arguments) + 1))(*map(os.fsencode, arguments), None)
    return int(getattr(library, function)(len(arguments), values))


def loopc() -> int:
    """The command ``loopc``. Returns its exit status."""
    return _call("loopc_command", "loopc")


def loopc_run() -> int:
    """The command ``loopc-run``. Returns its exit status."""
    return _call("loopc_run_command", "loopc-run")
