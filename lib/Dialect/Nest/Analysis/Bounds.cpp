//===- Bounds.cpp - What numbers are at least and at most -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A bound of a size is the largest of some values. What a loop carries is at
// most what it began with and what iterations make of it; where they only
// choose, that is the largest of what there is to choose from. So a value that
// is met again while it is looked at adds nothing to the set, and is in the way
// of arithmetic alone. Where each of a known number of iterations adds to it,
// it is at most what they add in all; where the loop goes on only as long as it
// is small, it is no larger than that.

#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace loopc;

/// Values up to which a bound is looked for.
static constexpr int64_t kManyValues = 4096;

/// `made` where it is `valid`, else the largest number.
static Value orLargest(ImplicitLocOpBuilder &b, Value valid, Value made) {
  Value most =
      arith::ConstantIndexOp::create(b, std::numeric_limits<int64_t>::max());
  return b.createOrFold<arith::SelectOp>(valid, made, most);
}

Value loopc::addSizes(ImplicitLocOpBuilder &b, Value one, Value other) {
  Value sum = b.createOrFold<arith::AddIOp>(one, other);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value valid =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, sum, zero);
  return orLargest(b, valid, sum);
}

Value loopc::multiplySizes(ImplicitLocOpBuilder &b, Value one, Value other) {
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(how, x, y);
  };
  Value product = b.createOrFold<arith::MulIOp>(one, other);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value unit = arith::ConstantIndexOp::create(b, 1);
  Value back = b.createOrFold<arith::DivUIOp>(
      product, b.createOrFold<arith::MaxUIOp>(one, unit));
  Value isExact = b.createOrFold<arith::AndIOp>(
      compare(arith::CmpIPredicate::eq, back, other),
      compare(arith::CmpIPredicate::sge, product, zero));
  Value isZero = compare(arith::CmpIPredicate::eq, one, zero);
  return orLargest(b, b.createOrFold<arith::OrIOp>(isZero, isExact), product);
}

Value SizeBounds::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value SizeBounds::largest(const Set &set) {
  Value most;
  for (Value value : set.values) {
    if (!value.getType().isIndex())
      value = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), value);
    most = most ? b.createOrFold<arith::MaxSIOp>(most, value) : value;
  }
  // What is negative has no elements.
  return most ? b.createOrFold<arith::MaxSIOp>(most, constant(0)) : constant(0);
}

/// Operations up to which it is looked what a number is made of.
static constexpr unsigned kDepth = 6;

/// Numbers from here on stand for "to the end", or "without end": exporters
/// write the largest integers of 32 or of 64 bits.
static constexpr int64_t kToTheEnd = int64_t(1) << 30;

/// True for how often a loop runs that has no end where its condition, which no
/// iteration changes, holds: a choice of constants, with what is made of it.
/// That is no size that memory could have.
static bool maybeEndless(Value value, unsigned depth = kDepth) {
  auto is = [&](Value operand) { return maybeEndless(operand, depth - 1); };
  auto isConstant = [](Value operand) {
    return getConstantIntValue(operand).has_value();
  };
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known >= kToTheEnd;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<arith::SelectOp>(op))
    return llvm::all_of(op->getOperands().drop_front(), isConstant) &&
           llvm::any_of(op->getOperands().drop_front(), is);
  if (isa<arith::MinSIOp>(op))
    return llvm::all_of(op->getOperands(), is);
  return isa<arith::AddIOp, arith::MaxSIOp, arith::IndexCastOp>(op) &&
         llvm::any_of(op->getOperands(), is);
}

bool loopc::mayWrap(Operation *op) {
  auto isWide = [](Value value) {
    Type type = value.getType();
    return type.isIndex() || type.getIntOrFloatBitWidth() >= 64;
  };
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return !isWide(op->getOperand(0));
  return !isWide(op->getResult(0)) &&
         !isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::SelectOp,
              arith::DivUIOp, arith::DivSIOp, arith::CeilDivSIOp,
              arith::FloorDivSIOp, arith::RemUIOp, arith::RemSIOp>(op);
}

static bool isNonNegative(Value value, unsigned depth) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known >= 0;
  if (depth == 0)
    return false;
  auto is = [&](Value operand) { return isNonNegative(operand, depth - 1); };
  Operation *op = value.getDefiningOp();
  if (!op) {
    scf::ForOp counted = getLoopOf(value);
    return counted && is(counted.getLowerBound());
  }
  if (isa<memref::DimOp, list::LengthOp>(op))
    return true;
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), is);
  if (isa<arith::SelectOp>(op))
    return llvm::all_of(op->getOperands().drop_front(), is);
  return isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::MinUIOp,
             arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp,
             arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemUIOp,
             arith::RemSIOp, arith::IndexCastOp>(op) &&
         !mayWrap(op) && llvm::all_of(op->getOperands(), is);
}

scf::ForOp loopc::getLoopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && loop.getInductionVar() == argument ? loop : scf::ForOp();
}

bool loopc::isNonNegative(Value value) {
  return ::isNonNegative(value, kDepth);
}

/// A bound for arithmetic, as one number; null where there is none, or where it
/// follows from what is being looked at.
Value SizeBounds::alone(Value value) {
  llvm::SaveAndRestore keepDepth(depth, static_cast<unsigned>(open.size()));
  llvm::SaveAndRestore keepCyclic(isCyclic, false);
  Set set;
  return collect(value, set) && !isCyclic ? largest(set) : Value();
}

/// True for what is not negative where its operands are not.
static bool keepsNonNegative(AffineExpr expr) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  auto both = dyn_cast<AffineBinaryOpExpr>(expr);
  return !both || expr.getKind() == AffineExprKind::Mod ||
         (keepsNonNegative(both.getLHS()) && keepsNonNegative(both.getRHS()));
}

/// A bound of an expression of operands that are not negative, which `values`
/// are; it is not negative either.
Value SizeBounds::boundExpression(AffineExpr expr, ValueRange values,
                                  unsigned numDims) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return constant(std::max<int64_t>(number.getValue(), 0));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return alone(values[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return alone(values[numDims + symbol.getPosition()]);
  auto both = cast<AffineBinaryOpExpr>(expr);
  auto number = dyn_cast<AffineConstantExpr>(both.getRHS());
  bool isDivided = number && number.getValue() > 0;
  if (expr.getKind() == AffineExprKind::Mod)
    return isDivided ? constant(number.getValue() - 1) : Value();
  Value left = boundExpression(both.getLHS(), values, numDims);
  if (!left)
    return {};
  if (expr.getKind() != AffineExprKind::Add &&
      expr.getKind() != AffineExprKind::Mul)
    return isDivided ? left : Value();
  // Two that are negative, multiplied, are larger than both.
  if (expr.getKind() == AffineExprKind::Mul &&
      !(keepsNonNegative(both.getLHS()) &&
        (number || keepsNonNegative(both.getRHS()))))
    return {};
  Value right = boundExpression(both.getRHS(), values, numDims);
  if (!right)
    return {};
  return expr.getKind() == AffineExprKind::Add ? addSizes(b, left, right)
                                               : multiplySizes(b, left, right);
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

namespace {
/// Looks how far numbers are from `base`, which is not negative: the ends of
/// slices are so many rows from the end of a buffer, however long that is.
struct Distance {
  Value base;

  /// k such that `value` <= base + k.
  std::optional<int64_t> above(Value value, unsigned depth = kDepth) const {
    return find(value, depth, /*isAbove=*/true);
  }
  /// k such that `value` >= base + k.
  std::optional<int64_t> below(Value value, unsigned depth = kDepth) const {
    return find(value, depth, /*isAbove=*/false);
  }

private:
  std::optional<int64_t> find(Value value, unsigned depth, bool isAbove) const;
};
} // namespace

std::optional<int64_t> Distance::find(Value value, unsigned depth,
                                      bool isAbove) const {
  if (value == base)
    return 0;
  // Far ones stand for an end, and sums of them would overflow.
  auto isNear = [](std::optional<int64_t> known) {
    return known && *known < kToTheEnd && *known > -kToTheEnd;
  };
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return isAbove && isNear(known) ? known : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  auto look = [&](unsigned k) {
    return find(op->getOperand(k), depth - 1, isAbove);
  };
  if (isa<arith::IndexCastOp, arith::AddIOp>(op) && mayWrap(op))
    return std::nullopt;
  if (isa<arith::IndexCastOp>(op))
    return look(0);
  if (isa<arith::AddIOp>(op)) {
    std::optional<int64_t> added = getConstantIntValue(op->getOperand(1));
    std::optional<int64_t> before = isNear(added) ? look(0) : std::nullopt;
    return before ? std::optional(*before + *added) : std::nullopt;
  }
  bool isLeast = isa<arith::MinSIOp>(op);
  if (!isLeast && !isa<arith::MaxSIOp, arith::SelectOp>(op))
    return std::nullopt;
  unsigned first = isa<arith::SelectOp>(op) ? 1 : 0;
  std::optional<int64_t> one = look(first), other = look(first + 1);
  // One of the two bounds the smaller from above, the larger from below.
  bool isOneEnough = first == 0 && isLeast == isAbove;
  if (!one || !other)
    return isOneEnough ? (one ? one : other) : std::nullopt;
  return isLeast || (first == 1 && !isAbove) ? std::min(*one, *other)
                                             : std::max(*one, *other);
}

/// What `difference` is at most, however large what it is made of is.
static std::optional<int64_t> boundDifference(arith::SubIOp difference) {
  SmallVector<Value> open{difference.getLhs()};
  for (unsigned k = 0; k < open.size() && k < 16; ++k) {
    Operation *op = open[k].getDefiningOp();
    if (op &&
        isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp, arith::IndexCastOp>(
            op)) {
      llvm::append_range(open, op->getOperands());
      continue;
    }
    if (!isNonNegative(open[k]) || getConstantIntValue(open[k]))
      continue;
    Distance distance{open[k]};
    std::optional<int64_t> most = distance.above(difference.getLhs());
    std::optional<int64_t> least = distance.below(difference.getRhs());
    if (most && least)
      return std::max<int64_t>(*most - *least, 0);
  }
  return std::nullopt;
}

bool SizeBounds::collect(Value value, Set &set) {
  if (maybeEndless(value))
    return false;
  if (loop.isDefinedOutsideOfLoop(value)) {
    set.values.insert(value);
    return true;
  }
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    set.values.insert(constant(*known));
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return collectCarried(value, -1, set);
  if (--budget < 0)
    return false;
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    return axis && collectDim(dim.getSource(), *axis, set);
  }
  if (isa<arith::SelectOp>(op))
    return collect(op->getOperand(1), set) && collect(op->getOperand(2), set);
  if (isa<arith::MaxSIOp>(op))
    return collect(op->getOperand(0), set) && collect(op->getOperand(1), set);
  // What wraps around may be positive where what it is made of is not.
  if (isa<arith::ArithDialect>(op->getDialect()) && mayWrap(op))
    return false;
  if (isa<arith::IndexCastOp>(op))
    return collect(op->getOperand(0), set);
  if (isa<arith::MinSIOp>(op)) {
    Value least;
    for (Value operand : op->getOperands())
      if (Value most = alone(operand))
        least = least ? b.createOrFold<arith::MinSIOp>(least, most) : most;
    if (least)
      set.values.insert(least);
    return least != nullptr;
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    Value most;
    if (llvm::all_of(apply.getOperands(),
                     [](Value operand) { return isNonNegative(operand); }))
      most = boundExpression(map.getResult(0), apply.getMapOperands(),
                             map.getNumDims());
    if (most)
      set.values.insert(most);
    return most != nullptr;
  }
  if (auto difference = dyn_cast<arith::SubIOp>(op))
    if (std::optional<int64_t> most = boundDifference(difference)) {
      set.values.insert(constant(*most));
      return true;
    }
  if (isa<arith::SubIOp, arith::DivUIOp, arith::DivSIOp, arith::CeilDivUIOp,
          arith::CeilDivSIOp>(op) &&
      isNonNegative(op->getOperand(1)) &&
      (isa<arith::SubIOp>(op) || isNonNegative(op->getOperand(0))))
    return collect(op->getOperand(0), set);
  if (isa<arith::AddIOp, arith::MulIOp>(op)) {
    if (isa<arith::MulIOp>(op) &&
        !llvm::all_of(op->getOperands(),
                      [](Value operand) { return isNonNegative(operand); }))
      return false;
    Value one = alone(op->getOperand(0));
    Value other = one ? alone(op->getOperand(1)) : Value();
    if (!other)
      return false;
    set.values.insert(isa<arith::AddIOp>(op) ? addSizes(b, one, other)
                                             : multiplySizes(b, one, other));
    return true;
  }
  return collectCarried(value, -1, set);
}

bool SizeBounds::collectDim(Value buffer, int64_t axis, Set &set) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return false;
  if (!type.isDynamicDim(axis)) {
    set.values.insert(constant(type.getDimSize(axis)));
    return true;
  }
  if (loop.isDefinedOutsideOfLoop(buffer)) {
    set.values.insert(memref::DimOp::create(b, buffer, axis));
    return true;
  }
  Operation *op = buffer.getDefiningOp();
  auto collectSize = [&](OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return collect(value, set);
    set.values.insert(constant(*getConstantIntValue(size)));
    return true;
  };
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
    return collectSize(alloc.getMixedSizes()[axis]);
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
    return collectDim(cast.getSource(), axis, set);
  if (auto cast = dyn_cast_or_null<memref::ReinterpretCastOp>(op))
    return collectSize(cast.getMixedSizes()[axis]);
  if (auto view = dyn_cast_or_null<memref::ViewOp>(op))
    return collect(view.getSizes()[type.getDynamicDimIndex(axis)], set);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return collectDim(select.getTrueValue(), axis, set) &&
           collectDim(select.getFalseValue(), axis, set);
  return collectCarried(buffer, axis, set);
}

/// All that `value`, an argument or a result of a loop or branch, may be.
static bool listSources(Value value, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (number == 0) {
        sources.push_back(loop.getUpperBound());
        return true;
      }
      llvm::append_values(sources, loop.getInitArgs()[number - 1],
                          loop.getYieldedValues()[number - 1]);
      return true;
    }
    auto loop = dyn_cast<scf::WhileOp>(parent);
    if (!loop)
      return false;
    if (argument.getOwner() == loop.getAfterBody())
      sources.push_back(loop.getConditionOp().getArgs()[number]);
    else
      llvm::append_values(sources, loop.getInits()[number],
                          loop.getYieldedValues()[number]);
    return true;
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  Operation *op = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    llvm::append_values(sources, loop.getInitArgs()[number],
                        loop.getYieldedValues()[number]);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    sources.push_back(loop.getConditionOp().getArgs()[number]);
    return true;
  }
  if (!isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return false;
  for (Region &region : op->getRegions())
    sources.push_back(region.front().getTerminator()->getOperand(number));
  return true;
}

bool SizeBounds::collectCarried(Value value, int64_t axis, Set &set) {
  if (auto before = open.find({value, axis}); before != open.end()) {
    isCyclic |= before->second < depth;
    return true;
  }
  if (!set.visited.insert({value, axis}).second)
    return true;
  if (--budget < 0)
    return false;
  open.try_emplace({value, axis}, static_cast<unsigned>(open.size()));
  SmallVector<Value> sources;
  bool isKnown =
      (axis < 0 && collectAsLongAs(value, set)) ||
      collectGrowing(value, axis, set) ||
      (listSources(value, sources) && llvm::all_of(sources, [&](Value source) {
         return axis < 0 ? collect(source, set) : collectDim(source, axis, set);
       }));
  open.erase({value, axis});
  return isKnown;
}

//===----------------------------------------------------------------------===//
// What grows
//===----------------------------------------------------------------------===//

void loopc::listOrders(Value condition, bool holds,
                       SmallVectorImpl<Order> &orders) {
  using enum arith::CmpIPredicate;
  if (auto both = condition.getDefiningOp<arith::AndIOp>(); both && holds) {
    listOrders(both.getLhs(), holds, orders);
    listOrders(both.getRhs(), holds, orders);
  }
  if (auto inverse = condition.getDefiningOp<arith::XOrIOp>();
      inverse && isConstantIntValue(inverse.getRhs(), -1))
    listOrders(inverse.getLhs(), !holds, orders);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return;
  arith::CmpIPredicate how = compare.getPredicate();
  if (!holds)
    how = arith::invertPredicate(how);
  auto isOneOf = [&](auto... predicates) {
    return ((how == predicates) || ...);
  };
  if (isOneOf(eq, ne))
    return;
  Order order{.less = compare.getLhs(),
              .more = compare.getRhs(),
              .isStrict = isOneOf(slt, sgt, ult, ugt),
              .isSigned = isOneOf(slt, sgt, sle, sge)};
  if (isOneOf(sgt, sge, ugt, uge))
    std::swap(order.less, order.more);
  orders.push_back(order);
}

/// True if `value` is at most `sum`: the same, or an extent that is made larger
/// there (a number of the model's might overflow).
static bool isPartOf(Value value, Value sum, unsigned depth = kDepth) {
  if (withoutIndexCasts(value) == withoutIndexCasts(sum))
    return true;
  auto add = sum.getDefiningOp<arith::AddIOp>();
  if (!add || !add.getType().isIndex() || depth == 0)
    return false;
  auto isPartBeside = [&](Value one, Value other) {
    return isNonNegative(other) && isPartOf(value, one, depth - 1);
  };
  return isPartBeside(add.getLhs(), add.getRhs()) ||
         isPartBeside(add.getRhs(), add.getLhs());
}

/// An argument of the body of a while loop that goes on as long as it is below
/// something.
bool SizeBounds::collectAsLongAs(Value value, Set &set) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp())
                  : scf::WhileOp();
  if (!loop || argument.getOwner() != loop.getAfterBody())
    return false;
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Order> orders;
  listOrders(condition.getCondition(), /*holds=*/true, orders);
  for (Order order : orders)
    if (order.isSigned &&
        isPartOf(condition.getArgs()[argument.getArgNumber()], order.less))
      if (Value most = alone(order.more)) {
        set.values.insert(most);
        return true;
      }
  return false;
}

/// By how much `what` is larger than `from` at most, where it is made of it;
/// null where that is not known.
Value SizeBounds::boundGrowth(Key what, Key from) {
  if (what == from)
    return constant(0);
  auto [value, axis] = what;
  Operation *op = value.getDefiningOp();
  if (!op || --budget < 0 || loop.isDefinedOutsideOfLoop(value))
    return {};
  auto mostOf = [&](Value one, Value other) -> Value {
    Value left = boundGrowth({one, axis}, from);
    Value right = left ? boundGrowth({other, axis}, from) : Value();
    return right ? b.createOrFold<arith::MaxSIOp>(left, right) : Value();
  };
  if (isa<arith::SelectOp>(op))
    return mostOf(op->getOperand(1), op->getOperand(2));
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return mostOf(branch.thenYield().getOperand(number),
                  branch.elseYield().getOperand(number));
  }
  if (axis >= 0) {
    OpFoldResult size;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      size = alloc.getMixedSizes()[axis];
    else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
      size = cast.getMixedSizes()[axis];
    else if (auto cast = dyn_cast<memref::CastOp>(op))
      return boundGrowth({cast.getSource(), axis}, from);
    auto extent = dyn_cast_if_present<Value>(size);
    return extent ? boundGrowth({extent, -1}, from) : Value();
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> of = dim.getConstantIndex();
    return of ? boundGrowth({dim.getSource(), *of}, from) : Value();
  }
  if (!isa<arith::IndexCastOp, arith::AddIOp>(op) || mayWrap(op))
    return {};
  if (isa<arith::IndexCastOp>(op))
    return boundGrowth({op->getOperand(0), -1}, from);
  for (unsigned k : {0, 1}) {
    Value before = boundGrowth({op->getOperand(k), -1}, from);
    Value added = before ? alone(op->getOperand(1 - k)) : Value();
    if (added)
      return addSizes(b, before, added);
  }
  return {};
}

/// How often the body of `counted` runs at most.
Value SizeBounds::boundTrips(scf::ForOp counted) {
  Value end = alone(counted.getUpperBound());
  if (!end)
    return {};
  if (!loop.isDefinedOutsideOfLoop(counted.getLowerBound()))
    return isNonNegative(counted.getLowerBound()) ? end : Value();
  Value begin = counted.getLowerBound();
  if (!begin.getType().isIndex())
    begin = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), begin);
  return b.createOrFold<arith::MaxSIOp>(
      b.createOrFold<arith::SubIOp>(end, begin), constant(0));
}

/// An argument or a result of a counted loop to which each iteration adds.
bool SizeBounds::collectGrowing(Value value, int64_t axis, Set &set) {
  scf::ForOp counted;
  unsigned number = 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    counted = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!counted || argument.getArgNumber() == 0)
      return false;
    number = argument.getArgNumber() - 1;
  } else {
    counted = value.getDefiningOp<scf::ForOp>();
    number = cast<OpResult>(value).getResultNumber();
  }
  if (!counted)
    return false;
  Key from = {counted.getRegionIterArg(number), axis};
  Value growth = boundGrowth({counted.getYieldedValues()[number], axis}, from);
  Value trips = growth ? boundTrips(counted) : Value();
  Set begin;
  Value init = counted.getInitArgs()[number];
  if (!trips ||
      !(axis < 0 ? collect(init, begin) : collectDim(init, axis, begin)))
    return false;
  set.values.insert(
      addSizes(b, largest(begin), multiplySizes(b, trips, growth)));
  return true;
}

Value SizeBounds::of(Value value) {
  Set set;
  budget = kManyValues;
  return collect(value, set) ? largest(set) : Value();
}
