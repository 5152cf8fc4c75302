//===- NestUses.cpp - What a nest does with buffers -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestUses.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/PrivateBuffers.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

/// True if `access`, at the number of an iteration of `nest` along `axis`, goes
/// no further than the next one begins.
static bool takesStep(const Access &access, size_t axis, scf::ForOp nest) {
  int64_t extent = access.getExtent(axis);
  std::optional<int64_t> step = getConstantIntValue(nest.getStep());
  return extent == 1 || (step && extent <= *step);
}

/// The axis of the root of `buffer` that numbers along its axis `axis` count
/// along, too; none where a view counts from another place.
static std::optional<unsigned> axisOfRoot(Value buffer, unsigned axis) {
  while (Value source = getViewSource(buffer)) {
    Operation *view = buffer.getDefiningOp();
    if (auto joined = dyn_cast<memref::CollapseShapeOp>(view)) {
      ReassociationIndices group = joined.getReassociationIndices()[axis];
      if (group.size() != 1)
        return std::nullopt;
      axis = group.front();
    } else if (!isa<memref::CastOp>(view)) {
      return std::nullopt;
    }
    buffer = source;
  }
  return axis;
}

std::optional<NestUses> loopc::findNestUses(scf::ForOp nest) {
  NestUses uses;
  WalkResult result = nest.getBody()->walk([&](Operation *op) {
    Access access = getAccess(op);
    if (!access.buffer) {
      // What loops and branches hold is walked by itself.
      return isMemoryEffectFree(op) ||
                     isa<scf::ForOp, scf::IfOp, LLVM::CallIntrinsicOp>(op)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    }
    Value base = getViewRoot(access.buffer);
    std::optional<unsigned> axis;
    for (auto [k, index] : llvm::enumerate(access.place))
      if (index == nest.getInductionVar() && takesStep(access, k, nest))
        axis = axisOfRoot(access.buffer, k);
    uses[base].add(axis, access.writes);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return uses;
}

bool KnownBuffers::isKnownToAccesses(Value buffer) {
  if (!buffer.getDefiningOp<memref::AllocOp>())
    return false;
  auto [it, isNew] = known.try_emplace(buffer, false);
  if (isNew)
    it->second = allUsersOfViews(buffer, [&](Operation *user) {
      ++work;
      return getAccess(user).buffer ||
             isa<memref::DeallocOp, memref::DimOp, func::ReturnOp>(user);
    });
  return it->second;
}

// Nobody has proved the marks yet.
bool loopc::isBufferOfIteration(Value buffer) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && alloc->hasAttr(kPrivateAttrName) &&
         !findPrivateObstacle(alloc);
}

bool KnownBuffers::writesPrivately(const NestUses &uses) {
  return llvm::all_of(uses, [&](const auto &entry) {
    return !entry.second.isWritten || isBufferOfIteration(entry.first) ||
           isKnownToAccesses(entry.first);
  });
}

bool loopc::isParallelNest(scf::ForOp loop) {
  return loop && loop->hasAttr(kParallelAttrName) &&
         loop.getNumResults() == 0 &&
         loop.getInductionVar().getType().isIndex();
}
