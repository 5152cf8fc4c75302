# ===- checked_accesses.py - All sessions with checked accesses ---------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""With LOOPC_TEST_CHECK_ACCESSES=1 all sessions of the tests check their accesses.

A model's results stay the same; an access beyond a buffer is an error, or ends the process.
`./dev test sanitize` runs tests so, and the fuzzers of test/fuzz can be run so.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import loopc

#: Set in the environment, so that processes that tests start do the same.
VARIABLE = "LOOPC_TEST_CHECK_ACCESSES"


def enabled() -> bool:
    """Whether the environment asks for it."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def install() -> None:
    """Makes it the default of session options, where the environment asks for it."""
    if not enabled():
        return
    import loopc

    if hasattr(loopc.SessionOptions.__init__, "__wrapped__"):
        return
    plain = loopc.SessionOptions.__init__

    @functools.wraps(plain)
    def checked(self: loopc.SessionOptions, **options: object) -> None:
        plain(self, **{"check_accesses": True} | options)  # type: ignore[arg-type]

    loopc.SessionOptions.__init__ = checked  # type: ignore[method-assign]
