//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The code of an interchanged scan: loops over tiles of rows, over as many
// iterations, and over each of these.

#include "Rows/VectorElements.h"
#include "ScanInterchange.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// A loop whose body the builder stands in; its yield is left to the caller.
scf::ForOp ScanInterchange::openLoop(Value begin, Value end, Value step,
                                     ValueRange inits) {
  auto made = scf::ForOp::create(b, begin, end, step, inits);
  if (!made.getBody()->empty())
    rewriter.eraseOp(made.getBody()->getTerminator());
  b.setInsertionPointToEnd(made.getBody());
  return made;
}

/// Memory on the stack for one tile; made where the function begins, once for
/// all iterations of what is around the loop.
Value ScanInterchange::makeScratch(Type element) {
  OpBuilder::InsertionGuard guard(b);
  auto function = loop->getParentOfType<func::FuncOp>();
  b.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(b, MemRefType::get({lanes, lanes}, element),
                                  b.getI64IntegerAttr(64));
}

/// Where the part of the iteration that `mapping` is for begins.
SmallVector<Value> ScanInterchange::placeOf(const Part &part, const Tile &tile,
                                            IRMapping &mapping) {
  SmallVector<Value> place;
  for (auto [offset, axis] : llvm::zip(part.offsets, part.axes)) {
    auto value = dyn_cast<Value>(offset);
    Value at = value ? mapping.lookupOrDefault(value) : asIndex(offset);
    if (axis)
      at = isConstantIntValue(offset, 0)
               ? tile.at[*axis]
               : b.createOrFold<arith::AddIOp>(at, tile.at[*axis]);
    place.push_back(at);
  }
  return place;
}

Value ScanInterchange::readPart(const Part &part, const Tile &tile,
                                IRMapping &mapping) {
  SmallVector<Value> place = placeOf(part, tile, mapping);
  if (part.layout == Layout::Same)
    return widen(b, tensor::ExtractOp::create(b, part.tensor, place), lanes);
  Type element = getElementTypeOrSelf(part.tensor.getType());
  Value read =
      vector::TransferReadOp::create(b, vectorOf(element), part.tensor, place,
                                     zero(element), ArrayRef<bool>{tile.whole});
  return read;
}

/// The row of a tile's memory that iteration `step` of `steps` has.
Value ScanInterchange::columnOf(const Part &part, const Steps &steps,
                                Value step) {
  if (!part.backwards)
    return step;
  Value last = b.createOrFold<arith::SubIOp>(steps.count, index(1));
  return b.createOrFold<arith::SubIOp>(last, step);
}

/// Where row `row` of the tile begins. Behind the last row it is the last one.
SmallVector<Value> ScanInterchange::rowPlace(const Part &part, const Tile &tile,
                                             const Steps &steps, int64_t row) {
  Value counter = b.createOrFold<arith::IndexCastOp>(
      loop.getCounter().getType(), steps.first);
  IRMapping mapping;
  mapping.map(loop.getCounter(), counter);
  Value position = evaluate(cast<Value>(part.offsets.back()), mapping);
  if (part.backwards) {
    Value last = b.createOrFold<arith::SubIOp>(steps.count, index(1));
    position = b.createOrFold<arith::SubIOp>(position, last);
  }
  Value number = index(row);
  if (!tile.whole)
    number = b.createOrFold<arith::MinUIOp>(
        number, b.createOrFold<arith::SubIOp>(tile.rows, index(1)));
  SmallVector<Value> place;
  for (auto [offset, axis] :
       llvm::drop_end(llvm::zip(part.offsets, part.axes))) {
    Value at = asIndex(offset);
    if (axis) {
      at = b.createOrFold<arith::AddIOp>(at, tile.at[*axis]);
      if (*axis + 1 == dims.size())
        at = b.createOrFold<arith::AddIOp>(at, number);
    }
    place.push_back(at);
  }
  place.push_back(position);
  return place;
}

/// The columns of a square tile as rows: in step s numbers whose bit s differs
/// in row and column change places.
SmallVector<Value> ScanInterchange::transpose(SmallVector<Value> rows) {
  for (int64_t bit = 1; bit < lanes; bit *= 2)
    for (int64_t k = 0; k < lanes; ++k) {
      if (k & bit)
        continue;
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        upper.push_back(lane & bit ? lanes + lane - bit : lane);
        lower.push_back(lane & bit ? lanes + lane : lane + bit);
      }
      Value x = rows[k], y = rows[k + bit];
      rows[k] = vector::ShuffleOp::create(b, x, y, upper);
      rows[k + bit] = vector::ShuffleOp::create(b, x, y, lower);
    }
  return rows;
}

/// Reads what the iterations `steps` read of the rows of `tile`.
void ScanInterchange::loadTile(Part &part, const Tile &tile,
                               const Steps &steps) {
  Type element = getElementTypeOrSelf(part.tensor.getType());
  part.scratch = makeScratch(element);
  AffineMapAttr minor = AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(part.axes.size(), 1, b.getContext()));
  Value mask;
  if (!steps.whole)
    mask =
        vector::CreateMaskOp::create(b, vectorOf(b.getI1Type()), steps.count);
  Value padding = zero(element);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < lanes; ++row)
    rows.push_back(vector::TransferReadOp::create(
        b, vectorOf(element), part.tensor, rowPlace(part, tile, steps, row),
        minor, padding, mask, b.getBoolArrayAttr({true})));
  for (auto [k, row] : llvm::enumerate(transpose(rows)))
    vector::StoreOp::create(b, row, part.scratch,
                            ValueRange{index(k), index(0)});
}

/// Writes what the iterations `steps` gave for the rows of `tile` into `out`.
Value ScanInterchange::storeTile(Part &part, const Tile &tile,
                                 const Steps &steps, Value out) {
  Type element = getElementTypeOrSelf(out.getType());
  AffineMapAttr minor = AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(part.axes.size(), 1, b.getContext()));
  SmallVector<Value> rows;
  for (int64_t k = 0; k < lanes; ++k)
    rows.push_back(vector::LoadOp::create(b, vectorOf(element), part.scratch,
                                          ValueRange{index(k), index(0)}));
  for (auto [k, row] : llvm::enumerate(transpose(rows))) {
    Value mask;
    if (!steps.whole || !tile.whole) {
      Value width = steps.count;
      if (!tile.whole) {
        Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                              index(k), tile.rows);
        width = arith::SelectOp::create(b, isThere, width, index(0));
      }
      mask = vector::CreateMaskOp::create(b, vectorOf(b.getI1Type()), width);
    }
    out = vector::TransferWriteOp::create(b, out.getType(), row, out,
                                          rowPlace(part, tile, steps, k), minor,
                                          mask, b.getBoolArrayAttr({true}))
              ->getResult(0);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

void ScanInterchange::cloneGeneric(linalg::GenericOp op, IRMapping &mapping,
                                   function_ref<Value(Value, AffineMap)> read) {
  for (OpOperand *input : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(input),
                read(input->get(), op.getMatchingIndexingMap(input)));
  SmallVector<Value> yielded = cloneWide(b, *op.getBody(), mapping, lanes);
  mapping.map(op.getResults(), yielded);
}

/// Iteration `step` of `steps`; returns what it carries on.
SmallVector<Value> ScanInterchange::makeStep(const Tile &tile,
                                             const Steps &steps, Value step,
                                             ValueRange carried) {
  IRMapping mapping;
  Value number = b.createOrFold<arith::AddIOp>(steps.first, step);
  mapping.map(loop.getCounter(), b.createOrFold<arith::IndexCastOp>(
                                     loop.getCounter().getType(), number));
  mapping.map(loop.getCarriedArgs(), carried);
  DenseMap<Key, Value> known = invariants;
  auto read = [&](Value value, AffineMap map) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return widen(b, mapped, lanes);
    if (!isa<TensorType>(value.getType()))
      return widen(b, value, lanes);
    Value &vector = known[{value, map}];
    if (!vector) {
      const Part &part = reads.find({value, map})->second;
      vector = part.layout == Layout::Columns
                   ? vector::LoadOp::create(
                         b, vectorOf(part.tensor.getType()), part.scratch,
                         ValueRange{columnOf(part, steps, step), index(0)})
                         .getResult()
                   : readPart(part, tile, mapping);
    }
    return vector;
  };
  AffineMap identity = b.getMultiDimIdentityMap(dims.size());
  for (Operation &op : loop.getLoopBody()->without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      cloneGeneric(generic, mapping, read);
    } else if (auto write = writes.find(&op); write != writes.end()) {
      const Part &part = write->second;
      Value vector = read(part.source, identity);
      Value out = mapping.lookup(part.tensor);
      if (part.layout == Layout::Columns)
        vector::StoreOp::create(
            b, vector, part.scratch,
            ValueRange{columnOf(part, steps, step), index(0)});
      else
        out = writeRow(part, tile, vector, out, mapping);
      mapping.map(op.getResult(0), out);
    } else if (!isa<tensor::EmptyOp, tensor::ExtractSliceOp>(op)) {
      b.clone(op, mapping);
    }
  }
  SmallVector<Value> next;
  for (Value value : loop.getYield().getCarried()) {
    Value mapped = mapping.lookupOrNull(value);
    if (!mapped)
      mapped = value.getDefiningOp<tensor::ExtractSliceOp>()
                   ? read(value, identity)
                   : value;
    next.push_back(mapped);
  }
  return next;
}

/// Neighbours of the last axis, written where they lie.
Value ScanInterchange::writeRow(const Part &part, const Tile &tile,
                                Value vector, Value out, IRMapping &mapping) {
  AffineMapAttr minor = AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(part.axes.size(), 1, b.getContext()));
  Value mask;
  if (!tile.whole)
    mask = vector::CreateMaskOp::create(b, vectorOf(b.getI1Type()), tile.rows);
  return vector::TransferWriteOp::create(b, out.getType(), vector, out,
                                         placeOf(part, tile, mapping), minor,
                                         mask, b.getBoolArrayAttr({true}))
      ->getResult(0);
}

/// The iterations `steps` of `tile`.
SmallVector<Value> ScanInterchange::makeSteps(const Tile &tile,
                                              const Steps &steps,
                                              ValueRange carried) {
  for (auto &[key, part] : reads)
    if (part.layout == Layout::Columns)
      loadTile(part, tile, steps);
  for (auto &[op, part] : writes)
    if (part.layout == Layout::Columns)
      part.scratch = makeScratch(getElementTypeOrSelf(part.tensor.getType()));
  SmallVector<Value> next;
  {
    OpBuilder::InsertionGuard guard(b);
    auto all = openLoop(index(0), steps.count, index(1), carried);
    scf::YieldOp::create(b, makeStep(tile, steps, all.getInductionVar(),
                                     all.getRegionIterArgs()));
    next.assign(all.getResults().begin(), all.getResults().end());
  }
  for (auto &[op, part] : writes)
    if (part.layout == Layout::Columns)
      next[*part.port] = storeTile(part, tile, steps, next[*part.port]);
  return next;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// All iterations of `tile`; returns `outs` with it: what is written in the
/// iterations, then the carried elements that are read behind them.
SmallVector<Value> ScanInterchange::makeTile(const Tile &tile,
                                             ValueRange outs) {
  invariants.clear();
  IRMapping none;
  for (auto &[key, part] : reads)
    if (part.layout != Layout::Columns &&
        llvm::all_of(part.offsets, [&](OpFoldResult offset) {
          auto value = dyn_cast<Value>(offset);
          return !value || isOutside(value);
        }))
      invariants[key] = readPart(part, tile, none);
  SmallVector<Value> carried(loop.getInits());
  for (auto [k, init] : llvm::enumerate(carried))
    if (isa<TensorType>(init.getType()) && !llvm::is_contained(outPorts, k)) {
      Part whole{Layout::Rows,
                 init,
                 SmallVector<OpFoldResult>(dims.size(), b.getIndexAttr(0)),
                 {}};
      for (unsigned axis = 0; axis < dims.size(); ++axis)
        whole.axes.push_back(axis);
      carried[k] = readPart(whole, tile, none);
    }
  for (auto [port, out] : llvm::zip(outPorts, outs))
    carried[port] = out;
  Value trips = tripsAsIndex(b, b.getLoc(), loop.getTripCount());
  Value width = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(trips, width);
  Value whole = b.createOrFold<arith::SubIOp>(trips, rest);
  carried =
      makeBlocks(tile, b.createOrFold<arith::DivUIOp>(trips, width), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    auto last = openLoop(whole, trips, width, carried);
    Steps steps{last.getInductionVar(), rest, /*whole=*/false};
    scf::YieldOp::create(b, makeSteps(tile, steps, last.getRegionIterArgs()));
    carried.assign(last.getResults().begin(), last.getResults().end());
  }
  SmallVector<Value> results;
  for (unsigned port : outPorts)
    results.push_back(carried[port]);
  Value mask;
  if (!tile.whole)
    mask = vector::CreateMaskOp::create(b, vectorOf(b.getI1Type()), tile.rows);
  AffineMapAttr minor = AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(dims.size(), 1, b.getContext()));
  for (auto [port, out] : llvm::zip(live, outs.drop_front(outPorts.size())))
    results.push_back(vector::TransferWriteOp::create(
                          b, out.getType(), carried[port], out, tile.at, minor,
                          mask, b.getBoolArrayAttr({true}))
                          ->getResult(0));
  return results;
}

/// `count` times as many iterations as a tile has. It is a loop.loop, as it
/// may take long (loop_cancel).
SmallVector<Value> ScanInterchange::makeBlocks(const Tile &tile, Value count,
                                               ValueRange carried) {
  Type i64 = b.getI64Type();
  auto blocks = LoopOp::create(b, i64, b.getI1Type(),
                               b.createOrFold<arith::IndexCastOp>(i64, count),
                               Value(), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(blocks.getLoopBody());
  Value number =
      arith::IndexCastOp::create(b, b.getIndexType(), blocks.getCounter());
  Steps steps{arith::MulIOp::create(b, number, index(lanes)), index(lanes),
              /*whole=*/true};
  SmallVector<Value> next = makeSteps(tile, steps, blocks.getCarriedArgs());
  Value proceed = arith::ConstantOp::create(b, b.getBoolAttr(true));
  YieldOp::create(b, proceed, next, ValueRange());
  return llvm::to_vector(ValueRange(blocks.getResults()));
}

/// Loops over the rows, then over tiles of each.
SmallVector<Value> ScanInterchange::makeTiles(SmallVector<Value> outs) {
  OpBuilder::InsertionGuard outer(b);
  Tile tile{{}, true, {}};
  SmallVector<scf::ForOp> nest;
  for (OpFoldResult dim : ArrayRef(dims).drop_back()) {
    nest.push_back(openLoop(index(0), asIndex(dim), index(1), outs));
    tile.at.push_back(nest.back().getInductionVar());
    outs = llvm::to_vector_of<Value>(nest.back().getRegionIterArgs());
  }
  Value extent = asIndex(dims.back()), step = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(extent, step);
  Value whole = b.createOrFold<arith::SubIOp>(extent, rest);
  for (bool inBounds : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    auto tiles = openLoop(inBounds ? index(0) : whole,
                          inBounds ? whole : extent, step, outs);
    Tile here = tile;
    here.at.push_back(tiles.getInductionVar());
    here.whole = inBounds;
    here.rows = inBounds ? step : rest;
    scf::YieldOp::create(b, makeTile(here, tiles.getRegionIterArgs()));
    outs.assign(tiles.getResults().begin(), tiles.getResults().end());
  }
  for (scf::ForOp rows : llvm::reverse(nest)) {
    b.setInsertionPointToEnd(rows.getBody());
    scf::YieldOp::create(b, outs);
    outs.assign(rows.getResults().begin(), rows.getResults().end());
  }
  return outs;
}

void ScanInterchange::rewrite() {
  b.setInsertionPoint(loop);
  SmallVector<Value> outs;
  for (unsigned port : outPorts)
    outs.push_back(loop.getInits()[port]);
  for (unsigned port : live) {
    Type element = getElementTypeOrSelf(loop.getResult(port).getType());
    outs.push_back(tensor::EmptyOp::create(b, dims, element));
  }
  SmallVector<Value> results = makeTiles(outs);
  b.setInsertionPoint(loop);
  SmallVector<unsigned> ports(outPorts);
  llvm::append_range(ports, live);
  for (auto [port, value] : llvm::zip(ports, results))
    rewriter.replaceAllUsesWith(
        loop.getResult(port),
        b.createOrFold<tensor::CastOp>(loop.getResult(port).getType(), value));
  rewriter.eraseOp(loop);
}
