//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-vectorize-rows: elementwise operations that broadcast, and reductions of
// rows, in vectors along the last axis.
//
// Rows are often short, and how long they are is not known here. LLVM would
// test in each row whether its operands overlap, and do what is left over
// element by element; here the rest of a row is one masked vector.

#include "loopc/Dialect/Loop/Transforms/Parallel.h"
#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPVECTORIZEROWS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

static bool isVectorElement(Type type) {
  return type.isF32() || type.isF64() || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
}

static bool hasUnitLastStride(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

/// Vectors of a row that are reduced at once.
static constexpr unsigned kUnroll = 4;

namespace {
class RowVectorizer {
public:
  RowVectorizer(IRRewriter &rewriter, linalg::GenericOp op, unsigned vectorBits,
                unsigned maskBits)
      : rewriter(rewriter), b(op.getLoc(), rewriter), op(op),
        vectorBits(vectorBits), maskBits(maskBits), last(op.getNumLoops() - 1) {
  }

  bool match();
  void rewrite();

private:
  bool matchOperand(OpOperand &operand);
  bool matchReduction();
  bool matchBody();
  bool runsAlong(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(last);
  }
  SmallVector<Value> placeOf(OpOperand &operand, ValueRange at);
  Value read(OpOperand &operand, ValueRange at, Value mask);
  SmallVector<Value> emit(ValueRange at, ValueRange sums, Value mask);
  bool waitsForSums();
  void makeSteps(SmallVector<Value> at, Value begin, Value end,
                 SmallVector<Value> &sums, unsigned unroll);
  Value makeWideSteps(SmallVector<Value> at, Value begin, Value extent,
                      SmallVector<Value> &sums);
  void makeRow(SmallVector<Value> at, Value extent);
  Value splat(Value scalar) {
    return vector::BroadcastOp::create(
        b, VectorType::get({lanes}, scalar.getType()), scalar);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value numbersAlong(unsigned dim, ValueRange at);
  Value makeWide(Operation &inner, ValueRange operands);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  linalg::GenericOp op;
  unsigned vectorBits, maskBits;
  unsigned last; ///< number of the last axis
  int64_t lanes = 0;
  /// What puts in the next element, for each output that is a reduction.
  SmallVector<Operation *> combiners;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be vectorized
//===----------------------------------------------------------------------===//

bool RowVectorizer::matchOperand(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get().getType().isIntOrFloat();
  if (!isVectorElement(type.getElementType()) ||
      type.getElementTypeBitWidth() < maskBits)
    return false;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return false;
    // Neighbours in a row are neighbours in memory.
    if (dim.getPosition() == last &&
        (k + 1 != map.getNumResults() || !hasUnitLastStride(type)))
      return false;
  }
  return true;
}

/// The outputs that the last axis is summed up to, or the like. Along other
/// axes rows are summed up in memory.
bool RowVectorizer::matchReduction() {
  combiners.assign(op.getNumDpsInits(), nullptr);
  if (op.getIteratorTypesArray()[last] != utils::IteratorType::reduction)
    return llvm::all_of(op.getDpsInitsMutable(),
                        [&](OpOperand &init) { return runsAlong(init); });
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (runsAlong(init))
      continue;
    BlockArgument out = op.getMatchingBlockArgument(&init);
    Value result = op.getBody()->getTerminator()->getOperand(k);
    Operation *combiner = result.getDefiningOp();
    if (!out.hasOneUse() || !combiner || !combiner->hasOneUse() ||
        *out.user_begin() != combiner ||
        !isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AddIOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(
            combiner))
      return false;
    if (auto sum = dyn_cast<arith::AddFOp>(combiner);
        sum &&
        !bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
      return false;
    combiners[k] = combiner;
  }
  return true;
}

/// Bits of a number, of an index as many as of an address; 0 for other types.
static unsigned bitsOf(Type type) {
  if (type.isIndex())
    return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

bool RowVectorizer::matchBody() {
  unsigned bits = 8;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (!isa<linalg::IndexOp>(inner) &&
        (!OpTrait::hasElementwiseMappableTraits(&inner) ||
         !isMemoryEffectFree(&inner) || !isSpeculatable(&inner)))
      return false;
    for (Value value : inner.getResults())
      if (bitsOf(value.getType()) == 0)
        return false;
    for (Value value : inner.getOperands()) {
      if (bitsOf(value.getType()) == 0)
        return false;
      bits = std::max(bits, bitsOf(value.getType()));
    }
  }
  for (Value operand : op->getOperands())
    bits = std::max(
        bits, getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth());
  lanes = vectorBits / bits;
  return lanes > 1;
}

/// True for functions that LLVM leaves numbers of to libm.
static bool needsVectors(linalg::GenericOp op) {
  return llvm::any_of(*op.getBody(), [](Operation &inner) {
    return isa<math::SinOp, math::CosOp>(inner) &&
           inner.getResult(0).getType().isF32();
  });
}

bool RowVectorizer::match() {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 || maskBits == 0)
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  bool reducesRows = kinds.pop_back_val() == utils::IteratorType::reduction;
  if (reducesRows && op.getNumReductionLoops() > 1)
    return false;
  bool broadcasts = op.getNumReductionLoops() > 0 || needsVectors(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!matchOperand(operand))
      return false;
    broadcasts |= !op.getMatchingIndexingMap(&operand).isIdentity();
  }
  // Without, LLVM does as well.
  if (!broadcasts || op.getStaticLoopRanges()[last] == 1)
    return false;
  return matchReduction() && matchBody();
}

/// The order of axes in which the last one is what neighbours in memory differ
/// in; none where that is so already, or for no axis.
static std::optional<SmallVector<unsigned>> orderForRows(linalg::GenericOp op) {
  unsigned count = op.getNumLoops();
  auto isRowAxis = [&](unsigned dim) {
    bool used = false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isFunctionOfDim(dim))
        continue;
      auto expr = dyn_cast<AffineDimExpr>(map.getResults().back());
      if (!expr || expr.getPosition() != dim ||
          !hasUnitLastStride(cast<MemRefType>(operand.get().getType())))
        return false;
      used = true;
    }
    return used && op.getStaticLoopRanges()[dim] != 1;
  };
  if (!op.hasPureBufferSemantics() || count < 2 || isRowAxis(count - 1))
    return std::nullopt;
  for (unsigned dim = count - 1; dim-- > 0;)
    if (isRowAxis(dim)) {
      auto order = llvm::to_vector(llvm::seq<unsigned>(0, count));
      order.erase(order.begin() + dim);
      order.push_back(dim);
      return order;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

SmallVector<Value> RowVectorizer::placeOf(OpOperand &operand, ValueRange at) {
  SmallVector<Value> place;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      place.push_back(index(constant.getValue()));
    else
      place.push_back(at[cast<AffineDimExpr>(expr).getPosition()]);
  }
  return place;
}

Value RowVectorizer::read(OpOperand &operand, ValueRange at, Value mask) {
  Value buffer = operand.get();
  if (!isa<MemRefType>(buffer.getType()))
    return splat(buffer);
  SmallVector<Value> place = placeOf(operand, at);
  if (!runsAlong(operand))
    return splat(memref::LoadOp::create(b, buffer, place));
  Type element = getElementTypeOrSelf(buffer.getType());
  auto type = VectorType::get({lanes}, element);
  if (!mask)
    return vector::LoadOp::create(b, type, buffer, place);
  // What is not read is 1: nothing computed from it is out of the ordinary.
  TypedAttr one = isa<FloatType>(element)
                      ? TypedAttr(b.getFloatAttr(element, 1.0))
                      : TypedAttr(b.getIntegerAttr(element, 1));
  Value others = splat(arith::ConstantOp::create(b, one));
  return vector::MaskedLoadOp::create(b, type, buffer, place, mask, others);
}

Value RowVectorizer::makeWide(Operation &inner, ValueRange operands) {
  OperationState state(inner.getLoc(), inner.getName());
  for (Value operand : operands)
    state.operands.push_back(
        isa<VectorType>(operand.getType()) ? operand : splat(operand));
  for (Type type : inner.getResultTypes())
    state.types.push_back(VectorType::get({lanes}, type));
  state.attributes = inner.getAttrDictionary();
  return b.create(state)->getResult(0);
}

/// Where the elements of a vector that begins at `at` are along axis `dim`.
Value RowVectorizer::numbersAlong(unsigned dim, ValueRange at) {
  Value first = splat(at[dim]);
  if (dim != last)
    return first;
  Value steps =
      vector::StepOp::create(b, VectorType::get({lanes}, b.getIndexType()));
  return arith::AddIOp::create(b, first, steps);
}

/// One vector of a row that begins at `at`; returns the reductions' vectors.
SmallVector<Value> RowVectorizer::emit(ValueRange at, ValueRange sums,
                                       Value mask) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    bool sum = op.isDpsInit(&operand) &&
               combiners[operand.getOperandNumber() - op.getNumDpsInputs()];
    if (!arg.use_empty() && !sum)
      mapping.map(arg, read(operand, at, mask));
  }
  auto lookup = [&](Value value) { return mapping.lookupOrDefault(value); };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (llvm::is_contained(combiners, &inner))
      continue;
    if (isa<arith::ConstantOp>(inner)) {
      b.clone(inner, mapping);
      continue;
    }
    if (auto number = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(number.getResult(), numbersAlong(number.getDim(), at));
      continue;
    }
    Value wide =
        makeWide(inner, llvm::map_to_vector(inner.getOperands(), lookup));
    mapping.map(inner.getResult(0), wide);
  }
  SmallVector<Value> next;
  auto wide = [&](Value value) {
    value = lookup(value);
    return isa<VectorType>(value.getType()) ? value : splat(value);
  };
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (Operation *combiner = combiners[k]) {
      bool second =
          combiner->getOperand(1) == op.getMatchingBlockArgument(&init);
      Value value = wide(combiner->getOperand(second ? 0 : 1));
      Value sum = sums[next.size()];
      Value joined = makeWide(*combiner, {sum, value});
      next.push_back(
          mask ? arith::SelectOp::create(b, mask, joined, sum).getResult()
               : joined);
      continue;
    }
    Value value = wide(op.getBody()->getTerminator()->getOperand(k));
    SmallVector<Value> place = placeOf(init, at);
    if (mask)
      vector::MaskedStoreOp::create(b, init.get(), place, mask, value);
    else
      vector::StoreOp::create(b, value, init.get(), place);
  }
  return next;
}

static vector::CombiningKind kindOf(Operation *combiner) {
  return llvm::TypeSwitch<Operation *, vector::CombiningKind>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) { return vector::CombiningKind::ADD; })
      .Case<arith::MaximumFOp>(
          [](auto) { return vector::CombiningKind::MAXIMUMF; })
      .Case<arith::MinimumFOp>(
          [](auto) { return vector::CombiningKind::MINIMUMF; })
      .Case<arith::MaxSIOp>([](auto) { return vector::CombiningKind::MAXSI; })
      .Case<arith::MinSIOp>([](auto) { return vector::CombiningKind::MINSI; })
      .Case<arith::MaxUIOp>([](auto) { return vector::CombiningKind::MAXUI; })
      .Case<arith::MinUIOp>([](auto) { return vector::CombiningKind::MINUI; });
}

/// True for reductions whose steps are short: each waits for the sum of the one
/// before. Steps that compute more have enough to do meanwhile.
bool RowVectorizer::waitsForSums() {
  constexpr unsigned kShort = 4;
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    if (++count > kShort || !isa<arith::ArithDialect>(inner.getDialect()))
      return false;
  return !llvm::is_contained(combiners, nullptr);
}

/// Steps of `unroll` vectors from `begin` to `end`; `sums` has the reductions'
/// vectors, for each of the `unroll` its own.
void RowVectorizer::makeSteps(SmallVector<Value> at, Value begin, Value end,
                              SmallVector<Value> &sums, unsigned unroll) {
  OpBuilder::InsertionGuard guard(b);
  auto steps = scf::ForOp::create(b, begin, end, index(lanes * unroll), sums);
  if (!steps.getBody()->empty())
    rewriter.eraseOp(steps.getBody()->getTerminator());
  b.setInsertionPointToEnd(steps.getBody());
  ValueRange before = steps.getRegionIterArgs();
  size_t each = sums.size() / unroll;
  SmallVector<Value> next;
  for (unsigned k = 0; k < unroll; ++k) {
    at.push_back(b.createOrFold<arith::AddIOp>(steps.getInductionVar(),
                                               index(k * lanes)));
    llvm::append_range(next, emit(at, before.slice(k * each, each), Value()));
    at.pop_back();
  }
  scf::YieldOp::create(b, next);
  sums.assign(steps.getResults().begin(), steps.getResults().end());
}

/// The beginning of a row that is reduced, several vectors at once: each has
/// sums of its own, so that none waits for the one before. Returns its end.
Value RowVectorizer::makeWideSteps(SmallVector<Value> at, Value begin,
                                   Value extent, SmallVector<Value> &sums) {
  std::optional<int64_t> known = getConstantIntValue(extent);
  int64_t width = lanes * kUnroll;
  if (known && *known < 2 * width)
    return begin;
  Value rest = b.createOrFold<arith::RemUIOp>(extent, index(width));
  Value end = b.createOrFold<arith::SubIOp>(extent, rest);
  size_t each = sums.size();
  SmallVector<Value> all;
  for (unsigned k = 0; k < kUnroll; ++k)
    llvm::append_range(all, sums);
  makeSteps(at, begin, end, all, kUnroll);
  unsigned n = 0;
  for (Operation *combiner : combiners) {
    if (!combiner)
      continue;
    auto join = [&](unsigned x, unsigned y) {
      return makeWide(*combiner, {all[x * each + n], all[y * each + n]});
    };
    static_assert(kUnroll == 4);
    sums[n] = makeWide(*combiner, {join(0, 1), join(2, 3)});
    ++n;
  }
  return end;
}

void RowVectorizer::makeRow(SmallVector<Value> at, Value extent) {
  SmallVector<Value> sums;
  for (Operation *combiner : combiners)
    if (combiner) {
      TypedAttr neutral = *arith::getNeutralElement(combiner);
      if (isa<arith::AddFOp>(combiner))
        // 0 is not: -0 + 0 is 0.
        neutral = b.getFloatAttr(neutral.getType(), -0.0);
      sums.push_back(splat(arith::ConstantOp::create(b, neutral)));
    }
  Value step = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(extent, step);
  Value whole = b.createOrFold<arith::SubIOp>(extent, rest);
  Value begin = index(0);
  if (waitsForSums())
    begin = makeWideSteps(at, begin, extent, sums);
  makeSteps(at, begin, whole, sums, /*unroll=*/1);
  Value left =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, index(0));
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), left,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    for (Block *block : {branch.thenBlock(), branch.elseBlock()})
      if (!block->empty())
        rewriter.eraseOp(block->getTerminator());
    b.setInsertionPointToEnd(branch.thenBlock());
    Value mask = vector::CreateMaskOp::create(
        b, VectorType::get({lanes}, b.getI1Type()), rest);
    at.push_back(whole);
    scf::YieldOp::create(b, emit(at, sums, mask));
    at.pop_back();
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, sums);
  }
  at.push_back(index(0));
  unsigned n = 0;
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Operation *combiner = combiners[k];
    if (!combiner)
      continue;
    auto flags = isa<arith::AddFOp>(combiner) ? arith::FastMathFlags::reassoc
                                              : arith::FastMathFlags::none;
    Value sum = vector::ReductionOp::create(b, kindOf(combiner),
                                            branch.getResult(n++), flags);
    SmallVector<Value> place = placeOf(init, at);
    IRMapping mapping;
    BlockArgument out = op.getMatchingBlockArgument(&init);
    for (Value operand : combiner->getOperands())
      mapping.map(operand, sum);
    mapping.map(out, memref::LoadOp::create(b, init.get(), place).getResult());
    Operation *joined = b.clone(*combiner, mapping);
    memref::StoreOp::create(b, joined->getResult(0), init.get(), place);
  }
}

void RowVectorizer::rewrite() {
  b.setInsertionPoint(op);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(*op).createLoopRanges(b, op.getLoc());
  SmallVector<Value> at;
  auto extent = [&](unsigned k) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(), ranges[k].size);
  };
  Value columns = extent(last);
  for (unsigned k = 0; k < last; ++k) {
    auto rows = scf::ForOp::create(b, index(0), extent(k), index(1));
    if (isParallelDim(op, k))
      markParallel(rows);
    at.push_back(rows.getInductionVar());
    b.setInsertionPointToStart(rows.getBody());
  }
  makeRow(at, columns);
  rewriter.eraseOp(op);
}

namespace {
struct LoopVectorizeRows
    : loopc::impl::LoopVectorizeRowsBase<LoopVectorizeRows> {
  using LoopVectorizeRowsBase::LoopVectorizeRowsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (std::optional<SmallVector<unsigned>> order = orderForRows(op)) {
        rewriter.setInsertionPoint(op);
        op = *linalg::interchangeGenericOp(rewriter, op, *order);
      }
      RowVectorizer vectorizer(rewriter, op, vectorBits, maskBits);
      if (!vectorizer.match())
        continue;
      vectorizer.rewrite();
      ++numVectorized;
    }
  }
};
} // namespace
