# ===- _commands.py - The commands of the wheel -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The commands ``loopc`` and ``loopc-run`` where the package was installed as a wheel.

There they are programs beside the package's libraries, which these scripts become.
"""

import os
import sys

from loopc._paths import get_library_dirs


def _become(name: str) -> int:
    program = os.path.join(get_library_dirs()[0], name)
    os.execv(program, [name, *sys.argv[1:]])


def loopc() -> int:
    """The command ``loopc``."""
    return _become("loopc")


def loopc_run() -> int:
    """The command ``loopc-run``."""
    return _become("loopc-run")
