# ===- lit.cfg.py - Configuration of the lit suite --------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
#
# Tests call loopc's tools (loopc, loopc-opt, loopc-run, ...) and LLVM's
# (FileCheck, not, split-file, llvm-nm, ...) by name: both folders come first on
# PATH. A tool that is missing fails the tests that call it; nothing is skipped
# because of it. Substitutions beside lit's own:
#
#   %python         the Python of .venv
#   %cc, %cxx       the compilers of the build;  %cmake  its CMake
#   %loopc_source   the repository;  %loopc_include  its include/
#   %loopc_lib      the folder with libloopc_rt.a;  %loopc_build  the build tree
#   %limit_memory   ends commands behind it that want more than 4 GB
#   %cc_aarch64     C cross compiler;  %run_aarch64  runs what it made
#
# Features: host-x86_64, host-aarch64; one `<name>-registered` for each of
# LLVM's targets (x86-registered, aarch64-registered, nvptx-registered, ...);
# qemu-aarch64 where AArch64 programs can be linked and run; asan; bolt; ptxas and
# cuda-header where the CUDA toolkit has them.

import os
import platform
import shutil

import lit.formats

config.name = "loopc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".td", ".onnxtxt"]
config.excludes = ["Inputs", "python", "conformance", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.loopc_binary_dir, "test")

bin_dir = os.path.join(config.loopc_binary_dir, "bin")
path = os.pathsep.join([bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["PATH"] = path
config.environment["LC_ALL"] = "C.UTF-8"
# Freed memory is overwritten, so that what is used after it was freed shows.
config.environment["MALLOC_PERTURB_"] = "165"
# The IR is verified after every pass.
config.environment["LOOPC_VERIFY_EACH"] = "1"
# Models are compiled, and not found, and without a process for each of them.
config.environment["LOOPC_CACHE_DIR"] = "off"
config.environment["LOOPC_COMPILE"] = "inprocess"
# Where threads are the subject the test says how many.
config.environment["LOOPC_NUM_THREADS"] = "1"
for name in (
    *("ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR", "HOME"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"),
):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Without these no test means anything.
for tool in ("FileCheck", "not", "split-file", "count"):
    if not os.path.exists(os.path.join(config.llvm_tools_dir, tool)):
        lit_config.fatal(f"'{tool}' is not in {config.llvm_tools_dir}: run ./dev setup")
if not os.path.exists(config.python):
    lit_config.fatal(f"there is no Python at {config.python}: run ./dev setup")
if not os.path.isdir(bin_dir):
    lit_config.fatal(f"{bin_dir} is not there: run ./dev build")

machine = platform.machine()
config.available_features.add(f"host-{machine}")
for target in config.llvm_targets:
    config.available_features.add(f"{target.lower()}-registered")

# Objects for AArch64 run here, or under qemu. A machine that can do neither is
# not set up; `--param aarch64=off` says that this is meant.
if machine == "aarch64":
    cc_aarch64, run_aarch64 = config.c_compiler, "env"
else:
    cc_aarch64 = shutil.which("aarch64-linux-gnu-gcc", path=path)
    run_aarch64 = shutil.which("qemu-aarch64", path=path)
    if run_aarch64:
        run_aarch64 += " -L /usr/aarch64-linux-gnu"
if lit_config.params.get("aarch64") != "off":
    if not (cc_aarch64 and run_aarch64):
        lit_config.fatal(
            "qemu-aarch64 or aarch64-linux-gnu-gcc is missing: run ./dev setup, or leave out "
            "what needs them by --param aarch64=off"
        )
    config.available_features.add("qemu-aarch64")
    config.substitutions.append(("%cc_aarch64", cc_aarch64))
    config.substitutions.append(("%run_aarch64", run_aarch64))

toolkits = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
toolkits = [*filter(None, toolkits), "/usr/local/cuda"]
if shutil.which("ptxas", path=os.pathsep.join([path, *(f"{root}/bin" for root in toolkits)])):
    config.available_features.add("ptxas")
for include in (f"{root}/include" for root in toolkits):
    if os.path.exists(f"{include}/cuda.h"):
        config.available_features.add("cuda-header")
        config.substitutions.append(("%cuda_include", include))
        break

# What has the sanitizer's runtime in it is no library for programs outside, and
# reserves more addresses than any limit.
if config.loopc_asan:
    config.available_features.add("asan")
if config.loopc_archives:
    config.available_features.add("llvm-archives")
if os.path.exists(os.path.join(config.llvm_tools_dir, "llvm-bolt")):
    config.available_features.add("bolt")
libraries = ("libloopc_images.so", "libloopc_text.so")
if all(os.path.exists(os.path.join(config.loopc_binary_dir, "lib", n)) for n in libraries):
    config.available_features.add("operators")
config.substitutions.append(("%limit_memory", ":" if config.loopc_asan else "ulimit -v 4000000"))

config.substitutions += [
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
    ("%loopc_source", config.loopc_source_dir),
    ("%loopc_include", os.path.join(config.loopc_source_dir, "include")),
    ("%loopc_build", config.loopc_binary_dir),
    ("%loopc_lib", os.path.join(config.loopc_binary_dir, "lib")),
]
