//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// RNN, GRU and LSTM as loop.loop: what the inputs contribute to the gates is
// one contraction in front of the loop, its slices go into the steps.

#include "Activations.h"
#include "Contraction.h"
#include "Convolution.h"
#include "Framework/ShapeUtils.h"

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// What the three operators share
//===----------------------------------------------------------------------===//

namespace {
/// The weights of one direction, as the steps use them.
struct Direction {
  bool isReverse = false;
  ArrayRef<Activation> activations;
  /// What the inputs contribute to the gates, biases included: [T, B, G * H].
  Value fromInputs;
  /// R transposed, [H, G * H], in the type that is computed in.
  Value recurrent;
  /// GRU: R transposed for the hidden gate and its own bias [H].
  Value recurrentHidden, hiddenBias;
  /// LSTM: [3 * H]; null where there is none.
  Value peepholes;
};

/// Results of one direction: Y without its direction axis (null where nobody
/// reads it) and the last states.
struct DirectionResult {
  Value all;
  SmallVector<Value> last;
};

class Recurrence {
public:
  Recurrence(NodeLowering &l, int64_t gates, int64_t states,
             ArrayRef<StringLiteral> defaults)
      : l(l), gates(gates), numStates(states), defaults(defaults),
        element(l.elementType(0)), compute(NodeLowering::computeType(element)) {
  }
  virtual ~Recurrence() = default;
  LogicalResult lower();

protected:
  /// Reads the operator's own attributes.
  virtual void readOwnAttributes() {}
  /// Prepares the recurrent weights of a direction.
  virtual void prepareRecurrent(Direction &direction, Value weights,
                                Value bias);
  /// How much of the recurrent bias [G * H] can be added to the inputs; the
  /// whole of it.
  virtual int64_t gatesWithMergedBias() { return gates; }
  /// Prepares what only one operator has.
  virtual void prepareOwnInputs(Direction &, unsigned) {}
  /// The new states of one step, from what the inputs contribute and the old
  /// states.
  virtual SmallVector<Value> step(const Direction &direction, Value fromInputs,
                                  ValueRange states) = 0;

  bool hasInput(unsigned i) { return i < l.numInputs() && l.has(i); }
  AffineMap map(ArrayRef<unsigned> dims, unsigned count) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(l.b.getAffineDimExpr(d));
    return AffineMap::get(count, 0, exprs, l.b.getContext());
  }
  RankedTensorType typeOf(ArrayRef<OpFoldResult> dims) {
    return cast<RankedTensorType>(l.empty(dims, compute).getType());
  }
  /// Part `k` (of direction `d`) of input `i` along its first axis.
  Value ofDirection(unsigned i, unsigned d);
  /// `count` times H elements of the last axis of `value`, from `first` times H
  /// on.
  Value part(Value value, int64_t first, int64_t count);
  /// Rows of `value` as columns, in the type that is computed in.
  Value transposed(Value value);
  /// init + x * weights for x [B, H], weights [H, N].
  Value contractState(Value x, Value weights, Value init) {
    return multiplyAdd(l, {x}, {weights}, init,
                       {map({0, 1}, 3), map({1, 2}, 3), map({0, 2}, 3)});
  }
  using CellBody =
      llvm::function_ref<SmallVector<Value>(ScalarBuilder &, ValueRange)>;
  /// [B, H] tensors computed element by element from operands [B, H] or [H].
  SmallVector<Value> cell(ValueRange operands, unsigned results, CellBody body);
  /// Activation `k` of `x`.
  Value activate(ScalarBuilder &s, const Direction &direction, unsigned k,
                 Value x) {
    const Activation &activation = direction.activations[k];
    return activation.kind->build(s, x, activation.alpha, activation.beta);
  }
  /// Activation `k` of what `clip` leaves of a gate's sum.
  Value activateGate(ScalarBuilder &s, const Direction &direction, unsigned k,
                     Value x) {
    if (clips) {
      x = s.make<arith::MaximumFOp>(x, s.constant(x.getType(), -clip));
      x = s.make<arith::MinimumFOp>(x, s.constant(x.getType(), clip));
    }
    return activate(s, direction, k, x);
  }

  NodeLowering &l;
  int64_t gates, numStates;
  ArrayRef<StringLiteral> defaults;
  Type element, compute;
  int64_t layout = 0;
  double clip = 0;
  bool clips = false;
  OpFoldResult time, batch, input, hidden;
  /// Steps up to the end of the longest sequence, and X up to there.
  OpFoldResult steps;
  Value shownInputs;

private:
  LogicalResult readAttributes();
  LogicalResult readActivations();
  LogicalResult checkShapes();
  LogicalResult checkShape(unsigned i, StringRef name,
                           ArrayRef<OpFoldResult> expected);
  void readLengths();
  Direction prepare(unsigned d);
  Value mergedBias(Value bias);
  Value fromInputs(Value weights, Value bias);
  SmallVector<Value> initialStates(unsigned d);
  /// What `steps` have collected, with zeros behind the longest sequence.
  Value filledUp(Value steps);
  DirectionResult runLoop(const Direction &direction, unsigned d);
  /// Keeps the old states past the end of a sequence; the last value is what Y
  /// gets there.
  SmallVector<Value> mask(ValueRange before, ValueRange after, Value time);
  /// `values`, of the extents `sizes`, along a new axis `axis`, in the element
  /// type of the results.
  Value stack(ArrayRef<Value> values, Dims sizes, int64_t axis);

  SmallVector<bool> reversed;
  SmallVector<Activation> activations;
};
} // namespace

Value Recurrence::ofDirection(unsigned i, unsigned d) {
  Value value = l.in(i);
  Dims sizes = l.dims(value), offsets(sizes.size(), l.fold(0));
  int64_t axis = layout && (i == 5 || i == 6) ? 1 : 0;
  offsets[axis] = l.fold(d);
  sizes[axis] = l.fold(1);
  // A view without the axis, by two operations: slices that drop one unit axis
  // and keep another are canonicalised wrongly (MLIR 22).
  if (reversed.size() > 1)
    value = sliceOf(l, value, offsets, sizes);
  sizes.erase(sizes.begin() + axis);
  return reshapeByGroups(l, value, sizes);
}

Value Recurrence::part(Value value, int64_t first, int64_t count) {
  Dims sizes = l.dims(value), offsets(sizes.size(), l.fold(0));
  offsets.back() = l.mul(hidden, l.fold(first));
  sizes.back() = l.mul(hidden, l.fold(count));
  return sliceOf(l, value, offsets, sizes);
}

Value Recurrence::transposed(Value value) {
  // Fused into what reads it, columns would be read again in every step.
  return reordered(l, castElements(l, value, compute), {1, 0});
}

SmallVector<Value> Recurrence::cell(ValueRange operands, unsigned results,
                                    CellBody body) {
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(cast<RankedTensorType>(operand.getType()).getRank() == 1
                       ? map({1}, 2)
                       : map({0, 1}, 2));
  SmallVector<Value> inits(results, l.empty({batch, hidden}, compute));
  maps.append(results, map({0, 1}, 2));
  SmallVector<IteratorType> iterators(2, IteratorType::parallel);
  return linalg::GenericOp::create(
             l.b, ValueRange(inits).getTypes(), operands, inits, maps,
             iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               ScalarBuilder s(b, loc);
               linalg::YieldOp::create(b, loc,
                                       body(s, args.drop_back(results)));
             })
      .getResults();
}

//===----------------------------------------------------------------------===//
// Attributes and shapes
//===----------------------------------------------------------------------===//

LogicalResult Recurrence::readActivations() {
  SmallVector<StringRef> names;
  if (auto given = dyn_cast_or_null<ArrayAttr>(l.attr("activations")))
    for (Attribute name : given)
      names.push_back(cast<StringAttr>(name).getValue());
  // The schema's default of RNN is for two directions.
  size_t perDirection = defaults.size();
  size_t wanted = perDirection * reversed.size();
  if (!l.node.getNodeAttr("activations")) {
    names.clear();
    for ([[maybe_unused]] bool direction : reversed)
      names.append(defaults.begin(), defaults.end());
  }
  if (names.size() != wanted)
    return l.refuse("'activations' has " + Twine(names.size()) +
                    " names, expected " + Twine(wanted));
  // Parameters are used up in the order of the activations that take one.
  SmallVector<double> alphas =
      l.floatsAttr("activation_alpha").value_or(SmallVector<double>());
  SmallVector<double> betas =
      l.floatsAttr("activation_beta").value_or(SmallVector<double>());
  size_t nextAlpha = 0, nextBeta = 0;
  for (StringRef name : names) {
    const ActivationKind *kind = ActivationKind::find(name);
    if (!kind)
      return l.refuse("unknown activation '" + name + "'");
    Activation activation{kind, kind->alpha, kind->beta};
    if (kind->parameters > 0 && nextAlpha < alphas.size())
      activation.alpha = alphas[nextAlpha++];
    if (kind->parameters > 1 && nextBeta < betas.size())
      activation.beta = betas[nextBeta++];
    activations.push_back(activation);
  }
  return success();
}

LogicalResult Recurrence::readAttributes() {
  layout = l.intAttr("layout");
  if (layout != 0 && layout != 1)
    return l.refuse("'layout' is " + Twine(layout) + ", not 0 or 1");
  clips = l.hasAttr("clip");
  clip = l.floatAttr("clip");
  // Version 1 told by it whether Y is wanted; that Y is used says the same.
  l.ignoreAttr("output_sequence");
  std::string direction = l.stringAttr("direction", "forward");
  // GRU-1's schema spells its default "foward".
  if (direction == "forward" || direction == "foward")
    reversed = {false};
  else if (direction == "reverse")
    reversed = {true};
  else if (direction == "bidirectional")
    reversed = {false, true};
  else
    return l.refuse("unknown direction '" + direction + "'");
  readOwnAttributes();
  return readActivations();
}

LogicalResult Recurrence::checkShape(unsigned i, StringRef name,
                                     ArrayRef<OpFoldResult> expected) {
  if (!hasInput(i))
    return success();
  if (l.rank(i) != static_cast<int64_t>(expected.size()))
    return l.refuse("'" + name + "' has rank " + Twine(l.rank(i)) +
                    ", expected " + Twine(expected.size()));
  for (auto [axis, extent] : llvm::enumerate(expected))
    if (!requireEqual(l, l.dim(l.in(i), axis), extent,
                      "dimension " + Twine(axis) + " of '" + name +
                          "' and expected extent"))
      return l.refuse("dimension " + Twine(axis) + " of '" + name + "' is " +
                      Twine(l.inType(i).getDimSize(axis)) + ", expected " +
                      Twine(*getConstantIntValue(extent)));
  return success();
}

LogicalResult Recurrence::checkShapes() {
  for (unsigned i : {0u, 1u, 2u})
    if (l.rank(i) != 3)
      return l.refuse("'X', 'W' and 'R' must have rank 3");
  Dims x = l.dims(l.in(0));
  time = x[layout ? 1 : 0];
  batch = x[layout ? 0 : 1];
  input = x[2];
  hidden = l.dim(l.in(2), 2);
  if (l.hasAttr("hidden_size")) {
    OpFoldResult size = l.fold(l.intAttr("hidden_size"));
    if (!requireEqual(l, hidden, size, "'hidden_size' and 'R'"))
      return l.refuse("'hidden_size' is " + Twine(l.intAttr("hidden_size")) +
                      ", 'R' has " + Twine(*getConstantIntValue(hidden)) +
                      " columns");
    hidden = size;
  }
  OpFoldResult directions = l.fold(reversed.size());
  OpFoldResult rows = l.mul(hidden, l.fold(gates));
  Dims state{directions, batch, hidden};
  if (layout)
    std::swap(state[0], state[1]);
  return success(
      succeeded(checkShape(1, "W", {directions, rows, input})) &&
      succeeded(checkShape(2, "R", {directions, rows, hidden})) &&
      succeeded(checkShape(3, "B", {directions, l.mul(rows, l.fold(2))})) &&
      succeeded(checkShape(4, "sequence_lens", batch)) &&
      succeeded(checkShape(5, "initial_h", state)) &&
      succeeded(checkShape(6, "initial_c", state)) &&
      succeeded(checkShape(7, "P", {directions, l.mul(hidden, l.fold(3))})));
}

/// Checks the lengths of sequences, and finds the longest: behind its end all
/// that is left is to fill Y.
void Recurrence::readLengths() {
  steps = time;
  shownInputs = l.in(0);
  if (!hasInput(4))
    return;
  Value end = l.asIndex(time);
  Value lengths = l.in(4);
  SmallVector<Value> found = loopNest(
      l, batch, {l.constantInt(l.b.getI1Type(), 1), l.asIndex(l.fold(0))},
      [&](ValueRange position, ValueRange carried) {
        Value length = l.toIndex(elementAt(l, lengths, position));
        Value inside =
            arith::CmpIOp::create(l.b, arith::CmpIPredicate::ule, length, end);
        return SmallVector<Value>{
            arith::AndIOp::create(l.b, carried[0], inside),
            arith::MaxSIOp::create(l.b, carried[1], length)};
      });
  l.check(found[0], "a sequence length is not in 0 to {}", end);
  DenseIntElementsAttr known;
  if (std::optional<int64_t> last = getConstantIntValue(time);
      last && matchPattern(lengths, m_Constant(&known)) &&
      llvm::is_contained(known.getValues<APInt>(), APInt(32, *last)))
    return;
  // Slices may be moved in front of the check.
  steps = OpFoldResult(arith::MinUIOp::create(l.b, found[1], end).getResult());
  Dims sizes = l.dims(shownInputs), offsets(3, l.fold(0));
  sizes[layout ? 1 : 0] = steps;
  shownInputs = sliceOf(l, shownInputs, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// Weights and inputs of one direction
//===----------------------------------------------------------------------===//

/// W's bias plus R's, as far as that one is added outside of the activations.
Value Recurrence::mergedBias(Value bias) {
  Value own = part(bias, 0, gates), other = part(bias, gates, gates);
  OpFoldResult merged = l.mul(hidden, l.fold(gatesWithMergedBias()));
  bool all = gatesWithMergedBias() == gates;
  Value end = l.asIndex(merged);
  Value init = l.empty(l.mul(hidden, l.fold(gates)), compute);
  SmallVector<AffineMap> maps(3, map({0}, 1));
  return linalg::GenericOp::create(
             l.b, init.getType(), ValueRange{own, other}, init, maps,
             ArrayRef<IteratorType>{IteratorType::parallel},
             [&](OpBuilder &b, Location loc, ValueRange args) {
               ScalarBuilder s(b, loc);
               Value first = s.cast(args[0], compute);
               Value sum = s.add(first, s.cast(args[1], compute));
               if (!all) {
                 Value at = s.make<linalg::IndexOp>(0);
                 Value inside =
                     s.make<arith::CmpIOp>(arith::CmpIPredicate::ult, at, end);
                 sum = s.select(inside, sum, first);
               }
               linalg::YieldOp::create(b, loc, sum);
             })
      .getResult(0);
}

Value Recurrence::fromInputs(Value weights, Value bias) {
  Dims dims{steps, batch, l.mul(hidden, l.fold(gates))};
  Value init = bias ? l.broadcastTo(mergedBias(bias), dims)
                    : l.filled(dims, l.constant(compute, 0));
  AffineMap x = layout ? map({1, 0, 2}, 4) : map({0, 1, 2}, 4);
  return multiplyAdd(l, {shownInputs}, {transposed(weights)}, init,
                     {x, map({2, 3}, 4), map({0, 1, 3}, 4)});
}

void Recurrence::prepareRecurrent(Direction &direction, Value weights, Value) {
  direction.recurrent = transposed(weights);
}

Direction Recurrence::prepare(unsigned d) {
  Direction direction;
  direction.isReverse = reversed[d];
  direction.activations =
      ArrayRef(activations).slice(d * defaults.size(), defaults.size());
  Value bias = hasInput(3) ? ofDirection(3, d) : Value();
  direction.fromInputs = fromInputs(ofDirection(1, d), bias);
  prepareRecurrent(direction, ofDirection(2, d), bias);
  prepareOwnInputs(direction, d);
  return direction;
}

SmallVector<Value> Recurrence::initialStates(unsigned d) {
  Dims dims{batch, hidden};
  SmallVector<Value> states;
  for (int64_t k : llvm::seq(numStates)) {
    Value state;
    if (hasInput(5 + k)) {
      state = castElements(l, ofDirection(5 + k, d), compute);
      // Its extents are those of the loop's values, not just equal to them.
      state = l.slice(state, Dims(2, l.fold(0)), dims);
    } else {
      state = l.filled(dims, l.constant(compute, 0));
    }
    states.push_back(l.b.createOrFold<tensor::CastOp>(typeOf(dims), state));
  }
  return states;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

SmallVector<Value> Recurrence::mask(ValueRange before, ValueRange after,
                                    Value time) {
  // before 0.. , after 0.., lengths -> states 0.., Y
  SmallVector<Value> operands(before);
  llvm::append_range(operands, after);
  operands.push_back(l.in(4));
  SmallVector<AffineMap> maps(2 * numStates, map({0, 1}, 2));
  maps.push_back(map({0}, 2));
  maps.append(numStates + 1, map({0, 1}, 2));
  SmallVector<Value> inits(numStates + 1, l.empty({batch, hidden}, compute));
  SmallVector<IteratorType> iterators(2, IteratorType::parallel);
  return linalg::GenericOp::create(
             l.b, ValueRange(inits).getTypes(), operands, inits, maps,
             iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               ScalarBuilder s(b, loc);
               Value length =
                   s.make<arith::ExtSIOp>(b.getI64Type(), args[2 * numStates]);
               Value lives = s.make<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                   time, length);
               SmallVector<Value> results;
               for (int64_t k : llvm::seq(numStates))
                 results.push_back(
                     s.select(lives, args[numStates + k], args[k]));
               results.push_back(
                   s.select(lives, args[numStates], s.constant(compute, 0)));
               linalg::YieldOp::create(b, loc, results);
             })
      .getResults();
}

Value Recurrence::filledUp(Value steps) {
  if (this->steps == time)
    return steps;
  Dims sizes{time, batch, hidden}, offsets(3, l.fold(0));
  if (layout)
    std::swap(sizes[0], sizes[1]);
  // Only what is behind the steps is filled.
  Value all = l.empty(sizes, compute);
  auto put = [&](Value part, OpFoldResult from, OpFoldResult count) {
    offsets[layout ? 1 : 0] = from;
    sizes[layout ? 1 : 0] = count;
    all = l.insert(part, all, offsets, sizes);
  };
  put(steps, l.fold(0), this->steps);
  OpFoldResult rest = l.sub(time, this->steps);
  sizes[layout ? 1 : 0] = rest;
  put(l.filled(sizes, l.constant(compute, 0)), this->steps, rest);
  return all;
}

DirectionResult Recurrence::runLoop(const Direction &direction, unsigned d) {
  Type i64 = l.b.getI64Type();
  Value trips = l.b.createOrFold<arith::IndexCastOp>(i64, l.asIndex(steps));
  loop::LoopSignature signature(trips);
  signature.inits = initialStates(d);
  Value slices = direction.fromInputs;
  signature.slices.push_back(
      {slices, loop::getCollectedElementType(slices.getType(), 0), /*axis=*/0,
       direction.isReverse});
  bool collects = l.hasResult(0);
  if (collects)
    signature.collected.push_back({layout ? typeOf({batch, steps, hidden})
                                          : typeOf({steps, batch, hidden}),
                                   layout, direction.isReverse,
                                   /*length=*/Value()});
  auto loop = loop::LoopOp::create(l.b, signature);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(loop.getLoopBody());
  SmallVector<Value> before(loop.getCarriedArgs());
  SmallVector<Value> after = step(direction, loop.getSliceArgs()[0], before);
  Value shown = after[0];
  if (hasInput(4)) {
    Value at = loop.getCounter();
    if (direction.isReverse) {
      Value last = arith::SubIOp::create(l.b, trips, l.constantInt(i64, 1));
      at = arith::SubIOp::create(l.b, last, at);
    }
    after = mask(before, after, at);
    shown = after.pop_back_val();
  }
  SmallVector<Value> collected;
  if (collects)
    collected.push_back(shown);
  loop::YieldOp::create(l.b, l.constantInt(l.b.getI1Type(), 1), after,
                        collected);
  DirectionResult result;
  if (collects)
    result.all = loop.getResults().back();
  llvm::append_range(result.last, loop.getCarriedResults());
  return result;
}

Value Recurrence::stack(ArrayRef<Value> values, Dims sizes, int64_t axis) {
  // Not the extents of `values`: what a loop of no trips has collected does not
  // tell those that are known at run time only.
  Dims target = sizes;
  target.insert(target.begin() + axis, l.fold(values.size()));
  sizes.insert(sizes.begin() + axis, l.fold(1));
  if (values.size() == 1) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t k = 0, e = target.size(); k < e; ++k)
      if (k == axis + 1)
        groups.back().push_back(k);
      else
        groups.push_back({k});
    auto type = cast<RankedTensorType>(l.empty(target, element).getType());
    return tensor::ExpandShapeOp::create(
        l.b, type, castElements(l, values[0], element), groups, target);
  }
  Value stacked = l.empty(target, element);
  Dims offsets(target.size(), l.fold(0));
  for (auto [k, value] : llvm::enumerate(values)) {
    offsets[axis] = l.fold(k);
    stacked = l.insert(castElements(l, value, element), stacked, offsets, sizes,
                       /*strides=*/{}, axis);
  }
  return stacked;
}

LogicalResult Recurrence::lower() {
  if (failed(readAttributes()) || failed(checkShapes()))
    return failure();
  readLengths();
  SmallVector<Value> all;
  SmallVector<SmallVector<Value>> last(numStates);
  for (unsigned d : llvm::seq(reversed.size())) {
    DirectionResult result = runLoop(prepare(d), d);
    all.push_back(result.all ? filledUp(result.all) : result.all);
    for (auto [list, value] : llvm::zip_equal(last, result.last))
      list.push_back(value);
  }
  // Y: [T, D, B, H] or [B, T, D, H]; states: [D, B, H] or [B, D, H].
  if (l.hasResult(0)) {
    Dims sizes{time, batch, hidden};
    if (layout)
      std::swap(sizes[0], sizes[1]);
    l.setResult(0, stack(all, sizes, layout ? 2 : 1));
  }
  for (auto [k, values] : llvm::enumerate(last))
    if (k + 1 < l.numResults() && l.hasResult(k + 1))
      l.setResult(k + 1, stack(values, {batch, hidden}, layout));
  return success();
}

//===----------------------------------------------------------------------===//
// RNN
//===----------------------------------------------------------------------===//

namespace {
constexpr StringLiteral kRNNActivations[] = {"Tanh"};
constexpr StringLiteral kGRUActivations[] = {"Sigmoid", "Tanh"};
constexpr StringLiteral kLSTMActivations[] = {"Sigmoid", "Tanh", "Tanh"};

/// Ht = f(Xt * W^T + Ht-1 * R^T + Wb + Rb)
class RNN : public Recurrence {
public:
  explicit RNN(NodeLowering &l) : Recurrence(l, 1, 1, kRNNActivations) {}

  SmallVector<Value> step(const Direction &direction, Value fromInputs,
                          ValueRange states) override {
    Value sum = contractState(states[0], direction.recurrent, fromInputs);
    return cell(sum, 1,
                [&](ScalarBuilder &s, ValueRange v) -> SmallVector<Value> {
                  return {activateGate(s, direction, 0, v[0])};
                });
  }
};

//===----------------------------------------------------------------------===//
// GRU
//===----------------------------------------------------------------------===//

/// Gates z, r, h:
///   zt = f(Xt * Wz^T + Ht-1 * Rz^T + Wbz + Rbz), rt likewise
///   ht = g(Xt * Wh^T + (rt . Ht-1) * Rh^T + Rbh + Wbh), or
///   ht = g(Xt * Wh^T + rt . (Ht-1 * Rh^T + Rbh) + Wbh)  linear_before_reset
///   Ht = (1 - zt) . ht + zt . Ht-1
class GRU : public Recurrence {
public:
  explicit GRU(NodeLowering &l) : Recurrence(l, 3, 1, kGRUActivations) {}

  void readOwnAttributes() override {
    linearBeforeReset = l.intAttr("linear_before_reset");
  }
  int64_t gatesWithMergedBias() override { return linearBeforeReset ? 2 : 3; }
  void prepareRecurrent(Direction &direction, Value weights,
                        Value bias) override;
  SmallVector<Value> step(const Direction &direction, Value fromInputs,
                          ValueRange states) override;

private:
  Value hiddenGate(const Direction &direction, Value fromInputs, Value reset,
                   Value state);
  bool linearBeforeReset = false;
};
} // namespace

void GRU::prepareRecurrent(Direction &direction, Value weights, Value bias) {
  auto rows = [&](int64_t first, int64_t count) {
    return sliceOf(l, weights, {l.mul(hidden, l.fold(first)), l.fold(0)},
                   {l.mul(hidden, l.fold(count)), hidden});
  };
  direction.recurrent = transposed(rows(0, 2));
  direction.recurrentHidden = transposed(rows(2, 1));
  if (bias && linearBeforeReset)
    direction.hiddenBias = castElements(l, part(bias, 5, 1), compute);
}

/// What the hidden gate's activation is applied to.
Value GRU::hiddenGate(const Direction &direction, Value fromInputs, Value reset,
                      Value state) {
  if (!linearBeforeReset) {
    Value kept = cell({reset, state}, 1, [&](ScalarBuilder &s, ValueRange v) {
      return SmallVector<Value>{
          s.mul(activateGate(s, direction, 0, v[0]), v[1])};
    })[0];
    return contractState(kept, direction.recurrentHidden, fromInputs);
  }
  Value init = l.filled({batch, hidden}, l.constant(compute, 0));
  Value linear = contractState(state, direction.recurrentHidden, init);
  SmallVector<Value> operands{fromInputs, reset, linear};
  if (direction.hiddenBias)
    operands.push_back(direction.hiddenBias);
  return cell(operands, 1, [&](ScalarBuilder &s, ValueRange v) {
    Value sum = v.size() > 3 ? s.add(v[2], v[3]) : v[2];
    Value gate = activateGate(s, direction, 0, v[1]);
    return SmallVector<Value>{s.add(v[0], s.mul(gate, sum))};
  })[0];
}

SmallVector<Value> GRU::step(const Direction &direction, Value fromInputs,
                             ValueRange states) {
  Value gatesSum =
      contractState(states[0], direction.recurrent, part(fromInputs, 0, 2));
  Value update = part(gatesSum, 0, 1), reset = part(gatesSum, 1, 1);
  Value proposal =
      hiddenGate(direction, part(fromInputs, 2, 1), reset, states[0]);
  return cell({update, proposal, states[0]}, 1,
              [&](ScalarBuilder &s, ValueRange v) -> SmallVector<Value> {
                Value z = activateGate(s, direction, 0, v[0]);
                Value h = activateGate(s, direction, 1, v[1]);
                Value rest = s.sub(s.constant(compute, 1), z);
                return {s.add(s.mul(rest, h), s.mul(z, v[2]))};
              });
}

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

namespace {
/// Gates i, o, f, c:
///   it = f(Xt * Wi^T + Ht-1 * Ri^T + Pi . Ct-1 + Wbi + Rbi), ft likewise, or
///   ft = 1 - it  input_forget
///   ct = g(Xt * Wc^T + Ht-1 * Rc^T + Wbc + Rbc)
///   Ct = ft . Ct-1 + it . ct
///   ot = f(Xt * Wo^T + Ht-1 * Ro^T + Po . Ct + Wbo + Rbo)
///   Ht = ot . h(Ct)
/// `clip` bounds the sums of the gates; the state is not one of them, as in
/// other engines.
class LSTM : public Recurrence {
public:
  explicit LSTM(NodeLowering &l) : Recurrence(l, 4, 2, kLSTMActivations) {}

  void readOwnAttributes() override { inputForget = l.intAttr("input_forget"); }
  void prepareOwnInputs(Direction &direction, unsigned d) override {
    if (hasInput(7))
      direction.peepholes = castElements(l, ofDirection(7, d), compute);
  }
  SmallVector<Value> step(const Direction &direction, Value fromInputs,
                          ValueRange states) override;

private:
  bool inputForget = false;
};
} // namespace

SmallVector<Value> LSTM::step(const Direction &direction, Value fromInputs,
                              ValueRange states) {
  Value sum = contractState(states[0], direction.recurrent, fromInputs);
  enum { I, O, F, C, State, PI, PO, PF };
  SmallVector<Value> operands;
  for (int64_t gate : llvm::seq(gates))
    operands.push_back(part(sum, gate, 1));
  operands.push_back(states[1]);
  bool peeps = static_cast<bool>(direction.peepholes);
  if (peeps)
    for (int64_t k : llvm::seq(3))
      operands.push_back(part(direction.peepholes, k, 1));
  return cell(operands, 2,
              [&](ScalarBuilder &s, ValueRange v) -> SmallVector<Value> {
                auto gate = [&](unsigned k, unsigned weight, Value state) {
                  Value x = peeps ? s.add(v[k], s.mul(v[weight], state)) : v[k];
                  return activateGate(s, direction, 0, x);
                };
                Value i = gate(I, PI, v[State]);
                Value f = inputForget ? s.sub(s.constant(compute, 1), i)
                                      : gate(F, PF, v[State]);
                Value proposal = activateGate(s, direction, 1, v[C]);
                Value state = s.add(s.mul(f, v[State]), s.mul(i, proposal));
                Value o = gate(O, PO, state);
                return {s.mul(o, activate(s, direction, 2, state)), state};
              });
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename Operator>
static LogicalResult lowerRecurrence(NodeLowering &l) {
  return Operator(l).lower();
}

void loopc::addRecurrentRows(LoweringTable &table) {
  table.add({
      {"", "RNN", 1, kLatest, lowerRecurrence<RNN>},
      {"", "GRU", 1, kLatest, lowerRecurrence<GRU>},
      {"", "LSTM", 1, kLatest, lowerRecurrence<LSTM>},
  });
}
