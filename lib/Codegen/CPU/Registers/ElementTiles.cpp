//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The code of an interchanged loop: loops over tiles of elements, and over the
// iterations of each; with columns over blocks of as many iterations as a tile
// has rows, and over each of these.

#include "ElementInterchange.h"
#include "Rows/VectorElements.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// The one group of all axes of a tensor of rank `rank`.
static SmallVector<ReassociationIndices> allAxes(int64_t rank) {
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

/// A loop whose body the builder stands in; its yield is left to the caller.
scf::ForOp ElementInterchange::openLoop(Value begin, Value end, Value step,
                                        ValueRange inits) {
  auto made = scf::ForOp::create(b, begin, end, step, inits);
  if (!made.getBody()->empty())
    rewriter.eraseOp(made.getBody()->getTerminator());
  b.setInsertionPointToEnd(made.getBody());
  return made;
}

/// `tensor` with one axis for all, where that is done.
Value ElementInterchange::flat(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!flattened || type.getRank() < 2)
    return tensor;
  return tensor::CollapseShapeOp::create(b, tensor, allAxes(type.getRank()));
}

/// `tensor` of truth values as bytes, or the other way.
Value ElementInterchange::withElements(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty =
      tensor::EmptyOp::create(b, resolveDims(b, b.getLoc(), tensor), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, TypeRange{empty.getType()}, ValueRange{tensor},
             ValueRange{empty}, maps, kinds,
             [&](OpBuilder &inner, Location loc, ValueRange args) {
               Value made =
                   element.isInteger(1)
                       ? arith::TruncIOp::create(inner, loc, element, args[0])
                             .getResult()
                       : arith::ExtUIOp::create(inner, loc, element, args[0])
                             .getResult();
               linalg::YieldOp::create(inner, loc, made);
             })
      .getResult(0);
}

void ElementInterchange::readAsBytes(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (type && type.getElementType().isInteger(1) && type.getRank() > 0 &&
      !bytes.contains(tensor))
    bytes[tensor] = withElements(tensor, b.getI8Type());
}

/// Memory on the stack for one tile; made where the function begins, once for
/// all iterations of what is around the loop.
Value ElementInterchange::makeScratch(Type element) {
  OpBuilder::InsertionGuard guard(b);
  auto function = loop->getParentOfType<func::FuncOp>();
  b.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(b, MemRefType::get({lanes, lanes}, element),
                                  b.getI64IntegerAttr(64));
}

/// Where the part of the iteration that `mapping` is for begins.
SmallVector<Value> ElementInterchange::placeOf(const Part &part,
                                               const Tile &tile,
                                               IRMapping &mapping) {
  SmallVector<Value> place;
  for (auto [offset, axis] : llvm::zip(part.offsets, part.axes)) {
    auto value = dyn_cast<Value>(offset);
    Value at = value ? mapping.lookupOrDefault(value) : toValue(offset);
    if (axis)
      at = isConstantIntValue(offset, 0)
               ? tile.at[*axis]
               : b.createOrFold<arith::AddIOp>(at, tile.at[*axis]);
    place.push_back(at);
  }
  return place;
}

/// A vector of what the elements of `tile` read of `part`.
Value ElementInterchange::readPart(const Part &part, const Tile &tile,
                                   IRMapping &mapping) {
  if (!isa<TensorType>(part.tensor.getType()))
    return widen(b, part.tensor, lanes);
  Value held = bytes.lookup(part.tensor);
  Value tensor = held ? held : part.tensor;
  Type element = getElementTypeOrSelf(tensor.getType());
  Value vector;
  if (part.layout == Layout::Same) {
    SmallVector<Value> place = placeOf(part, tile, mapping);
    vector = widen(b, tensor::ExtractOp::create(b, tensor, place), lanes);
  } else {
    SmallVector<Value> place =
        flattened ? tile.at : placeOf(part, tile, mapping);
    vector = vector::TransferReadOp::create(b, vectorOf(element), flat(tensor),
                                            place, zero(element),
                                            ArrayRef<bool>{tile.whole});
  }
  return held ? arith::TruncIOp::create(b, vectorOf(b.getI1Type()), vector)
                    .getResult()
              : vector;
}

/// The row of a tile's memory that iteration `step` of `steps` has.
Value ElementInterchange::columnOf(const Part &part, const Steps &steps,
                                   Value step) {
  if (!part.backwards)
    return step;
  Value last = b.createOrFold<arith::SubIOp>(steps.count, index(1));
  return b.createOrFold<arith::SubIOp>(last, step);
}

/// Where row `row` of the tile begins. Behind the last row it is the last one.
SmallVector<Value> ElementInterchange::rowPlace(const Part &part,
                                                const Tile &tile,
                                                const Steps &steps,
                                                int64_t row) {
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
    Value at = toValue(offset);
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
SmallVector<Value> ElementInterchange::transpose(SmallVector<Value> rows) {
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
void ElementInterchange::loadTile(Part &part, const Tile &tile,
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
Value ElementInterchange::storeTile(Part &part, const Tile &tile,
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

void ElementInterchange::cloneGeneric(
    linalg::GenericOp op, IRMapping &mapping,
    function_ref<Value(Value, AffineMap)> read) {
  for (OpOperand *input : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(input),
                read(input->get(), op.getMatchingIndexingMap(input)));
  SmallVector<Value> yielded = cloneWide(b, *op.getBody(), mapping, lanes);
  mapping.map(op.getResults(), yielded);
}

/// The iteration whose number, condition and carried values `mapping` has: with
/// columns it is `step` of `steps`. Returns what it carries on.
SmallVector<Value> ElementInterchange::makeStep(const Tile &tile,
                                                const Steps &steps, Value step,
                                                IRMapping &mapping) {
  DenseMap<Key, Value> known = invariants;
  auto read = [&](Value value, AffineMap map) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return widen(b, mapped, lanes);
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
    } else if (isScalarTensor(&op)) {
      mapping.map(op.getResult(0), mapping.lookupOrDefault(op.getOperand(0)));
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
Value ElementInterchange::writeRow(const Part &part, const Tile &tile,
                                   Value vector, Value out,
                                   IRMapping &mapping) {
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
SmallVector<Value> ElementInterchange::makeSteps(const Tile &tile,
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
    Value step = all.getInductionVar();
    Value number = b.createOrFold<arith::AddIOp>(steps.first, step);
    IRMapping mapping;
    mapping.map(loop.getCounter(), b.createOrFold<arith::IndexCastOp>(
                                       loop.getCounter().getType(), number));
    mapping.map(loop.getCarriedArgs(), all.getRegionIterArgs());
    scf::YieldOp::create(b, makeStep(tile, steps, step, mapping));
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

/// What carried value `port` begins with in `tile`.
Value ElementInterchange::readInit(unsigned port, const Tile &tile) {
  Value init = loop.getInits()[port];
  if (!isa<TensorType>(init.getType()))
    return init;
  Part whole{Layout::Rows,
             init,
             SmallVector<OpFoldResult>(dims.size(), b.getIndexAttr(0)),
             {}};
  for (unsigned axis = 0; axis < dims.size(); ++axis)
    whole.axes.push_back(axis);
  IRMapping none;
  return readPart(whole, tile, none);
}

/// All iterations of `tile`; returns `outs` with it: what is written in the
/// iterations, then the carried elements that are read behind them.
SmallVector<Value> ElementInterchange::makeTile(const Tile &tile,
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
  for (auto [port, out] : llvm::zip(outPorts, outs))
    carried[port] = out;
  for (unsigned k = 0; k < carried.size(); ++k)
    if (!llvm::is_contained(outPorts, k))
      carried[k] = readInit(k, tile);
  carried =
      columns ? makeTransposed(tile, carried) : makeIterations(tile, carried);
  SmallVector<Value> results;
  for (unsigned port : outPorts)
    results.push_back(carried[port]);
  for (auto [port, out] : llvm::zip(live, outs.drop_front(outPorts.size()))) {
    VectorType held = vectorOf(out.getType());
    Value vector = carried[port];
    if (vector.getType() != held)
      vector = arith::ExtUIOp::create(b, held, vector);
    results.push_back(vector::TransferWriteOp::create(
                          b, vector, out, tile.at, ArrayRef<bool>{tile.whole})
                          .getResult());
  }
  return results;
}

/// All iterations, one by one.
SmallVector<Value> ElementInterchange::makeIterations(const Tile &tile,
                                                      ValueRange carried) {
  auto inner = LoopOp::create(b, loop.getCounter().getType(),
                              loop.getConditionArg().getType(),
                              loop.getTripCount(), Value(), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(inner.getLoopBody());
  IRMapping mapping;
  mapping.map(loop.getLoopBody()->getArguments(),
              inner.getLoopBody()->getArguments());
  SmallVector<Value> next = makeStep(tile, Steps(), Value(), mapping);
  YieldOp::create(b, mapping.lookupOrDefault(loop.getYield().getCondition()),
                  next, ValueRange());
  return llvm::to_vector(ValueRange(inner.getResults()));
}

/// All iterations, so many as a tile has rows at once; then those that are
/// left.
SmallVector<Value>
ElementInterchange::makeTransposed(const Tile &tile,
                                   SmallVector<Value> carried) {
  Value trips = tripsAsIndex(b, b.getLoc(), loop.getTripCount());
  Value width = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(trips, width);
  Value whole = b.createOrFold<arith::SubIOp>(trips, rest);
  carried =
      makeBlocks(tile, b.createOrFold<arith::DivUIOp>(trips, width), carried);
  OpBuilder::InsertionGuard guard(b);
  auto last = openLoop(whole, trips, width, carried);
  Steps steps{last.getInductionVar(), rest, /*whole=*/false};
  scf::YieldOp::create(b, makeSteps(tile, steps, last.getRegionIterArgs()));
  return llvm::to_vector(ValueRange(last.getResults()));
}

/// `count` times as many iterations as a tile has. It is a loop.loop, as it
/// may take long (loop_cancel).
SmallVector<Value> ElementInterchange::makeBlocks(const Tile &tile, Value count,
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

/// Loops over the rows, then over tiles of each: whole ones, then what is left.
SmallVector<Value> ElementInterchange::makeTiles(SmallVector<Value> outs) {
  OpBuilder::InsertionGuard outer(b);
  Tile tile{{}, true, {}};
  SmallVector<scf::ForOp> nest;
  Value extent = index(1);
  for (OpFoldResult dim :
       flattened ? ArrayRef(dims) : ArrayRef(dims).take_back())
    extent = b.createOrFold<arith::MulIOp>(extent, toValue(dim));
  for (OpFoldResult dim :
       ArrayRef(dims).drop_back(flattened ? dims.size() : 1)) {
    nest.push_back(openLoop(index(0), toValue(dim), index(1), outs));
    tile.at.push_back(nest.back().getInductionVar());
    outs = llvm::to_vector_of<Value>(nest.back().getRegionIterArgs());
  }
  Value step = index(lanes);
  Value rest = b.createOrFold<arith::RemUIOp>(extent, step);
  Value whole = b.createOrFold<arith::SubIOp>(extent, rest);
  auto close = [&](scf::ForOp made, ValueRange yielded) {
    scf::YieldOp::create(b, yielded);
    // What iterations write into slices is not told apart here.
    if (!columns)
      markParallel(made);
    outs.assign(made.getResults().begin(), made.getResults().end());
  };
  for (bool inBounds : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    auto tiles = openLoop(inBounds ? index(0) : whole,
                          inBounds ? whole : extent, step, outs);
    Tile here = tile;
    here.at.push_back(tiles.getInductionVar());
    here.whole = inBounds;
    here.rows = inBounds ? step : rest;
    close(tiles, makeTile(here, tiles.getRegionIterArgs()));
  }
  for (scf::ForOp rows : llvm::reverse(nest)) {
    b.setInsertionPointToEnd(rows.getBody());
    close(rows, SmallVector<Value>(outs));
  }
  return outs;
}

/// What the elements of carried value `port` are written into.
Value ElementInterchange::makeOut(unsigned port) {
  Type element = getElementTypeOrSelf(loop.getResult(port).getType());
  if (element.isInteger(1))
    element = b.getI8Type();
  return flat(tensor::EmptyOp::create(b, dims, element));
}

/// What was written, as the type that the loop gave.
Value ElementInterchange::unflatten(Value tensor, RankedTensorType type) {
  if (flattened) {
    auto [shape, dynamic] = decomposeMixedValues(dims);
    tensor = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, getElementTypeOrSelf(tensor.getType())),
        tensor, allAxes(dims.size()), dims);
  }
  if (getElementTypeOrSelf(tensor.getType()) != type.getElementType())
    tensor = withElements(tensor, type.getElementType());
  return b.createOrFold<tensor::CastOp>(type, tensor);
}

void ElementInterchange::rewrite() {
  b.setInsertionPoint(loop);
  for (unsigned k = 0; k < loop.getNumCarried(); ++k)
    readAsBytes(loop.getInits()[k]);
  for (auto &[key, part] : reads)
    readAsBytes(part.tensor);
  SmallVector<Value> outs;
  for (unsigned port : outPorts)
    outs.push_back(loop.getInits()[port]);
  for (unsigned port : live)
    outs.push_back(makeOut(port));
  SmallVector<Value> results = makeTiles(outs);
  b.setInsertionPoint(loop);
  SmallVector<unsigned> ports(outPorts);
  llvm::append_range(ports, live);
  for (auto [port, value] : llvm::zip(ports, results)) {
    auto type = cast<RankedTensorType>(loop.getResult(port).getType());
    rewriter.replaceAllUsesWith(loop.getResult(port), unflatten(value, type));
  }
  rewriter.eraseOp(loop);
}
