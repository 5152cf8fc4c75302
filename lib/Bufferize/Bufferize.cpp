//===- Bufferize.cpp - From tensors to buffers ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-eliminate-empty-tensors and loopc-bufferize: MLIR's passes with
// loopc's analysis of what is in place.

#include "loopc/Bufferize/InPlaceAnalysis.h"
#include "loopc/Bufferize/Passes.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Walk.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERIZEELIMINATEEMPTY
#define GEN_PASS_DEF_BUFFERIZETENSORS
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace mlir::bufferization;

/// Whole functions; buffers are dense, also those that branches and loops
/// yield.
static OneShotBufferizationOptions getOptions() {
  OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
  options.unknownTypeConverterFn = [](TensorType type, Attribute space,
                                      const BufferizationOptions &) {
    return cast<BaseMemRefType>(
        getMemRefTypeWithStaticIdentityLayout(type, space));
  };
  return options;
}

/// An operation on tensors that has no buffers; null without one.
static Operation *findUncompiled(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!hasTensorSemantics(op) || isa<BufferizableOpInterface>(op) ||
        isa<func::FuncOp>(op) || (op->use_empty() && isMemoryEffectFree(op)))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// MLIR's own error for such an operation does not name it.
static LogicalResult checkOperations(ModuleOp module) {
  Operation *op = findUncompiled(module);
  if (!op)
    return success();
  return loopc::emitError(op->getLoc(), loopc::Diag::LoweringFailed)
         << "'" << op->getName()
         << "' is an operation on tensors that is not compiled: lower it to "
            "linalg, tensor and arith before (loopc-opt has MLIR's passes)";
}

/// Moves `check` in front of operations that nobody sees run.
static void raise(loopc::loop::CheckOp check) {
  Operation *before = check;
  auto definesOperand = [&](Operation *op) {
    return llvm::any_of(check->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == op;
    });
  };
  while (Operation *op = before->getPrevNode()) {
    if (!isMemoryEffectFree(op) || definesOperand(op))
      break;
    before = op;
  }
  if (before != check)
    check->moveBefore(before);
}

/// A number, the extents of a tensor, or its elements.
enum OriginKind : unsigned { Number, Extents, Elements };
using Origin = std::pair<Value, unsigned>;
using Origins = llvm::SetVector<Origin>;

static Origin originOf(Value value) {
  return {value, isa<TensorType>(value.getType()) ? Extents : Number};
}

/// Adds what `value`, a number or a tensor with its extents, is made of.
static void addOrigins(Value value, Origins &all) {
  auto add = [&](Value other) {
    if (!getConstantIntValue(other))
      all.insert(originOf(other));
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr)
      add(init->get());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    all.insert(Origin(extract.getTensor(), Elements));
    llvm::for_each(extract.getIndices(), add);
  } else if (auto made = dyn_cast<DestinationStyleOpInterface>(op)) {
    if (OpOperand *init = made.getTiedOpOperand(cast<OpResult>(value)))
      add(init->get());
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    add(insert.getDest());
  } else if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    if (OpOperand *init = loop.getTiedLoopInit(cast<OpResult>(value)))
      add(init->get());
  } else if (op->getNumRegions() == 0) {
    llvm::for_each(op->getOperands(), add);
  }
}

/// `values`, and what these numbers, and the extents of these tensors, are
/// computed of.
static Origins findOrigins(ValueRange values) {
  Origins all;
  for (Value value : values)
    if (!getConstantIntValue(value))
      all.insert(originOf(value));
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].second != Elements)
      addOrigins(all[k].first, all);
  return all;
}

/// True if a check that stands between `first`, or what it is in, and
/// `insertion` may be what holds the part to the result: if it asks for
/// something that the part or the result is made of.
static bool isHeldBetween(Operation *first,
                          SubsetInsertionOpInterface insertion) {
  std::optional<Origins> ofPart;
  auto isAbout = [&](Value condition) {
    if (!ofPart) {
      SmallVector<Value> numbers(insertion->getOperands());
      llvm::erase(numbers, insertion.getSourceOperand().get());
      ofPart = findOrigins(numbers);
    }
    return llvm::any_of(findOrigins(condition), [&](const Origin &origin) {
      return ofPart->contains(origin);
    });
  };
  auto isHolding = [&](Operation *op) {
    return loopc::anyNested(op, [&](loopc::loop::CheckOp check) {
      return isAbout(check.getCondition());
    });
  };
  for (Operation *op = insertion;; op = op->getParentOp()) {
    Operation *begin = op->getBlock()->findAncestorOpInBlock(*first);
    for (Operation *at = op->getPrevNode(); at && at != begin;
         at = at->getPrevNode())
      if (isHolding(at))
        return true;
    if (begin)
      return false;
  }
}

/// The part of its result that `insertion` writes, for `user` to compute there
/// what is inserted: not in front of a check that holds the part to the result.
static Value takePart(RewriterBase &rewriter,
                      SubsetInsertionOpInterface insertion,
                      tensor::EmptyOp empty, Operation *user) {
  if (!loopc::loop::needsNoCheck(insertion) && isHeldBetween(user, insertion))
    return {};
  return buildSubsetExtraction(rewriter, insertion, empty, user);
}

/// The layout of `type` with those strides and that offset only that are the
/// same in `other`.
static MemRefType commonLayout(MemRefType type, MemRefType other) {
  auto [strides, offset] = type.getStridesAndOffset();
  auto [otherStrides, otherOffset] = other.getStridesAndOffset();
  for (auto [stride, otherStride] : llvm::zip_equal(strides, otherStrides))
    if (stride != otherStride)
      stride = ShapedType::kDynamic;
  if (offset != otherOffset)
    offset = ShapedType::kDynamic;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, strides),
      type.getMemorySpace());
}

/// The buffers that branches yield for a result have the strides that are
/// theirs in all branches: upstream leaves all of them open where one differs,
/// and elements whose neighbours are not known to be near are read one by one.
static void keepCommonStrides(OpResult result) {
  Operation *branches = result.getOwner();
  auto type = dyn_cast<MemRefType>(result.getType());
  if (!type || type.getLayout().isIdentity())
    return;
  MemRefType common;
  SmallVector<std::pair<OpOperand *, Value>> yielded;
  for (Region &region : branches->getRegions()) {
    OpOperand &operand =
        region.front().getTerminator()->getOpOperand(result.getResultNumber());
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    Value buffer = cast ? cast.getSource() : operand.get();
    auto from = dyn_cast<MemRefType>(buffer.getType());
    if (!from || !from.isStrided())
      return;
    MemRefType first = common ? common : from;
    common =
        commonLayout(MemRefType::get(type.getShape(), type.getElementType(),
                                     first.getLayout(), type.getMemorySpace()),
                     from);
    yielded.emplace_back(&operand, buffer);
  }
  if (!common || common.getLayout() == type.getLayout())
    return;
  OpBuilder b(branches);
  for (auto [operand, buffer] : yielded) {
    b.setInsertionPoint(operand->getOwner());
    operand->set(memref::CastOp::create(b, branches->getLoc(), common, buffer));
  }
  result.setType(common);
  b.setInsertionPointAfter(branches);
  auto cast = memref::CastOp::create(b, branches->getLoc(), type, result);
  result.replaceAllUsesExcept(cast, cast);
}

namespace {
struct EliminateEmptyPass
    : loopc::impl::BufferizeEliminateEmptyBase<EliminateEmptyPass> {
  void runOnOperation() override {
    OneShotBufferizationOptions options = getOptions();
    // loopc-bufferize says which it is.
    if (findUncompiled(getOperation()))
      return;
    loopc::InPlaceState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    getOperation().walk(raise);
    if (failed(loopc::analyzeInPlace(getOperation(), state)) ||
        failed(
            eliminateEmptyTensors(rewriter, getOperation(), state, takePart)))
      signalPassFailure();
  }
};

struct BufferizePass : loopc::impl::BufferizeTensorsBase<BufferizePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OneShotBufferizationOptions options = getOptions();
    BufferizationState buffers;
    if (failed(checkOperations(module)) ||
        failed(insertCopies(module, options, buffers)) ||
        failed(bufferizeModuleOp(module, options, buffers)))
      return signalPassFailure();
    module.walk([](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        llvm::for_each(op->getResults(), keepCommonStrides);
    });
  }

private:
  /// The state of the analysis must not outlive the tensors.
  static LogicalResult insertCopies(ModuleOp module,
                                    const OneShotBufferizationOptions &options,
                                    const BufferizationState &buffers) {
    loopc::InPlaceState state(module, options);
    if (failed(loopc::analyzeInPlace(module, state)))
      return failure();
    return insertTensorCopies(module, static_cast<const AnalysisState &>(state),
                              buffers);
  }
};
} // namespace
