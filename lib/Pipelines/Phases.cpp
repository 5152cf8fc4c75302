//===- Phases.cpp - The parts of the pipeline -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/Phases.h"
#include "Stages/StageErrors.h"
#include "loopc/Pipelines/PassTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace loopc;

static constexpr Phase kPhases[] = {
#define LOOPC_PHASE(NAME, STAGE, TARGET, LEVEL, SUMMARY)                       \
  {"populate" #NAME,    SUMMARY, Stage::STAGE,                                 \
   PhaseTarget::TARGET, LEVEL,   populate##NAME},
#include "loopc/Pipelines/Phases.def"
};

llvm::ArrayRef<Phase> loopc::getPhases() { return kPhases; }

bool Phase::isPartOf(const PipelineOptions &options) const {
  PhaseTarget wanted =
      options.gpu.chip.empty() ? PhaseTarget::CPU : PhaseTarget::GPU;
  return options.optLevel >= minLevel &&
         (target == PhaseTarget::Any || target == wanted);
}

std::vector<PlacedPass> Phase::list(const PipelineOptions &options) const {
  OpPassManager manager(ModuleOp::getOperationName());
  std::vector<PlacedPass> passes;
  populate(PassAdder(manager, options.disabledPasses, &passes), options);
  return passes;
}

static StringRef describe(PhaseTarget target) {
  switch (target) {
  case PhaseTarget::Any:
    return "any";
  case PhaseTarget::CPU:
    return "cpu";
  case PhaseTarget::GPU:
    return "gpu";
  }
  llvm_unreachable("a target that PhaseTarget does not have");
}

void loopc::printPipelines(raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.array([&] {
    for (const Phase &phase : kPhases)
      json.object([&] {
        PipelineOptions options;
        options.checkAccesses = true;
        options.profile = true;
        options.weights = WeightType::BF16;
        options.vectors = VectorUnit();
        if (phase.target == PhaseTarget::GPU)
          options.gpu.chip = "sm_80";
        json.attribute("name", phase.name);
        json.attribute("summary", phase.summary);
        json.attribute("stage", getStageName(phase.stage));
        json.attribute("target", describe(phase.target));
        json.attribute("level", phase.minLevel);
        json.attributeArray("passes", [&] {
          for (const PlacedPass &pass : phase.list(options))
            json.object([&] {
              json.attribute("name", pass.name);
              json.attribute("anchor", pass.anchor);
              json.attribute("summary", pass.summary);
              json.attribute("reason", pass.reason);
            });
        });
      });
  });
  os << "\n";
}
