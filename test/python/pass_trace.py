# ===- pass_trace.py - Which passes a test exercises ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A plugin of pytest: writes what each test's compilations exercised to $LOOPC_TRACE_DIR.

A line a test: its name, seconds, the passes that changed something, the operators of its models.
utils/quick.py reads them. Compilers in processes that the tests start write to the same file. Of the
parameters of a test the first and the last are run.
"""

import os
import pathlib
import time
from collections.abc import Generator

import pytest

_FOLDER = pathlib.Path(os.environ["LOOPC_TRACE_DIR"]).absolute()
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
_TRACE = _FOLDER / f"{_WORKER}.trace"
_FOLDER.mkdir(parents=True, exist_ok=True)
os.environ["LOOPC_TRACE_PASSES"] = str(_TRACE)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Two runs of each function."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = set()
    for runs in functions.values():
        kept |= {runs[0].nodeid, runs[-1].nodeid}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Around set-up, call and tear-down: fixtures compile, too."""
    _TRACE.write_text("")
    start = time.monotonic()
    result = yield
    seconds = time.monotonic() - start
    lines = set(_TRACE.read_text().splitlines())
    passes = sorted(line.removeprefix("pass ") for line in lines if line.startswith("pass "))
    operators = sorted(line.removeprefix("node ") for line in lines if line.startswith("node "))
    if passes:
        name = item.nodeid.removeprefix("test/python/")
        with (_FOLDER / f"{_WORKER}.tsv").open("a") as file:
            file.write(f"{name}\t{seconds:.3f}\t{' '.join(passes)}\t{' '.join(operators)}\n")
    return result
