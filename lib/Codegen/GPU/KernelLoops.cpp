//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "DeviceCode.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace loopc;

scf::ForOp loopc::expandCopy(ImplicitLocOpBuilder &b, memref::CopyOp copy) {
  b.setInsertionPoint(copy);
  auto type = cast<MemRefType>(copy.getTarget().getType());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    extents.push_back(b.createOrFold<memref::DimOp>(copy.getTarget(), axis));
  scf::ForOp outer;
  SmallVector<Value> place;
  for (Value extent : extents) {
    auto loop = scf::ForOp::create(b, zero, extent, one);
    markParallel(loop);
    outer = outer ? outer : loop;
    place.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  Value element = memref::LoadOp::create(b, copy.getSource(), place);
  memref::StoreOp::create(b, element, copy.getTarget(), place);
  copy.erase();
  return outer;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool loopc::isResultCast(Operation *op) {
  auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
  return cast && cast.getNumOperands() == 1 &&
         isa<MemRefType>(cast.getOperand(0).getType()) &&
         llvm::all_of(cast->getUsers(), llvm::IsaPred<LLVM::StoreOp>);
}

/// True where `stride` is `size` times `inner`.
static bool isProduct(OpFoldResult stride, OpFoldResult size,
                      OpFoldResult inner) {
  std::optional<int64_t> known = getConstantIntValue(stride),
                         extent = getConstantIntValue(size),
                         step = getConstantIntValue(inner);
  if (extent && step)
    return known == *extent * *step;
  if (step == 1)
    return isEqualConstantIntOrValue(stride, size);
  auto value = dyn_cast<Value>(stride);
  auto product = value ? value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto is = [&](Value one, Value other) {
    return isEqualConstantIntOrValue(getAsOpFoldResult(one), size) &&
           isEqualConstantIntOrValue(getAsOpFoldResult(other), inner);
  };
  return product && (is(product.getLhs(), product.getRhs()) ||
                     is(product.getRhs(), product.getLhs()));
}

/// True where the elements of `value` certainly lie one behind the other. The
/// type of a result says so of all.
static bool isInOrder(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto type = cast<MemRefType>(value.getType());
  if (type.getLayout().isIdentity() || type.getRank() == 0)
    return true;
  auto view = value.getDefiningOp<memref::ReinterpretCastOp>();
  if (!view)
    return false;
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  SmallVector<OpFoldResult> strides = view.getMixedStrides();
  if (!isConstantIntValue(strides.back(), 1))
    return false;
  for (size_t k = 0; k + 1 < sizes.size(); ++k)
    if (!isProduct(strides[k], sizes[k + 1], strides[k + 1]))
      return false;
  return true;
}

void loopc::settleResults(func::FuncOp function) {
  auto casts = collectOps(function, [&](Operation *op) {
    return isResultCast(op) && !isInOrder(op->getOperand(0));
  });
  for (Operation *cast : casts) {
    ImplicitLocOpBuilder b(cast->getLoc(), cast);
    Value value = cast->getOperand(0);
    auto type = mlir::cast<MemRefType>(value.getType());
    SmallVector<Value> extents;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        extents.push_back(memref::DimOp::create(b, value, axis));
    Value made = memref::AllocOp::create(b, type, extents);
    expandCopy(b, memref::CopyOp::create(b, value, made));
    cast->setOperand(0, made);
  }
}

void loopc::simplifyKernel(gpu::GPUFuncOp kernel) {
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  for (memref::CopyOp copy : collectOps<memref::CopyOp>(kernel))
    expandCopy(b, copy);
  kernel.walk(
      [](LoopLikeOpInterface loop) { loopc::loop::hoistInvariants(loop); });
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

bool loopc::collectNests(Operation *op,
                         SmallVectorImpl<SmallVector<scf::ForOp>> &nests) {
  for (Region &region : op->getRegions())
    // A branch may have nothing for the other case.
    for (Operation &inner : region.getOps()) {
      if (isSharedLoop(&inner)) {
        nests.push_back(collectSharedLoops(cast<scf::ForOp>(inner)));
        continue;
      }
      if (isa<scf::ForOp, scf::IfOp>(inner)) {
        if (!collectNests(&inner, nests))
          return false;
        continue;
      }
      if (!isMemoryEffectFree(&inner) &&
          !isa<memref::LoadOp, loop::PollOp>(inner) &&
          !inner.hasTrait<OpTrait::IsTerminator>())
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Interchange
//===----------------------------------------------------------------------===//

namespace {
class Interchange {
public:
  Interchange(scf::ForOp loop, const AliasClasses &classes)
      : loop(loop), classes(classes), b(loop.getLoc(), loop) {}

  bool run() {
    if (loop.getNumResults() != 0 || !collectNests(loop, nests) ||
        nests.empty() || !isOwn())
      return false;
    rewrite();
    return true;
  }

private:
  bool isOwn();
  void rewrite();
  void fill(Block &from, IRMapping &mapping);

  scf::ForOp loop;
  const AliasClasses &classes;
  ImplicitLocOpBuilder b;
  SmallVector<SmallVector<scf::ForOp>> nests;
};
} // namespace

/// True where the nests go over one space, and each iteration touches what the
/// loop writes at its own element alone.
bool Interchange::isOwn() {
  SmallVector<OpFoldResult> extents = getNestExtents(nests.front());
  auto isOutside = [&](OpFoldResult extent) {
    auto value = dyn_cast<Value>(extent);
    return !value || loop.isDefinedOutsideOfLoop(value);
  };
  if (extents.empty() || !llvm::all_of(extents, isOutside))
    return false;
  struct Written {
    Value buffer;
    /// Which loops of the nests say where.
    std::optional<SmallVector<int>> loops;
  };
  DenseMap<const void *, Written> written;
  loop.walk([&](memref::StoreOp store) {
    written[classes.of(store.getMemref())].buffer = store.getMemref();
  });
  auto isAtOwn = [&](Value buffer, ValueRange place,
                     ArrayRef<scf::ForOp> nest) {
    auto it = written.find(classes.of(buffer));
    if (it == written.end())
      return true;
    std::optional<SmallVector<int>> loops = findOwnPlace(place, nest);
    if (it->second.buffer != buffer || !loop.isDefinedOutsideOfLoop(buffer) ||
        !loops || (it->second.loops && it->second.loops != loops))
      return false;
    it->second.loops = std::move(loops);
    return true;
  };
  auto areAtOwn = [&](Operation *root, ArrayRef<scf::ForOp> nest) {
    return !root->walk<WalkOrder::PreOrder>([&](Operation *op) {
                  if (op != root && isSharedLoop(op) && nest.empty())
                    return WalkResult::skip();
                  bool isFine = true;
                  if (auto load = dyn_cast<memref::LoadOp>(op))
                    isFine = isAtOwn(load.getMemref(), load.getIndices(), nest);
                  else if (auto store = dyn_cast<memref::StoreOp>(op))
                    isFine =
                        isAtOwn(store.getMemref(), store.getIndices(), nest);
                  else if (isa<loop::CheckOp>(op))
                    isFine = false;
                  return isFine ? WalkResult::advance()
                                : WalkResult::interrupt();
                })
                .wasInterrupted();
  };
  // What all threads read beside the nests nobody writes.
  if (!areAtOwn(loop, {}))
    return false;
  return llvm::all_of(nests, [&](ArrayRef<scf::ForOp> nest) {
    return getNestExtents(nest) == extents && areAtOwn(nest.front(), nest);
  });
}

/// Clones `from`, its nests as the iteration that `b` is in.
void Interchange::fill(Block &from, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    auto nest = llvm::find_if(nests, [&](ArrayRef<scf::ForOp> other) {
      return other.front() == &op;
    });
    if (nest == nests.end()) {
      if (!isa<scf::ForOp, scf::IfOp>(op)) {
        b.clone(op, mapping);
        continue;
      }
      Operation *made = op.cloneWithoutRegions(mapping);
      b.insert(made);
      for (auto [old, region] :
           llvm::zip(op.getRegions(), made->getRegions())) {
        if (old.empty())
          continue;
        auto *block = new Block();
        region.push_back(block);
        for (BlockArgument argument : old.getArguments())
          mapping.map(argument, block->addArgument(argument.getType(),
                                                   argument.getLoc()));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(block);
        fill(old.front(), mapping);
        b.clone(*old.front().getTerminator(), mapping);
      }
      continue;
    }
    for (auto [mine, theirs] : llvm::zip(nests.front(), *nest))
      mapping.map(theirs.getInductionVar(),
                  mapping.lookup(mine.getInductionVar()));
    for (auto [k, inner] : llvm::enumerate(*nest))
      for (Operation &element : inner.getBody()->without_terminator())
        if (k + 1 == nest->size() || &element != (*nest)[k + 1])
          b.clone(element, mapping);
  }
}

void Interchange::rewrite() {
  IRMapping mapping;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  for (auto [first, extent] :
       llvm::zip(nests.front(), getNestExtents(nests.front()))) {
    auto dim = dyn_cast<Value>(extent);
    if (!dim)
      dim = arith::ConstantIndexOp::create(b, *getConstantIntValue(extent));
    auto made = scf::ForOp::create(b, zero, dim, one);
    markParallel(made);
    mapping.map(first.getInductionVar(), made.getInductionVar());
    b.setInsertionPointToStart(made.getBody());
  }
  auto sequential = scf::ForOp::create(b, loop.getLowerBound(),
                                       loop.getUpperBound(), loop.getStep());
  mapping.map(loop.getInductionVar(), sequential.getInductionVar());
  b.setInsertionPointToStart(sequential.getBody());
  fill(*loop.getBody(), mapping);
  loop.erase();
}

bool loopc::interchangeLoops(gpu::GPUFuncOp kernel,
                             const AliasClasses &classes) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>())
    if (!isSharedLoop(loop))
      loops.push_back(loop);
  bool changed = false;
  for (scf::ForOp loop : loops)
    changed |= Interchange(loop, classes).run();
  return changed;
}
