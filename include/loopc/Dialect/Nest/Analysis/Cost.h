//===- Cost.h - What operations and nests cost ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The cost model: one table of what operations take, and one walk that sums it
// up over loops, those included whose trip counts only the run knows.

#ifndef LOOPC_DIALECT_NEST_ANALYSIS_COST_H
#define LOOPC_DIALECT_NEST_ANALYSIS_COST_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

#include <vector>

namespace loopc {

/// What an operation without regions takes, in simple instructions.
struct OpCost {
  int64_t time;     ///< of the processor
  int64_t codeSize; ///< what it becomes in the object
};

/// The row of the table for `op`.
OpCost getCost(mlir::Operation *op);

/// True for arithmetic that costs about as much as the load that it saves.
bool isCheap(mlir::Operation &op);

/// True for a function of math that becomes a polynomial, a table or a loop.
bool isElementaryFunction(mlir::Operation *op);

/// What a body, or a nest, takes.
struct Work {
  struct OpenLoop;

  /// Simple instructions as far as their number is known.
  double known = 0;
  /// Loops whose trip counts are not known.
  std::vector<OpenLoop> open;
  /// There is something else that takes as long as its operands want: a while,
  /// a call, a copy of an unknown size. It counts once.
  bool isUnbounded = false;

  /// True if `known` is all of it.
  bool isKnown() const { return open.empty() && !isUnbounded; }
  /// The number of instructions where each open loop runs `guessedTrips` times.
  double getTotal(double guessedTrips) const;
  /// The same number of instructions, at most `limit`; none where it is not
  /// known.
  std::optional<int64_t> getKnown(int64_t limit) const;

  Work &operator+=(Work other);
  Work &operator*=(double factor);
};

/// A loop whose trip count is not known, and what an iteration takes.
struct Work::OpenLoop {
  mlir::scf::ForOp loop;
  Work iteration;
};

/// How work is counted where it is done.
struct WorkRules {
  /// Elements that are computed at a time in a loop of scalars, which LLVM
  /// vectorises, and in a copy.
  double lanes = 1;
  /// Test and jump of an iteration, or of a branch.
  double control = 0;
  /// Trips of a loop whose bounds are computed in the nest; 0: it is open.
  double guessedTrips = 0;
  /// Trips of a loop of the model whose number is not known, between the polls
  /// of which it takes care itself; 0: it takes as long as its operands want.
  double polledTrips = 0;
  /// What is marked as cold counts as one test.
  bool skipsCold = false;
};

/// On a core of the CPU: loops are unrolled and vectorised.
inline constexpr WorkRules kCpuWork{.lanes = 8, .skipsCold = true};
/// On a thread of a GPU.
inline constexpr WorkRules kGpuThreadWork{.control = 2};

/// Estimates work; each operation is looked at once.
class WorkEstimate {
public:
  /// Values that are not computed in `nest` are known when it begins.
  WorkEstimate(mlir::Operation *nest, WorkRules rules)
      : nest(nest), rules(rules) {}

  Work of(mlir::Operation *op) const;
  Work of(mlir::Region &region) const;
  /// What an iteration of `loop` takes.
  Work ofIteration(mlir::scf::ForOp loop) const;
  /// The bound of a loop, or what its upper one is at most, and its lower one
  /// and its step at least, where that is known when `nest` begins; else null.
  mlir::Value findKnownBound(mlir::Value bound, bool isUpper) const;

private:
  std::optional<double> countTrips(mlir::scf::ForOp loop) const;

  mlir::Operation *nest;
  WorkRules rules;
};

/// What it takes to read the operands of `nest` that stay in no cache, as a
/// number of instructions: each core reads its part as fast as one reads all.
double countStreaming(mlir::scf::ForOp nest);

/// True for a loop of scalars without loops in it, which LLVM may vectorise.
bool isOfScalars(mlir::scf::ForOp loop);

/// Moves bounds of the loops in `nest` in front of it where they do not depend
/// on its iteration: how much it has to do is asked there.
void hoistBounds(mlir::scf::ForOp nest);

} // namespace loopc

#endif // LOOPC_DIALECT_NEST_ANALYSIS_COST_H
