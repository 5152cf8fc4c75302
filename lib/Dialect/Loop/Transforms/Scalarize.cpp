//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-scalarize: one-element tensors of loops become scalars.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPSCALARIZE
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// The element type of a tensor type that holds one element for sure, and that
/// can be a scalar; null otherwise.
static Type scalarOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() != 1 ||
      !tensor.getElementType().isIntOrIndexOrFloat())
    return {};
  return tensor.getElementType();
}

static Value asTensor(ImplicitLocOpBuilder &b, Value scalar, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.hasStaticShape())
    return tensor::FromElementsOp::create(b, tensor, scalar);
  // A one-element tensor whose type does not say so (cond of type
  // tensor<?xi1>).
  SmallVector<int64_t> ones(tensor.getRank(), 1);
  Value value = tensor::FromElementsOp::create(
      b, RankedTensorType::get(ones, tensor.getElementType()), scalar);
  return tensor::CastOp::create(b, tensor, value);
}

/// Widens an integer to i64 as a signed number.
static Value toI64(ImplicitLocOpBuilder &b, Value value) {
  if (value.getType().isIndex())
    return b.createOrFold<arith::IndexCastOp>(b.getI64Type(), value);
  if (value.getType() == b.getI64Type())
    return value;
  return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), value);
}

/// linalg.generic over no iterations (rank-0 tensors) -> its body on scalars
static void scalarizeGeneric(IRRewriter &rewriter, linalg::GenericOp generic) {
  ImplicitLocOpBuilder b(generic.getLoc(), generic);
  IRMapping mapping;
  for (auto [operand, arg] :
       llvm::zip(generic->getOperands(), generic.getBody()->getArguments()))
    mapping.map(arg, isa<TensorType>(operand.getType())
                         ? extractScalar(b, generic.getLoc(), operand, "")
                         : operand);
  for (Operation &op : generic.getBody()->without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> results;
  for (auto [value, type] :
       llvm::zip(generic.getBody()->getTerminator()->getOperands(),
                 generic->getResultTypes()))
    results.push_back(asTensor(b, mapping.lookupOrDefault(value), type));
  rewriter.replaceOp(generic, results);
}

/// Results of a branch that are one-element tensors become scalars.
static void scalarizeBranch(IRRewriter &rewriter, scf::IfOp branch) {
  if (llvm::none_of(branch.getResultTypes(), scalarOf))
    return;
  ImplicitLocOpBuilder b(branch.getLoc(), branch);
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(scalarOf(type) ? scalarOf(type) : type);
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    b.setInsertionPoint(yield);
    for (OpOperand &operand : yield->getOpOperands())
      if (scalarOf(operand.get().getType()))
        operand.set(extractScalar(b, branch.getLoc(), operand.get(), ""));
  }
  b.setInsertionPoint(branch);
  auto made = scf::IfOp::create(b, types, branch.getCondition(),
                                /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  SmallVector<Value> results;
  for (auto [old, value] : llvm::zip(branch.getResults(), made.getResults()))
    results.push_back(old.getType() == value.getType()
                          ? Value(value)
                          : asTensor(b, value, old.getType()));
  rewriter.replaceOp(branch, results);
}

/// What a counted loop carries of one-element tensors becomes scalars; returns
/// how many.
static unsigned scalarizeCounted(IRRewriter &rewriter, scf::ForOp loop) {
  unsigned count = llvm::count_if(loop.getResultTypes(), scalarOf);
  if (count == 0)
    return 0;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(scalarOf(init.getType())
                        ? extractScalar(b, loop.getLoc(), init, "")
                        : init);
  auto made = scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  auto asBefore = [&](ValueRange old, ValueRange now) {
    SmallVector<Value> values;
    for (auto [was, is] : llvm::zip_equal(old, now))
      values.push_back(
          was.getType() == is.getType() ? is : asTensor(b, is, was.getType()));
    return values;
  };
  b.setInsertionPointToStart(made.getBody());
  SmallVector<Value> arguments =
      asBefore(loop.getBody()->getArguments(), made.getBody()->getArguments());
  rewriter.mergeBlocks(loop.getBody(), made.getBody(), arguments);
  Operation *yield = made.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  for (OpOperand &operand : yield->getOpOperands())
    if (scalarOf(operand.get().getType()))
      operand.set(extractScalar(b, loop.getLoc(), operand.get(), ""));
  b.setInsertionPointAfter(made);
  rewriter.replaceOp(loop, asBefore(loop.getResults(), made.getResults()));
  return count;
}

namespace {
/// Rewrites one loop; null where nothing has to be done.
class Scalarization {
public:
  Scalarization(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop) {}

  /// Whether anything is no scalar yet, or no i64 where it is a number of
  /// iterations: one of these alone may be a tensor.
  bool isNeeded() {
    auto isOther = [](Value value, unsigned width) {
      return value && !value.getType().isInteger(width);
    };
    return isOther(loop.getTripCount(), 64) ||
           isOther(loop.getCondition(), 1) || isOther(loop.getCounter(), 64) ||
           isOther(loop.getConditionArg(), 1) ||
           isOther(loop.getYield().getCondition(), 1) ||
           llvm::any_of(loop.getLengths(),
                        [&](Value length) { return isOther(length, 64); }) ||
           llvm::any_of(loop.getInits().getTypes(), scalarOf) ||
           llvm::any_of(loop.getYield().getCollected().getTypes(), scalarAt0);
  }

  /// Returns the number of carried values that became scalars.
  unsigned run() {
    b.setInsertionPoint(loop);
    LoopSignature signature(loop);
    signature.counterType = b.getI64Type();
    signature.conditionType = b.getI1Type();
    if (Value &trips = signature.tripCount)
      // loop_m, loop_cond: one element, checked in the run where types do not
      // tell.
      trips = toI64(b, extractScalar(b, b.getLoc(), trips, "the trip count"));
    if (Value &condition = signature.condition)
      condition = extractScalar(b, b.getLoc(), condition, "the condition");
    for (CollectedPort &port : signature.collected)
      if (port.length)
        port.length =
            toI64(b, extractScalar(b, b.getLoc(), port.length, "the length"));
    unsigned scalars = 0;
    for (Value &init : signature.inits)
      if (scalarOf(init.getType())) {
        init = extractScalar(b, b.getLoc(), init, "");
        ++scalars;
      }
    auto scalar = LoopOp::create(b, signature);
    moveScalarBody(scalar);
    b.setInsertionPointAfter(scalar);
    SmallVector<Value> replacements;
    for (auto [old, value] : llvm::zip(loop.getResults(), scalar.getResults()))
      replacements.push_back(old.getType() == value.getType()
                                 ? Value(value)
                                 : asTensor(b, value, old.getType()));
    rewriter.replaceOp(loop, replacements);
    return scalars;
  }

private:
  /// Only rank-0 values: a collected [1] keeps its axis.
  static Type scalarAt0(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 ? scalarOf(type) : Type();
  }

  void moveScalarBody(LoopOp scalar) {
    Block *body = scalar.getLoopBody();
    b.setInsertionPointToStart(body);
    SmallVector<Value> replacements;
    for (auto [old, arg] :
         llvm::zip(loop.getLoopBody()->getArguments(), body->getArguments())) {
      Value value = arg;
      if (old.getType() != arg.getType()) {
        Type element = getElementTypeOrSelf(old.getType());
        if (arg == scalar.getCounter() && element != arg.getType())
          value = element.isIndex()
                      ? b.createOrFold<arith::IndexCastOp>(element, value)
                      : b.createOrFold<arith::TruncIOp>(element, value);
        if (isa<TensorType>(old.getType()))
          value = asTensor(b, value, old.getType());
      }
      replacements.push_back(value);
    }
    moveBody(rewriter, loop, scalar, replacements);
    YieldOp yield = scalar.getYield();
    b.setInsertionPoint(yield);
    Value condition =
        extractScalar(b, yield.getLoc(), yield.getCondition(), "the condition");
    SmallVector<Value> carried, collected;
    for (auto [value, arg] :
         llvm::zip(yield.getCarried(), scalar.getCarriedArgs()))
      carried.push_back(value.getType() == arg.getType()
                            ? value
                            : extractScalar(b, yield.getLoc(), value, ""));
    for (Value value : yield.getCollected())
      collected.push_back(scalarAt0(value.getType())
                              ? extractScalar(b, yield.getLoc(), value, "")
                              : value);
    YieldOp::create(b, condition, carried, collected);
    rewriter.eraseOp(yield);
  }

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
};

struct LoopScalarize : loopc::impl::LoopScalarizeBase<LoopScalarize> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<LoopOp> loops;
    SmallVector<Operation *> others;
    getOperation().walk([&](Operation *op) {
      if (auto loop = dyn_cast<LoopOp>(op))
        loops.push_back(loop);
      else if (isa<scf::IfOp, scf::ForOp, linalg::GenericOp>(op))
        others.push_back(op);
    });
    for (Operation *op : others) {
      if (auto branch = dyn_cast<scf::IfOp>(op))
        scalarizeBranch(rewriter, branch);
      else if (auto counted = dyn_cast<scf::ForOp>(op))
        numScalars += scalarizeCounted(rewriter, counted);
      else if (auto generic = dyn_cast<linalg::GenericOp>(op);
               generic && generic.getNumLoops() == 0 &&
               generic.hasPureTensorSemantics())
        scalarizeGeneric(rewriter, generic);
    }
    for (LoopOp loop : loops)
      if (Scalarization scalarization(rewriter, loop);
          scalarization.isNeeded()) {
        Location loc = loop.getLoc();
        unsigned made = scalarization.run();
        numScalars += made;
        if (made)
          remarkDone(loc, "Scalarize",
                     Twine(made) + " of the carried values live in registers");
      }
  }
};
} // namespace
