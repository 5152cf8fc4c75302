//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-lower-unranked: a tensor of unknown rank becomes its elements in C order
// and its shape, two tensors of rank 1.

#include "loopc/Conversion/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPLOWERUNRANKED
#include "loopc/Conversion/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

static bool isUnranked(Type type) { return isa<UnrankedTensorType>(type); }

/// The types of elements and shape; `type` itself where it is ranked.
static SmallVector<Type> pairTypes(Type type) {
  if (!isUnranked(type))
    return {type};
  Type element = cast<UnrankedTensorType>(type).getElementType();
  Type i64 = IntegerType::get(type.getContext(), 64);
  return {RankedTensorType::get({ShapedType::kDynamic}, element),
          RankedTensorType::get({ShapedType::kDynamic}, i64)};
}

static SmallVector<Type> pairTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types)
    llvm::append_range(result, pairTypes(type));
  return result;
}

namespace {
class UnrankedLowering {
public:
  explicit UnrankedLowering(func::FuncOp function)
      : function(function), b(function.getLoc(), function.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      b.setLoc(op->getLoc());
      b.setInsertionPoint(op);
      if (failed(lower(op)))
        return failure();
    }
    lowerSignature();
    return foldCasts();
  }

private:
  /// The two values of an unranked one; a ranked one alone.
  SmallVector<Value> parts(ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      if (!isUnranked(value.getType())) {
        result.push_back(value);
        continue;
      }
      auto cast = UnrealizedConversionCastOp::create(
          b, pairTypes(value.getType()), value);
      llvm::append_range(result, cast.getResults());
    }
    return result;
  }

  /// The value of type `type` that `parts` begin with; drops them.
  Value whole(Type type, ValueRange &parts) {
    unsigned count = isUnranked(type) ? 2 : 1;
    ValueRange own = parts.take_front(count);
    parts = parts.drop_front(count);
    if (count == 1)
      return own.front();
    return UnrealizedConversionCastOp::create(b, type, own).getResult(0);
  }

  void replaceResults(Operation *op, ValueRange parts) {
    b.setInsertionPointAfterValue(parts.front());
    SmallVector<Value> values;
    for (Value result : op->getResults())
      values.push_back(whole(result.getType(), parts));
    op->replaceAllUsesWith(values);
    op->erase();
  }

  LogicalResult lower(Operation *op) {
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
      return lowerLoop(loop);
    }
    return success();
  }

  void lowerCast(tensor::CastOp cast) {
    Value source = cast.getSource();
    bool from = isUnranked(source.getType()), to = isUnranked(cast.getType());
    if (from && to) {
      cast.replaceAllUsesWith(source);
      cast.erase();
    } else if (to) {
      SmallVector<Value> flat = flatten(source);
      ValueRange range(flat);
      cast.replaceAllUsesWith(whole(cast.getType(), range));
      cast.erase();
    } else if (from) {
      cast.replaceAllUsesWith(unflatten(
          parts(source), mlir::cast<RankedTensorType>(cast.getType())));
      cast.erase();
    }
  }

  /// Elements and shape of a ranked value.
  SmallVector<Value> flatten(Value value) {
    auto type = mlir::cast<RankedTensorType>(value.getType());
    Type element = type.getElementType(), i64 = b.getI64Type();
    SmallVector<Value> extents;
    for (OpFoldResult extent : resolveDims(b, b.getLoc(), value))
      extents.push_back(arith::IndexCastOp::create(
          b, i64, getValueOrCreateConstantIndexOp(b, b.getLoc(), extent)));
    Value shape = tensor::FromElementsOp::create(
        b, RankedTensorType::get({type.getRank()}, i64), extents);
    Value flat = value;
    if (type.getRank() == 0)
      flat = tensor::ExpandShapeOp::create(
          b, RankedTensorType::get({1}, element), value,
          ArrayRef<ReassociationIndices>(),
          ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    else if (type.getRank() > 1)
      flat = tensor::CollapseShapeOp::create(
          b, value,
          SmallVector<ReassociationIndices>{
              llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))});
    SmallVector<Type> types = pairTypes(UnrankedTensorType::get(element));
    return {tensor::CastOp::create(b, types[0], flat),
            tensor::CastOp::create(b, types[1], shape)};
  }

  /// The value of type `type` with these elements and this shape; the run ends
  /// with an error where the rank, or a static extent, is another one.
  Value unflatten(ArrayRef<Value> pair, RankedTensorType type) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value rank = tensor::DimOp::create(b, pair[1], zero);
    check(rank, type.getRank(), "rank {}, expected {}");
    SmallVector<OpFoldResult> dims;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      Value at = arith::ConstantIndexOp::create(b, axis);
      Value extent = tensor::ExtractOp::create(b, pair[1], at);
      extent = arith::IndexCastOp::create(b, b.getIndexType(), extent);
      if (type.isDynamicDim(axis)) {
        dims.push_back(extent);
        continue;
      }
      check(extent, type.getDimSize(axis), "dimension {}, expected {}");
      dims.push_back(b.getIndexAttr(type.getDimSize(axis)));
    }
    bool isStatic = type.hasStaticShape();
    auto flatType = RankedTensorType::get(
        {isStatic ? type.getNumElements() : ShapedType::kDynamic},
        type.getElementType());
    Value flat = b.createOrFold<tensor::CastOp>(flatType, pair[0]);
    if (type.getRank() == 1)
      return flat;
    if (type.getRank() == 0)
      return tensor::CollapseShapeOp::create(b, type, flat,
                                             ArrayRef<ReassociationIndices>());
    return tensor::ExpandShapeOp::create(
        b, type, flat,
        SmallVector<ReassociationIndices>{
            llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))},
        dims);
  }

  void check(Value actual, int64_t expected, StringRef what) {
    Value wanted = arith::ConstantIndexOp::create(b, expected);
    Value same =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, actual, wanted);
    loop::CheckOp::create(
        b, same, b.getStringAttr(locationPath(b.getLoc()) + ": " + what),
        ValueRange{actual, wanted}, Value());
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

  LogicalResult lowerLoop(loop::LoopOp loop) {
    auto any = [](TypeRange types) { return llvm::any_of(types, isUnranked); };
    if (any(loop.getYield().getCollected().getTypes()) ||
        any(loop.getSlices().getTypes()))
      return loopc::emitError(loop.getLoc(), Diag::UnsupportedNode)
             << "Loop: collecting or slicing values whose rank is not "
                "known at compile time is not supported";
    if (!any(loop.getInits().getTypes()))
      return success();
    SmallVector<Type> results = pairTypes(loop.getResultTypes());
    Block *body = loop.getLoopBody();
    SmallVector<Type> arguments = pairTypes(body->getArgumentTypes());
    SmallVector<Value> inits = parts(loop.getInits());
    auto made = loop::LoopOp::create(
        b, results, arguments, loop.getTripCount(), loop.getCondition(), inits,
        loop.getSlices(), loop.getLengths(), loop.getPorts());
    loop::YieldOp yield = loop.getYield();
    b.setInsertionPoint(yield);
    SmallVector<Value> carried = parts(yield.getCarried());
    loop::YieldOp::create(b, yield.getCondition(), carried,
                          yield.getCollected());
    yield.erase();
    Block *target = made.getLoopBody();
    b.setInsertionPointToStart(target);
    ValueRange range(target->getArguments());
    for (BlockArgument arg : body->getArguments())
      arg.replaceAllUsesWith(whole(arg.getType(), range));
    target->getOperations().splice(target->end(), body->getOperations());
    replaceResults(loop, made.getResults());
    return success();
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
          b.getDictionaryAttr(b.getNamedAttr("loopc.shape_of", mark)),
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
            b.getDictionaryAttr(b.getNamedAttr("loopc.shape_of", mark)));
    }
    done->setOperands(returned);
    function.setFunctionType(b.getFunctionType(
        function.getFunctionType().getInputs(), pairTypes(type.getResults())));
    function.setResAttrsAttr(b.getArrayAttr(attrs));
  }

  /// pair -> whole -> pair is the pair.
  LogicalResult foldCasts() {
    SmallVector<UnrealizedConversionCastOp> casts;
    function.walk([&](UnrealizedConversionCastOp cast) {
      if (cast.getNumOperands() == 1 && cast.getNumResults() == 2)
        casts.push_back(cast);
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

struct LoopLowerUnranked
    : loopc::impl::LoopLowerUnrankedBase<LoopLowerUnranked> {
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
