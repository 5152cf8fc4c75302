//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The way of a model through the passes.

#ifndef LOOPC_PIPELINES_PIPELINES_H
#define LOOPC_PIPELINES_PIPELINES_H

#include "loopc/Support/WeightType.h"
#include "loopc/Target/TargetOptions.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace loopc {

/// Where a pipeline ends. Each stage is what the one before it becomes.
enum class Stage {
  ONNX, ///< onnx.node, loop.loop, loop.scan, scf.if on tensors, types inferred
  Loop, ///< the same, loops canonicalised
  Linalg, ///< linalg, tensor, arith, math in loop.loop; optimised
  MemRef, ///< buffers: bufferized, ownership and storage of loops settled
  SCF,    ///< scf and memref only
  LLVM,   ///< the LLVM dialect: what the back end takes
};

struct PipelineOptions {
  /// 0: no fusion and no loop optimisation; 1 to 3: all of them.
  int optLevel = 2;
  /// Accesses to buffers are checked at run time (CompilerOptions).
  bool checkAccesses = false;
  /// Parts of the model are measured at run time (CompilerOptions).
  bool profile = false;
  /// What weights of products are rounded to (CompilerOptions).
  WeightType weights = WeightType::Model;
  /// The target's vector registers; none: the module's `loopc.target` stays as
  /// it is, with its registers and its GPU.
  std::optional<VectorUnit> vectors;
  /// Less code, which is made sooner and runs slower; results have the same
  /// bits. Stages up to MemRef are the same.
  bool quickCode = false;
  /// Nests and loops become kernels of it, where it has a chip.
  GPUTarget gpu;
  /// Passes that are left out, by their names (PassTable.h). Without one that
  /// is needed the pipeline fails.
  std::vector<std::string> disabledPasses;
};

/// Appends the passes that lead from an imported (or hand-written) module, or
/// from the end of the stage `behind`, to `until`: those of each phase
/// (Phases.h).
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options,
                   Stage until, std::optional<Stage> behind = std::nullopt);

/// Registers `loopc-to-linalg`, `loopc-to-memref`, `loopc-to-scf` and
/// `loopc-to-llvm`, each from the import on.
void registerPipelines();

/// Registers `loopc-to-kernels`, which leads from loops on buffers to kernels
/// and launches.
void registerKernelPipeline();

} // namespace loopc

#endif // LOOPC_PIPELINES_PIPELINES_H
