//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-hoist-dims: dimensions of carried values that no iteration changes.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPHOISTDIMS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

namespace {
/// A dimension of a carried value.
struct CarriedDim {
  unsigned port;
  int64_t axis;
  OpFoldResult ofInit, ofYield;
  bool invariant = true;
};
} // namespace

/// Replaces every `tensor.dim value, axis` by `known`.
static void replaceDims(IRRewriter &rewriter, Value value, int64_t axis,
                        OpFoldResult known) {
  SmallVector<tensor::DimOp> dims;
  for (Operation *user : value.getUsers())
    if (auto dim = dyn_cast<tensor::DimOp>(user))
      if (dim.getConstantIndex() == axis)
        dims.push_back(dim);
  for (tensor::DimOp dim : dims) {
    rewriter.setInsertionPoint(dim);
    rewriter.replaceOp(
        dim, getValueOrCreateConstantIndexOp(rewriter, dim.getLoc(), known));
  }
}

/// Takes away, until nothing changes, the dimensions whose yielded extent is
/// neither the init's nor that of a dimension that starts out equal.
static void findInvariant(LoopOp loop, MutableArrayRef<CarriedDim> dims) {
  auto equalsInit = [&](const CarriedDim &dim) {
    if (isEqualConstantIntOrValue(dim.ofYield, dim.ofInit))
      return true;
    auto value = dyn_cast<Value>(dim.ofYield);
    auto op = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    return op && llvm::any_of(dims, [&](const CarriedDim &other) {
             return other.invariant &&
                    op.getSource() == loop.getCarriedArgs()[other.port] &&
                    op.getConstantIndex() == other.axis &&
                    isEqualConstantIntOrValue(other.ofInit, dim.ofInit);
           });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (CarriedDim &dim : dims)
      if (dim.invariant && !equalsInit(dim)) {
        dim.invariant = false;
        changed = true;
      }
  }
}

static void hoistDims(IRRewriter &rewriter, LoopOp loop) {
  SmallVector<CarriedDim> dims;
  YieldOp yield = loop.getYield();
  for (unsigned k = 0; k < loop.getNumCarried(); ++k) {
    auto type = dyn_cast<RankedTensorType>(loop.getInits()[k].getType());
    for (int64_t axis = 0; type && axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis))
        continue;
      rewriter.setInsertionPoint(loop);
      OpFoldResult init =
          resolveDim(rewriter, loop.getLoc(), loop.getInits()[k], axis);
      rewriter.setInsertionPoint(yield);
      OpFoldResult next =
          resolveDim(rewriter, loop.getLoc(), yield.getCarried()[k], axis);
      dims.push_back({k, axis, init, next});
    }
  }
  findInvariant(loop, dims);
  for (const CarriedDim &dim : dims) {
    if (!dim.invariant)
      continue;
    replaceDims(rewriter, loop.getCarriedArgs()[dim.port], dim.axis,
                dim.ofInit);
    // A dim of the result stands behind the loop, where the init's dimension
    // is still visible.
    replaceDims(rewriter, loop.getResult(dim.port), dim.axis, dim.ofInit);
  }
}

namespace {
struct LoopHoistDims : loopc::impl::LoopHoistDimsBase<LoopHoistDims> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Inner loops first: what they settle, outer ones build on. Dimensions of
    // an inner loop's results are asked for before they are replaced, so that
    // there is something to replace.
    getOperation().walk([&](LoopOp loop) {
      loop.walk([&](YieldOp yield) {
        for (Value value : yield.getCarried())
          if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
            rewriter.setInsertionPoint(yield);
            resolveDims(rewriter, yield.getLoc(), value);
          }
      });
    });
    getOperation().walk([&](LoopOp loop) { hoistDims(rewriter, loop); });
  }
};
} // namespace
