# ===- sanitized.py - Random models through tools that watch themselves -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Compiles and runs random models by loopc-run, for tools that were built with sanitizers.

    sanitized.py --tools build-asan/bin --seeds 0:100    as `./dev test sanitize --all` does
    sanitized.py --tools build/bin --check-accesses      what compiled code reads and writes

A model that the tool refuses, or whose run ends with an error, is none of this script's business:
test_random_models.py compares results. A failure is a tool that a signal or a sanitizer ends, and
an access that is reported; its last lines are printed.

Exit status: 0; 1 with a failure; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import compiling
import numpy as np
from random_models import RandomModel, random_model

#: What loopc-run ends with by itself (docs/Driver.md).
STATUSES = (0, 4, 5)
REPORTS = re.compile(r"Sanitizer|runtime error:|(memref|vector)\.\w+ .*of a buffer of|wrote byte")


def problem_of(model: RandomModel, tool: pathlib.Path, flags: list[str], limit: float) -> str:
    """What a tool says of a model that it may not; empty where there is nothing."""
    with tempfile.TemporaryDirectory(prefix="loopc-") as folder:
        path, inputs = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "inputs.npz"
        path.write_bytes(model.proto.SerializeToString())
        np.savez(inputs, **{name: np.asarray(value) for name, value in model.feeds.items()})
        command = [tool, path, "--inputs", inputs, "--quiet", *flags]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no end within {limit:.0f} s"
    if done.returncode in STATUSES and not REPORTS.search(done.stderr):
        return ""
    return f"status {done.returncode}\n" + "\n".join(done.stderr.splitlines()[:40])


def main() -> int:
    """Runs the models; the exit status."""
    compiling.set_environment()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--seeds", type=compiling.seed_range, default=range(60), metavar="A:B")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="per model")
    parser.add_argument("--check-accesses", action="store_true", help="of compiled code, too")
    options = parser.parse_args()
    tool = options.tools / "loopc-run"
    if not tool.is_file():
        parser.error(f"{tool} is not a file")
    flags = ["--check-accesses"] if options.check_accesses else []
    failures = 0
    for number, seed in enumerate(options.seeds):
        if number % 20 == 0 and number:
            print(f"{number} of {len(options.seeds)} models", flush=True)
        level = [*flags, "-O0"] if seed % 5 == 1 else [*flags, "--threads=2"]
        if problem := problem_of(random_model(seed), tool.resolve(), level, options.timeout):
            failures += 1
            print(f"seed {seed}: {problem}", flush=True)
    print(f"{len(options.seeds)} models, {failures} failures")
    return int(failures != 0)


if __name__ == "__main__":
    sys.exit(main())
