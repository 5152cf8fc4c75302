//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Col2Im, LRN and Det; the rows of the other operators on images.

#include "Vision.h"
#include "Framework/ShapeUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace loopc;
using IP = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

namespace {
/// Blocks of an image, as columns, and where they are put.
struct BlockColumns {
  LogicalResult read(NodeLowering &l);
  /// Counts the places that the block has along each axis.
  LogicalResult findPlaces(NodeLowering &l);
  /// What the columns hold for a pixel and a place in the block; the sum over
  /// the latter is the pixel.
  Value valueAt(ScalarBuilder &s, Type compute) const;

  Value x;
  Dims image, block, places;
  SmallVector<int64_t> strides, dilations, pads;
  OpFoldResult channels;
  SmallVector<Value> blockValues, placeValues;
};
} // namespace

LogicalResult BlockColumns::read(NodeLowering &l) {
  x = l.in(0);
  if (l.rank(0) != 3)
    return l.refuse("the input has rank " + Twine(l.rank(0)) + ", expected 3");
  if (failed(requireArithmetic(l, 0)))
    return failure();
  FailureOr<Dims> given = integers(l, 1, std::nullopt, "image_shape");
  if (failed(given))
    return failure();
  image = *given;
  int64_t axes = image.size();
  given = integers(l, 2, axes, "block_shape");
  if (failed(given))
    return failure();
  block = *given;
  auto list = [&](StringRef name, int64_t count, int64_t value) {
    return l.intsAttr(name).value_or(SmallVector<int64_t>(count, value));
  };
  strides = list("strides", axes, 1);
  dilations = list("dilations", axes, 1);
  pads = list("pads", 2 * axes, 0);
  auto isPositive = [](int64_t value) { return value > 0; };
  if (static_cast<int64_t>(block.size()) != axes ||
      static_cast<int64_t>(strides.size()) != axes ||
      static_cast<int64_t>(dilations.size()) != axes ||
      static_cast<int64_t>(pads.size()) != 2 * axes ||
      !llvm::all_of(strides, isPositive) ||
      !llvm::all_of(dilations, isPositive))
    return l.refuse("strides, pads, dilations and shapes do not fit");
  return success();
}

LogicalResult BlockColumns::findPlaces(NodeLowering &l) {
  OpFoldResult numPlaces = l.fold(1);
  int64_t axes = image.size();
  for (int64_t k = 0; k < axes; ++k) {
    image[k] = requireNonNegative(l, image[k], "an extent of the image");
    block[k] = requireNonNegative(l, block[k], "an extent of the block");
    OpFoldResult reach = l.add(
        l.mul(l.sub(block[k], l.fold(1)), l.fold(dilations[k])), l.fold(1));
    OpFoldResult room =
        l.sub(l.add(image[k], l.fold(pads[k] + pads[axes + k])), reach);
    OpFoldResult steps =
        quotient(l, maxSigned(l, room, l.fold(0)), l.fold(strides[k]));
    Value fits = compare(l, IP::sge, room, l.fold(0));
    places.push_back(select(l, fits, l.add(steps, l.fold(1)), l.fold(0)));
    numPlaces = l.mul(numPlaces, places.back());
  }
  OpFoldResult blockSize = maxSigned(l, l.product(block), l.fold(1));
  channels = quotient(l, l.dim(x, 1), blockSize);
  if (!requireEqual(l, l.dim(x, 2), numPlaces, "the places of the block") ||
      !requireEqual(l, l.dim(x, 1), l.mul(channels, blockSize),
                    "the rows of the columns"))
    return l.refuse("the input does not fit image and block");
  return success();
}

Value BlockColumns::valueAt(ScalarBuilder &s, Type compute) const {
  auto at = [&](int64_t k) -> Value {
    return linalg::IndexOp::create(s.b, s.loc, k);
  };
  auto number = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(s.b, s.loc, v);
  };
  int64_t axes = image.size();
  Value row = at(1), column = number(0), isThere;
  for (int64_t k = 0; k < axes; ++k) {
    Value offset = at(2 + axes + k);
    row = s.add(s.mul(row, blockValues[k]), offset);
    Value moved = s.sub(s.add(at(2 + k), number(pads[k])),
                        s.mul(offset, number(dilations[k])));
    Value stride = number(strides[k]);
    Value safe = s.make<arith::MaxSIOp>(moved, number(0));
    Value place = s.make<arith::DivUIOp>(safe, stride);
    Value exact = s.make<arith::CmpIOp>(IP::eq, s.mul(place, stride), moved);
    Value inside = s.make<arith::CmpIOp>(IP::ult, place, placeValues[k]);
    Value ok = s.both(exact, inside);
    isThere = isThere ? s.both(isThere, ok) : ok;
    column = s.add(s.mul(column, placeValues[k]),
                   s.select(inside, place, number(0)));
  }
  Value zero = s.number(compute, 0);
  if (!isThere)
    isThere = s.integer(s.b.getI1Type(), 1);
  Value value =
      tensor::ExtractOp::create(s.b, s.loc, x, ValueRange{at(0), row, column});
  return s.select(isThere, s.cast(value, compute), zero);
}

static LogicalResult lowerCol2Im(NodeLowering &l) {
  BlockColumns columns;
  if (failed(columns.read(l)) || failed(columns.findPlaces(l)))
    return failure();
  int64_t axes = columns.image.size();
  Dims space = {l.dim(columns.x, 0), columns.channels};
  llvm::append_range(space, columns.image);
  llvm::append_range(space, columns.block);
  SmallVector<int64_t> reduced(
      llvm::to_vector(llvm::seq<int64_t>(2 + axes, 2 + 2 * axes)));
  Type type = l.elementType(0), compute = NodeLowering::computeType(type);
  for (int64_t k = 0; k < axes; ++k) {
    columns.blockValues.push_back(l.asIndex(columns.block[k]));
    columns.placeValues.push_back(l.asIndex(columns.places[k]));
  }
  SpaceOperand shape = {l.empty(columns.block, compute), reduced};
  Value result = reduceSpace(l, shape, space, reduced, Combiner::Sum, compute,
                             l.isUnsigned(0),
                             [&](ScalarBuilder &s, ArrayRef<Value>) -> Value {
                               return columns.valueAt(s, compute);
                             });
  l.setResult(
      compute == type
          ? result
          : l.elementwise(result, type,
                          [&](OpBuilder &b, Location loc, ValueRange e) {
                            return ScalarBuilder(b, loc).cast(e[0], type);
                          }));
  return success();
}

//===----------------------------------------------------------------------===//
// LRN
//===----------------------------------------------------------------------===//

/// A window of so many channels to either side is taken as it is where it is
/// not known how many there are.
static constexpr int64_t kShortWindow = 64;

static LogicalResult lowerLRN(NodeLowering &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(0), size = l.intAttr("size");
  double alpha = l.floatAttr("alpha"), beta = l.floatAttr("beta"),
         bias = l.floatAttr("bias");
  if (rank < 2 || size < 1)
    return l.refuse("rank " + Twine(rank) + " and size " + Twine(size));
  if (failed(requireArithmetic(l, 0)))
    return failure();
  Type type = l.elementType(0), compute = NodeLowering::computeType(type);
  Dims dims = l.dims(x), space = dims;
  // Beyond the channels there is nothing.
  auto within = [&](int64_t places) -> OpFoldResult {
    bool isKnown = getConstantIntValue(dims[1]).has_value();
    return isKnown || places > kShortWindow
               ? minSigned(l, l.fold(places), dims[1])
               : l.fold(places);
  };
  OpFoldResult ahead = within((size - 1) / 2), behind = within(size / 2);
  OpFoldResult length = l.add(l.add(ahead, behind), l.fold(1));
  space.push_back(length);
  Value channels = l.asIndex(dims[1]), before = l.asIndex(ahead);
  SpaceOperand window = {l.empty(length, compute), {rank}};
  Value squares = reduceSpace(
      l, window, space, {rank}, Combiner::Sum, compute, false,
      [&](ScalarBuilder &s, ArrayRef<Value>) -> Value {
        SmallVector<Value> at;
        for (int64_t k = 0; k < rank; ++k)
          at.push_back(linalg::IndexOp::create(s.b, s.loc, k));
        Value offset = linalg::IndexOp::create(s.b, s.loc, rank);
        Value zero = arith::ConstantIndexOp::create(s.b, s.loc, 0);
        Value channel = s.sub(s.add(at[1], offset), before);
        Value inside = s.make<arith::CmpIOp>(IP::ult, channel, channels);
        at[1] = s.select(inside, channel, zero);
        Value value =
            s.cast(tensor::ExtractOp::create(s.b, s.loc, x, at), compute);
        return s.select(inside, s.mul(value, value), s.constant(compute, 0));
      });
  l.setResult(mapSpace(
      l, {{x, allAxes(rank)}, {squares, allAxes(rank)}}, dims, type,
      [&](ScalarBuilder &s, ArrayRef<Value> e) {
        Value base = s.add(s.constant(compute, bias),
                           s.mul(s.constant(compute, alpha / size), e[1]));
        Value divisor = s.make<math::PowFOp>(base, s.constant(compute, beta));
        return s.cast(s.div(s.cast(e[0], compute), divisor), type);
      }));
  return success();
}

//===----------------------------------------------------------------------===//
// Det
//===----------------------------------------------------------------------===//

/// One step of Gauss' elimination on `m` [n, n] at column `k`, with the largest
/// element as pivot: the rest of the matrix, and the factor of the determinant.
static SmallVector<Value> eliminate(NodeLowering &l, Value m, Value det,
                                    Value k, Value n) {
  ScalarBuilder s(l.b, l.b.getLoc());
  Type type = det.getType();
  auto read = [&](Value from, Value i, Value j) -> Value {
    return tensor::ExtractOp::create(l.b, from, ValueRange{i, j});
  };
  OpFoldResult rest = arith::SubIOp::create(l.b, n, k).getResult();
  Value pivot = loopNest(l, rest, k, [&](ValueRange at, ValueRange best) {
    Value i = arith::AddIOp::create(l.b, k, at[0]);
    ScalarBuilder s(l.b, l.b.getLoc());
    Value larger = s.less(s.abs(read(m, best[0], k)), s.abs(read(m, i, k)));
    return SmallVector<Value>{s.select(larger, i, best[0])};
  })[0];
  Value head = read(m, pivot, k);
  Value isSame = arith::CmpIOp::create(l.b, IP::eq, pivot, k);
  Value sign = s.select(isSame, s.constant(type, 1), s.constant(type, -1));
  Value next = s.mul(det, s.mul(head, sign));
  Value isSingular = s.equal(head, s.constant(type, 0));
  Value divisor = s.select(isSingular, s.constant(type, 1), head);
  // Row k becomes the pivot's, the pivot's becomes row k.
  Value swapped = loopNest(l, rest, m, [&](ValueRange at, ValueRange carried) {
    Value j = arith::AddIOp::create(l.b, k, at[0]);
    Value a = read(carried[0], k, j), b = read(carried[0], pivot, j);
    Value one = tensor::InsertOp::create(l.b, b, carried[0], ValueRange{k, j});
    return SmallVector<Value>{
        tensor::InsertOp::create(l.b, a, one, ValueRange{pivot, j})};
  })[0];
  OpFoldResult below =
      arith::SubIOp::create(l.b, l.asIndex(rest), l.index(1)).getResult();
  Value first = arith::AddIOp::create(l.b, k, l.index(1));
  Value reduced =
      loopNest(l, below, swapped, [&](ValueRange at, ValueRange carried) {
        ScalarBuilder s(l.b, l.b.getLoc());
        Value i = arith::AddIOp::create(l.b, first, at[0]);
        Value factor = s.div(read(carried[0], i, k), divisor);
        return SmallVector<Value>{
            loopNest(l, below, carried[0], [&](ValueRange inner, ValueRange c) {
              ScalarBuilder s(l.b, l.b.getLoc());
              Value j = arith::AddIOp::create(l.b, first, inner[0]);
              Value value =
                  s.sub(read(c[0], i, j), s.mul(factor, read(c[0], k, j)));
              return SmallVector<Value>{
                  tensor::InsertOp::create(l.b, value, c[0], ValueRange{i, j})};
            })[0]};
      })[0];
  return {reduced, next};
}

static LogicalResult lowerDet(NodeLowering &l) {
  Value x = l.in(0);
  int64_t rank = l.rank(0);
  if (rank < 2)
    return l.refuse("the input has rank " + Twine(rank) +
                    ", expected at least 2");
  if (failed(requireArithmetic(l, 0)))
    return failure();
  Dims dims = l.dims(x), batch(dims.begin(), dims.end() - 2);
  if (!requireEqual(l, dims[rank - 2], dims[rank - 1],
                    "rows and columns of the matrices"))
    return l.refuse("the matrices are not square");
  OpFoldResult extent = dims[rank - 1];
  Value n = l.asIndex(extent);
  Type type = l.elementType(0), compute = NodeLowering::computeType(type);
  Value result = loopNest(
      l, batch, l.empty(batch, type), [&](ValueRange at, ValueRange carried) {
        SmallVector<Value> where(at);
        Value m =
            l.generate({extent, extent}, compute,
                       [&](OpBuilder &b, Location loc, ValueRange ij) -> Value {
                         SmallVector<Value> from(where);
                         llvm::append_range(from, ij);
                         Value value =
                             tensor::ExtractOp::create(b, loc, x, from);
                         return ScalarBuilder(b, loc).cast(value, compute);
                       });
        Value det = loopNest(l, extent, {m, l.constant(compute, 1)},
                             [&](ValueRange k, ValueRange c) {
                               return eliminate(l, c[0], c[1], k[0], n);
                             })[1];
        Value narrow = ScalarBuilder(l.b, l.b.getLoc()).cast(det, type);
        return SmallVector<Value>{
            tensor::InsertOp::create(l.b, narrow, carried[0], where)};
      })[0];
  l.setResult(result);
  return success();
}

void loopc::addVisionRows(LoweringTable &table) {
  table.add({
      {"", "Col2Im", 18, kLatest, lowerCol2Im},
      {"", "LRN", 1, kLatest, lowerLRN},
      {"", "Det", 11, kLatest, lowerDet},
  });
  addGridSampleRows(table);
  addRegionRows(table);
  addSuppressionRows(table);
}
