//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-place-outputs: finds the buffers that become outputs, so that the run
// can compute them in memory of the caller.

#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loopc/IR/Outputs.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Dialect/Nest/Analysis/AliasClasses.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace loopc {
#define GEN_PASS_DEF_PLACEOUTPUTS
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// An extent where its tensor has elements: one that is 0 in one of two cases
/// is that of the other case.
static OpFoldResult getExtentOfNonEmpty(OpFoldResult extent) {
  while (auto value = dyn_cast<Value>(extent)) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return Builder(value.getContext()).getIndexAttr(*constant);
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (select && getConstantIntValue(select.getTrueValue()) == 0)
      extent = select.getFalseValue();
    else if (select && getConstantIntValue(select.getFalseValue()) == 0)
      extent = select.getTrueValue();
    else
      break;
  }
  return extent;
}

/// The map from the extents of `alloc` to `shape`, where each of these is a
/// constant or one of those; null where one is not.
static AffineMap findShapeMap(memref::AllocOp alloc,
                              ArrayRef<OpFoldResult> shape) {
  MLIRContext *context = alloc.getContext();
  SmallVector<OpFoldResult> extents = alloc.getMixedSizes();
  SmallVector<AffineExpr> results;
  for (OpFoldResult given : shape) {
    OpFoldResult extent = getExtentOfNonEmpty(given);
    if (std::optional<int64_t> constant = getConstantIntValue(extent)) {
      results.push_back(getAffineConstantExpr(*constant, context));
      continue;
    }
    auto *found = llvm::find(extents, extent);
    if (found == extents.end())
      return {};
    results.push_back(getAffineDimExpr(found - extents.begin(), context));
  }
  return AffineMap::get(extents.size(), 0, results, context);
}

namespace {
/// Marks the buffers of one function.
class Placer {
public:
  explicit Placer(func::FuncOp function) : function(function) {}

  /// Marks what output `port` is computed in, where `value` is all of it.
  /// `shape`: the output's, where `value` is not the output itself.
  void place(Value value, std::optional<SmallVector<OpFoldResult>> shape,
             int64_t port) {
    if (auto alloc = value.getDefiningOp<memref::AllocOp>())
      return mark(alloc, shape ? *shape : alloc.getMixedSizes(), port);
    if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
        place(yield.getOperand(number), shape, port);
      return;
    }
    // Views of a whole buffer, which is in C order.
    if (auto view = value.getDefiningOp<memref::ExpandShapeOp>())
      return place(view.getSrc(), shape ? shape : view.getMixedOutputShape(),
                   port);
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<memref::CollapseShapeOp, memref::CastOp>(op))
      return;
    auto type = cast<MemRefType>(value.getType());
    if (!shape && type.hasStaticShape())
      shape = getAsIndexOpFoldResult(op->getContext(), type.getShape());
    if (shape)
      place(op->getOperand(0), shape, port);
  }

private:
  void mark(memref::AllocOp alloc, ArrayRef<OpFoldResult> shape, int64_t port) {
    MemRefType type = alloc.getType();
    AffineMap map = findShapeMap(alloc, shape);
    if (!map || !type.getLayout().isIdentity() || type.getMemorySpace() ||
        alloc->hasAttr(kOutputAttrName) || !runsOnce(alloc) ||
        hasOtherOwners(alloc))
      return;
    Builder b(alloc.getContext());
    alloc->setAttr(kOutputAttrName, b.getArrayAttr({b.getI64IntegerAttr(port),
                                                    AffineMapAttr::get(map)}));
  }

  bool runsOnce(Operation *op) const {
    Operation *parent = op->getParentOp();
    while (isa<scf::IfOp>(parent))
      parent = parent->getParentOp();
    return parent == function;
  }

  /// True for memory that may be released, or kept in a list: that must be of
  /// the run.
  bool hasOtherOwners(memref::AllocOp alloc) {
    if (!classes) {
      classes.emplace(function);
      function.walk([&](Operation *op) {
        if (isa<memref::DeallocOp, CallOpInterface>(op) ||
            isa<list::ListDialect>(op->getDialect()))
          for (Value operand : op->getOperands())
            if (isa<MemRefType>(operand.getType()))
              owned.insert(classes->of(operand));
      });
    }
    return owned.contains(classes->of(alloc));
  }

  func::FuncOp function;
  std::optional<AliasClasses> classes; ///< null until they are asked for
  llvm::DenseSet<const void *> owned;
};

struct PlaceOutputs : loopc::impl::PlaceOutputsBase<PlaceOutputs> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock() ||
        rt::findRun(function))
      return;
    Placer placer(function);
    Operation *done = function.getBody().front().getTerminator();
    int64_t port = -1;
    for (auto [k, value] : llvm::enumerate(done->getOperands())) {
      DictionaryAttr attributes = function.getResultAttrDict(k);
      if (attributes && attributes.contains(kShapeOfAttrName))
        continue; // of the output before it
      ++port;
      if (isa<MemRefType>(value.getType()) && !isFlatResult(function, k))
        placer.place(value, std::nullopt, port);
    }
  }
};
} // namespace
