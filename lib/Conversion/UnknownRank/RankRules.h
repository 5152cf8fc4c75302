//===- RankRules.h - The ranks that operators take ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_UNKNOWNRANK_RANKRULES_H
#define LOOPC_LIB_CONVERSION_UNKNOWNRANK_RANKRULES_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include <optional>

namespace loopc {

/// How an operator takes an operand, whatever the operand's rank is.
enum class OperandForm {
  Tensor,    ///< the rank matters
  List,      ///< its elements
  OneElement ///< the only one of them
};

OperandForm formOfOperand(onnx::NodeOp node, unsigned i);

/// The only rank that `node` takes for its operand `i`, where its attributes
/// and the operands of known rank tell.
std::optional<int64_t> requiredRank(onnx::NodeOp node, unsigned i);

/// Whether `node` may take an operand `i` of rank `rank`.
bool mayHaveRank(onnx::NodeOp node, unsigned i, int64_t rank);

/// The first operand that must have the rank of operand `i`.
unsigned leaderOfRank(onnx::NodeOp node, unsigned i);

/// The rank that operand `i` of `node` has, where it is known.
std::optional<int64_t> rankOfInput(onnx::NodeOp node, unsigned i);

/// The rank of the updates of a ScatterND, where the other operands tell it.
std::optional<int64_t> rankOfUpdates(onnx::NodeOp node);

/// The least rank of collected result `k` of a loop, whose type tells none: it
/// has the axis that it is collected along, and padding has rows. That is its
/// rank after no iteration (loop_zero).
int64_t leastRankOfCollected(loop::LoopOp loop, unsigned k);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_UNKNOWNRANK_RANKRULES_H
