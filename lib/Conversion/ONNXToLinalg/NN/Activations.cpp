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
using FP = arith::CmpFPredicate;

static Value sigmoid(Scalars s, Value x, double, double) {
  Value one = s.number(x, 1);
  Value power = s.make<math::ExpOp>(s.make<arith::NegFOp>(x));
  return s.div(one, s.add(one, power));
}
static Value tanhOf(Scalars s, Value x, double, double) {
  return s.make<math::TanhOp>(x);
}
static Value relu(Scalars s, Value x, double, double) {
  return s.max(x, s.number(x, 0));
}
static Value line(Scalars s, Value x, double alpha, double beta) {
  return s.add(s.mul(x, s.number(x, alpha)), s.number(x, beta));
}
static Value leakyRelu(Scalars s, Value x, double alpha, double) {
  Value isNegative = s.compare(FP::OLT, x, s.number(x, 0));
  return s.select(isNegative, s.mul(x, s.number(x, alpha)), x);
}
static Value thresholdedRelu(Scalars s, Value x, double alpha, double) {
  // NaN stays.
  Value isBelow = s.compare(FP::OLE, x, s.number(x, alpha));
  return s.select(isBelow, s.number(x, 0), x);
}
static Value scaledTanh(Scalars s, Value x, double alpha, double beta) {
  Value inner = s.mul(x, s.number(x, beta));
  return s.mul(s.number(x, alpha), s.make<math::TanhOp>(inner));
}
static Value hardSigmoid(Scalars s, Value x, double alpha, double beta) {
  Value y = line(s, x, alpha, beta);
  return s.min(s.max(y, s.number(x, 0)), s.number(x, 1));
}
static Value elu(Scalars s, Value x, double alpha, double) {
  Value isNegative = s.compare(FP::OLT, x, s.number(x, 0));
  Value curve = s.mul(s.number(x, alpha), s.make<math::ExpM1Op>(x));
  return s.select(isNegative, curve, x);
}
static Value softsign(Scalars s, Value x, double, double) {
  return s.div(x, s.add(s.number(x, 1), s.make<math::AbsFOp>(x)));
}
static Value softplus(Scalars s, Value x, double, double) {
  // log(1 + exp(x)), so that exp does not overflow.
  Value magnitude = s.make<math::AbsFOp>(x);
  Value power = s.make<math::ExpOp>(s.make<arith::NegFOp>(magnitude));
  return s.add(s.max(x, s.number(x, 0)), s.make<math::Log1pOp>(power));
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
