//===- CarryPadded.cpp - Loops that carry what they pad -------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-carry-padded: a field of which each iteration reads neighbours is
// carried with its padding. Two padded tensors take turns, and the borders of
// both are written once:
//
//   loop.loop carried(%x = %x0) {
//     %p = tensor.insert_slice %x into %border[1] [%n] [1]
//     %y = generic ins(slices of %p, %x) outs(%empty)
//     loop.yield carried(%y)
//   }
//     becomes
//   %p0 = tensor.insert_slice %x0 into %border[1] [%n] [1]
//   loop.loop carried(%p = %p0, %other = %border) {
//     %x = tensor.extract_slice %p[1] [%n] [1]
//     %to = tensor.extract_slice %other[1] [%n] [1]
//     %y = generic ins(slices of %p, %x) outs(%to)
//     %next = tensor.insert_slice %y into %other[1] [%n] [1]
//     loop.yield carried(%next, %p)
//   }

#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPCARRYPADDED
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

namespace {
/// One carried field of a loop.
class PaddedField {
public:
  PaddedField(RewriterBase &rewriter, LoopOp loop, unsigned port)
      : rewriter(rewriter), loop(loop), port(port),
        argument(loop.getCarriedArgs()[port]) {}

  bool match();
  LoopOp rewrite();

private:
  bool isInsertion(tensor::InsertSliceOp insert);
  bool fitsInside(tensor::InsertSliceOp insert);
  bool hasExtents(Value field);
  linalg::GenericOp computedBy();

  RewriterBase &rewriter;
  LoopOp loop;
  unsigned port;
  Value argument;
  tensor::InsertSliceOp pad;
};
} // namespace

/// True if `user` only reads elements of `value`.
static bool onlyReads(Operation *user, Value value) {
  if (isa<tensor::ExtractSliceOp, tensor::DimOp>(user))
    return true;
  auto op = dyn_cast<linalg::LinalgOp>(user);
  return op && !llvm::is_contained(op.getDpsInits(), value);
}

/// True if `size` elements from `offset` on are some of `extent`, by how that
/// is computed.
static bool fits(OpFoldResult extent, OpFoldResult offset, OpFoldResult size) {
  std::optional<int64_t> begin = getConstantIntValue(offset);
  if (!begin || *begin < 0)
    return false;
  // The verifier has seen constants.
  if (getConstantIntValue(extent) && getConstantIntValue(size))
    return true;
  if (isEqualConstantIntOrValue(extent, size))
    return *begin == 0;
  auto value = dyn_cast<Value>(extent);
  auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  std::optional<int64_t> more =
      sum ? getConstantIntValue(sum.getRhs()) : std::nullopt;
  return more && *more >= *begin && OpFoldResult(sum.getLhs()) == size;
}

/// True if `insert` stays within its destination by how large that is: it will
/// run in front of what the loop checks, and where there is no iteration.
bool PaddedField::fitsInside(tensor::InsertSliceOp insert) {
  SmallVector<OpFoldResult> extents =
      resolveDims(rewriter, insert.getLoc(), insert.getDest());
  for (auto [extent, offset, size] : llvm::zip_equal(
           extents, insert.getMixedOffsets(), insert.getMixedSizes()))
    if (!fits(extent, offset, size))
      return false;
  return true;
}

/// True if `insert` puts the whole field into a tensor that no iteration
/// changes, at a place that none changes.
bool PaddedField::isInsertion(tensor::InsertSliceOp insert) {
  auto isFixed = [&](OpFoldResult number) {
    auto value = dyn_cast<Value>(number);
    return !value || loop.isDefinedOutsideOfLoop(value);
  };
  return insert && insert.getSource() == argument &&
         insert->getBlock() == loop.getLoopBody() && insert.hasUnitStride() &&
         insert.getDroppedDims().none() &&
         loop.isDefinedOutsideOfLoop(insert.getDest()) &&
         llvm::all_of(insert.getMixedOffsets(), isFixed) &&
         llvm::all_of(insert.getMixedSizes(), isFixed) && fitsInside(insert);
}

/// True if `field` has the extents of what is inserted.
bool PaddedField::hasExtents(Value field) {
  SmallVector<OpFoldResult> dims = resolveDims(rewriter, loop.getLoc(), field);
  return llvm::equal(dims, pad.getMixedSizes(), isEqualConstantIntOrValue);
}

/// What computes the next field, into memory that it can be given.
linalg::GenericOp PaddedField::computedBy() {
  auto result = dyn_cast<OpResult>(loop.getYield().getCarried()[port]);
  auto op = result ? dyn_cast<linalg::GenericOp>(result.getOwner())
                   : linalg::GenericOp();
  bool isOwn = op && op->getBlock() == loop.getLoopBody() &&
               op.getDpsInits()[result.getResultNumber()]
                   .getDefiningOp<tensor::EmptyOp>();
  return isOwn ? op : linalg::GenericOp();
}

bool PaddedField::match() {
  rewriter.setInsertionPoint(loop);
  if (!isa<RankedTensorType>(argument.getType()) || !computedBy())
    return false;
  for (Operation *user : argument.getUsers()) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    if (!pad && isInsertion(insert))
      pad = insert;
    else if (!onlyReads(user, argument))
      return false;
  }
  return pad &&
         llvm::all_of(pad->getUsers(),
                      [&](Operation *user) { return onlyReads(user, pad); }) &&
         hasExtents(loop.getInits()[port]) &&
         hasExtents(loop.getYield().getCarried()[port]);
}

LoopOp PaddedField::rewrite() {
  Location loc = pad.getLoc();
  SmallVector<OpFoldResult> offsets = pad.getMixedOffsets(),
                            sizes = pad.getMixedSizes(),
                            steps = pad.getMixedStrides();
  auto type = cast<RankedTensorType>(argument.getType());
  auto cut = [&](Value padded) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, type, padded, offsets,
                                          sizes, steps);
  };
  auto insert = [&](Value field, Value into) -> Value {
    return tensor::InsertSliceOp::create(rewriter, loc, field, into, offsets,
                                         sizes, steps);
  };
  rewriter.setInsertionPoint(loop);
  LoopSignature signature(loop);
  signature.inits[port] = insert(signature.inits[port], pad.getDest());
  signature.inits.push_back(pad.getDest());
  auto made = LoopOp::create(rewriter, loop.getLoc(), signature);

  rewriter.setInsertionPointToStart(made.getLoopBody());
  Value padded = made.getCarriedArgs()[port];
  Value other = made.getCarriedArgs().back();
  SmallVector<Value> replacements{made.getCounter(), made.getConditionArg()};
  llvm::append_range(replacements, made.getCarriedArgs().drop_back());
  replacements[2 + port] = cut(padded);
  llvm::append_range(replacements, made.getSliceArgs());
  Value to = cut(other);
  moveBody(rewriter, loop, made, replacements);
  rewriter.replaceOp(pad, padded);

  YieldOp yield = made.getYield();
  SmallVector<Value> next(yield.getCarried());
  auto field = cast<OpResult>(next[port]);
  auto op = cast<linalg::GenericOp>(field.getOwner());
  rewriter.modifyOpInPlace(
      op, [&] { op.getOutputsMutable()[field.getResultNumber()].set(to); });
  rewriter.setInsertionPoint(yield);
  next[port] = insert(field, other);
  next.push_back(padded);
  YieldOp::create(rewriter, yield.getLoc(), yield.getCondition(), next,
                  yield.getCollected());
  rewriter.eraseOp(yield);

  rewriter.setInsertionPointAfter(made);
  SmallVector<Value> results(made.getCarriedResults().drop_back());
  results[port] = cut(results[port]);
  llvm::append_range(results, made.getCollectedResults());
  rewriter.replaceOp(loop, results);
  return made;
}

namespace {
struct LoopCarryPadded : loopc::impl::LoopCarryPaddedBase<LoopCarryPadded> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (LoopOp loop : collectLoops(getOperation()))
      for (unsigned port : llvm::seq(loop.getNumCarried())) {
        PaddedField field(rewriter, loop, port);
        if (!field.match())
          continue;
        loop = field.rewrite();
        ++numPadded;
      }
  }
};
} // namespace
