//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// onnx-lower-unranked: a tensor of unknown rank becomes its elements in C order
// and its shape, two tensors of rank 1.

#include "FlatView.h"
#include "RankRules.h"
#include "loopc/Conversion/UnknownRank/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Ports.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_ONNXLOWERUNRANKED
#include "loopc/Conversion/UnknownRank/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

static bool isUnranked(Type type) { return isa<UnrankedTensorType>(type); }

/// The types of elements and shape; `type` itself where it is ranked.
static SmallVector<Type> pairTypes(Type type) {
  if (!isUnranked(type))
    return {type};
  return flatTypes(cast<UnrankedTensorType>(type).getElementType());
}

static SmallVector<Type> pairTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    llvm::append_range(result, pairTypes(type));
  return result;
}

/// The two values of an unranked one; a ranked one alone.
static SmallVector<Value> parts(OpBuilder &b, Location loc, ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values) {
    if (!isUnranked(value.getType())) {
      result.push_back(value);
      continue;
    }
    FlatTensor flat = FlatBuilder(b, loc).flatten(value);
    result.append({flat.elements, flat.shape});
  }
  return result;
}

/// The value of type `type` that `parts` begin with; drops them.
static Value whole(OpBuilder &b, Location loc, Type type, ValueRange &parts) {
  unsigned count = isUnranked(type) ? 2 : 1;
  ValueRange own = parts.take_front(count);
  parts = parts.drop_front(count);
  if (count == 1)
    return own.front();
  return UnrealizedConversionCastOp::create(b, loc, type, own).getResult(0);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds a loop with ports of unknown rank. Carried values become pairs. A
/// slice is taken from a view of known rank. Of a collected value the elements
/// are collected; the shape is carried, and held to be the same in all
/// iterations (loop_collect_shape).
class LoopUnranker {
public:
  LoopUnranker(ImplicitLocOpBuilder &builder, loop::LoopOp loop)
      : f(builder, loop.getLoc()), b(f.b), loop(loop) {}

  void run() {
    b.setInsertionPoint(loop);
    loop::LoopSignature signature(loop);
    signature.inits = partsOf(loop.getInits());
    firstShape = signature.inits.size();
    planCollected(signature);
    planSlices(signature);
    auto made = loop::LoopOp::create(b, signature);
    rewriteYield(made);
    moveBody(made);
    replaceResults(made);
  }

private:
  struct Collected {
    bool isUnranked;
    int64_t axis;
  };
  struct Slice {
    Value shape; ///< of an iteration's value; null where the rank is known
    bool isView; ///< has the axes before and behind the slice's
  };

  SmallVector<Value> partsOf(ValueRange values) {
    return parts(b, b.getLoc(), values);
  }

  void planCollected(loop::LoopSignature &signature) {
    for (auto [k, value, result] : llvm::enumerate(
             loop.getYield().getCollected(), loop.getCollectedResults())) {
      Type &all = signature.collected[k].type;
      int64_t &axis = signature.collected[k].axis;
      bool open =
          isUnranked(result.getType()) && !hasAxisFor(value.getType(), axis);
      collected.push_back({open, axis});
      if (!open && isUnranked(result.getType())) {
        RankedTensorType type = stackedType(value.getType());
        if (axis < 0)
          axis += type.getRank();
        all = type;
      }
      if (!open)
        continue;
      axis = 0;
      Type element = getElementTypeOrSelf(value.getType());
      all = RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                                  element);
      // loop_zero: without an iteration there is no shape. There are the axes
      // that there must be, with nothing along them; padding
      // (loop_collect_length) is rows of nothing.
      SmallVector<Value> extents(leastRankOfCollected(loop, k) - 1, f.index(0));
      signature.inits.push_back(f.shapeOf(extents));
    }
  }

  /// The type of an iteration's part of collected result `k`, whose rank is
  /// known.
  RankedTensorType rowType(unsigned k) {
    auto type = cast<RankedTensorType>(loop.getCollectedResults()[k].getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + collected[k].axis);
    return RankedTensorType::get(shape, type.getElementType());
  }

  /// Whether values of `type` are known to be collected along `axis`: where an
  /// axis is out of range, that is an error of the first iteration.
  static bool hasAxisFor(Type type, int64_t axis) {
    if (isUnranked(type))
      return false;
    int64_t rank = stackedType(type).getRank();
    return -rank <= axis && axis < rank;
  }

  /// A tensor of one more axis, none of which is known.
  static RankedTensorType stackedType(Type type) {
    auto ranked = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> shape((ranked ? ranked.getRank() : 0) + 1,
                               ShapedType::kDynamic);
    return RankedTensorType::get(shape, getElementTypeOrSelf(type));
  }

  void planSlices(loop::LoopSignature &signature) {
    for (auto &[value, type, sliceAxis, isReverse] : signature.slices) {
      bool open = isUnranked(value.getType());
      slices.push_back({});
      if (open && !isUnranked(type)) {
        // What the body wants tells the rank.
        RankedTensorType stacked = stackedType(type);
        value = f.unflatten(f.flatten(value), stacked);
        if (sliceAxis < 0)
          sliceAxis += stacked.getRank();
        open = false;
      }
      if (!open && !isUnranked(type))
        continue;
      FlatTensor flat = f.flatten(value);
      Value axis = f.normalizeAxis(f.index(sliceAxis), f.rank(flat));
      AxisView view = f.viewAt(flat.shape, axis);
      slices.back() = {f.withoutAxis(flat.shape, axis), sliceAxis != 0};
      SmallVector<Value> extents{view.mid, view.inner};
      if (slices.back().isView)
        extents.insert(extents.begin(), view.outer);
      Type element = getElementTypeOrSelf(value.getType());
      value = f.expand(flat.elements, extents);
      sliceAxis = slices.back().isView;
      SmallVector<int64_t> shape(extents.size() - 1, ShapedType::kDynamic);
      type = RankedTensorType::get(shape, element);
    }
  }

  void rewriteYield(loop::LoopOp made) {
    loop::YieldOp yield = loop.getYield();
    b.setInsertionPoint(yield);
    SmallVector<Value> carried = partsOf(yield.getCarried());
    SmallVector<Value> rows;
    Value isFirst;
    unsigned port = firstShape;
    for (auto [k, value] : llvm::enumerate(yield.getCollected())) {
      if (!collected[k].isUnranked) {
        rows.push_back(isUnranked(value.getType())
                           ? f.unflatten(f.flatten(value), rowType(k))
                           : value);
        continue;
      }
      if (!isFirst) {
        Value counter = loop::extractScalar(b, b.getLoc(), made.getCounter(),
                                            "the iteration");
        isFirst = f.equal(f.toIndex(counter), f.index(0));
      }
      Type type = value.getType();
      if (!isa<TensorType>(type)) // A scalar stands for its tensor of rank 0.
        value = tensor::FromElementsOp::create(
            b, RankedTensorType::get({}, type), value);
      FlatTensor flat = f.flatten(value);
      Value before = made.getCarriedArgs()[port++];
      SmallVector<Value> shown = f.shownShape(flat.shape);
      llvm::append_range(shown, f.shownShape(before));
      f.check(f.either(isFirst, f.sameShape(flat.shape, before)),
              "collected value #" + Twine(k) +
                  " has shape {*}, in the iterations before {*}",
              shown);
      rows.push_back(flat.elements);
      carried.push_back(flat.shape);
    }
    loop::YieldOp::create(b, yield.getCondition(), carried, rows);
    yield.erase();
  }

  void moveBody(loop::LoopOp made) {
    Block *body = loop.getLoopBody(), *target = made.getLoopBody();
    b.setInsertionPointToStart(target);
    unsigned before = 2 + loop.getNumCarried();
    ValueRange range(target->getArguments());
    for (BlockArgument arg : body->getArguments().take_front(before))
      arg.replaceAllUsesWith(whole(b, b.getLoc(), arg.getType(), range));
    auto args = made.getSliceArgs();
    for (auto [k, arg] : llvm::enumerate(loop.getSliceArgs())) {
      Value value = args[k];
      if (slices[k].shape)
        value = f.unflatten({f.collapse(value), slices[k].shape},
                            cast<TensorType>(arg.getType()));
      arg.replaceAllUsesWith(value);
    }
    target->getOperations().splice(target->end(), body->getOperations());
  }

  /// Collected value `k` of shape [trips] + `shape`, with its first axis moved
  /// to where it is collected along.
  FlatTensor finishCollected(unsigned k, Value rows, Value shape) {
    int64_t where = collected[k].axis;
    Value trips = f.length(rows), zero = f.index(0), one = f.index(1);
    Value elements = f.flatten(rows).elements, rank = f.length(shape);
    // Padding without a row that tells its extents has no elements, though
    // there may be place for those of a row that is known before the loop.
    if (loop.getLengthOf(k))
      elements = extractSlice(b, b.getLoc(), elements, {b.getIndexAttr(0)},
                              {f.mul(trips, f.product(shape))});
    if (where == 0)
      return {elements, f.withNewAxis(shape, zero, trips)};
    Value axis = f.index(where);
    if (where < 0)
      axis = f.add(axis, f.add(rank, one));
    f.check(f.either(f.equal(trips, zero),
                     f.compare(arith::CmpIPredicate::ule, axis, rank)),
            "axis {} is out of range for collected values of rank {}",
            {axis, rank});
    axis = f.minimum(f.maximum(axis, zero), rank);
    Value row = f.product(shape);
    Value strides = f.withNewAxis(f.stridesOf(shape), axis, row);
    Value moved = f.withNewAxis(shape, axis, trips);
    return {f.stridedCopy(elements, zero, strides, moved, f.product(moved)),
            moved};
  }

  void replaceResults(loop::LoopOp made) {
    b.setInsertionPointAfter(made);
    SmallVector<Value> values;
    ValueRange range(made.getCarriedResults());
    for (Value result : loop.getCarriedResults())
      values.push_back(whole(b, b.getLoc(), result.getType(), range));
    for (auto [k, result] : llvm::enumerate(loop.getCollectedResults())) {
      Value rows = made.getCollectedResults()[k];
      auto type = cast<TensorType>(result.getType());
      if (collected[k].isUnranked) {
        FlatTensor flat = finishCollected(k, rows, range.front());
        range = range.drop_front();
        values.push_back(f.unflatten(flat, type));
      } else if (isUnranked(type)) {
        values.push_back(f.unflatten(f.flatten(rows), type));
      } else {
        values.push_back(rows);
      }
    }
    loop->replaceAllUsesWith(values);
    loop->erase();
  }

  FlatBuilder f;
  ImplicitLocOpBuilder &b;
  loop::LoopOp loop;
  SmallVector<Collected> collected;
  SmallVector<Slice> slices;
  unsigned firstShape = 0; ///< the first carried value that is a shape
};

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

class UnrankedLowering {
public:
  explicit UnrankedLowering(func::FuncOp function)
      : function(function), b(function.getLoc(), function.getContext()) {}

  LogicalResult run() {
    for (Operation *op : collectOps<Operation *>(function)) {
      b.setLoc(op->getLoc());
      b.setInsertionPoint(op);
      lower(op);
    }
    lowerSignature();
    return foldCasts();
  }

private:
  SmallVector<Value> parts(ValueRange values) {
    return ::parts(b, b.getLoc(), values);
  }
  Value whole(Type type, ValueRange &parts) {
    return ::whole(b, b.getLoc(), type, parts);
  }
  void replaceResults(Operation *op, ValueRange parts) {
    b.setInsertionPointAfterValue(parts.front());
    SmallVector<Value> values;
    for (Value result : op->getResults())
      values.push_back(whole(result.getType(), parts));
    op->replaceAllUsesWith(values);
    op->erase();
  }

  void lower(Operation *op) {
    auto any = [](TypeRange types) { return llvm::any_of(types, isUnranked); };
    if (auto cast = dyn_cast<tensor::CastOp>(op))
      lowerCast(cast);
    else if (auto rank = dyn_cast<tensor::RankOp>(op);
             rank && isUnranked(rank.getTensor().getType())) {
      Value shape = parts(rank.getTensor())[1];
      Value zero = arith::ConstantIndexOp::create(b, 0);
      rank.replaceAllUsesWith(
          tensor::DimOp::create(b, shape, zero).getResult());
      rank.erase();
    } else if (auto dim = dyn_cast<tensor::DimOp>(op);
               dim && isUnranked(dim.getSource().getType())) {
      Value shape = parts(dim.getSource())[1];
      dim.replaceAllUsesWith(
          FlatBuilder(b, dim.getLoc()).at(shape, dim.getIndex()));
      dim.erase();
    } else if (auto select = dyn_cast<arith::SelectOp>(op);
               select && isUnranked(select.getType())) {
      SmallVector<Value> yes = parts(select.getTrueValue());
      SmallVector<Value> no = parts(select.getFalseValue());
      SmallVector<Value> chosen;
      for (auto [x, y] : llvm::zip(yes, no))
        chosen.push_back(
            arith::SelectOp::create(b, select.getCondition(), x, y));
      replaceResults(op, chosen);
    } else if (isa<scf::YieldOp>(op) && any(op->getOperandTypes())) {
      op->setOperands(parts(op->getOperands()));
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op) &&
               any(op->getResultTypes())) {
      lowerBranch(op);
    } else if (auto loop = dyn_cast<loop::LoopOp>(op)) {
      lowerLoop(loop);
    }
  }

  void lowerCast(tensor::CastOp cast) {
    Value source = cast.getSource();
    bool from = isUnranked(source.getType()), to = isUnranked(cast.getType());
    if (from && to) {
      cast.replaceAllUsesWith(source);
      cast.erase();
    } else if (from || to) {
      FlatBuilder f(b, cast.getLoc());
      Value value = f.unflatten(f.flatten(source),
                                mlir::cast<TensorType>(cast.getType()));
      cast.replaceAllUsesWith(value);
      cast.erase();
    }
  }

  void lowerBranch(Operation *op) {
    OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                         pairTypes(op->getResultTypes()),
                         llvm::to_vector(op->getDiscardableAttrs()));
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    replaceResults(op, b.create(state)->getResults());
  }

  void lowerLoop(loop::LoopOp loop) {
    auto any = [](TypeRange types) { return llvm::any_of(types, isUnranked); };
    if (any(loop.getYield().getCollected().getTypes()) ||
        any(loop.getCollectedResults().getTypes()) ||
        any(loop.getSlices().getTypes()) ||
        any(ValueRange(loop.getSliceArgs()).getTypes()) ||
        any(loop.getInits().getTypes()))
      LoopUnranker(b, loop).run();
  }

  /// Arguments and results of the function: a pair each, the second one marked.
  void lowerSignature() {
    Block &entry = function.getBody().front();
    Attribute mark = b.getUnitAttr();
    for (unsigned k = 0; k < entry.getNumArguments(); ++k) {
      BlockArgument arg = entry.getArgument(k);
      if (!isUnranked(arg.getType()))
        continue;
      SmallVector<Type> types = pairTypes(arg.getType());
      (void)function.insertArgument(k + 1, types[0], function.getArgAttrDict(k),
                                    arg.getLoc());
      (void)function.insertArgument(
          k + 2, types[1],
          b.getDictionaryAttr(b.getNamedAttr(kShapeOfAttrName, mark)),
          arg.getLoc());
      b.setInsertionPointToStart(&entry);
      ValueRange range = entry.getArguments().slice(k + 1, 2);
      SmallVector<Value> pair(range);
      ValueRange pairRange(pair);
      entry.getArgument(k).replaceAllUsesWith(
          whole(entry.getArgument(k).getType(), pairRange));
      (void)function.eraseArgument(k);
      ++k;
    }
    auto done = mlir::cast<func::ReturnOp>(entry.getTerminator());
    b.setInsertionPoint(done);
    SmallVector<Value> returned = parts(done.getOperands());
    FunctionType type = function.getFunctionType();
    SmallVector<Attribute> attrs;
    for (auto [k, result] : llvm::enumerate(type.getResults())) {
      DictionaryAttr own = function.getResultAttrDict(k);
      attrs.push_back(own ? own : b.getDictionaryAttr({}));
      if (isUnranked(result))
        attrs.push_back(
            b.getDictionaryAttr(b.getNamedAttr(kShapeOfAttrName, mark)));
    }
    done->setOperands(returned);
    function.setFunctionType(b.getFunctionType(
        function.getFunctionType().getInputs(), pairTypes(type.getResults())));
    function.setResAttrsAttr(b.getArrayAttr(attrs));
  }

  /// pair -> whole -> pair is the pair.
  LogicalResult foldCasts() {
    auto casts = collectOps(function, [&](UnrealizedConversionCastOp cast) {
      return cast.getNumOperands() == 1 && cast.getNumResults() == 2;
    });
    for (UnrealizedConversionCastOp cast : casts)
      if (auto from =
              cast.getOperand(0).getDefiningOp<UnrealizedConversionCastOp>()) {
        cast->replaceAllUsesWith(from.getOperands());
        cast->erase();
      }
    WalkResult left = function.walk([&](Operation *op) {
      if (isa<UnrealizedConversionCastOp>(op) && op->use_empty()) {
        op->erase();
        return WalkResult::advance();
      }
      // Where a cast is left somebody else is at fault.
      if (isa<UnrealizedConversionCastOp>(op))
        return WalkResult::advance();
      if (llvm::none_of(op->getOperandTypes(), isUnranked) &&
          llvm::none_of(op->getResultTypes(), isUnranked))
        return WalkResult::advance();
      loopc::emitError(op->getLoc(), Diag::UnsupportedNode)
          << "'" << op->getName()
          << "' on a value whose rank is not known at compile time is not "
             "supported";
      return WalkResult::interrupt();
    });
    return failure(left.wasInterrupted());
  }

  func::FuncOp function;
  ImplicitLocOpBuilder b;
};

struct ONNXLowerUnranked
    : loopc::impl::ONNXLowerUnrankedBase<ONNXLowerUnranked> {
  void runOnOperation() override {
    bool needed = false;
    getOperation().walk([&](Operation *op) {
      needed |= llvm::any_of(op->getOperandTypes(), isUnranked) ||
                llvm::any_of(op->getResultTypes(), isUnranked);
    });
    needed |= llvm::any_of(getOperation().getArgumentTypes(), isUnranked);
    if (needed && failed(UnrankedLowering(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
