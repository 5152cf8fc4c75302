//===- FlatElementwise.cpp - Elementwise operators on any rank ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elementwise operators and products of matrices, whose operands are broadcast.

#include "FlatForms.h"
#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

using namespace mlir;
using namespace loopc;

/// y = Op(x, ...), result shapes as x's; the other inputs are scalars, lists or
/// not read.
static bool unary(FlatNode &n) {
  FlatTensor x = n.flat(0);
  SmallVector<Value> inputs{x.elements};
  llvm::append_range(inputs, n.vectorsFrom(1));
  SmallVector<int64_t> ranks(n.node.getNumResults(), 1);
  onnx::NodeOp made = n.make(inputs, ranks);
  for (auto [k, result] : llvm::enumerate(made.getResults()))
    if (n.node.hasOutput(k))
      n.setResult(k, FlatTensor{result, x.shape});
  return true;
}

/// Input `i` of an elementwise operator where it is one element for sure.
static Value knownScalar(FlatNode &n, unsigned i) {
  RankedTensorType type = n.rankedType(i);
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return {};
  return type.getRank() == 0 ? n.in(i) : n.f.collapse(n.in(i));
}

/// A divisor of zero is an error also where nothing is divided: its elements
/// are not among the operands then, which are broadcast to no element.
static void checkDivisorOfNothing(FlatNode &n, FlatTensor divisor,
                                  Value count) {
  if (isa<FloatType>(n.elementType(1)))
    return;
  FlatBuilder &f = n.f;
  Value zero = f.index(0);
  Value end = f.select(f.equal(count, zero), f.count(divisor), zero);
  Value none = f.equal(zero, zero);
  none = f.forEach(zero, end, none, [&](Value k, ValueRange carried) {
    Value differs = f.compare(arith::CmpIPredicate::ne,
                              f.at(divisor.elements, k, zero), zero);
    return SmallVector<Value>{f.both(carried[0], differs)};
  })[0];
  f.check(none, "integer division by zero");
}

/// z = Op(x, y, ...) with NumPy's broadcasting. With `like` the result has the
/// shape of that input.
static bool broadcast(FlatNode &n, std::optional<unsigned> like) {
  SmallVector<FlatTensor> flats(n.numInputs());
  SmallVector<Value> scalars(n.numInputs());
  Value shape, count;
  bool isOneShape = true;
  for (unsigned i = 0; i < n.numInputs(); ++i) {
    scalars[i] = knownScalar(n, i);
    flats[i] = n.flat(i);
    // A scalar has no say.
    if (RankedTensorType type = n.rankedType(i); type && type.getRank() == 0)
      continue;
    if (!shape)
      count = n.f.count(flats[i]);
    isOneShape &= !shape || shape == flats[i].shape;
    shape = shape ? n.f.broadcastShapes(shape, flats[i].shape) : flats[i].shape;
  }
  if (!isOneShape)
    count = n.f.product(shape);
  if (StringRef op = n.node.getOpType(); op == "Div" || op == "Mod")
    checkDivisorOfNothing(n, flats[1], count);
  if (like)
    n.f.check(n.f.sameShape(shape, flats[*like].shape),
              "the operands do not broadcast to the shape of input " +
                  Twine(*like));
  SmallVector<Value> inputs;
  for (auto [scalar, flat] : llvm::zip_equal(scalars, flats))
    inputs.push_back(scalar ? scalar : n.f.broadcastTo(flat, shape, count));
  n.setResult(0, FlatTensor{n.make(inputs, {1}).getResult(0), shape});
  return true;
}

static bool nary(FlatNode &n) { return broadcast(n, std::nullopt); }

static bool prelu(FlatNode &n) { return broadcast(n, 0); }

/// A step of training: behind a rate and a number of steps `groups` times as
/// many operands as there are tensors to be trained, and results of all groups
/// but that of the gradients. Those of one tensor broadcast, and all results
/// have the shape of all of them.
static bool trainingStep(FlatNode &n, unsigned groups) {
  if (n.numInputs() < 2 + groups || (n.numInputs() - 2) % groups != 0)
    return false;
  unsigned count = (n.numInputs() - 2) / groups;
  SmallVector<Value> inputs(n.numInputs()), shapes;
  inputs[0] = n.in(0);
  inputs[1] = n.in(1);
  for (unsigned k = 0; k < count; ++k) {
    SmallVector<FlatTensor> flats;
    for (unsigned group = 0; group < groups; ++group)
      flats.push_back(n.flat(2 + group * count + k));
    auto join = [&](Value shape, const FlatTensor &flat) {
      return shape == flat.shape ? shape
                                 : n.f.broadcastShapes(shape, flat.shape);
    };
    Value gradient = join(flats[0].shape, flats[1]), shape = gradient;
    for (const FlatTensor &state : ArrayRef(flats).drop_front(2))
      shape = join(shape, state);
    // Of one state alone that is so.
    for (const FlatTensor &state : ArrayRef(flats).drop_front(2))
      if (groups > 3 && shape != join(gradient, state))
        n.f.check(n.f.sameShape(join(gradient, state), shape),
                  n.node.getOpType() +
                      ": states of other shapes than that of "
                      "input " +
                      Twine(2 + k) + ", of unknown rank");
    Value size = n.f.product(shape);
    for (auto [group, flat] : llvm::enumerate(flats))
      inputs[2 + group * count + k] = n.f.broadcastTo(flat, shape, size);
    shapes.push_back(shape);
  }
  SmallVector<int64_t> ranks(n.node.getNumResults(), 1);
  onnx::NodeOp made = n.make(inputs, ranks);
  for (auto [k, result] : llvm::enumerate(made.getResults()))
    if (n.node.hasOutput(k))
      n.setResult(k, FlatTensor{result, shapes[k % count]});
  return true;
}

static bool trainWithOneMoment(FlatNode &n) { return trainingStep(n, 3); }

static bool trainWithTwoMoments(FlatNode &n) { return trainingStep(n, 4); }

//===----------------------------------------------------------------------===//
// MatMul
//===----------------------------------------------------------------------===//

/// Rows of vectors times one matrix of known rank.
static bool matMulByMatrix(FlatNode &n) {
  FlatTensor x = n.flat(0);
  Value rank = n.f.rank(x), last = n.f.sub(rank, n.f.index(1));
  n.f.check(n.f.less(n.f.index(0), rank), "MatMul of a scalar");
  Value depth = n.f.at(x.shape, last);
  Value rows = n.f.product(x.shape, n.f.index(0), last);
  Value matrix = n.f.expand(x.elements, {rows, depth});
  Value product = n.make({matrix, n.in(1)}, {2}).getResult(0);
  n.setReshaped(0, product, n.f.withExtent(x.shape, last, n.dim(product, 1)));
  return true;
}

namespace {
/// An operand of MatMul as a stack of matrices.
struct Stack {
  FlatTensor flat;
  Value batch; ///< its shape without the matrices'
  Value rows, columns, isVector;
};
} // namespace

/// Input `i`: a vector is a row on the left and a column on the right.
static Stack stackOf(FlatNode &n, unsigned i, bool isLeft) {
  Stack s;
  s.flat = n.flat(i);
  FlatBuilder &f = n.f;
  Value rank = f.rank(s.flat), one = f.index(1), zero = f.index(0);
  f.check(f.less(zero, rank), "MatMul of a scalar");
  s.isVector = f.equal(rank, one);
  Value last = f.at(s.flat.shape, f.sub(rank, one));
  Value before = f.at(s.flat.shape, f.sub(rank, f.index(2)));
  s.rows = isLeft ? before : f.select(s.isVector, last, before);
  s.columns = isLeft ? last : f.select(s.isVector, one, last);
  s.batch =
      f.part(s.flat.shape, zero, f.maximum(f.sub(rank, f.index(2)), zero));
  return s;
}

/// Operands of a product of integers with an element for all that they are of,
/// one for each row or column, or, with all axes, one for each of each matrix.
struct LineOperands {
  ArrayRef<unsigned> ofRows, ofColumns;
};

/// Input `i`, of a line or of each, for stacks with `batch`, of `count`
/// matrices, in the shape that broadcasts to them: [count, rows, 1] or
/// [count, 1, columns].
static Value lineOperand(FlatNode &n, unsigned i, Value lines, bool isOfRows,
                         Value batch, Value count) {
  FlatBuilder &f = n.f;
  FlatTensor own = n.flat(i);
  Value one = f.index(1);
  if (isOfRows)
    own.shape = f.ifElse(
        f.equal(f.rank(own), one),
        [&] { return f.concat(own.shape, f.shapeOf({one})); },
        [&] { return own.shape; }, own.shape.getType());
  Value rows = isOfRows ? lines : one, columns = isOfRows ? one : lines;
  Value shape = f.concat(batch, f.shapeOf({rows, columns}));
  Value size = f.mul(count, lines);
  f.check(f.equal(f.product(f.broadcastShapes(own.shape, shape)), size),
          "input " + Twine(i) +
              " has {} elements, and not one for all or for each of {} " +
              (isOfRows ? "rows" : "columns"),
          ValueRange{f.count(own), lines});
  return f.expand(f.broadcastTo(own, shape, size), {count, rows, columns});
}

/// The product of inputs 0 and `right`, stacks of matrices.
static void productOfStacks(FlatNode &n, unsigned right,
                            const LineOperands &operands) {
  FlatBuilder &f = n.f;
  Stack x = stackOf(n, 0, /*isLeft=*/true);
  Stack y = stackOf(n, right, /*isLeft=*/false);
  Value batch = f.broadcastShapes(x.batch, y.batch);
  Value count = f.product(batch);
  auto stacked = [&](const Stack &s) {
    Value matrix = f.shapeOf({s.rows, s.columns});
    Value size = f.mul(count, f.mul(s.rows, s.columns));
    FlatTensor own{s.flat.elements, f.concat(s.batch, matrix)};
    Value all = f.broadcastTo(own, f.concat(batch, matrix), size);
    return f.expand(all, {count, s.rows, s.columns});
  };
  SmallVector<Value> inputs(n.node.getInputs());
  inputs[0] = stacked(x);
  inputs[right] = stacked(y);
  auto setLines = [&](ArrayRef<unsigned> numbers, Value lines, bool isOfRows) {
    for (unsigned i : numbers) {
      // Of rank 0 and 1 they are taken as they are.
      if (i >= n.numInputs() || !n.has(i) ||
          (n.rankedType(i) && n.rankedType(i).getRank() <= 1))
        continue;
      inputs[i] = lineOperand(n, i, lines, isOfRows, batch, count);
    }
  };
  setLines(operands.ofRows, x.rows, /*isOfRows=*/true);
  setLines(operands.ofColumns, y.columns, /*isOfRows=*/false);
  Value product = n.make(inputs, {3}).getResult(0);
  // What was a vector gives no axis.
  Value shape = f.concat(batch, f.shapeOf({x.rows, y.columns}));
  Value rank = f.length(shape), one = f.index(1);
  shape = f.ifElse(
      x.isVector, [&] { return f.withoutAxis(shape, f.sub(rank, f.index(2))); },
      [&] { return shape; }, shape.getType());
  rank = f.length(shape);
  shape = f.ifElse(
      y.isVector, [&] { return f.withoutAxis(shape, f.sub(rank, one)); },
      [&] { return shape; }, shape.getType());
  n.setReshaped(0, product, shape);
}

static bool matMul(FlatNode &n) {
  if (n.rankedType(1) && n.rankedType(1).getRank() == 2)
    return matMulByMatrix(n);
  productOfStacks(n, 1, {{}, {}});
  return true;
}

static bool matMulInteger(FlatNode &n) {
  productOfStacks(n, 1, {/*ofRows=*/{2}, /*ofColumns=*/{3}});
  return true;
}

static bool qLinearMatMul(FlatNode &n) {
  productOfStacks(n, 3, {/*ofRows=*/{1, 2, 6, 7}, /*ofColumns=*/{4, 5}});
  return true;
}

//===----------------------------------------------------------------------===//
// The rows
//===----------------------------------------------------------------------===//

void loopc::addFlatElementwise(std::vector<FlatRow> &rows) {
  for (StringRef op : {"Abs",
                       "Acos",
                       "Acosh",
                       "Asin",
                       "Asinh",
                       "Atan",
                       "Atanh",
                       "Bernoulli",
                       "BitwiseNot",
                       "Cast",
                       "CastLike",
                       "Ceil",
                       "Celu",
                       "Clip",
                       "Cos",
                       "Cosh",
                       "Dropout",
                       "Elu",
                       "Erf",
                       "Exp",
                       "Floor",
                       "Gelu",
                       "HardSigmoid",
                       "HardSwish",
                       "IsInf",
                       "IsNaN",
                       "LeakyRelu",
                       "Log",
                       "Mish",
                       "Neg",
                       "Not",
                       "Reciprocal",
                       "RegexFullMatch",
                       "Relu",
                       "Round",
                       "Selu",
                       "Shrink",
                       "Sigmoid",
                       "Sign",
                       "Sin",
                       "Sinh",
                       "Softplus",
                       "Softsign",
                       "Sqrt",
                       "Swish",
                       "Tan",
                       "Tanh",
                       "ThresholdedRelu",
                       "RandomNormalLike",
                       "RandomUniformLike"})
    rows.push_back({op, 1, kLatest, unary});
  for (StringRef op : {"Add", "Sub", "Mul", "Div", "Pow", "Less", "Greater",
                       "Equal", "And", "Or", "Xor"})
    rows.push_back({op, 7, kLatest, nary});
  for (StringRef op : {"Max", "Min", "Sum", "Mean"})
    rows.push_back({op, 8, kLatest, nary});
  for (StringRef op : {"Adagrad", "Momentum"})
    rows.push_back({op, 1, kLatest, trainWithOneMoment});
  rows.push_back({"Adam", 1, kLatest, trainWithTwoMoments});
  for (StringRef op :
       {"Mod", "LessOrEqual", "GreaterOrEqual", "BitwiseAnd", "BitwiseOr",
        "BitwiseXor", "BitShift", "StringConcat", "Where"})
    rows.push_back({op, 1, kLatest, nary});
  rows.push_back({"PRelu", 7, kLatest, prelu});
  rows.push_back({"MatMul", 1, kLatest, matMul});
  rows.push_back({"MatMulInteger", 10, kLatest, matMulInteger});
  rows.push_back({"QLinearMatMul", 10, kLatest, qLinearMatMul});
}
