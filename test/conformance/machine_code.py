# ===- machine_code.py - Machine code of all models, checked -----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Has LLVM's machine verifier check what the code generator makes of models.

    machine_code.py                    all: ONNX's suite, the benchmarks, loop_operators, loop_models
    machine_code.py --share 3/50       the models 3, 53, 103, ...
    machine_code.py --filter REGEX     those whose name matches
    machine_code.py --cpu znver4       for this CPU only; may be given several times

A register that is read before it is written, or one that an instruction cannot have, depends on
the CPU that code is tuned for, and need not show in a run. No such CPU is needed.

Prints a line for each model whose code is wrong, with the verifier's first complaint. Exit status:
0; 1 where code is wrong, or a model is not compiled; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence

import onnx
import ptxas

LOOPC = ptxas.ROOT / "build/bin/loopc"
CPUS = ("znver4", "znver5", "sapphirerapids", "x86-64-v3", "x86-64-v4")


def complaint(path: pathlib.Path | str, cpu: str, *flags: str) -> str:
    """What is wrong with the code of the model at `path` for `cpu`; "" if nothing is."""
    command = [str(LOOPC), str(path), "--target=x86_64-linux-gnu", f"--cpu={cpu}"]
    command += ["--verify-machine-code", "--emit=obj", "-o", "/dev/null", *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return ""
    found = re.search(r"\*\*\* Bad machine code: (.*) \*\*\*(?:\n- .*)*", run.stderr)
    after = re.search(r"# After (.*)", run.stderr)
    if not found:
        return f"status {run.returncode}: {run.stderr.strip()[-300:]}"
    return f"after '{after[1] if after else '?'}': " + found[0].replace("\n", " ")


def wrong(
    share: tuple[int, int], cpus: Sequence[str], pattern: str = ""
) -> Iterator[tuple[str, str]]:
    """Names of models with a CPU, and what is wrong with their code."""
    wanted = [item for item in ptxas.models() if re.search(pattern, item[0])]
    with tempfile.TemporaryDirectory(prefix="loopc-code-") as folder:
        for name, make in wanted[share[0] :: share[1]]:
            model = make()
            path = model
            if isinstance(model, onnx.ModelProto):
                path = f"{folder}/model.onnx"
                onnx.save(model, path)
            for cpu in cpus:
                if why := complaint(str(path), cpu):
                    yield f"{name} {cpu}", why


def main(argv: Sequence[str] | None = None) -> int:
    """Runs what the command line asks for and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=ptxas._share, default=(0, 1), metavar="K/N")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--cpu", action="append", metavar="CPU")
    options = parser.parse_args(argv)
    begin, count = time.monotonic(), 0
    for name, why in wrong(options.share, options.cpu or CPUS, options.filter):
        count += 1
        print(f"{name}: {why}", flush=True)
    print(f"{count} wrong; {time.monotonic() - begin:.0f} s")
    return int(count != 0)


if __name__ == "__main__":
    sys.exit(main())
