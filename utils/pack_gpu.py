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
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "lib/libloopc.so.0.1.0"
#: LLVM's targets that stay.
KEPT = ("X86", "NVPTX")
#: What the tests and benchmarks are made of.
TREES = ("test/conformance", "test/python", "benchmarks")
UTILITIES = ("gpu.py", "gpu_page.py")
#: Libraries that every machine has.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|pthread|rt)\.so)")

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


class PackError(Exception):
    """Something that is needed is missing."""


def run(command: Sequence[str], folder: pathlib.Path) -> str:
    """What a program prints; its errors end this one."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shown = shlex.join(command)
        raise PackError(f"{shown[:300]}\n{(done.stderr or done.stdout)[-3000:]}")
    return done.stdout


def _llvm(build: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """LLVM's libraries and headers, of the configured build."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^LLVM_DIR:\w+=(.*)$", cache, re.M)
    if not found:
        raise PackError(f"{build} is not configured")
    root = pathlib.Path(found[1]).parents[2]
    return root / "lib", root / "include"


def _without_targets(llvm: pathlib.Path, include: pathlib.Path) -> str:
    """C++ that says that LLVM has no targets but those that stay, nor Polly."""
    names = re.findall(
        r"^LLVM_TARGET\((\w+)\)", (include / "llvm/Config/Targets.def").read_text(), re.M
    )
    parts = ("TargetInfo", "Target", "TargetMC", "AsmParser", "AsmPrinter")
    lines = ['#include "llvm/Passes/PassBuilder.h"', '#include "llvm/Plugins/PassPlugin.h"']
    lines += [
        f'extern "C" void LLVMInitialize{name}{part}() {{}}'
        for name in names
        if name not in KEPT
        for part in parts
    ]
    if not (llvm / "libPolly.a").exists():
        # Linking at run time would ask for it; Debian's archives lack it.
        lines.append(
            "llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "
            '"none", "", [](llvm::PassBuilder &) {}}; }'
        )
    return "\n".join(lines) + "\n"


def link_compiler(build: pathlib.Path, kit: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """libloopc.so with LLVM in it: the build's own command, with archives in place of libraries."""
    llvm, include = _llvm(build)
    last = run(["ninja", "-t", "commands", LIBRARY], build).strip().splitlines()[-1]
    command = shlex.split(last.removeprefix(": && ").removesuffix(" && :"))
    source, none = scratch / "none.cpp", scratch / "none.o"
    source.write_text(_without_targets(llvm, include))
    run([command[0], "-std=c++20", "-O1", "-fPIC", "-w", f"-I{include}", "-c", str(source),
         "-o", str(none)], scratch)  # fmt: skip
    mlir = [str(p) for p in sorted(llvm.glob("libMLIR*.a"))
            if not re.search(r"Test|CAPI|JitRunner|libMLIRExecutionEngine\.a", p.name)]  # fmt: skip
    core = [str(p) for p in sorted(llvm.glob("libLLVM*.a"))
            if not re.search(r"Exegesis|TableGen|Test", p.name)]  # fmt: skip
    if not mlir or not core:
        raise PackError(f"there are no archives in {llvm} (libmlir-22-dev, llvm-22-dev)")
    made = kit / "lib/libloopc.so.0"
    made.parent.mkdir(parents=True)
    arguments = []
    for argument in command:
        if "libMLIR.so" in argument:
            arguments += ["-Wl,--start-group", *mlir, *core, "-Wl,--end-group"]
        elif argument == LIBRARY:
            arguments.append(str(made))
        elif not ("libLLVM.so" in argument or argument.startswith("-Wl,-rpath")):
            arguments.append(argument)
    # In front of the archives, so that theirs are not taken.
    arguments.insert(arguments.index("-o"), str(none))
    arguments += [
        "-lz",
        "-lzstd",
        "-Wl,--as-needed",
        "-Wl,--icf=all",
        "-Wl,-s",
        "-Wl,-rpath,$ORIGIN",
    ]
    run(arguments, build)
    return made


def copy_libraries(library: pathlib.Path) -> None:
    """What the compiler needs beside the C library."""
    fallback = library.parent / "fallback"
    fallback.mkdir()
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", run(["ldd", str(library)], ROOT), re.M):
        if SYSTEM.match(name):
            continue
        # The machine's own is younger, as a rule, and other packages may want that.
        is_common = name.startswith(("libstdc++", "libgcc_s"))
        shutil.copy(path, (fallback if is_common else library.parent) / name)


def build_extension(build: pathlib.Path, python: str, kit: pathlib.Path, compiler: str) -> str:
    """The Python package for the Python `python`. Returns that one's version."""
    ask = (
        "import sys, sysconfig; print(sysconfig.get_paths()['include'], "
        "sysconfig.get_config_var('EXT_SUFFIX'), '%d.%d' % sys.version_info[:2])"
    )
    include, suffix, version = run([python, "-c", ask], ROOT).split()
    if not pathlib.Path(include, "Python.h").is_file():
        raise PackError(f"{python} has no headers in {include}")
    package = kit / "python/loopc"
    package.mkdir(parents=True)
    for file in (ROOT / "python/loopc").glob("*.py"):
        shutil.copy(file, package)
    binding = pathlib.Path(run([sys.executable, "-m", "nanobind", "--cmake_dir"], ROOT).strip())
    binding = binding.parent
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-w", "-fvisibility=hidden",
             "-fno-strict-aliasing", "-DNDEBUG", "-DNB_COMPACT_ASSERTIONS", f"-I{include}",
             f"-I{binding}/include", f"-I{binding}/ext/robin_map/include", f"-I{ROOT}/include",
             f"-I{build}/include"]  # fmt: skip
    if tuple(map(int, version.split("."))) >= (3, 12):
        flags.append("-DPy_LIMITED_API=0x030C0000")
        suffix = ".abi3.so"
    version_of_loopc = re.search(
        r"project\(\w+\s+VERSION\s+(\S+)", (ROOT / "CMakeLists.txt").read_text()
    )
    flags.append(f'-DLOOPC_VERSION="{version_of_loopc[1] if version_of_loopc else ""}"')
    sources = sorted(map(str, (ROOT / "python/src").glob("*.cpp")))
    run([compiler, *flags, *sources, f"{binding}/src/nb_combined.cpp",
         str(kit / "lib/libloopc.so.0"), "-Wl,-rpath,$ORIGIN/../../lib", "-Wl,-s",
         "-o", str(package / f"_loopc{suffix}")], ROOT)  # fmt: skip
    return version


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


def find_python() -> str:
    """A Python of 3.12 or later with headers, whose extensions fit those after it; else ours."""
    for name in ("python3.12", "python3.13", "python3.14"):
        if path := shutil.which(name):
            code = "import os, sysconfig; os.stat(sysconfig.get_paths()['include'] + '/Python.h')"
            if subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
                return path
    return sys.executable


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
    library = link_compiler(build, kit, scratch)
    copy_libraries(library)
    print(f"Building the extension for {python}", flush=True)
    compiler = shutil.which("clang++-22") or "c++"
    version = build_extension(build, python, kit, compiler)
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
          f"{' and later' if version >= '3.12' else ''}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
