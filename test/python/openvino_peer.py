# ===- openvino_peer.py - What of the ONNX loop models OpenVINO can do -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The list of the models that OpenVINO does not convert, or does not get right.

    openvino_peer.py            compares the list with what OpenVINO does
    openvino_peer.py --write    writes it anew, after a new OpenVINO or new models

test_openvino.py takes the models that are not on the list through OpenVINO IR; they must come back
right. It also tries those that are on the list: one that OpenVINO does by now has to leave it.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
from typing import Any

import numpy as np
import onnx
import openvino
from engines import assert_same, openvino_outcome
from models import LoopModel, Run, all_models

LIST = pathlib.Path(__file__).parent / "Inputs" / "openvino_cannot.txt"

#: Why a model is on the list.
REASONS = {
    "converter": "OpenVINO's converter refuses it",
    "integers": "it needs 64 bits, and OpenVINO's CPU runtime computes integers in 32",
    "runtime": "OpenVINO's CPU runtime refuses it, ends with the process or not at all",
    "values": "OpenVINO's CPU runtime gives something else",
}

HEAD = f"""\
# ONNX loop models that OpenVINO {openvino.__version__.split("-")[0]} cannot do, and why. Written by
# openvino_peer.py --write.
#
""" + "".join(f"#   {name:10} {text}\n" for name, text in REASONS.items())


def id_of(one: LoopModel, run: Run) -> str:
    """The name of a model and of the run that is tried."""
    return f"{one.name}-{run.name}"


def candidates() -> dict[str, tuple[LoopModel, Run]]:
    """The last run of each model that ends well, which is that with the most trips as a rule."""
    found = {}
    for one in all_models():
        runs = [run for run in one.runs if run.error is None and run.expect is not None]
        if runs and one.compile_error is None and one.timeout is None:
            found[id_of(one, runs[-1])] = (one, runs[-1])
    return found


def listed() -> dict[str, str]:
    """The list: names and reasons."""
    rows = [line.split() for line in LIST.read_text().splitlines()]
    return {name: reason for reason, name in (row for row in rows if row and row[0] != "#")}


def tolerance_of(one: LoopModel) -> float:
    """How far OpenVINO's values may be from those of the model."""
    return max(one.rtol, one.atol)


def obstacle(one: LoopModel, run: Run, folder: pathlib.Path, time_limit: float = 60) -> str | None:
    """Why OpenVINO cannot do a run, a key of REASONS; None where it can."""
    path = folder / "model.onnx"
    onnx.save(one.model, path)
    try:
        openvino.convert_model(str(path))
    except Exception:  # OpenVINO's errors have no common base.
        return "converter"
    for value in run.feeds.values():
        kind: Any = getattr(value, "dtype", None)
        if kind == np.int64 and np.any(value != value.astype(np.int32)):
            return "integers"
    peer = openvino_outcome(str(path), run.feeds, time_limit)
    if peer.values is None:
        return "runtime"
    names = [port.name for port in one.model.graph.output]
    try:
        assert_same(peer.values, list(run.expect or []), names, one.rtol, one.atol)
    except AssertionError:
        return "values"
    return None


def main() -> int:
    """Compares or writes the list; 1 where it is out of date."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the list anew")
    options = parser.parse_args()
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (one, run) in candidates().items():
            if reason := obstacle(one, run, pathlib.Path(folder)):
                found[name] = reason
    if options.write:
        rows = sorted(f"{reason:10} {name}\n" for name, reason in found.items())
        LIST.write_text(HEAD + "\n" + "".join(rows))
        return 0
    old = listed()
    for name in sorted(found.keys() ^ old.keys()):
        print(f"{name}: the list says {old.get(name)}, OpenVINO {found.get(name)}")
    return int(found.keys() != old.keys())


if __name__ == "__main__":
    sys.exit(main())
