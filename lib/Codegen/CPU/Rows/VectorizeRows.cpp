//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-vectorize-rows: elementwise operations that broadcast, and reductions of
// rows, in vectors along the last axis.
//
// Rows are often short, and how long they are is not known here. LLVM would
// test in each row whether its operands overlap, and do what is left over
// element by element; here the rest of a row is one masked vector.

#include "RowVectorizer.h"
#include "Rows.h"
#include "VectorElements.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_CPUVECTORIZEROWS
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Vectors of a row that are reduced at once.
static constexpr unsigned kUnroll = CpuModel::kChains;
static constexpr unsigned kRows = RowPlan::kRows;
/// Conditions that a row has a version for each case of.
static constexpr size_t kMaxVersioned = 2;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Value RowVectorizer::read(OpOperand &operand, ValueRange at, Value mask) {
  Value buffer = operand.get();
  if (!isa<MemRefType>(buffer.getType()))
    return wide(buffer);
  SmallVector<Value> place = placeOf(b, op, operand, at);
  if (!runsAlong(operand))
    return wide(memref::LoadOp::create(b, buffer, place));
  return loadLanes(b, buffer, place, mask, plan.lanes);
}

/// `value`, a number in the body, for the first element of a vector: computed
/// of numbers. LLVM 22 takes the wrong lane where a lane of a vector that is
/// twice the same number is all that is used of what is computed of it.
Value RowVectorizer::numberOf(Value value, ValueRange at, IRMapping &known) {
  if (Value number = known.lookupOrNull(value))
    return number;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody()) {
    OpOperand &operand = *op.getMatchingOpOperand(argument);
    if (!isa<MemRefType>(operand.get().getType()))
      return operand.get();
    return memref::LoadOp::create(b, operand.get(),
                                  placeOf(b, op, operand, at));
  }
  Operation *made = value.getDefiningOp();
  if (!made || made->getBlock() != op.getBody())
    return value;
  if (auto number = dyn_cast<linalg::IndexOp>(made))
    return at[number.getDim()];
  for (Value operand : made->getOperands())
    known.map(operand, numberOf(operand, at, known));
  return b.clone(*made, known)->getResult(0);
}

Value RowVectorizer::read(memref::LoadOp load, const IRMapping &mapping,
                          ValueRange at, Value mask) {
  SmallVector<Value> place;
  IRMapping known;
  Value apart;
  int64_t times = countRepeats(load, op, last);
  bool isOneIfTrue = false;
  Value condition =
      load.getIndices().empty()
          ? Value()
          : findOnePlace(load.getIndices().back(), op, last, isOneIfTrue);
  for (Value value : load.getIndices()) {
    if (variesAlong(value, op, last) && !isNumberAlong(value, op, last) &&
        times == 0 && !condition) {
      apart = mapping.lookup(value);
      place.push_back(index(0));
    } else {
      place.push_back(numberOf(value, at, known));
    }
  }
  int direction =
      apart ? findBoundedDirection(load.getIndices().back(), op, last) : 0;
  // Of numbers that count down the last ones would have to change places by as
  // many as there are.
  if (direction > 0 || (direction < 0 && !mask))
    return gatherOrLoad(load, place, apart, direction, at, mask);
  if (apart)
    return gatherLanes(b, load.getMemRef(), place, apart, mask, plan.lanes);
  if (!variesAlong(load.getResult(), op, last))
    return wide(memref::LoadOp::create(b, load.getMemRef(), place));
  if (condition)
    return readOneOrRow(load.getMemRef(), place, numberOf(condition, at, known),
                        isOneIfTrue, mask);
  if (times)
    return repeatLanes(b, load.getMemRef(), place, mask, times, plan.lanes);
  return loadLanes(b, load.getMemRef(), place, mask, plan.lanes);
}

/// What `load` reads at places that count up, or down, by one but where they
/// meet a bound, or begin again: neighbours in most vectors, which those are
/// whose last place is as far from the first as there are lanes.
Value RowVectorizer::gatherOrLoad(memref::LoadOp load, ValueRange place,
                                  Value apart, int direction, ValueRange at,
                                  Value mask) {
  Value value = load.getIndices().back();
  Value distance = index(plan.lanes - 1);
  if (mask)
    distance = b.createOrFold<arith::SubIOp>(
        mask.getDefiningOp<vector::CreateMaskOp>().getOperand(0), index(1));
  Place end(at.begin(), at.end());
  end[last] = b.createOrFold<arith::AddIOp>(end[last], distance);
  IRMapping knownFirst, knownLast;
  Value first = numberOf(value, at, knownFirst);
  Value other = numberOf(value, end, knownLast);
  if (direction < 0)
    std::swap(first, other);
  Value across = b.createOrFold<arith::SubIOp>(other, first);
  Value areNeighbours =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, across, distance);
  auto row = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder in(loc, builder);
    SmallVector<Value> from(place);
    from.back() = first;
    Value lanes = loadLanes(in, load.getMemRef(), from, mask, plan.lanes);
    if (direction < 0)
      lanes = vector::ShuffleOp::create(
          in, lanes, lanes,
          llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, plan.lanes))));
    scf::YieldOp::create(in, lanes);
  };
  auto gather = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder in(loc, builder);
    scf::YieldOp::create(
        in, gatherLanes(in, load.getMemRef(), place, apart, mask, plan.lanes));
  };
  return scf::IfOp::create(b, areNeighbours, row, gather).getResult(0);
}

/// `compare` of the number of the element, its operand `number`, and of what is
/// the same in the row: the lanes of a vector are compared with how far both
/// are apart, at most by a vector.
Value RowVectorizer::compareLanes(arith::CmpIOp compare, unsigned number,
                                  ValueRange at) {
  IRMapping known;
  Value first = numberOf(compare->getOperand(number), at, known);
  Value bound = numberOf(compare->getOperand(1 - number), at, known);
  Type type = bound.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  // What is not below it is as far above as an unsigned number says.
  Value isBelow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bound, first);
  Value above = arith::MinUIOp::create(
      b, arith::SubIOp::create(b, bound, first), constant(plan.lanes));
  Value distance =
      arith::SelectOp::create(b, isBelow, constant(-1), above).getResult();
  Type narrow = b.getIntegerType(bitsOfVectorBody(op));
  if (type.isIndex())
    distance = arith::IndexCastOp::create(b, narrow, distance);
  else if (type != narrow)
    distance = arith::TruncIOp::create(b, narrow, distance);
  Value apart = wide(distance);
  auto each = llvm::map_to_vector(llvm::seq(plan.lanes),
                                  [&](int64_t lane) -> Attribute {
                                    return b.getIntegerAttr(narrow, lane);
                                  });
  Value lanes = arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(apart.getType()), each));
  return arith::CmpIOp::create(b, compare.getPredicate(),
                               number == 0 ? lanes : apart,
                               number == 0 ? apart : lanes);
}

/// The neighbours of `buffer` from `place` on, or the element there for all of
/// them where `condition` is `isOneIfTrue`. It is the same in the whole row, of
/// which makeVersions() makes one for each case.
Value RowVectorizer::readOneOrRow(Value buffer, ValueRange place,
                                  Value condition, bool isOneIfTrue,
                                  Value mask) {
  auto readOne = [&](ImplicitLocOpBuilder &in) {
    return widen(in, memref::LoadOp::create(in, buffer, place), plan.lanes);
  };
  auto readRow = [&](ImplicitLocOpBuilder &in) {
    return loadLanes(in, buffer, place, mask, plan.lanes);
  };
  if (auto known = conditions.find(condition); known != conditions.end())
    return known->second == isOneIfTrue ? readOne(b) : readRow(b);
  auto one = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder in(loc, builder);
    scf::YieldOp::create(in, readOne(in));
  };
  auto row = [&](OpBuilder &builder, Location loc) {
    ImplicitLocOpBuilder in(loc, builder);
    scf::YieldOp::create(in, readRow(in));
  };
  return isOneIfTrue ? scf::IfOp::create(b, condition, one, row).getResult(0)
                     : scf::IfOp::create(b, condition, row, one).getResult(0);
}

/// What elements are computed from; what all rows have is taken from `before`.
IRMapping RowVectorizer::readAll(ValueRange at, Value mask,
                                 const IRMapping *before) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    bool sum =
        op.isDpsInit(&operand) &&
        plan.combiners[operand.getOperandNumber() - op.getNumDpsInputs()];
    if (arg.use_empty() || sum)
      continue;
    bool shared =
        before &&
        !op.getMatchingIndexingMap(&operand).isFunctionOfDim(*plan.rowDim);
    mapping.map(arg, shared ? before->lookup(arg) : read(operand, at, mask));
  }
  return mapping;
}

/// The body, and the reductions' next vectors, which it returns.
SmallVector<Value> RowVectorizer::compute(IRMapping &mapping, ValueRange at,
                                          ValueRange sums, Value mask) {
  auto lookup = [&](Value value) { return mapping.lookupOrDefault(value); };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (llvm::is_contained(plan.combiners, &inner))
      continue;
    if (isa<arith::ConstantOp>(inner)) {
      b.clone(inner, mapping);
      continue;
    }
    if (linalg::IndexOp number = getNumber(inner)) {
      unsigned dim = number.getDim();
      mapping.map(inner.getResult(0),
                  numberLanes(b, at[dim], inner.getResult(0).getType(),
                              /*isAlong=*/dim == last, plan.lanes));
      continue;
    }
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      mapping.map(load.getResult(), read(load, mapping, at, mask));
      continue;
    }
    if (auto number = findComparedNumber(inner, op, last)) {
      mapping.map(inner.getResult(0),
                  compareLanes(cast<arith::CmpIOp>(inner), *number, at));
      continue;
    }
    mapping.map(
        inner.getResult(0),
        makeWide(inner, llvm::map_to_vector(inner.getOperands(), lookup)));
  }
  SmallVector<Value> next;
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Operation *combiner = plan.combiners[k];
    if (!combiner)
      continue;
    bool second = combiner->getOperand(1) == op.getMatchingBlockArgument(&init);
    Value value = wide(lookup(combiner->getOperand(second ? 0 : 1)));
    Value sum = sums[next.size()];
    Value joined = makeWide(*combiner, {sum, value});
    next.push_back(
        mask ? arith::SelectOp::create(b, mask, joined, sum).getResult()
             : joined);
  }
  return next;
}

void RowVectorizer::store(IRMapping &mapping, ValueRange at, Value mask) {
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (plan.combiners[k])
      continue;
    Value value = wide(
        mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(k)));
    storeLanes(b, value, init.get(), placeOf(b, op, init, at), mask);
  }
}

/// A vector of each row, which begin at `places`; returns the reductions'
/// vectors. All is read before any of it is written.
SmallVector<Value> RowVectorizer::emit(ArrayRef<Place> places, ValueRange sums,
                                       Value mask) {
  SmallVector<IRMapping> mappings;
  for (const Place &at : places)
    mappings.push_back(
        readAll(at, mask, mappings.empty() ? nullptr : &mappings.front()));
  SmallVector<Value> next;
  size_t each = sums.size() / places.size();
  for (auto [k, at] : llvm::enumerate(places))
    llvm::append_range(
        next, compute(mappings[k], at, sums.slice(k * each, each), mask));
  for (auto [mapping, at] : llvm::zip_equal(mappings, places))
    store(mapping, at, mask);
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

/// Steps of `unroll` vectors from `begin` to `end`; `sums` has the reductions'
/// vectors, for each of the `unroll`, and of the rows, its own.
void RowVectorizer::makeSteps(ArrayRef<Place> rows, Value begin, Value end,
                              SmallVector<Value> &sums, unsigned unroll) {
  OpBuilder::InsertionGuard guard(b);
  auto steps =
      scf::ForOp::create(b, begin, end, index(plan.lanes * unroll), sums);
  // Of rows that have become one threads get parts.
  if (isJoined && last == 0 && sums.empty())
    markParallel(steps);
  if (!steps.getBody()->empty())
    rewriter.eraseOp(steps.getBody()->getTerminator());
  b.setInsertionPointToEnd(steps.getBody());
  ValueRange before = steps.getRegionIterArgs();
  size_t each = sums.size() / unroll;
  SmallVector<Value> next;
  for (unsigned k = 0; k < unroll; ++k) {
    Value column = b.createOrFold<arith::AddIOp>(steps.getInductionVar(),
                                                 index(k * plan.lanes));
    llvm::append_range(next, emit(placesAt(rows, column),
                                  before.slice(k * each, each), Value()));
  }
  scf::YieldOp::create(b, next);
  sums.assign(steps.getResults().begin(), steps.getResults().end());
}

/// The beginning of a row that is reduced, several vectors at once: each has
/// sums of its own, so that none waits for the one before. Returns its end.
Value RowVectorizer::makeWideSteps(ArrayRef<Place> rows, Value begin,
                                   Value extent, SmallVector<Value> &sums) {
  std::optional<int64_t> known = getConstantIntValue(extent);
  int64_t width = plan.lanes * kUnroll;
  if (known && *known < 2 * width)
    return begin;
  Value rest = b.createOrFold<arith::RemUIOp>(extent, index(width));
  Value end = b.createOrFold<arith::SubIOp>(extent, rest);
  size_t each = sums.size();
  SmallVector<Value> all;
  for (unsigned k = 0; k < kUnroll; ++k)
    llvm::append_range(all, sums);
  makeSteps(rows, begin, end, all, kUnroll);
  unsigned n = 0;
  for (Operation *combiner : plan.combiners) {
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

/// The `rest` of rows, less than a vector of each.
void RowVectorizer::makeRest(ArrayRef<Place> rows, Value begin, Value rest,
                             SmallVector<Value> &sums) {
  OpBuilder::InsertionGuard guard(b);
  Value left =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, index(0));
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), left,
                                  /*withElseRegion=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()})
    if (!block->empty())
      rewriter.eraseOp(block->getTerminator());
  b.setInsertionPointToEnd(branch.thenBlock());
  Value mask = vector::CreateMaskOp::create(
      b, VectorType::get({plan.lanes}, b.getI1Type()), rest);
  scf::YieldOp::create(b, emit(placesAt(rows, begin), sums, mask));
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  sums.assign(branch.getResults().begin(), branch.getResults().end());
}

/// The reductions of kRows vectors as a vector. Neighbours are added up before
/// vectors get shorter: a third of the work of one vector after the other.
Value RowVectorizer::joinRows(Operation &combiner, ValueRange sums) {
  static_assert(kRows == 4);
  auto join = [&](Value x, Value y) {
    return mlir::clone(b, &combiner, x.getType(), {x, y})->getResult(0);
  };
  // Joins what `first` and `second` pick of each four numbers of x (0 to 3) and
  // the same four of y (4 to 7).
  auto joinFours = [&](Value x, Value y, std::array<int64_t, 4> first,
                       std::array<int64_t, 4> second) {
    auto pick = [&](const std::array<int64_t, 4> &from) -> Value {
      SmallVector<int64_t> mask;
      for (int64_t four = 0; four < plan.lanes; four += 4)
        for (int64_t k : from)
          mask.push_back(four + (k < 4 ? k : plan.lanes + k - 4));
      return vector::ShuffleOp::create(b, x, y, mask);
    };
    return join(pick(first), pick(second));
  };
  // x, y, x, y in each four. What is one instruction depends on the width.
  bool isWide =
      getElementTypeOrSelf(sums[0].getType()).getIntOrFloatBitWidth() > 32;
  auto joinPair = [&](Value x, Value y) {
    return isWide ? joinFours(x, y, {0, 4, 2, 6}, {1, 5, 3, 7})
                  : joinFours(x, y, {0, 4, 1, 5}, {2, 6, 3, 7});
  };
  Value all = joinFours(joinPair(sums[0], sums[1]), joinPair(sums[2], sums[3]),
                        {0, 1, 4, 5}, {2, 3, 6, 7});
  for (int64_t half = plan.lanes / 2; half >= kRows; half /= 2) {
    auto part = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, all, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
    };
    all = join(part(0), part(half));
  }
  return all;
}

/// Adds up each row's vector, and that to what the output holds.
void RowVectorizer::addUp(ArrayRef<Place> rows, OpOperand &init,
                          Operation &combiner, ValueRange sums) {
  BlockArgument out = op.getMatchingBlockArgument(&init);
  auto put = [&](Value sum, Value before) {
    auto operands =
        llvm::map_to_vector(combiner.getOperands(), [&](Value operand) {
          return operand == out ? before : sum;
        });
    return mlir::clone(b, &combiner, sum.getType(), operands)->getResult(0);
  };
  auto putOne = [&](const Place &row, Value sum) {
    SmallVector<Value> place = placeOf(b, op, init, row);
    Value before = memref::LoadOp::create(b, init.get(), place);
    memref::StoreOp::create(b, put(sum, before), init.get(), place);
  };
  if (rows.size() == 1) {
    auto flags = arith::FastMathFlags::none;
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(combiner))
      flags = fast.getFastMathFlagsAttr().getValue();
    return putOne(rows[0], vector::ReductionOp::create(b, kindOf(&combiner),
                                                       sums[0], flags));
  }
  Value all = joinRows(combiner, sums);
  AffineMap map = op.getMatchingIndexingMap(&init);
  bool areNeighbours =
      map.getResults().back() == b.getAffineDimExpr(*plan.rowDim) &&
      cast<MemRefType>(init.get().getType()).isLastDimUnitStride();
  if (areNeighbours) {
    SmallVector<Value> place = placeOf(b, op, init, rows[0]);
    Value before = vector::LoadOp::create(b, cast<VectorType>(all.getType()),
                                          init.get(), place);
    vector::StoreOp::create(b, put(all, before), init.get(), place);
    return;
  }
  for (auto [k, row] : llvm::enumerate(rows))
    putOne(row, vector::ExtractOp::create(b, all, static_cast<int64_t>(k)));
}

/// `rows` from their first to their last number.
void RowVectorizer::makeRows(ArrayRef<Place> rows, Value extent) {
  SmallVector<Value> neutrals, sums;
  for (Operation *combiner : plan.combiners)
    if (combiner) {
      TypedAttr neutral = *arith::getNeutralElement(combiner);
      if (isa<arith::AddFOp>(combiner))
        // 0 is not: -0 + 0 is 0.
        neutral = b.getFloatAttr(neutral.getType(), -0.0);
      neutrals.push_back(wide(arith::ConstantOp::create(b, neutral)));
    }
  for (size_t k = 0; k < rows.size(); ++k)
    llvm::append_range(sums, neutrals);
  Value rest = b.createOrFold<arith::RemUIOp>(extent, index(plan.lanes));
  Value whole = b.createOrFold<arith::SubIOp>(extent, rest);
  Value begin = index(0);
  if (rows.size() == 1 && plan.isUnrolled)
    begin = makeWideSteps(rows, begin, extent, sums);
  makeSteps(rows, begin, whole, sums, /*unroll=*/1);
  makeRest(rows, whole, rest, sums);
  SmallVector<Place> places = placesAt(rows, index(0));
  unsigned n = 0;
  for (auto [k, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!plan.combiners[k])
      continue;
    SmallVector<Value> ofRows;
    for (size_t row = 0; row < rows.size(); ++row)
      ofRows.push_back(sums[row * neutrals.size() + n]);
    addUp(places, init, *plan.combiners[k], ofRows);
    ++n;
  }
}

/// A row, once for each case of up to kMaxVersioned conditions of what it
/// reads: a branch in each step takes longer than the step.
void RowVectorizer::makeVersions(const Place &row, Value extent) {
  SmallVector<Value> open;
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    bool isOneIfTrue = false;
    if (load.getIndices().empty())
      continue;
    Value condition =
        findOnePlace(load.getIndices().back(), op, last, isOneIfTrue);
    if (condition && condition.getParentRegion() != &op.getRegion() &&
        !llvm::is_contained(open, condition))
      open.push_back(condition);
  }
  if (open.size() > kMaxVersioned)
    open.clear();
  llvm::unique_function<void(ArrayRef<Value>)> make =
      [&](ArrayRef<Value> rest) {
        if (rest.empty())
          return makeRows(row, extent);
        OpBuilder::InsertionGuard guard(b);
        auto branch = scf::IfOp::create(b, TypeRange(), rest.front(),
                                        /*withElseRegion=*/true);
        for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
          b.setInsertionPointToStart(block);
          conditions[rest.front()] = block == branch.thenBlock();
          make(rest.drop_front());
        }
        conditions.erase(rest.front());
      };
  make(open);
}

void RowVectorizer::computeRows(OpBuilder::InsertPoint where,
                                ArrayRef<Place> rows, Value columns,
                                unsigned dim) {
  b.restoreInsertionPoint(where);
  plan.rowDim = dim;
  makeRows(rows, columns);
}

/// The rows from `first` on: kRows, or what is left of the `count`.
void RowVectorizer::makeSeveralRows(const Place &first, Value count,
                                    Value columns) {
  auto rowAt = [&](Value number) {
    Place row = first;
    row[*plan.rowDim] = number;
    return row;
  };
  Value next = b.createOrFold<arith::AddIOp>(first[*plan.rowDim], index(kRows));
  Value all = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, next, count);
  auto branch = scf::IfOp::create(b, TypeRange(), all, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Place> rows;
  for (unsigned k = 0; k < kRows; ++k)
    rows.push_back(
        rowAt(b.createOrFold<arith::AddIOp>(first[*plan.rowDim], index(k))));
  makeRows(rows, columns);
  b.setInsertionPointToStart(branch.elseBlock());
  auto single = scf::ForOp::create(b, first[*plan.rowDim], count, index(1));
  b.setInsertionPointToStart(single.getBody());
  makeRows(rowAt(single.getInductionVar()), columns);
}

void RowVectorizer::rewrite() {
  b.setInsertionPoint(op);
  SmallVector<OpFoldResult> extents = createExtents(b, op);
  auto extent = [&](unsigned k) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(), extents[k]);
  };
  Value columns = extent(last);
  Place at;
  for (unsigned k = 0; k < last; ++k) {
    if (plan.rowDim && k > *plan.rowDim) {
      at.push_back(index(0));
      continue;
    }
    auto rows = scf::ForOp::create(b, index(0), extent(k),
                                   index(k == plan.rowDim ? kRows : 1));
    if (isParallelDim(op, k))
      markParallel(rows);
    at.push_back(rows.getInductionVar());
    b.setInsertionPointToStart(rows.getBody());
  }
  if (plan.rowDim)
    makeSeveralRows(at, extent(*plan.rowDim), columns);
  else
    makeVersions(at, columns);
  rewriter.eraseOp(op);
}

/// Elements that lie one behind the other are filled as one row. There is no
/// type for the row of ?x0 elements: those need no fill.
static void fillAsRow(IRRewriter &rewriter, linalg::FillOp fill) {
  auto type = dyn_cast<MemRefType>(fill.getOutputs()[0].getType());
  if (!type || type.getRank() < 2 || !type.getLayout().isIdentity() ||
      !canCount(type.getShape()))
    return;
  if (llvm::is_contained(type.getShape(), 0)) {
    rewriter.eraseOp(fill);
    return;
  }
  rewriter.setInsertionPoint(fill);
  SmallVector<ReassociationIndices> all(1);
  llvm::append_range(all.front(), llvm::seq<int64_t>(0, type.getRank()));
  Value row = memref::CollapseShapeOp::create(rewriter, fill.getLoc(),
                                              fill.getOutputs()[0], all);
  rewriter.replaceOpWithNewOp<linalg::FillOp>(fill, fill.getInputs()[0], row);
}

namespace {
struct CpuVectorizeRows : loopc::impl::CpuVectorizeRowsBase<CpuVectorizeRows> {
  using CpuVectorizeRowsBase::CpuVectorizeRowsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    CpuModel cpu(getVectorUnit(getOperation()));
    SmallVector<linalg::GenericOp> ops;
    llvm::SetVector<Block *> blocks;
    getOperation().walk(
        [&](linalg::GenericOp op) { blocks.insert(op->getBlock()); });
    for (Block *block : blocks)
      numVectorized += vectorizeRowGroups(rewriter, *block, cpu);
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    SmallVector<Value> tables;
    for (linalg::GenericOp op : ops) {
      bool hadRows = op.getNumLoops() > 1;
      op = arrangeRows(rewriter, op);
      bool isJoined = hadRows && op.getNumLoops() == 1;
      joinBroadcasts(op);
      if (std::optional<ShortRowPlan> plan = planShortRows(op, cpu)) {
        op = emitShortRows(rewriter, op, *plan, tables);
        ++numVectorized;
        if (!op)
          continue;
      }
      if (std::optional<ColumnPlan> columns = planColumns(op, cpu))
        emitColumns(rewriter, op, *columns);
      else if (std::optional<RowPlan> rows = planRows(op, cpu))
        RowVectorizer(rewriter, op, *rows, isJoined).rewrite();
      else
        continue;
      ++numVectorized;
    }
    SmallVector<linalg::FillOp> fills;
    getOperation().walk([&](linalg::FillOp op) { fills.push_back(op); });
    for (linalg::FillOp fill : fills)
      fillAsRow(rewriter, fill);
  }
};
} // namespace
