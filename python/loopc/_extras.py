# ===- _extras.py - Packages that parts of loopc need -----------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Imports of packages that loopc works with and does not depend on."""

import importlib
from typing import Any


def require(module: str, user: str, packages: str) -> Any:
    """The module of that name.

    Args:
        module: its name.
        user: the function of loopc that needs it, for the message.
        packages: what to install where it is missing, as pip takes it.

    Raises:
        ImportError: it is not installed, or cannot be imported; the message says what to do.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"loopc.{user} needs the package {module}: pip install {packages} ({error})",
            name=module,
        ) from error
