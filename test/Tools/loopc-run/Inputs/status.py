# ===- status.py - Runs a command that must end with a status ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""status.py [--interrupt SECONDS] STATUS COMMAND...

Succeeds where COMMAND ends with STATUS. With --interrupt it is sent SIGINT.
"""

import signal
import subprocess
import sys
import time


def main() -> int:
    """Runs the command."""
    arguments = sys.argv[1:]
    delay = None
    if arguments[0] == "--interrupt":
        delay = float(arguments[1])
        arguments = arguments[2:]
    expected = int(arguments[0])
    # Where this is a job in the background, SIGINT is ignored, and so by what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(arguments[1:])
    if delay is not None:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
    status = process.wait(60)
    if status != expected:
        print(f"the status is {status}, expected {expected}")
        return 1
    return 0


sys.exit(main())
