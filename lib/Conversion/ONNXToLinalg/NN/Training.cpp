//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The optimizers of ai.onnx.preview.training: one step for each of several
// tensors. Operands and results come in groups: all tensors, all gradients, all
// of each state.

#include "Framework/ElementwiseUtils.h"

using namespace mlir;
using namespace loopc;

namespace {
/// A step of an optimizer: learning rate, number of the step (a float), norm
/// coefficients; made in the type of the tensors.
struct Step {
  Value rate, number;
};

/// New value and new states from value, gradient and states.
using StepBody = llvm::function_ref<SmallVector<Value>(
    ScalarBuilder &s, Step step, ArrayRef<Value> values)>;
} // namespace

/// Applies `body` to each tensor with `numStates` states.
static LogicalResult lowerOptimizer(NodeLowering &l, unsigned numStates,
                                    StepBody body) {
  unsigned groups = 2 + numStates, given = l.numInputs();
  if (given < 2 || (given - 2) % groups != 0)
    return l.refuse(Twine(given) + " inputs are not two and " + Twine(groups) +
                    " for each tensor");
  unsigned count = (given - 2) / groups;
  if (l.numResults() != count * (1 + numStates))
    return l.refuse(Twine(l.numResults()) + " outputs for " + Twine(count) +
                    " tensors");
  Value rate = l.scalar(l.in(0)), number = l.scalar(l.in(1));
  for (unsigned k = 0; k < count; ++k) {
    SmallVector<Value> operands;
    for (unsigned group = 0; group < groups; ++group)
      operands.push_back(l.in(2 + group * count + k));
    Type type = l.elementType(2 + k);
    for (unsigned part = 0; part < 1 + numStates; ++part) {
      unsigned result = part * count + k;
      if (!l.hasResult(result))
        continue;
      // No other state has a part in a new state, nor has its shape.
      SmallVector<Value> used(operands);
      if (part > 0)
        used = {operands[0], operands[1], operands[1 + part]};
      l.setResult(result,
                  l.elementwise(used, type,
                                [&](OpBuilder &b, Location loc, ValueRange e) {
                                  ScalarBuilder s(b, loc);
                                  Step step = {s.cast(rate, type),
                                               s.cast(number, type)};
                                  SmallVector<Value> values(e);
                                  values.resize(groups, e.back());
                                  return body(s, step, values)[part];
                                }));
    }
  }
  return success();
}

/// gradient + coefficient * value
static Value regularized(ScalarBuilder &s, double coefficient, Value value,
                         Value gradient) {
  Value scaled = s.mul(s.constant(value.getType(), coefficient), value);
  return s.add(scaled, gradient);
}

static LogicalResult lowerAdagrad(NodeLowering &l) {
  double decay = l.floatAttr("decay_factor", 0);
  double epsilon = l.floatAttr("epsilon", 1e-6);
  double norm = l.floatAttr("norm_coefficient", 0);
  return lowerOptimizer(
      l, 1, [&](ScalarBuilder &s, Step step, ArrayRef<Value> v) {
        Type type = v[0].getType();
        Value slowed = s.add(s.constant(type, 1),
                             s.mul(step.number, s.constant(type, decay)));
        Value rate = s.div(step.rate, slowed);
        Value gradient = regularized(s, norm, v[0], v[1]);
        Value squares = s.add(v[2], s.mul(gradient, gradient));
        Value divisor =
            s.add(s.make<math::SqrtOp>(squares), s.constant(type, epsilon));
        Value value = s.sub(v[0], s.div(s.mul(rate, gradient), divisor));
        return SmallVector<Value>{value, squares};
      });
}

static LogicalResult lowerAdam(NodeLowering &l) {
  double alpha = l.floatAttr("alpha", 0.9), beta = l.floatAttr("beta", 0.999);
  double epsilon = l.floatAttr("epsilon", 1e-6);
  double norm = l.floatAttr("norm_coefficient", 0);
  double normPost = l.floatAttr("norm_coefficient_post", 0);
  return lowerOptimizer(
      l, 2, [&](ScalarBuilder &s, Step step, ArrayRef<Value> v) {
        Type type = v[0].getType();
        auto number = [&](double x) { return s.constant(type, x); };
        auto mix = [&](double weight, Value old, Value fresh) {
          return s.add(s.mul(number(weight), old),
                       s.mul(number(1 - weight), fresh));
        };
        Value gradient = regularized(s, norm, v[0], v[1]);
        Value first = mix(alpha, v[2], gradient);
        Value second = mix(beta, v[3], s.mul(gradient, gradient));
        Value divisor = s.add(s.make<math::SqrtOp>(second), number(epsilon));
        auto missing = [&](double weight) {
          return s.sub(number(1),
                       s.make<math::PowFOp>(number(weight), step.number));
        };
        Value adjusted =
            s.div(s.mul(step.rate, s.make<math::SqrtOp>(missing(beta))),
                  missing(alpha));
        Value rate =
            s.select(s.less(number(0), step.number), adjusted, step.rate);
        Value value = s.sub(v[0], s.div(s.mul(rate, first), divisor));
        value = s.mul(number(1 - normPost), value);
        return SmallVector<Value>{value, first, second};
      });
}

static LogicalResult lowerMomentum(NodeLowering &l) {
  double alpha = l.floatAttr("alpha", 0), beta = l.floatAttr("beta", 0);
  double norm = l.floatAttr("norm_coefficient", 0);
  std::string mode = l.stringAttr("mode");
  if (mode != "standard" && mode != "nesterov")
    return l.refuse("'mode' is '" + mode +
                    "', expected 'standard' or 'nesterov'");
  return lowerOptimizer(
      l, 1, [&](ScalarBuilder &s, Step step, ArrayRef<Value> v) {
        Type type = v[0].getType();
        auto number = [&](double x) { return s.constant(type, x); };
        Value gradient = regularized(s, norm, v[0], v[1]);
        Value weight =
            s.select(s.less(number(0), step.number), number(beta), number(1));
        Value momentum =
            s.add(s.mul(number(alpha), v[2]), s.mul(weight, gradient));
        Value direction = mode == "standard"
                              ? momentum
                              : s.add(gradient, s.mul(number(alpha), momentum));
        Value value = s.sub(v[0], s.mul(step.rate, direction));
        return SmallVector<Value>{value, momentum};
      });
}

void loopc::addTrainingRows(LoweringTable &table) {
  constexpr llvm::StringLiteral domain = "ai.onnx.preview.training";
  table.add({
      {domain, "Adagrad", 1, kLatest, lowerAdagrad},
      {domain, "Adam", 1, kLatest, lowerAdam},
      {domain, "Momentum", 1, kLatest, lowerMomentum},
  });
}
