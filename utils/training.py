# ===- training.py - Models that the compiler is trained with ----------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""The models that the compiler is trained with before BOLT rewrites it (bolt.py).

They are made in the repository: those of benchmarks/, each eighth of test/python/loop_models
and random ones. No model of anybody else is among them, so that a gain on such models says
something about others, too.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
import os
import pathlib
import shutil
import subprocess
import sys

from standalone import ROOT, PackError, run

#: Models of benchmarks/ with more bytes are left out: their weights are read, and no more.
LARGEST = 20 << 20
#: Of test/python/loop_models each so many-th, and so many random models.
STEP, RANDOM = 8, 16
#: Models of one process.
GROUP = 12


def write_models(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the models into `folder`."""
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/python")]
    import suite
    from models import all_models  # type: ignore[import-not-found]
    from random_models import random_model  # type: ignore[import-not-found]

    made = {f"bench_{key}": suite.make(key).model for key in suite.BENCHMARKS}
    loops = [model for model in all_models() if not model.compile_error]
    made |= {f"loop_{model.name}": model.model for model in loops[::STEP]}
    made |= {f"random_{seed}": random_model(seed).proto for seed in range(RANDOM)}
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, model in made.items():
        content = model.SerializeToString(deterministic=True)
        if len(content) <= LARGEST:
            files.append(folder / f"{name}.onnx")
            files[-1].write_bytes(content)
    return sorted(files)


def link_trainer(library: pathlib.Path, made: pathlib.Path) -> None:
    """The program training.c, with the libloopc `library`, which it looks for beside itself."""
    run(["cc", "-O1", f"-I{ROOT}/include", str(ROOT / "utils/training.c"), str(library),
         "-Wl,-rpath,$ORIGIN", "-o", str(made)], ROOT)  # fmt: skip


def compile_models(
    trainer: pathlib.Path, models: list[pathlib.Path], out: pathlib.Path
) -> dict[str, str]:
    """Compiles the models, some in each process; returns a hash of each result.

    Raises:
        PackError: one is not compiled.
    """
    out.mkdir(parents=True, exist_ok=True)
    # The same addresses each time, where a process may ask for that: counts then are the same.
    still = ["setarch", "-R"] if shutil.which("setarch") else []
    if still and subprocess.run([*still, "true"], capture_output=True, check=False).returncode:
        still = []
    environment = {**os.environ, "LOOPC_COMPILE": "inprocess", "LOOPC_CACHE_DIR": "off"}

    def compile_some(processor: int, some: list[pathlib.Path]) -> None:
        # One thread: counters that two write may lose a count.
        command = [*still, "taskset", "-c", str(processor), str(trainer), str(out)]
        done = subprocess.run(
            [*command, *map(str, some)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if done.returncode != 0:
            raise PackError(f"{trainer} fails with {done.returncode}: {done.stderr[-2000:]}")

    processors = sorted(os.sched_getaffinity(0))
    groups = [models[k : k + GROUP] for k in range(0, len(models), GROUP)]
    with concurrent.futures.ThreadPoolExecutor(len(processors)) as pool:
        list(pool.map(compile_some, itertools.cycle(processors), groups))
    hashes = {}
    for model in models:
        hashes[model.name] = hashlib.sha256((out / f"{model.name}.so").read_bytes()).hexdigest()
    shutil.rmtree(out)
    return hashes
