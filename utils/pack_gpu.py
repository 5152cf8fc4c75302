# ===- pack_gpu.py - What a bare machine with a GPU needs -------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Packs the compiler, tests and benchmarks for a machine with a GPU and nothing to build with.

    pack_gpu.py                       build/loopc-gpu.tar.xz
    pack_gpu.py --python python3.12   for that Python there (3.12 and later: and all after it)
    pack_gpu.py --wheels numpy,onnx   with these packages, which that machine lacks

There: `tar xf loopc-gpu.tar.xz && loopc-gpu/gpu.sh --quick` (arguments: gpu.py). That takes
the driver, Python with its headers' version as above, numpy, onnx and ml_dtypes;
pytest, compute-sanitizer, torch and JAX are used where they are installed.

The compiler is one library, linked with LLVM's archives and their targets for x86-64 and
NVIDIA GPUs alone, some 25 MB packed. Wheels are downloaded here, for that Python.
Exit status 1 where something is missing.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence

from standalone import (
    API,
    ROOT,
    PackError,
    build_extension,
    find_python,
    is_common,
    is_stable,
    link_compiler,
    needed_libraries,
    run,
)

#: What the tests and benchmarks are made of.
TREES = ("test/conformance", "test/python", "benchmarks")
UTILITIES = ("gpu.py", "gpu_page.py")

START = """\
#!/bin/sh
# Tests and times loopc on this machine's first GPU: gpu.sh --help
set -eu
here="$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P)"
python="${PYTHON:-python3}"
export PYTHONPATH="$here/python:$here/site${PYTHONPATH:+:$PYTHONPATH}"
# What the machine has comes first; wheels are archives.
for wheel in "$here"/wheels/*.whl; do
  [ -e "$wheel" ] || continue
  name="$(basename "$wheel" | cut -d- -f1)"
  "$python" -c "import importlib.metadata as m; m.version('$name')" 2> /dev/null ||
    "$python" -m zipfile -e "$wheel" "$here/site"
done
# The C++ library of the machine where this was packed, if there is none or an older one here.
"$python" -c 'import loopc' 2> /dev/null ||
  export LD_LIBRARY_PATH="$here/lib/fallback${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$python" -c 'import loopc, onnx' || {
  echo "gpu.sh: $python cannot load loopc (above); PYTHON names another one" >&2
  exit 1
}
[ -n "${LOOPC_LIBDEVICE+set}" ] || [ ! -e "$here/libdevice.10.bc" ] ||
  export LOOPC_LIBDEVICE="$here/libdevice.10.bc"
exec "$python" "$here/utils/gpu.py" --out "$here/results" "$@"
"""


def copy_libraries(library: pathlib.Path) -> None:
    """What the compiler needs beside the C library."""
    fallback = library.parent / "fallback"
    fallback.mkdir()
    for name, path in needed_libraries(library):
        # The machine's own is younger, as a rule, and other packages may want that.
        shutil.copy(path, (fallback if is_common(name) else library.parent) / name)


def copy_trees(kit: pathlib.Path) -> None:
    """Tests, benchmarks and what runs them."""
    for tree in TREES:
        shutil.copytree(ROOT / tree, kit / tree,
                        ignore=shutil.ignore_patterns("__pycache__", "loop_models"))  # fmt: skip
    (kit / "utils").mkdir()
    for name in UTILITIES:
        shutil.copy(ROOT / "utils" / name, kit / "utils")
    shutil.copy(ROOT / "LICENSE", kit)
    start = kit / "gpu.sh"
    start.write_text(START)
    start.chmod(0o755)


def main(argv: Sequence[str] | None = None) -> int:
    """Packs, and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="the archive")
    parser.add_argument("--python", default=None, help="a Python as that machine has")
    parser.add_argument("--wheels", default="", metavar="NAMES", help="packages, with commas")
    options = parser.parse_args(argv)
    build = options.build.resolve()
    out = options.out or build / "loopc-gpu.tar.xz"
    python = options.python or find_python()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            pack(build, out, python, list(filter(None, options.wheels.split(","))),
                 pathlib.Path(scratch))  # fmt: skip
    except (PackError, OSError) as error:
        print(f"pack_gpu: {error}", file=sys.stderr)
        return 1
    return 0


def pack(
    build: pathlib.Path, out: pathlib.Path, python: str, wheels: list[str], scratch: pathlib.Path
) -> None:
    """Makes the archive `out`."""
    kit = scratch / "loopc-gpu"
    kit.mkdir()
    print("Linking the compiler with LLVM", flush=True)
    library = link_compiler(build, kit / "lib")
    copy_libraries(library)
    print(f"Building the extension for {python}", flush=True)
    version = build_extension(build, python, kit / "python/loopc", kit / "lib" / API)
    copy_trees(kit)
    for home in ("/usr/local/cuda", "/usr/lib/cuda"):
        device = pathlib.Path(home, "nvvm/libdevice/libdevice.10.bc")
        if device.is_file():
            shutil.copy(device, kit)
            break
    if wheels:
        print(f"Downloading {', '.join(wheels)}", flush=True)
        pins = ROOT / "requirements/python.txt"
        platforms = [f"--platform=manylinux_2_{n}_x86_64" for n in (28, 27, 17)]
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
             "--only-binary=:all:", f"--python-version={version}", *platforms,
             "--platform=manylinux2014_x86_64", "-d", str(kit / "wheels"), "-c", str(pins),
             *wheels], ROOT)  # fmt: skip
    print("Packing", flush=True)
    with tarfile.open(out, "w:xz", preset=6) as archive:
        archive.add(kit, kit.name)
    print(f"{out}: {out.stat().st_size / 1e6:.0f} MB, for Python {version}"
          f"{' and later' if is_stable(version) else ''}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
