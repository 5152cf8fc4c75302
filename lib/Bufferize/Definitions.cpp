//===- Definitions.cpp - What may have made a value -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Definitions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace loopc;

bool loopc::isBranch(Operation *op) {
  return isa<scf::IfOp, scf::IndexSwitchOp>(op);
}

const Definitions::Values &Definitions::of(Value value) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value last = open.back();
    if (known.contains(last)) {
      open.pop_back();
      continue;
    }
    ++numSteps;
    // What is no operation of bufferization is followed no further.
    AliasingOpOperandList aliases;
    if (state.getOptions().dynCastBufferizableOp(last))
      aliases = state.getAliasingOpOperands(last);
    size_t before = open.size();
    for (const AliasingOpOperand &alias : aliases)
      if (!known.contains(alias.opOperand->get()))
        open.push_back(alias.opOperand->get());
    if (open.size() != before)
      continue;
    find(last, aliases);
    open.pop_back();
  }
  return *known.at(value);
}

/// The definitions of `value`, of which those of its other names are known.
void Definitions::find(Value value, const AliasingOpOperandList &aliases) {
  auto found = std::make_unique<Values>();
  if (isWritten(value, aliases))
    found->insert(value);
  else
    for (const AliasingOpOperand &alias : aliases)
      found->insert_range(*known.at(alias.opOperand->get()));
  known.try_emplace(value, std::move(found));
}

/// True if memory is written when `value` is made. The result of a branch is
/// what is written in the branch.
bool Definitions::isWritten(Value value, const AliasingOpOperandList &aliases) {
  Operation *op = value.getDefiningOp();
  if (!op || !isBranch(op) || aliases.getNumAliases() == 0)
    return state.bufferizesToMemoryWrite(value);
  return llvm::any_of(aliases, [&](const AliasingOpOperand &alias) {
    return state.bufferizesToMemoryWrite(*alias.opOperand) ||
           llvm::any_of(*known.at(alias.opOperand->get()), [&](Value one) {
             return op->isAncestor(one.getParentBlock()->getParentOp());
           });
  });
}
