//===- TargetOptions.h - What code is made for ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TARGET_TARGETOPTIONS_H
#define LOOPC_TARGET_TARGETOPTIONS_H

#include "loopc/Support/GPUTarget.h"
#include "loopc/Support/VectorUnit.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace loopc {

class MachineStore;

/// The machine that code is made for, and how.
struct TargetOptions {
  /// LLVM's triple ("aarch64-linux-gnu"); empty: this machine's.
  std::string triple;
  /// LLVM's name of a CPU, "native" for this one with all its features, or
  /// "portable" for getPortableCpu().
  /// Empty: native when compiling for this machine, generic otherwise.
  std::string cpu;
  /// Features added to or taken from those of the CPU: "+avx2,-avx512f".
  std::string features;
  /// NVIDIA GPU that runs the loops, as "sm_90": the code holds PTX for it and
  /// for later ones. Empty: none, everything runs on the CPU.
  std::string chip;
  /// Operations up to which a nest stays on the CPU, where no kernel works on
  /// what it works on.
  unsigned minKernelWork = 2048;
  /// Kernels may round factors of f32 products to tf32 (10 bits behind the
  /// point), which tensor cores multiply.
  bool allowTf32 = false;
  /// What loops become on a GPU.
  DeviceLoops deviceLoops = DeviceLoops::Auto;
  /// Which products cuBLAS computes on a GPU.
  Cublas cublas = Cublas::Auto;
  /// 0 to 3, as in -O0 to -O3.
  unsigned optLevel = 3;
  /// LLVM's part is that of -O1 at most, which is ready sooner and runs slower.
  /// The bits of results are the same, as far as docs/Rationale/Ready.md says.
  bool quickCode = false;
  /// Round a product and the sum that it goes into once, by an FMA where the
  /// target has one, as C++ compilers do. ONNX rounds each.
  bool fpContract = false;
  /// Where a line for each node is written, which line tables in the code refer
  /// to as its source; empty: the code has none.
  std::string nodesFile;
  /// NAME of the functions NAME_model and NAME_run, a C identifier; empty: made
  /// from the model's name.
  std::string name;
  /// Shared objects: folders to look for libm and libc in, before the usual
  /// ones of the target.
  std::vector<std::string> libraryPaths;
  /// Shared objects: libloopc_rt.a of the target; empty: the one that was
  /// built with the compiler, which is this machine's. Or a libloopc.so, which
  /// the process that loads the object has to have.
  std::string runtimeLibrary;
  /// Variables that describe custom operators (loopc-rt/custom.h), in this
  /// process: code that is compiled into it refers to them.
  std::vector<std::pair<std::string, const void *>> customOperators;
  /// Shared objects: libraries that define such variables, to link with.
  std::vector<std::string> customLibraries;
  /// Shared objects: the variables are in the object itself, all zero, and
  /// whoever loads it copies what they are into them.
  bool bindsOperators = false;

  /// Where machines that are not used any more wait for the next one that wants
  /// such; none: each is made anew. Those of other targets, or of other levels,
  /// are told apart there.
  std::shared_ptr<MachineStore> machines;

  /// The level of what LLVM does.
  unsigned getCodeLevel() const {
    return quickCode ? std::min(optLevel, 1u) : optLevel;
  }
};

/// True for the triple of a GPU: the code of the host is then this machine's.
bool isGPUTriple(llvm::StringRef triple);

/// What the target of `options` has; the least of all where they are wrong.
VectorUnit getVectorUnit(const TargetOptions &options);

} // namespace loopc

#endif // LOOPC_TARGET_TARGETOPTIONS_H
