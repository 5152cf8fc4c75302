//===- Phases.h - The parts of the pipeline ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A function for each part of the pipeline, so that it can be read, listed and
// put together otherwise; see Phases.def.

#ifndef LOOPC_PIPELINES_PHASES_H
#define LOOPC_PIPELINES_PHASES_H

#include "loopc/Pipelines/Pipelines.h"
#include "loopc/Support/PassAdder.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace loopc {

#define LOOPC_PHASE(NAME, STAGE, TARGET, LEVEL, SUMMARY)                       \
  void populate##NAME(PassAdder manager, const PipelineOptions &options);
#include "loopc/Pipelines/Phases.def"

/// Passes that depend on the target, and not only on its registers, are in
/// phases for one of these.
enum class PhaseTarget { Any, CPU, GPU };

/// A row of Phases.def.
struct Phase {
  /// The name of its function: "populateVectors".
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  Stage stage;
  PhaseTarget target;
  int minLevel;
  void (*populate)(PassAdder manager, const PipelineOptions &options);

  /// Whether its passes are in a pipeline with `options` at all.
  bool isPartOf(const PipelineOptions &options) const;
  /// Its passes in their order.
  std::vector<PlacedPass> list(const PipelineOptions &options) const;
};

/// All phases in their order.
llvm::ArrayRef<Phase> getPhases();

/// Prints all phases as a JSON array of objects with the members `name`,
/// `summary`, `stage` ("linalg"), `target` ("any", "cpu", "gpu"), `level` and
/// `passes`, the members of PlacedPass. Passes that are there by an option are
/// among them.
void printPipelines(llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_PIPELINES_PHASES_H
