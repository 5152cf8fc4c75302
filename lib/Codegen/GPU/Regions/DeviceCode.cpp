//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Codegen/GPU/Regions/DeviceCode.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Regions/Products.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Dialect/Nest/Analysis/Independence.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

/// Work above this is not counted any further.
static constexpr int64_t kMuchWork = int64_t(1) << 40;

/// True for numbers that device code computes with.
static bool isDeviceElement(Type type) {
  if (isa<VectorType>(type))
    return false;
  // Of strings only the host knows where they lie.
  if (auto pair = dyn_cast<ComplexType>(type))
    type = isa<FloatType>(pair.getElementType()) ? pair.getElementType()
                                                 : Type(pair);
  if (auto number = dyn_cast<FloatType>(type))
    return number.getWidth() >= 8 && number.getWidth() <= 64;
  if (auto number = dyn_cast<IntegerType>(type))
    return number.getWidth() <= 64;
  return type.isIndex();
}

static bool isDeviceType(Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type))
    return isDeviceElement(buffer.getElementType());
  return isDeviceElement(type);
}

/// True for functions that are an instruction, or a polynomial.
static bool isWithoutLibrary(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
          math::TruncOp, math::RoundEvenOp, math::SqrtOp, math::FmaOp,
          math::CopySignOp, math::CtPopOp, math::CountLeadingZerosOp,
          math::CountTrailingZerosOp, math::IsNaNOp, math::IsInfOp,
          math::IsFiniteOp, math::IsNormalOp>(op))
    return true;
  // See loopc-expand-math.
  return isa<math::TanhOp, math::ErfOp, math::ExpOp, math::LogOp, math::Log1pOp,
             math::ExpM1Op>(op) &&
         op->getResult(0).getType().isF32();
}

std::string loopc::findOwnObstacle(Operation *op, bool hasLibdevice) {
  auto named = [&](StringRef what) {
    return (what + " '" + op->getName().getStringRef() + "'").str();
  };
  bool isAllowed =
      isPlainOp(op) ||
      isa<loop::CheckOp, loop::PollOp, memref::CopyOp, ub::PoisonOp,
          memref::ViewOp, memref::ExtractAlignedPointerAsIndexOp>(op);
  if (isa<memref::AllocOp>(op))
    return "it allocates memory";
  if (!isAllowed || isa<scf::ParallelOp, scf::ForallOp>(op))
    return named("it holds");
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!isDeviceType(type))
        return named("there are values that kernels do not compute with, of");
  if (auto check = dyn_cast<loop::CheckOp>(op);
      check && check.getValues().size() > LOOPC_CUDA_MAX_VALUES)
    return named("a message names more numbers than a kernel can leave, of");
  bool isCall =
      (isa<math::MathDialect>(op->getDialect()) && !isWithoutLibrary(op)) ||
      isa<arith::RemFOp>(op);
  if (isCall && !hasLibdevice)
    return named("CUDA's libdevice was not found, which has");
  return "";
}

std::string loopc::findDeviceObstacle(Operation *op, bool hasLibdevice) {
  std::string why;
  op->walk<WalkOrder::PreOrder>([&](Operation *nested) {
    why = findOwnObstacle(nested, hasLibdevice);
    if (why.empty())
      for (Region &region : nested->getRegions())
        for (Block &block : region)
          if (!llvm::all_of(block.getArgumentTypes(), isDeviceType))
            why = "a loop carries values that kernels do not compute with";
    return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return why;
}

bool loopc::isSharedLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop->hasAttr(kParallelAttrName) && !loop.getNumResults() &&
         loop.getInductionVar().getType().isIndex() && !findUnsharedOp(loop);
}

bool loopc::hasSharedLoop(Operation *op) {
  return anyNested(op, [](Operation *nested) {
    return isSharedLoop(nested) || nested->hasAttr(kTiledAttrName);
  });
}

bool loopc::writesMemory(Operation *op) {
  return holdsOp<memref::StoreOp, memref::CopyOp>(op);
}

SmallVector<scf::ForOp> loopc::collectSharedLoops(scf::ForOp outer) {
  SmallVector<scf::ForOp> loops{outer};
  while (scf::ForOp inner = findOnlyParallelLoop(loops.back())) {
    bool isFixed = llvm::all_of(
        ArrayRef<Value>{inner.getLowerBound(), inner.getUpperBound(),
                        inner.getStep()},
        [&](Value bound) { return outer.isDefinedOutsideOfLoop(bound); });
    if (!isFixed)
      break;
    loops.push_back(inner);
  }
  return loops;
}

int64_t loopc::countWork(Operation *op) {
  return WorkEstimate(op, kGpuThreadWork)
      .of(op)
      .getKnown(kMuchWork)
      .value_or(-1);
}

std::optional<gpu::AllReduceOperation> loopc::getReduction(Operation *op) {
  using Kind = gpu::AllReduceOperation;
  using Result = std::optional<Kind>;
  Type type = op->getResult(0).getType();
  // What threads hand to one another.
  if (!type.isIntOrFloat() || (type.getIntOrFloatBitWidth() != 32 &&
                               type.getIntOrFloatBitWidth() != 64))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Kind::MUL; })
      .Case([](arith::MaximumFOp) { return Kind::MAXIMUMF; })
      .Case([](arith::MinimumFOp) { return Kind::MINIMUMF; })
      .Case([](arith::MaxNumFOp) { return Kind::MAXNUMF; })
      .Case([](arith::MinNumFOp) { return Kind::MINNUMF; })
      .Case([](arith::MaxSIOp) { return Kind::MAXSI; })
      .Case([](arith::MinSIOp) { return Kind::MINSI; })
      .Case([](arith::MaxUIOp) { return Kind::MAXUI; })
      .Case([](arith::MinUIOp) { return Kind::MINUI; })
      .Case([](arith::AndIOp) { return Kind::AND; })
      .Case([](arith::OrIOp) { return Kind::OR; })
      .Case([](arith::XOrIOp) { return Kind::XOR; })
      .Default([](Operation *) { return Result(); });
}

Operation *loopc::findCombiner(scf::ForOp loop) {
  if (loop.getNumResults() != 1 || !loop.getInductionVar().getType().isIndex())
    return nullptr;
  Value carried = loop.getRegionIterArg(0);
  Operation *combiner = loop.getYieldedValues().front().getDefiningOp();
  if (!combiner || combiner->getBlock() != loop.getBody() ||
      combiner->getNumOperands() != 2 || !carried.hasOneUse() ||
      *carried.user_begin() != combiner || combiner->getNumResults() != 1 ||
      !getReduction(combiner))
    return nullptr;
  bool isPlain =
      llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
        return isMemoryEffectFree(&op) || isa<memref::LoadOp>(op);
      });
  return isPlain ? combiner : nullptr;
}

/// True where `index` is the number of `loop`'s iteration, or that behind
/// something.
static bool isPlaceOf(Value index, scf::ForOp loop) {
  if (index == loop.getInductionVar())
    return true;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return sum && sum.getRhs() == loop.getInductionVar() &&
         loop.isDefinedOutsideOfLoop(sum.getLhs());
}

bool loopc::isWarpNest(scf::ForOp outer) {
  SmallVector<scf::ForOp> nest = collectSharedLoops(outer);
  scf::ForOp innermost = nest.back();
  bool isAlong = false, isWritten = false;
  for (Operation &op : innermost.getBody()->without_terminator()) {
    if (isa<memref::StoreOp>(op)) {
      isWritten = true;
      continue;
    }
    // One thread writes: the others would read what was there before.
    if (isWritten && !isMemoryEffectFree(&op))
      return false;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop && !isMemoryEffectFree(&op) && !isa<memref::LoadOp>(op))
      return false;
    if (!loop)
      continue;
    if (!findCombiner(loop))
      return false;
    for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
      if (load.getIndices().empty())
        continue;
      // Threads side by side would read the elements side by side themselves.
      if (load.getIndices().back() == innermost.getInductionVar())
        return false;
      isAlong |= isPlaceOf(load.getIndices().back(), loop);
    }
  }
  return isAlong;
}

std::optional<SmallVector<int>> loopc::findOwnPlace(ValueRange place,
                                                    ArrayRef<scf::ForOp> nest) {
  if (nest.empty())
    return std::nullopt;
  scf::ForOp outer = nest.front();
  SmallVector<int> loops;
  SmallVector<bool> isUsed(nest.size(), false);
  for (Value at : place) {
    const auto *it = llvm::find_if(
        nest, [&](scf::ForOp loop) { return loop.getInductionVar() == at; });
    if (it == nest.end() && !outer.isDefinedOutsideOfLoop(at))
      return std::nullopt;
    size_t k = it - nest.begin();
    loops.push_back(it == nest.end() ? -1 : static_cast<int>(k));
    if (it == nest.end())
      continue;
    if (isUsed[k])
      return std::nullopt;
    isUsed[k] = true;
  }
  if (!llvm::all_of(isUsed, [](bool used) { return used; }))
    return std::nullopt;
  return loops;
}

SmallVector<OpFoldResult> loopc::getNestExtents(ArrayRef<scf::ForOp> nest) {
  SmallVector<OpFoldResult> extents;
  for (scf::ForOp loop : nest) {
    if (!isConstantIntValue(loop.getLowerBound(), 0) ||
        !isConstantIntValue(loop.getStep(), 1))
      return {};
    extents.push_back(getAsOpFoldResult(loop.getUpperBound()));
  }
  return extents;
}
