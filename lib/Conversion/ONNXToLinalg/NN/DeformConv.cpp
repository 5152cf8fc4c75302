//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// DeformConv: the input is sampled where the offsets say, by multilinear
// interpolation; what follows is a contraction with the weights.

#include "Contraction.h"
#include "Framework/ShapeUtils.h"
#include "Window.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace loopc;

namespace {
class DeformConv {
public:
  explicit DeformConv(NodeLowering &l)
      : l(l), element(l.elementType(0)),
        compute(NodeLowering::computeType(element)), in(l.dims(l.in(0))),
        weights(l.dims(l.in(1))), spatial(l.rank(0) - 2) {}

  LogicalResult lower();

private:
  LogicalResult read();
  LogicalResult checkOperands();
  bool hasInput(unsigned i) { return i < l.numInputs() && l.has(i); }
  Value wide(Value x) {
    return NodeLowering::castScalar(l.b, l.b.getLoc(), x, false, compute,
                                    false);
  }
  /// The input as element `k` of the window at `o` of image `n` reads channel
  /// `c`.
  Value sample(Value n, Value c, ValueRange k, ValueRange o);
  /// The sum of the corners around `places`, by weight; outside is 0.
  Value interpolate(Value n, Value c, ArrayRef<Value> places);
  /// [N, C, kernel..., out...].
  Value samples();
  Value contract(Value sampled, Value init);

  NodeLowering &l;
  Type element, compute;
  Dims in, weights;
  int64_t spatial, group = 1, offsetGroup = 1;
  OpFoldResult kernelSize;
  Window window;
};
} // namespace

LogicalResult DeformConv::read() {
  if (spatial < 1 || l.rank(1) != spatial + 2 || l.rank(2) != spatial + 2)
    return l.refuse("the operands' ranks do not fit");
  group = l.intAttr("group", 1);
  offsetGroup = l.intAttr("offset_group", 1);
  if (group < 1 || offsetGroup < 1)
    return l.refuse("'group' and 'offset_group' must be positive");
  FailureOr<Window> read = readWindow(l, ArrayRef(in).drop_front(2),
                                      ArrayRef(weights).drop_front(2));
  if (failed(read))
    return failure();
  window = *read;
  kernelSize = l.product(llvm::map_to_vector(
      window, [](const WindowAxis &axis) { return axis.kernel; }));
  return checkOperands();
}

LogicalResult DeformConv::checkOperands() {
  OpFoldResult groups = l.fold(offsetGroup);
  OpFoldResult masks = l.mul(kernelSize, groups);
  bool fits = requireEqual(l, in[1], l.mul(weights[1], l.fold(group)),
                           "channels of input and weights") &&
              requireEqual(l, remainder(l, weights[0], l.fold(group)),
                           l.fold(0), "channels beyond whole groups") &&
              requireEqual(l, remainder(l, in[1], groups), l.fold(0),
                           "channels beyond whole offset groups");
  auto check = [&](unsigned i, OpFoldResult channels, StringRef what) {
    fits &= requireEqual(l, l.dim(l.in(i), 0), in[0], "images of " + what) &&
            requireEqual(l, l.dim(l.in(i), 1), channels, "channels of " + what);
    for (auto [k, axis] : llvm::enumerate(window))
      fits &= requireEqual(l, l.dim(l.in(i), k + 2), axis.out,
                           "extents of " + what + " and result");
  };
  check(2, l.mul(masks, l.fold(spatial)), "the offsets");
  if (hasInput(3))
    fits &= l.rank(3) == 1 && requireEqual(l, l.dim(l.in(3), 0), weights[0],
                                           "length of the bias");
  if (hasInput(4)) {
    if (l.rank(4) != spatial + 2)
      return l.refuse("the operands' ranks do not fit");
    check(4, masks, "the mask");
  }
  return fits ? success() : l.refuse("the operands' shapes do not fit");
}

Value DeformConv::interpolate(Value n, Value c, ArrayRef<Value> places) {
  Type i64 = l.b.getI64Type();
  SmallVector<Value> floors, fractions;
  for (auto [place, axis] : llvm::zip_equal(places, window)) {
    // At -1 and at the extent everything is outside, as beyond.
    Value most = arith::SIToFPOp::create(
        l.b, compute, arith::IndexCastOp::create(l.b, i64, l.asIndex(axis.in)));
    Value x = arith::MaxNumFOp::create(l.b, place, l.constant(compute, -1));
    x = arith::MinNumFOp::create(l.b, x, most);
    Value floor = math::FloorOp::create(l.b, x);
    fractions.push_back(arith::SubFOp::create(l.b, x, floor));
    floors.push_back(l.toIndex(arith::FPToSIOp::create(l.b, i64, floor)));
  }
  Value sum = l.constant(compute, 0), one = l.constant(compute, 1);
  for (int64_t corner : llvm::seq<int64_t>(0, int64_t(1) << spatial)) {
    Value weight = one, inside = l.constantInt(l.b.getI1Type(), 1);
    SmallVector<Value> at{n, c};
    for (int64_t k : llvm::seq(spatial)) {
      bool isUpper = (corner >> k) & 1;
      Value place = floors[k], part = fractions[k];
      if (isUpper)
        place = arith::AddIOp::create(l.b, place, l.index(1));
      else
        part = arith::SubFOp::create(l.b, one, part);
      weight = arith::MulFOp::create(l.b, weight, part);
      Value fits = compare(l, arith::CmpIPredicate::ult, place, window[k].in);
      inside = both(l, inside, fits);
      at.push_back(arith::SelectOp::create(l.b, fits, place, l.index(0)));
    }
    Value x = wide(elementAt(l, l.in(0), at));
    Value part = arith::MulFOp::create(l.b, x, weight);
    part = arith::SelectOp::create(l.b, inside, part, l.constant(compute, 0));
    sum = arith::AddFOp::create(l.b, sum, part);
  }
  return sum;
}

Value DeformConv::sample(Value n, Value c, ValueRange k, ValueRange o) {
  // Offsets: [N, offset group, kernel..., axis] in one axis, then positions.
  OpFoldResult perGroup = l.asIndex(quotient(l, in[1], l.fold(offsetGroup)));
  Value number = l.asIndex(quotient(l, c, perGroup));
  for (auto [axis, at] : llvm::zip_equal(window, k)) {
    number = arith::MulIOp::create(l.b, number, l.asIndex(axis.kernel));
    number = arith::AddIOp::create(l.b, number, at);
  }
  SmallVector<Value> places;
  for (auto [d, axis] : llvm::enumerate(window)) {
    Value channel = arith::MulIOp::create(l.b, number, l.index(spatial));
    channel = arith::AddIOp::create(l.b, channel, l.index(d));
    SmallVector<Value> at{n, channel};
    llvm::append_range(at, o);
    Value offset = wide(elementAt(l, l.in(2), at));
    OpFoldResult regular = l.sub(l.add(l.mul(o[d], l.fold(axis.stride)),
                                       l.mul(k[d], l.fold(axis.dilation))),
                                 axis.before);
    Value base = arith::SIToFPOp::create(
        l.b, compute,
        arith::IndexCastOp::create(l.b, l.b.getI64Type(), l.asIndex(regular)));
    places.push_back(arith::AddFOp::create(l.b, base, offset));
  }
  Value value = interpolate(n, c, places);
  if (!hasInput(4))
    return value;
  SmallVector<Value> at{n, number};
  llvm::append_range(at, o);
  return arith::MulFOp::create(l.b, value, wide(elementAt(l, l.in(4), at)));
}

Value DeformConv::samples() {
  Dims dims{in[0], in[1]};
  for (const WindowAxis &axis : window)
    dims.push_back(axis.kernel);
  dims.append(outExtents(window));
  if (isKnownEmpty(in))
    return l.empty(dims, compute);
  return l.generate(dims, compute, [&](OpBuilder &b, Location, ValueRange at) {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    ValueRange rest = at.drop_front(2);
    return sample(at[0], at[1], rest.take_front(spatial),
                  rest.drop_front(spatial));
  });
}

Value DeformConv::contract(Value sampled, Value init) {
  Value x = splitAxis(l, sampled, 1, group);
  Value w = splitAxis(l, l.in(1), 0, group);
  Value out = splitAxis(l, init, 1, group);
  unsigned next = 0;
  auto dim = [&] { return l.b.getAffineDimExpr(next++); };
  SmallVector<AffineExpr> xs, ws, os, positions, offsets;
  xs = {dim()};
  os = xs;
  if (group > 1) {
    xs.push_back(dim());
    os.push_back(xs.back());
    ws.push_back(xs.back());
  }
  AffineExpr m = dim();
  ws.push_back(m);
  os.push_back(m);
  AffineExpr c = dim();
  xs.push_back(c);
  ws.push_back(c);
  for (int64_t k = 0; k < spatial; ++k)
    offsets.push_back(dim());
  for (int64_t k = 0; k < spatial; ++k)
    positions.push_back(dim());
  xs.append(offsets);
  xs.append(positions);
  ws.append(offsets);
  os.append(positions);
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(next, 0, exprs, l.b.getContext());
  };
  Value sum = multiplyAdd(l, {x}, {w}, out, {map(xs), map(ws), map(os)});
  return mergeAxis(l, sum, 1, group, weights[0]);
}

LogicalResult DeformConv::lower() {
  if (failed(read()))
    return failure();
  Dims dims{in[0], weights[0]};
  dims.append(outExtents(window));
  Value init = biasOrZero(l, hasInput(3) ? l.in(3) : Value(), dims, compute);
  l.setResult(castElements(l, contract(samples(), init), element));
  return success();
}

LogicalResult loopc::lowerDeformConv(NodeLowering &l) {
  return DeformConv(l).lower();
}
