# ===- signals.py - A program that is sent signals while it runs -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""signals.py ignored|noticed SIGNAL PROGRAM ARGUMENT...: a program that is sent signals.

It begins with the signal ignored, and is sent it again and again, or not, and is sent it once: a
second one may end it while it removes its files. Its standard input never ends. Prints the exit status, negative for a signal.
"""

import signal
import subprocess
import sys
import time

number = signal.Signals[sys.argv[2]]
ignored = sys.argv[1] == "ignored"
begin = signal.SIG_IGN if ignored else signal.SIG_DFL
running = subprocess.Popen(
    sys.argv[3:], stdin=subprocess.PIPE, preexec_fn=lambda: signal.signal(number, begin)
)
# Not before the program has its handlers, where it is to have some.
time.sleep(0 if ignored else 0.5)
while running.poll() is None:
    running.send_signal(number)
    if not ignored:
        break
    time.sleep(0.002)
running.wait()
print(running.returncode)
