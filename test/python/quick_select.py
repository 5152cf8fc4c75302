# ===- quick_select.py - The tests of a plan --------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A plugin of pytest: of what is collected runs the tests that $LOOPC_QUICK_PLAN names.

The plan is what utils/quick.py prints: lines "pytest test/python/FILE" and "pytest
test/python/FILE::TEST". Parameters that are no more are not missed: the other tests run.
"""

import os
import pathlib

import pytest

_PLAN = pathlib.Path(os.environ["LOOPC_QUICK_PLAN"]).read_text().splitlines()
_NAMES = {line.removeprefix("pytest ") for line in _PLAN if line.startswith("pytest ")}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps tests of the plan, and all of files that are in it as such."""

    def is_wanted(item: pytest.Item) -> bool:
        return item.nodeid in _NAMES or item.nodeid.split("::")[0] in _NAMES

    config.hook.pytest_deselected(items=[item for item in items if not is_wanted(item)])
    items[:] = [item for item in items if is_wanted(item)]
