//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reductions along other axes than the last: column sums, windows of poolings.
//
//     for row of the result
//       for strip of the row
//         sums = what the result holds
//         for all that is reduced
//           sums = body(vectors, sums), and store what is no sum
//         the result holds sums
//
// Elements are reduced one after the other, as the operation says.

#include "RowPlan.h"
#include "Rows.h"
#include "VectorElements.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

namespace {
class ColumnVectorizer : IndexEmitter {
public:
  ColumnVectorizer(IRRewriter &rewriter, linalg::GenericOp op,
                   const ColumnPlan &plan)
      : IndexEmitter(op.getLoc(), rewriter), op(op), plan(plan),
        last(op.getNumLoops() - 1), lanes(plan.lanes), reduced(plan.reduced) {}

  void rewrite();

private:
  Value load(Value buffer, ValueRange place, Value mask) {
    return loadLanes(b, buffer, place, mask, lanes);
  }
  Value read(OpOperand &operand, ValueRange at, Value rest);
  Value maskOf(Value rest) {
    return vector::CreateMaskOp::create(
        b, VectorType::get({lanes}, b.getI1Type()), rest);
  }
  void readInputs(SmallVector<Value> at, ArrayRef<Value> columns, Value rest,
                  bool change, MutableArrayRef<IRMapping> to);
  SmallVector<Value> addElements(SmallVector<Value> at, ArrayRef<Value> columns,
                                 Value rest, ValueRange sums,
                                 ArrayRef<IRMapping> known);
  void write(OpOperand &init, ValueRange at, Value mask, Value vector);
  Value addChains(SmallVector<Value> at, ArrayRef<Value> columns, Value rest,
                  SmallVector<Value> &sums, ArrayRef<IRMapping> known);
  void makeStrip(SmallVector<Value> at, unsigned vectors, Value rest);
  void makeColumns(SmallVector<Value> &at, Value columns);

  linalg::GenericOp op;
  const ColumnPlan &plan;
  unsigned last; ///< number of the last axis
  int64_t lanes;
  ArrayRef<unsigned> reduced;
  SmallVector<Value> extents;
};
} // namespace

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// A vector of `operand`, of which there are `rest` elements (null: all).
Value ColumnVectorizer::read(OpOperand &operand, ValueRange at, Value rest) {
  Value buffer = operand.get();
  if (!isa<MemRefType>(buffer.getType()))
    return widen(b, buffer, lanes);
  SmallVector<Value> place = placeOf(b, op, operand, at);
  int64_t step = stepAlong(operand, op, last);
  if (step == 0)
    return widen(b, memref::LoadOp::create(b, buffer, place), lanes);
  if (step == 1)
    return load(buffer, place, rest ? maskOf(rest) : Value());
  // Every second number of two vectors. What is behind the last of them need
  // not be there.
  Value span =
      rest ? b.createOrFold<arith::SubIOp>(
                 b.createOrFold<arith::MulIOp>(rest, index(2)), index(1))
           : index(2 * lanes - 1);
  Value lead = load(buffer, place, rest ? maskOf(span) : Value());
  place.back() = b.createOrFold<arith::AddIOp>(place.back(), index(lanes));
  Value trail = load(buffer, place,
                     maskOf(b.createOrFold<arith::SubIOp>(span, index(lanes))));
  SmallVector<int64_t> even;
  for (int64_t k = 0; k < lanes; ++k)
    even.push_back(2 * k);
  return vector::ShuffleOp::create(b, lead, trail, even);
}

/// True if `operand` is read at a place that one of `dims` changes.
static bool changesWith(linalg::GenericOp op, OpOperand *operand,
                        ArrayRef<unsigned> dims) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  return llvm::any_of(dims,
                      [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// Reads the inputs that change with what is reduced, or those that do not, for
/// each of `columns`: what no column changes is read once.
void ColumnVectorizer::readInputs(SmallVector<Value> at,
                                  ArrayRef<Value> columns, Value rest,
                                  bool change, MutableArrayRef<IRMapping> to) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(input);
    if (arg.use_empty() || changesWith(op, input, reduced) != change)
      continue;
    bool isOfColumn = changesWith(op, input, last);
    Value vector;
    for (auto [column, mapping] : llvm::zip_equal(columns, to)) {
      at[last] = column;
      if (!vector || isOfColumn)
        vector = read(*input, at, rest);
      mapping.map(arg, vector);
    }
  }
}

void ColumnVectorizer::write(OpOperand &init, ValueRange at, Value mask,
                             Value vector) {
  storeLanes(b, vector, init.get(), placeOf(b, op, init, at), mask);
}

/// The sums of `columns`, once the elements at `at` are in them; stores what is
/// no sum. `known` are the inputs that have been read.
SmallVector<Value> ColumnVectorizer::addElements(SmallVector<Value> at,
                                                 ArrayRef<Value> columns,
                                                 Value rest, ValueRange sums,
                                                 ArrayRef<IRMapping> known) {
  Value mask = rest ? maskOf(rest) : Value();
  SmallVector<IRMapping> mappings(known);
  readInputs(at, columns, rest, /*change=*/true, mappings);
  SmallVector<Value> next;
  for (auto [column, mapping] : llvm::zip_equal(columns, mappings)) {
    at[last] = column;
    for (Operation &inner : op.getBody()->without_terminator())
      if (linalg::IndexOp number = getNumber(inner))
        mapping.map(inner.getResult(0),
                    numberLanes(b, at[number.getDim()],
                                inner.getResult(0).getType(),
                                /*isAlong=*/number.getDim() == last, lanes));
    for (auto [arg, stored] :
         llvm::zip_equal(op.getRegionOutputArgs(), plan.isStored))
      if (!stored) {
        mapping.map(arg, sums.front());
        sums = sums.drop_front();
      }
    SmallVector<Value> made = cloneWide(b, *op.getBody(), mapping, lanes);
    for (auto [init, stored, value] :
         llvm::zip_equal(op.getDpsInitsMutable(), plan.isStored, made)) {
      if (stored)
        write(init, at, mask, value);
      else
        next.push_back(value);
    }
  }
  return next;
}

/// Most of the rows along the innermost reduced axis, several at once: each has
/// `sums` of its own, so that none waits for the one before. Returns where they
/// end.
Value ColumnVectorizer::addChains(SmallVector<Value> at,
                                  ArrayRef<Value> columns, Value rest,
                                  SmallVector<Value> &sums,
                                  ArrayRef<IRMapping> known) {
  constexpr unsigned kRows = CpuModel::kChains;
  unsigned dim = reduced.back();
  Value end = b.createOrFold<arith::SubIOp>(
      extents[dim], b.createOrFold<arith::RemUIOp>(extents[dim], index(kRows)));
  SmallVector<Value> all(sums);
  for (unsigned k = 1; k < kRows; ++k)
    for (Operation *combiner : plan.combiners) {
      TypedAttr neutral = *arith::getNeutralElement(combiner);
      if (isa<arith::AddFOp>(combiner))
        neutral = b.getFloatAttr(neutral.getType(), -0.0); // -0 + 0 is 0
      all.push_back(widen(b, arith::ConstantOp::create(b, neutral), lanes));
    }
  auto loop = scf::ForOp::create(b, index(0), end, index(kRows), all);
  b.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next;
  size_t each = sums.size();
  for (unsigned k = 0; k < kRows; ++k) {
    at[dim] = b.createOrFold<arith::AddIOp>(loop.getInductionVar(), index(k));
    ValueRange before = loop.getRegionIterArgs();
    llvm::append_range(next, addElements(at, columns, rest,
                                         before.slice(k * each, each), known));
  }
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(loop);
  for (auto [n, combiner] : llvm::enumerate(plan.combiners)) {
    sums[n] = loop.getResult(n);
    for (unsigned k = 1; k < kRows; ++k)
      sums[n] = cloneWide(b, *combiner, {sums[n], loop.getResult(k * each + n)},
                          lanes)
                    ->getResult(0);
  }
  return end;
}

/// `vectors` of a row from at[last] on; with `rest` given, the one has so many
/// elements only.
void ColumnVectorizer::makeStrip(SmallVector<Value> at, unsigned vectors,
                                 Value rest) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> columns, sums;
  for (unsigned k = 0; k < vectors; ++k) {
    columns.push_back(
        b.createOrFold<arith::AddIOp>(at[last], index(k * lanes)));
  }
  Value mask = rest ? maskOf(rest) : Value();
  auto forAllSums = [&](auto &&what) {
    for (Value column : columns)
      for (auto [init, stored] :
           llvm::zip_equal(op.getDpsInitsMutable(), plan.isStored)) {
        SmallVector<Value> here = at;
        here[last] = column;
        if (!stored)
          what(init, here);
      }
  };
  forAllSums([&](OpOperand &init, ValueRange here) {
    sums.push_back(load(init.get(), placeOf(b, op, init, here), mask));
  });
  SmallVector<IRMapping> known(vectors);
  readInputs(at, columns, rest, /*change=*/false, known);
  scf::ForOp outermost;
  bool hasChains = !plan.combiners.empty();
  for (unsigned dim : reduced) {
    Value begin = index(0);
    if (hasChains && dim == reduced.back())
      begin = addChains(at, columns, rest, sums, known);
    auto loop = scf::ForOp::create(b, begin, extents[dim], index(1), sums);
    if (outermost)
      scf::YieldOp::create(b, loop.getResults());
    else
      outermost = loop;
    at[dim] = loop.getInductionVar();
    sums.assign(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    b.setInsertionPointToEnd(loop.getBody());
  }
  scf::YieldOp::create(b, addElements(at, columns, rest, sums, known));
  b.setInsertionPointAfter(outermost);
  unsigned k = 0;
  at[last] = columns.front();
  forAllSums([&](OpOperand &init, ValueRange here) {
    write(init, here, mask, outermost.getResult(k++));
  });
}

void ColumnVectorizer::makeColumns(SmallVector<Value> &at, Value columns) {
  OpBuilder::InsertionGuard guard(b);
  auto strips = [&](Value begin, Value end, int64_t vectors, bool isRest) {
    if (getConstantIntValue(begin) && isEqualConstantIntOrValue(begin, end))
      return;
    OpBuilder::InsertionGuard inner(b);
    auto loop = scf::ForOp::create(b, begin, end, index(vectors * lanes));
    markParallel(loop);
    b.setInsertionPointToStart(loop.getBody());
    at[last] = loop.getInductionVar();
    Value rest;
    if (isRest)
      rest = b.createOrFold<arith::SubIOp>(end, at[last]);
    makeStrip(at, vectors, rest);
  };
  Value begin = index(0);
  if (plan.vectors > 0) {
    Value width = index(plan.vectors * lanes);
    Value end = b.createOrFold<arith::SubIOp>(
        columns, b.createOrFold<arith::RemUIOp>(columns, width));
    strips(begin, end, plan.vectors, /*isRest=*/false);
    begin = end;
  }
  // What is left: a masked vector after the other.
  strips(begin, columns, 1, /*isRest=*/true);
}

void ColumnVectorizer::rewrite() {
  b.setInsertionPoint(op);
  for (OpFoldResult extent : createExtents(b, op))
    extents.push_back(getValueOrCreateConstantIndexOp(b, op.getLoc(), extent));
  SmallVector<Value> at(last + 1);
  for (unsigned k = 0; k < last; ++k) {
    if (llvm::is_contained(reduced, k))
      continue;
    auto rows = scf::ForOp::create(b, index(0), extents[k], index(1));
    markParallel(rows);
    at[k] = rows.getInductionVar();
    b.setInsertionPointToStart(rows.getBody());
  }
  makeColumns(at, extents[last]);
}

void loopc::emitColumns(IRRewriter &rewriter, linalg::GenericOp op,
                        const ColumnPlan &plan) {
  ColumnVectorizer(rewriter, op, plan).rewrite();
  rewriter.eraseOp(op);
}
