//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-lower-collected: what could not be collected in place grows in a flat
// buffer with capacity.

#include "loopc/Dialect/Loop/Growth/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/IndexEmitter.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace loopc {
#define GEN_PASS_DEF_LOOPLOWERCOLLECTED
#include "loopc/Dialect/Loop/Growth/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Elements that the first buffer of a collected value holds at least.
static constexpr int64_t kFirstCapacity = 16;
/// Extent along its axis that a buffer which grew has at least.
static constexpr int64_t kFirstRoom = 4;

/// Says that `branch` makes room, and is seldom taken.
static void markGrowth(scf::IfOp branch) {
  auto unit = UnitAttr::get(branch.getContext());
  branch->setDiscardableAttr(kGrowsAttrName, unit);
  branch->setDiscardableAttr(kColdAttrName, unit);
}

namespace {
/// One collected value: a flat buffer and its element's dimensions, carried.
struct Collector {
  Type element;
  SmallVector<int64_t> shape; ///< of one iteration's value
  SmallVector<int64_t> zeroTripShape;
  unsigned bufferPort = 0; ///< carried value that is the buffer
  unsigned dimsPort = 0;   ///< first of the carried run-time dimensions
};

class CollectedLowering : IndexEmitter {
public:
  CollectedLowering(IRRewriter &rewriter, LoopOp loop)
      : IndexEmitter(loop.getLoc(), rewriter), rewriter(rewriter), loop(loop) {}

  void run() {
    b.setInsertionPoint(loop);
    LoopSignature signature(loop);
    signature.collected.clear();
    unsigned countPort = signature.inits.size();
    signature.inits.push_back(index(0));
    for (unsigned k = 0; k < loop.getNumCollected(); ++k)
      addInits(k, signature.inits);
    auto made = LoopOp::create(b, signature);
    YieldOp yield = loop.getYield();
    moveBody(rewriter, loop, made,
             made.getLoopBody()->getArguments().take_front(
                 2 + loop.getNumCarried()));
    b.setInsertionPoint(yield);
    SmallVector<Value> next(yield.getCarried());
    Value count = made.getCarriedArgs()[countPort];
    next.push_back(b.createOrFold<arith::AddIOp>(count, index(1)));
    for (auto [k, collector] : llvm::enumerate(collectors))
      append(k, collector, made, count, yield.getCollected()[k], next);
    YieldOp::create(b, yield.getCondition(), next, ValueRange());
    rewriter.eraseOp(yield);
    b.setInsertionPointAfter(made);
    SmallVector<Value> results(
        made.getResults().take_front(loop.getNumCarried()));
    for (auto [k, collector] : llvm::enumerate(collectors))
      results.push_back(finish(k, collector, made, made.getResult(countPort)));
    rewriter.replaceOp(loop, results);
  }

private:
  Value asIndex(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }
  Value product(ArrayRef<OpFoldResult> dims) {
    Value result = index(1);
    for (OpFoldResult extent : dims)
      result = b.createOrFold<arith::MulIOp>(result, asIndex(extent));
    return result;
  }

  void addInits(unsigned k, SmallVector<Value> &inits) {
    Value value = loop.getYield().getCollected()[k];
    auto result = cast<MemRefType>(loop.getCollectedResults()[k].getType());
    Collector collector;
    collector.element = getElementTypeOrSelf(value.getType());
    if (auto type = dyn_cast<MemRefType>(value.getType())) {
      collector.shape.assign(type.getShape().begin(), type.getShape().end());
      collector.zeroTripShape.assign(result.getShape().begin(),
                                     result.getShape().end());
      collector.zeroTripShape.erase(collector.zeroTripShape.begin() +
                                    loop.getCollectAxes()[k]);
    }
    collector.bufferPort = inits.size();
    inits.push_back(memref::AllocOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, collector.element),
        ValueRange{index(0)}));
    collector.dimsPort = inits.size();
    // After zero trips a dimension that nothing tells is 0 (loop_zero).
    for (auto [axis, extent] : llvm::enumerate(collector.shape))
      if (ShapedType::isDynamic(extent)) {
        int64_t known = collector.zeroTripShape[axis];
        inits.push_back(index(ShapedType::isDynamic(known) ? 0 : known));
      }
    collectors.push_back(collector);
  }

  /// The dimensions of the collected value's elements: constants, and
  /// `dynamic` in order.
  SmallVector<OpFoldResult> elementDims(const Collector &collector,
                                        ValueRange dynamic) {
    SmallVector<OpFoldResult> dims;
    for (int64_t extent : collector.shape) {
      if (!ShapedType::isDynamic(extent)) {
        dims.push_back(b.getIndexAttr(extent));
        continue;
      }
      dims.push_back(dynamic.front());
      dynamic = dynamic.drop_front();
    }
    return dims;
  }

  /// Puts `value` behind the `count` values in the buffer.
  void append(unsigned k, const Collector &collector, LoopOp made, Value count,
              Value value, SmallVector<Value> &next) {
    SmallVector<Value> dims;
    for (auto [axis, extent] : llvm::enumerate(collector.shape))
      if (ShapedType::isDynamic(extent))
        dims.push_back(memref::DimOp::create(b, value, axis));
    checkShape(k, collector, made, count, dims);
    Value elements = product(elementDims(collector, dims));
    Value used = b.createOrFold<arith::MulIOp>(count, elements);
    Value needed = b.createOrFold<arith::AddIOp>(used, elements);
    Value buffer =
        grow(made.getCarriedArgs()[collector.bufferPort], used, needed);
    if (!isa<MemRefType>(value.getType()))
      memref::StoreOp::create(b, value, buffer, count);
    else
      copyInto(collector, value, buffer, used, dims);
    next.push_back(buffer);
    llvm::append_range(next, dims);
  }

  /// loop_collect_shape: the first iteration's shape is that of all others.
  void checkShape(unsigned k, const Collector &collector, LoopOp made,
                  Value count, ValueRange dims) {
    if (dims.empty())
      return;
    Value ok =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, index(0));
    Value same;
    SmallVector<Value> values;
    std::string now = "[", before = "[";
    unsigned n = 0;
    SmallVector<Value> old;
    for (auto [axis, extent] : llvm::enumerate(collector.shape)) {
      StringRef comma = axis ? ", " : "";
      if (!ShapedType::isDynamic(extent)) {
        now += (comma + Twine(extent)).str();
        before += (comma + Twine(extent)).str();
        continue;
      }
      now += (comma + Twine("{}")).str();
      before += (comma + Twine("{}")).str();
      old.push_back(made.getCarriedArgs()[collector.dimsPort + n]);
      Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          dims[n++], old.back());
      same = same ? b.createOrFold<arith::AndIOp>(same, equal) : equal;
    }
    llvm::append_range(values, dims);
    llvm::append_range(values, old);
    CheckOp::create(
        b, arith::OrIOp::create(b, ok, same),
        b.getStringAttr(locationPath(loop.getLoc()) + ": collected value #" +
                        Twine(k) + " has shape " + now +
                        "], in the iterations before " + before + "]"),
        values, Value());
  }

  /// `buffer`, or a larger one with its first `used` elements.
  Value grow(Value buffer, Value used, Value needed) {
    Value capacity = memref::DimOp::create(b, buffer, 0);
    Value full =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, needed, capacity);
    auto branch = scf::IfOp::create(b, TypeRange{buffer.getType()}, full,
                                    /*withElseRegion=*/true);
    markGrowth(branch);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value doubled = arith::MulIOp::create(b, capacity, index(2));
    Value larger = arith::MaxSIOp::create(b, doubled, needed);
    larger = arith::MaxSIOp::create(b, larger, index(kFirstCapacity));
    Value fresh = memref::AllocOp::create(b, cast<MemRefType>(buffer.getType()),
                                          ValueRange{larger});
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value from =
        memref::SubViewOp::create(b, buffer, zero, OpFoldResult(used), one);
    Value to =
        memref::SubViewOp::create(b, fresh, zero, OpFoldResult(used), one);
    memref::CopyOp::create(b, from, to);
    scf::YieldOp::create(b, fresh);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, buffer);
    return branch.getResult(0);
  }

  /// Copies `value` to the elements of `buffer` from `offset` on.
  void copyInto(const Collector &collector, Value value, Value buffer,
                Value offset, ValueRange dims) {
    SmallVector<OpFoldResult> sizes = elementDims(collector, dims);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    for (int64_t axis = static_cast<int64_t>(sizes.size()) - 2; axis >= 0;
         --axis) {
      Value stride = b.createOrFold<arith::MulIOp>(asIndex(strides[axis + 1]),
                                                   asIndex(sizes[axis + 1]));
      strides[axis] = getAsOpFoldResult(stride);
    }
    auto [staticStrides, dynamicStrides] = decomposeMixedValues(strides);
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                         staticStrides);
    auto type = MemRefType::get(collector.shape, collector.element, layout);
    Value row = memref::ReinterpretCastOp::create(
        b, type, buffer, OpFoldResult(offset), sizes, strides);
    memref::CopyOp::create(b, value, row);
  }

  /// The first `rows` values of the flat buffer as one buffer [rows, dims...].
  Value asRows(Value buffer, Value rows, ArrayRef<OpFoldResult> dims) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value total = b.createOrFold<arith::MulIOp>(rows, product(dims));
    Value flat =
        memref::SubViewOp::create(b, buffer, zero, OpFoldResult(total), one);
    flat = memref::CastOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, element), flat);
    if (dims.empty())
      return flat;
    SmallVector<OpFoldResult> sizes{rows};
    llvm::append_range(sizes, dims);
    auto [shape, dynamic] = decomposeMixedValues(sizes);
    SmallVector<ReassociationIndices> group{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, sizes.size()))};
    return memref::ExpandShapeOp::create(b, MemRefType::get(shape, element),
                                         flat, group, sizes);
  }

  Value finish(unsigned k, const Collector &collector, LoopOp made,
               Value count) {
    auto type = cast<MemRefType>(loop.getCollectedResults()[k].getType());
    int64_t axis = loop.getCollectAxes()[k];
    unsigned dynamic = llvm::count_if(collector.shape, ShapedType::isDynamic);
    SmallVector<OpFoldResult> dims = elementDims(
        collector, made.getResults().slice(collector.dimsPort, dynamic));
    Value rows = asRows(made.getResult(collector.bufferPort), count, dims);
    Value length = loop.getLengthOf(k);
    if (axis == 0 && !loop.getCollectReverse()[k] && !length)
      return castTo(type, rows);
    SmallVector<OpFoldResult> sizes(dims);
    Value extent = count;
    // loop_collect_length: more trips are an error, fewer are padded with zero.
    if (length) {
      extent = length.getType().isIndex()
                   ? length
                   : arith::IndexCastOp::create(b, b.getIndexType(), length);
      Value fits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sle, count, extent);
      CheckOp::create(b, fits,
                      b.getStringAttr(locationPath(loop.getLoc()) +
                                      ": {} iterations, more than the length "
                                      "{} of collected value #" +
                                      Twine(k)),
                      ValueRange{count, extent}, Value());
      // The run has ended, and no buffer has a constant extent below zero.
      if (getConstantIntValue(length).value_or(0) < 0)
        extent = arith::ConstantIndexOp::create(b, 0);
    }
    sizes.insert(sizes.begin() + axis, extent);
    auto [shape, dynamicSizes] = decomposeMixedValues(sizes);
    Value whole = memref::AllocOp::create(
        b, MemRefType::get(shape, collector.element), dynamicSizes);
    if (length) {
      Value zero = createZero(b, loop.getLoc(), collector.element);
      linalg::FillOp::create(b, zero, whole);
    }
    copyRows(rows, whole, sizes, axis, count, loop.getCollectReverse()[k]);
    return castTo(type, whole);
  }

  /// whole[.., i at axis, ..] = rows[i or count - 1 - i, ..] for i < count.
  void copyRows(Value rows, Value whole, ArrayRef<OpFoldResult> sizes,
                int64_t axis, Value count, bool reverse) {
    int64_t rank = sizes.size();
    SmallVector<OpFoldResult> zeros(rank, b.getIndexAttr(0)),
        ones(rank, b.getIndexAttr(1)), part(sizes);
    part[axis] = count;
    Value target = memref::SubViewOp::create(b, whole, zeros, part, ones);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    linalg::GenericOp::create(
        b, ValueRange(), target, b.getMultiDimIdentityMap(rank), iterators,
        [&](OpBuilder &nested, Location loc, ValueRange) {
          SmallVector<Value> at;
          Value row = linalg::IndexOp::create(nested, loc, axis);
          if (reverse) {
            Value one = arith::ConstantIndexOp::create(nested, loc, 1);
            Value last = arith::SubIOp::create(nested, loc, count, one);
            row = arith::SubIOp::create(nested, loc, last, row);
          }
          at.push_back(row);
          for (int64_t k = 0; k < rank; ++k)
            if (k != axis)
              at.push_back(linalg::IndexOp::create(nested, loc, k));
          Value value = memref::LoadOp::create(nested, loc, rows, at);
          linalg::YieldOp::create(nested, loc, value);
        });
  }

  Value castTo(MemRefType type, Value value) {
    return value.getType() == type
               ? value
               : memref::CastOp::create(b, type, value).getResult();
  }

  IRRewriter &rewriter;
  LoopOp loop;
  SmallVector<Collector> collectors;
};

/// loop.reserve as a test of the room and an allocation.
class ReserveLowering : IndexEmitter {
public:
  ReserveLowering(IRRewriter &rewriter, ReserveOp op)
      : IndexEmitter(op.getLoc(), rewriter), rewriter(rewriter), op(op) {}

  void run() {
    b.setInsertionPoint(op);
    Value buffer = op.getBuffer(), offset = op.getOffset();
    capacity = memref::DimOp::create(b, buffer, op.getAxis());
    bool growsInFront = !isConstantIntValue(op.getFront(), 0);
    Value end = b.createOrFold<arith::AddIOp>(offset, op.getUsed());
    end = b.createOrFold<arith::AddIOp>(end, op.getBack());
    Value full =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end, capacity);
    if (growsInFront) {
      Value lacksFront = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                               op.getFront(), offset);
      full = arith::OrIOp::create(b, full, lacksFront);
    }
    // A result that is not needed is none from the start: who takes it away
    // later makes another branch, which is not marked.
    bool isAtBegin = !growsInFront && isConstantIntValue(offset, 0);
    SmallVector<Type> types{buffer.getType(), b.getIndexType()};
    SmallVector<Value> before{buffer, offset};
    types.resize(isAtBegin ? 1 : 2);
    before.resize(types.size());
    auto branch = scf::IfOp::create(b, types, full, /*withElseRegion=*/true);
    markGrowth(branch);
    b.setInsertionPointToStart(branch.thenBlock());
    auto [larger, place] = makeLarger();
    SmallVector<Value> after{larger, place};
    after.resize(types.size());
    scf::YieldOp::create(b, after);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, before);
    SmallVector<Value> made(branch.getResults());
    if (isAtBegin)
      made.push_back(offset);
    rewriter.replaceOp(op, made);
  }

private:
  /// A buffer of twice the size that is needed, and where the elements are in
  /// it. Where they are few, as of a queue that has moved to the end of its
  /// buffer, it is no larger than that one.
  std::pair<Value, Value> makeLarger() {
    auto type = cast<MemRefType>(op.getBuffer().getType());
    int64_t axis = op.getAxis();
    Value needed = b.createOrFold<arith::AddIOp>(op.getUsed(), op.getFront());
    needed = b.createOrFold<arith::AddIOp>(needed, op.getBack());
    Value doubled = arith::MulIOp::create(b, needed, index(2));
    Value larger = arith::MaxSIOp::create(b, doubled, index(kFirstRoom));
    Value place = index(0);
    if (!isConstantIntValue(op.getFront(), 0)) {
      place = arith::SubIOp::create(b, larger, needed);
      if (!isConstantIntValue(op.getBack(), 0))
        place = arith::ShRUIOp::create(b, place, index(1));
      place = arith::AddIOp::create(b, place, op.getFront());
    }
    SmallVector<Value> sizes;
    SmallVector<OpFoldResult> part;
    for (int64_t k = 0; k < type.getRank(); ++k) {
      if (k == axis) {
        sizes.push_back(larger);
        part.push_back(op.getUsed());
      } else if (type.isDynamicDim(k)) {
        sizes.push_back(memref::DimOp::create(b, op.getBuffer(), k));
        part.push_back(sizes.back());
      } else {
        part.push_back(b.getIndexAttr(type.getDimSize(k)));
      }
    }
    Value fresh = memref::AllocOp::create(b, type, sizes);
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
        ones(type.getRank(), b.getIndexAttr(1));
    offsets[axis] = getAsOpFoldResult(op.getOffset());
    Value from =
        memref::SubViewOp::create(b, op.getBuffer(), offsets, part, ones);
    offsets[axis] = getAsOpFoldResult(place);
    Value to = memref::SubViewOp::create(b, fresh, offsets, part, ones);
    memref::CopyOp::create(b, from, to);
    return {fresh, place};
  }

  IRRewriter &rewriter;
  ReserveOp op;
  Value capacity;
};

struct LoopLowerCollected
    : loopc::impl::LoopLowerCollectedBase<LoopLowerCollected> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto loops = collectOps(
        getOperation(), [&](LoopOp loop) { return loop.getNumCollected(); });
    for (LoopOp loop : loops)
      if (!loop.getSlices().empty()) {
        loop.emitOpError("slices must be lowered before loop-lower-collected");
        return signalPassFailure();
      }
    for (LoopOp loop : loops)
      for (auto [k, result] : llvm::enumerate(loop.getCollectedResults()))
        if (isa<TensorType>(result.getType())) {
          loop.emitOpError("collected value #")
              << k << " of " << result.getType()
              << ": loop-lower-collected needs a memref";
          return signalPassFailure();
        }
    for (LoopOp loop : loops)
      CollectedLowering(rewriter, loop).run();
    auto reserves = collectOps(getOperation(), [&](ReserveOp op) {
      return isa<MemRefType>(op.getBuffer().getType());
    });
    for (ReserveOp op : reserves)
      ReserveLowering(rewriter, op).run();
  }
};
} // namespace
