//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Pipelines/Phases.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace loopc;

void loopc::buildPipeline(OpPassManager &passes, const PipelineOptions &options,
                          Stage until, std::optional<Stage> behind) {
  for (const Phase &phase : getPhases())
    if (phase.stage <= until && (!behind || phase.stage > *behind) &&
        phase.isPartOf(options))
      phase.populate(PassAdder(passes, options.disabledPasses), options);
}

void loopc::registerPipelines() {
  struct Entry {
    StringRef name, summary;
    Stage stage;
  };
  static constexpr Entry entries[] = {
      {"loopc-to-onnx", "infer types of the import", Stage::ONNX},
      {"loopc-to-loop", "infer types and canonicalise loops", Stage::Loop},
      {"loopc-to-linalg", "from the import to linalg in loops", Stage::Linalg},
      {"loopc-to-memref", "from the import to buffers", Stage::MemRef},
      {"loopc-to-scf", "from the import to scf", Stage::SCF},
      {"loopc-to-llvm", "from the import to the LLVM dialect", Stage::LLVM},
  };
  for (const Entry &entry : entries) {
    Stage stage = entry.stage;
    PassPipelineRegistration<>(
        entry.name, entry.summary,
        [stage](OpPassManager &manager) { buildPipeline(manager, {}, stage); });
  }
  registerKernelPipeline();
}
