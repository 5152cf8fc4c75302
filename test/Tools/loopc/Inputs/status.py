#!/usr/bin/env python3
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and succeeds where its exit status is the one expected.

Usage: status.py STATUS COMMAND [ARGUMENT ...]. What the command prints passes through.
"""

import subprocess
import sys


def main() -> int:
    """Returns 0 where the command ends with the status expected."""
    expected = int(sys.argv[1])
    status = subprocess.run(sys.argv[2:], check=False).returncode
    if status != expected:
        print(f"exit status {status} instead of {expected}", file=sys.stderr)
    return int(status != expected)


if __name__ == "__main__":
    sys.exit(main())
