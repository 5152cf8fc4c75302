//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activations.h"

using namespace mlir;
using namespace loopc;

static Value number(ScalarBuilder &s, Value like, double value) {
  return s.constant(like.getType(), value);
}
// Zeros are told apart, where ScalarBuilder's take any.
static Value max(ScalarBuilder &s, Value x, double y) {
  return s.make<arith::MaximumFOp>(x, number(s, x, y));
}
static Value min(ScalarBuilder &s, Value x, double y) {
  return s.make<arith::MinimumFOp>(x, number(s, x, y));
}

static Value sigmoid(ScalarBuilder &s, Value x, double, double) {
  Value one = number(s, x, 1);
  Value power = s.exp(s.neg(x));
  return s.div(one, s.add(one, power));
}
static Value tanhOf(ScalarBuilder &s, Value x, double, double) {
  return s.make<math::TanhOp>(x);
}
static Value relu(ScalarBuilder &s, Value x, double, double) {
  return max(s, x, 0);
}
static Value line(ScalarBuilder &s, Value x, double alpha, double beta) {
  return s.add(s.mul(x, number(s, x, alpha)), number(s, x, beta));
}
static Value leakyRelu(ScalarBuilder &s, Value x, double alpha, double) {
  Value isNegative = s.less(x, number(s, x, 0));
  return s.select(isNegative, s.mul(x, number(s, x, alpha)), x);
}
static Value thresholdedRelu(ScalarBuilder &s, Value x, double alpha, double) {
  // NaN stays.
  Value isBelow = s.lessOrEqual(x, number(s, x, alpha));
  return s.select(isBelow, number(s, x, 0), x);
}
static Value scaledTanh(ScalarBuilder &s, Value x, double alpha, double beta) {
  Value inner = s.mul(x, number(s, x, beta));
  return s.mul(number(s, x, alpha), s.make<math::TanhOp>(inner));
}
static Value hardSigmoid(ScalarBuilder &s, Value x, double alpha, double beta) {
  Value y = line(s, x, alpha, beta);
  return min(s, max(s, y, 0), 1);
}
static Value elu(ScalarBuilder &s, Value x, double alpha, double) {
  Value isNegative = s.less(x, number(s, x, 0));
  Value curve = s.mul(number(s, x, alpha), s.make<math::ExpM1Op>(x));
  return s.select(isNegative, curve, x);
}
static Value softsign(ScalarBuilder &s, Value x, double, double) {
  return s.div(x, s.add(number(s, x, 1), s.abs(x)));
}
static Value softplus(ScalarBuilder &s, Value x, double, double) {
  // log(1 + exp(x)), so that exp does not overflow.
  Value magnitude = s.abs(x);
  Value power = s.exp(s.neg(magnitude));
  return s.add(max(s, x, 0), s.make<math::Log1pOp>(power));
}

static constexpr ActivationKind kActivations[] = {
    {"Sigmoid", 0, 0, 0, sigmoid},
    {"Tanh", 0, 0, 0, tanhOf},
    {"Relu", 0, 0, 0, relu},
    {"Affine", 2, 1, 0, line},
    {"LeakyRelu", 1, 0.01, 0, leakyRelu},
    {"ThresholdedRelu", 1, 1, 0, thresholdedRelu},
    {"ScaledTanh", 2, 1, 1, scaledTanh},
    {"HardSigmoid", 2, 0.2, 0.5, hardSigmoid},
    {"Elu", 1, 1, 0, elu},
    {"Softsign", 0, 0, 0, softsign},
    {"Softplus", 0, 0, 0, softplus},
};

const ActivationKind *ActivationKind::find(StringRef name) {
  for (const ActivationKind &kind : kActivations)
    if (name.equals_insensitive(kind.name))
      return &kind;
  return nullptr;
}
