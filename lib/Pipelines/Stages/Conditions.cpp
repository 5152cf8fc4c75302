//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;

Conditions::Ref Conditions::makeNode(unsigned variable, Ref then,
                                     Ref otherwise) {
  if (then == otherwise)
    return then;
  auto [it, isNew] = unique.try_emplace({variable, then, otherwise},
                                        static_cast<Ref>(nodes.size()));
  if (isNew)
    nodes.push_back({variable, then, otherwise});
  return it->second;
}

// Bryant's algorithm: Shannon's expansion by the variable on top.
Conditions::Ref Conditions::choose(Ref condition, Ref then, Ref otherwise) {
  if (condition == kAlways || then == otherwise)
    return then;
  if (condition == kNever)
    return otherwise;
  if (then == kAlways && otherwise == kNever)
    return condition;
  if (isFull())
    return kNever;
  Key key{condition, then, otherwise};
  if (auto it = chosen.find(key); it != chosen.end())
    return it->second;
  unsigned top = std::max({nodes[condition].variable, nodes[then].variable,
                           nodes[otherwise].variable});
  auto where = [&](Ref f, bool value) {
    const Node &node = nodes[f];
    return node.variable != top ? f : value ? node.then : node.otherwise;
  };
  Ref high =
      choose(where(condition, true), where(then, true), where(otherwise, true));
  Ref low = choose(where(condition, false), where(then, false),
                   where(otherwise, false));
  return chosen[key] = makeNode(top, high, low);
}

Conditions::Ref Conditions::isNumber(Value value, int64_t number) {
  auto [it, isNew] = numbers.try_emplace({value, number}, kNever);
  if (isNew)
    it->second = makeVariable();
  return it->second;
}

Conditions::Ref Conditions::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Ref condition = compute(value);
  known[value] = condition;
  return condition;
}

Conditions::Ref Conditions::compute(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant ? kAlways : kNever;
  Operation *op = value.getDefiningOp();
  if (!op)
    return makeVariable();
  return llvm::TypeSwitch<Operation *, Ref>(op)
      .Case<arith::AndIOp>(
          [&](auto op) { return both(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::OrIOp>(
          [&](auto op) { return either(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::XOrIOp>([&](auto op) {
        Ref right = of(op.getRhs());
        return choose(of(op.getLhs()), negate(right), right);
      })
      .Case<arith::SelectOp>([&](arith::SelectOp op) {
        return choose(of(op.getCondition()), of(op.getTrueValue()),
                      of(op.getFalseValue()));
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp op) { return compare(op); })
      .Default([&](Operation *) { return makeVariable(); });
}

/// `x > y` is `y < x`, and `x >= y` is not `x < y`. Conditions that are
/// compared are conditions: `x == false` is not `x`.
Conditions::Ref Conditions::compare(arith::CmpIOp op) {
  using arith::CmpIPredicate;
  CmpIPredicate how = op.getPredicate();
  Value left = op.getLhs(), right = op.getRhs();
  bool isEqual = how == CmpIPredicate::eq || how == CmpIPredicate::ne;
  bool isSwapped =
      isEqual ? right.getAsOpaquePointer() < left.getAsOpaquePointer()
              : llvm::is_contained({CmpIPredicate::sgt, CmpIPredicate::sle,
                                    CmpIPredicate::ugt, CmpIPredicate::ule},
                                   how);
  bool isNegated = llvm::is_contained({CmpIPredicate::ne, CmpIPredicate::sge,
                                       CmpIPredicate::sle, CmpIPredicate::uge,
                                       CmpIPredicate::ule},
                                      how);
  bool isUnsigned = llvm::is_contained({CmpIPredicate::ult, CmpIPredicate::ule,
                                        CmpIPredicate::ugt, CmpIPredicate::uge},
                                       how);
  if (isEqual && left.getType().isInteger(1)) {
    Ref other = of(right);
    Ref equal = choose(of(left), other, negate(other));
    return isNegated ? negate(equal) : equal;
  }
  if (isSwapped)
    std::swap(left, right);
  auto [it, isNew] = compared.try_emplace({isEqual      ? 0
                                           : isUnsigned ? 1
                                                        : 2,
                                           left, right});
  if (isNew)
    it->second = makeVariable();
  return isNegated ? negate(it->second) : it->second;
}
