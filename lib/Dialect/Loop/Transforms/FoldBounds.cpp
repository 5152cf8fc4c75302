//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loop-fold-bounds: minima, maxima and comparisons that the bounds of iteration
// numbers and extents decide.
//
// Numbers are sums of atoms with factors. An atom is a value that nothing is
// known of but bounds: iteration numbers, extents, minima, maxima. That a sum
// is not negative is proved by putting bounds in the places of its atoms, until
// only a constant is left.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

namespace loopc {
#define GEN_PASS_DEF_LOOPFOLDBOUNDS
#include "loopc/Dialect/Loop/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;
using arith::CmpIPredicate;

/// Extents and numbers of iterations, and distances of a few of them, have
/// fewer bits than a number of 64 bits; larger constants are atoms.
static constexpr int64_t kMaxConstant = int64_t(1) << 48;
static constexpr int64_t kMaxFactor = int64_t(1) << 16;
/// Numbers of iterations times so much have as few bits.
static constexpr int64_t kMaxScale = int64_t(1) << 9;
static constexpr size_t kMaxTerms = 6;
/// So often bounds are put in the places of atoms for one proof.
static constexpr unsigned kSteps = 48, kDepth = 8;

namespace {
/// A constant and atoms with factors, in the order of their addresses.
struct Sum {
  int64_t constant = 0;
  SmallVector<std::pair<Value, int64_t>, 4> terms;

  static Sum of(Value atom) {
    Sum sum;
    sum.terms.push_back({atom, 1});
    return sum;
  }
  static Sum number(int64_t value) {
    Sum sum;
    sum.constant = value;
    return sum;
  }
  /// False where that would be too large a sum.
  bool add(const Sum &other, int64_t factor);
  bool operator==(const Sum &other) const {
    return constant == other.constant && terms == other.terms;
  }
};

/// A number as a sum, and whether it is so far from the least and the largest
/// number of 64 bits that a few such may be added.
struct Number {
  Sum sum;
  bool isAbove = false, isBelow = false;

  bool isSmall() const { return isAbove && isBelow; }
};

class BoundFolding {
public:
  explicit BoundFolding(MLIRContext *context) : rewriter(context) {}

  /// Returns the number of values that were replaced.
  unsigned run(Operation *root);

private:
  /// The sums that an atom is at least, or at most: of each list all must do.
  using Bounds = SmallVector<SmallVector<Sum, 2>, 2>;

  Number numberOf(Value value);
  Number numberOf(Operation *op);
  bool isNotNegative(const Sum &sum, unsigned depth = kDepth);
  bool isInBlocks(const Sum &sum, size_t k, unsigned depth);
  bool isAtLeast(const Number &more, const Number &less);
  Bounds boundsOf(Value atom, bool isLower);
  Bounds boundsOfIteration(Value atom, bool isLower);
  bool needsTrip() const { return !counted.empty(); }
  bool mayFold(const Sum &sum);
  std::optional<bool> isLess(const Number &a, const Number &b, bool isSigned,
                             bool orEqual);
  std::optional<bool> decide(arith::CmpIOp compare);
  Value chosenOf(Operation *op);
  void visitLoop(LoopOp loop);
  void visitCompare(arith::CmpIOp compare);
  void visitNumber(Operation *op);
  void replace(Operation *op, Value value);
  Value constant(Operation *op, int64_t value);

  IRRewriter rewriter;
  DenseMap<Value, Number> numbers;
  /// The values of a type that are a sum, as the type, the constant and the
  /// terms.
  using Key = std::vector<std::pair<const void *, int64_t>>;
  std::map<Key, SmallVector<Value, 1>> known;
  /// The loops that a proof has counted on to run.
  SmallVector<Operation *, 4> counted;
  unsigned steps = 0;
  /// How far away from what is folded, in the operands of its operands.
  unsigned outside = 0;
  unsigned numReplaced = 0;
};
} // namespace

bool Sum::add(const Sum &other, int64_t factor) {
  auto fits = [](int64_t value, int64_t most) {
    return value <= most && value >= -most;
  };
  int64_t scaled;
  if (!fits(factor, kMaxFactor) ||
      llvm::MulOverflow(other.constant, factor, scaled) ||
      !fits(scaled, kMaxConstant) || !fits(constant += scaled, kMaxConstant))
    return false;
  for (auto [atom, times] : other.terms) {
    auto *at = llvm::find_if(
        terms, [&, atom = atom](auto &term) { return term.first == atom; });
    if (at == terms.end()) {
      at = llvm::find_if(terms, [&, atom = atom](auto &term) {
        return term.first.getAsOpaquePointer() > atom.getAsOpaquePointer();
      });
      at = terms.insert(at, {atom, 0});
    }
    at->second += times * factor;
    if (!fits(at->second, kMaxFactor))
      return false;
    if (at->second == 0)
      terms.erase(at);
  }
  return terms.size() <= kMaxTerms;
}

static bool isNumber(Type type) { return type.isIndex() || type.isInteger(64); }

/// The number of the iteration, of a loop of either kind.
static Operation *getLoopOfNumber(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto loop = dyn_cast_or_null<LoopOp>(parent))
    return loop.getCounter() == argument ? parent : nullptr;
  auto counted = dyn_cast_or_null<scf::ForOp>(parent);
  return counted && counted.getInductionVar() == argument ? parent : nullptr;
}

Number BoundFolding::numberOf(Value value) {
  if (auto it = numbers.find(value); it != numbers.end())
    return it->second;
  Number number{Sum::of(value)};
  if (std::optional<int64_t> fixed = getConstantIntValue(value)) {
    if (*fixed <= kMaxConstant && *fixed >= -kMaxConstant)
      number = {Sum::number(*fixed), true, true};
  } else if (Operation *op = value.getDefiningOp();
             op && op->getNumResults() == 1 && outside < kDepth) {
    // In front of what is being folded.
    llvm::SaveAndRestore deeper(outside, outside + 1);
    number = numberOf(op);
  }
  if (Operation *loop = getLoopOfNumber(value)) {
    // No run counts so far in steps of one, or of some more; where it begins is
    // to be known.
    Number first{Sum(), true, true};
    if (auto counted = dyn_cast<scf::ForOp>(loop)) {
      first = numberOf(counted.getLowerBound());
      first.isBelow &=
          getConstantIntValue(counted.getStep()).value_or(kMaxFactor + 1) <=
          kMaxFactor;
    }
    number.isAbove = first.isAbove;
    number.isBelow = first.isBelow;
  }
  return numbers[value] = number;
}

/// True for a number of an iteration that counts in steps of one, and a
/// constant beside it.
static bool isScalable(const Number &number) {
  return number.isSmall() && llvm::all_of(number.sum.terms, [](auto &term) {
           auto counted =
               dyn_cast_or_null<scf::ForOp>(getLoopOfNumber(term.first));
           return std::abs(term.second) == 1 && getLoopOfNumber(term.first) &&
                  (!counted || isConstantIntValue(counted.getStep(), 1));
         });
}

/// What `op` computes of numbers that are known.
Number BoundFolding::numberOf(Operation *op) {
  Value result = op->getResult(0);
  Number atom{Sum::of(result)};
  if (isa<tensor::DimOp>(op)) {
    atom.isAbove = atom.isBelow = true;
    return atom;
  }
  if (!isNumber(result.getType()) || op->getNumRegions() != 0)
    return atom;
  if (isa<arith::IndexCastOp>(op) && isNumber(op->getOperand(0).getType()))
    return numberOf(op->getOperand(0));
  if (isa<arith::SelectOp>(op)) {
    Number yes = numberOf(op->getOperand(1)), no = numberOf(op->getOperand(2));
    // The condition may be one that has just been decided.
    if (std::optional<int64_t> decided = getConstantIntValue(op->getOperand(0)))
      return *decided ? yes : no;
    atom.isAbove = yes.isAbove && no.isAbove;
    atom.isBelow = yes.isBelow && no.isBelow;
    return yes.sum == no.sum ? yes : atom;
  }
  if (op->getNumOperands() != 2)
    return atom;
  Number a = numberOf(op->getOperand(0)), b = numberOf(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op)) {
    atom.isAbove = a.isAbove || b.isAbove;
    atom.isBelow = a.isBelow && b.isBelow;
  } else if (isa<arith::MinSIOp>(op)) {
    atom.isAbove = a.isAbove && b.isAbove;
    atom.isBelow = a.isBelow || b.isBelow;
  } else if (isa<arith::AddIOp, arith::SubIOp>(op) && a.isSmall() &&
             b.isSmall()) {
    if (a.sum.add(b.sum, isa<arith::AddIOp>(op) ? 1 : -1))
      return a;
  } else if (isa<arith::MulIOp>(op)) {
    // Blocks: the number of an iteration times the length of one.
    if (a.sum.terms.empty())
      std::swap(a, b);
    Number product{Sum(), true, true};
    if (isScalable(a) && b.sum.terms.empty() &&
        llvm::AbsoluteValue(b.sum.constant) <= kMaxScale &&
        product.sum.add(a.sum, b.sum.constant))
      return product;
  } else if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
    // It may be asked for within a proof.
    llvm::SaveAndRestore keepCounted(counted);
    llvm::SaveAndRestore keepSteps(steps);
    auto isCount = [&](const Number &number) {
      return isAtLeast(number, Number()) && !needsTrip();
    };
    if (isCount(a) && isCount(b))
      atom.isAbove = atom.isBelow = b.isBelow;
  }
  return atom;
}

/// What is at least, or at most, the number of an iteration.
BoundFolding::Bounds BoundFolding::boundsOfIteration(Value atom, bool isLower) {
  Operation *parent = getLoopOfNumber(atom);
  auto counted = dyn_cast<scf::ForOp>(parent);
  if (isLower)
    return {{counted ? numberOf(counted.getLowerBound()).sum : Sum()}};
  Value end =
      counted ? counted.getUpperBound() : cast<LoopOp>(parent).getTripCount();
  if (!end || !isNumber(end.getType()))
    return {};
  Sum last = numberOf(end).sum;
  if (!last.add(Sum::number(1), -1))
    return {};
  return {{last}};
}

BoundFolding::Bounds BoundFolding::boundsOf(Value atom, bool isLower) {
  if (getLoopOfNumber(atom))
    return boundsOfIteration(atom, isLower);
  Operation *op = atom.getDefiningOp();
  if (!op)
    return {};
  auto sumOf = [&](unsigned k) { return numberOf(op->getOperand(k)).sum; };
  if (isa<tensor::DimOp>(op))
    return isLower ? Bounds{{Sum()}} : Bounds();
  if (isa<arith::SelectOp>(op))
    return {{sumOf(1), sumOf(2)}};
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op))
    return isa<arith::MaxSIOp>(op) == isLower ? Bounds{{sumOf(0)}, {sumOf(1)}}
                                              : Bounds{{sumOf(0), sumOf(1)}};
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && numbers[atom].isAbove) {
    // Of numbers that are not negative.
    if (isLower)
      return {{Sum()}};
    Sum last = sumOf(1);
    if (last.add(Sum::number(1), -1))
      return {{last}, {sumOf(0)}};
  }
  return {};
}

/// The number that the trips of the loop that counts `atom` are a quotient of,
/// and the divisor: where there is an iteration, that many times the trips are
/// no more than the number.
static std::pair<Value, int64_t> findBlocks(Value atom) {
  auto loop = dyn_cast_or_null<LoopOp>(getLoopOfNumber(atom));
  Value trips = loop ? loop.getTripCount() : Value();
  while (Operation *op = trips ? trips.getDefiningOp() : nullptr) {
    bool isClamp =
        isa<arith::MaxSIOp>(op) && isConstantIntValue(op->getOperand(1), 0);
    if (!isClamp &&
        !(isa<arith::IndexCastOp>(op) && isNumber(op->getOperand(0).getType())))
      break;
    trips = op->getOperand(0);
  }
  auto quotient = trips ? trips.getDefiningOp<arith::DivSIOp>() : nullptr;
  if (!quotient)
    return {};
  return {quotient.getLhs(),
          getConstantIntValue(quotient.getRhs()).value_or(0)};
}

/// True if bounds of the term `k` of `sum`, the number of an iteration of as
/// many as a quotient, make it not negative.
bool BoundFolding::isInBlocks(const Sum &sum, size_t k, unsigned depth) {
  auto [atom, factor] = sum.terms[k];
  auto [whole, length] = findBlocks(atom);
  if (!whole || length <= 0 || factor >= 0 || factor % length != 0)
    return false;
  Sum next = sum, last = numberOf(whole).sum;
  next.terms.erase(next.terms.begin() + k);
  return last.add(Sum::number(length), -1) && next.add(last, factor / length) &&
         isNotNegative(next, depth - 1);
}

bool BoundFolding::isNotNegative(const Sum &sum, unsigned depth) {
  if (sum.terms.empty())
    return sum.constant >= 0;
  if (depth == 0)
    return false;
  for (size_t k = 0; k < sum.terms.size(); ++k)
    if (isInBlocks(sum, k, depth)) {
      counted.push_back(getLoopOfNumber(sum.terms[k].first));
      return true;
    }
  for (auto [k, term] : llvm::enumerate(sum.terms)) {
    Sum rest = sum;
    rest.terms.erase(rest.terms.begin() + k);
    auto [atom, factor] = term;
    for (const auto &all : boundsOf(atom, factor > 0)) {
      if (steps == 0)
        return false;
      --steps;
      size_t before = counted.size();
      if (Operation *loop = factor < 0 ? getLoopOfNumber(atom) : nullptr)
        counted.push_back(loop);
      if (llvm::all_of(all, [&, factor = factor](const Sum &bound) {
            Sum next = rest;
            return next.add(bound, factor) && isNotNegative(next, depth - 1);
          }))
        return true;
      counted.truncate(before);
    }
  }
  return false;
}

bool BoundFolding::isAtLeast(const Number &more, const Number &less) {
  counted.clear();
  steps = kSteps;
  Sum difference = more.sum;
  return difference.add(less.sum, -1) && isNotNegative(difference);
}

/// True if what the last proof has found may be `sum` instead: one that counted
/// on trips holds within iterations of these loops, so what takes its place
/// must not move before any of them. It contains the numbers of their
/// iterations.
bool BoundFolding::mayFold(const Sum &sum) {
  return llvm::all_of(counted, [&](Operation *loop) {
    return llvm::any_of(sum.terms, [&](const auto &term) {
      return getLoopOfNumber(term.first) == loop;
    });
  });
}

/// True for a sum that is seen not to be negative without its bounds.
static bool isSumOfCounts(const Sum &sum) {
  return sum.constant >= 0 && llvm::all_of(sum.terms, [](const auto &term) {
           return term.second > 0 &&
                  (getLoopOfNumber(term.first) ||
                   term.first.template getDefiningOp<tensor::DimOp>());
         });
}

/// The operand that a minimum, a maximum or a remainder is; null where none is
/// known to be.
Value BoundFolding::chosenOf(Operation *op) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  Number a = numberOf(x), b = numberOf(y);
  auto holds = [&](const Number &more, const Number &less, const Number &of) {
    return isAtLeast(more, less) && mayFold(of.sum);
  };
  if (isa<arith::RemSIOp>(op)) {
    // Truncated: a number between -y and y stays.
    Number last = b, least;
    return last.sum.add(Sum::number(1), -1) && least.sum.add(last.sum, -1) &&
                   holds(last, a, a) && holds(a, least, a)
               ? x
               : Value();
  }
  if (isa<arith::MinUIOp, arith::MaxUIOp>(op) &&
      !(holds(a, Number(), a) && holds(b, Number(), b)))
    return {};
  bool isMax = isa<arith::MaxSIOp, arith::MaxUIOp>(op);
  if (holds(a, b, isMax ? a : b))
    return isMax ? x : y;
  if (holds(b, a, isMax ? b : a))
    return isMax ? y : x;
  return {};
}

std::optional<bool> BoundFolding::isLess(const Number &a, const Number &b,
                                         bool isSigned, bool orEqual) {
  // Of several proofs each may count on loops.
  auto holds = [&](const Number &more, const Number &less) {
    SmallVector<Operation *, 4> before = counted;
    bool isProved = isAtLeast(more, less) && mayFold(a.sum);
    counted.append(before);
    return isProved;
  };
  Number less = a, more = b;
  if (!less.sum.add(Sum::number(orEqual ? 0 : 1), 1) ||
      !more.sum.add(Sum::number(orEqual ? 1 : 0), 1))
    return std::nullopt;
  if (holds(b, less) && (isSigned || holds(a, Number())))
    return true;
  if (holds(a, more) && (isSigned || holds(b, Number())))
    return false;
  return std::nullopt;
}

std::optional<bool> BoundFolding::decide(arith::CmpIOp compare) {
  Number a = numberOf(compare.getLhs()), b = numberOf(compare.getRhs());
  counted.clear();
  switch (compare.getPredicate()) {
  case CmpIPredicate::eq:
  case CmpIPredicate::ne: {
    bool ifEqual = compare.getPredicate() == CmpIPredicate::eq;
    if (a.sum == b.sum)
      return ifEqual;
    if (isLess(a, b, true, false) == true || isLess(b, a, true, false) == true)
      return !ifEqual;
    return std::nullopt;
  }
  case CmpIPredicate::slt:
    return isLess(a, b, true, false);
  case CmpIPredicate::sle:
    return isLess(a, b, true, true);
  case CmpIPredicate::sgt:
    return isLess(b, a, true, false);
  case CmpIPredicate::sge:
    return isLess(b, a, true, true);
  case CmpIPredicate::ult:
    return isLess(a, b, false, false);
  case CmpIPredicate::ule:
    return isLess(a, b, false, true);
  case CmpIPredicate::ugt:
    return isLess(b, a, false, false);
  case CmpIPredicate::uge:
    return isLess(b, a, false, true);
  }
  llvm_unreachable("all predicates are above");
}

Value BoundFolding::constant(Operation *op, int64_t value) {
  rewriter.setInsertionPoint(op);
  Type type = op->getResult(0).getType();
  return arith::ConstantOp::create(
      rewriter, op->getLoc(),
      rewriter.getIntegerAttr(
          type, APInt(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(), value,
                      true, true)));
}

void BoundFolding::replace(Operation *op, Value value) {
  rewriter.replaceAllUsesWith(op->getResult(0), value);
  ++numReplaced;
}

/// True if no branch asks for `condition` within its iteration: what a branch
/// guards may be moved before the loop where it is none.
static bool guardsNothing(Operation *condition) {
  return llvm::all_of(condition->getUsers(), [](Operation *user) {
    if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(user))
      return guardsNothing(user);
    return isa<CheckOp, arith::SelectOp>(user) ||
           (isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp()));
  });
}

void BoundFolding::visitCompare(arith::CmpIOp compare) {
  if (!isNumber(compare.getLhs().getType()) || compare->use_empty())
    return;
  std::optional<bool> decided = decide(compare);
  if (!decided)
    return;
  if (!needsTrip() || guardsNothing(compare))
    replace(compare, constant(compare, *decided));
}

void BoundFolding::visitNumber(Operation *op) {
  Value result = op->getResult(0);
  if (isa<arith::ConstantOp>(op))
    return;
  bool isClamped = false;
  if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp,
          arith::RemSIOp>(op)) {
    if (Value chosen = chosenOf(op)) {
      const Number &number = numbers[result] = numberOf(chosen);
      // Later passes see by the clamp that an extent is not negative.
      isClamped = isa<arith::MaxSIOp>(op) && !isSumOfCounts(number.sum);
      if (!isClamped) {
        replace(op, chosen);
        return;
      }
    }
  }
  if (!isClamped)
    numbers[result] = numberOf(op);
  const Sum &sum = numbers[result].sum;
  if (sum.terms.empty()) {
    replace(op, constant(op, sum.constant));
    return;
  }
  Key key;
  key.push_back({result.getType().getAsOpaquePointer(), sum.constant});
  for (auto [atom, factor] : sum.terms)
    key.push_back({atom.getAsOpaquePointer(), factor});
  if (isClamped)
    key.push_back({nullptr, 0});
  for (Value other : known[key])
    if (other.getParentBlock()->findAncestorOpInBlock(*op)) {
      replace(op, other);
      return;
    }
  known[key].push_back(result);
}

/// A carried number that each iteration adds a constant to.
void BoundFolding::visitLoop(LoopOp loop) {
  for (auto [init, argument, yielded] :
       llvm::zip_equal(loop.getInits(), loop.getCarriedArgs(),
                       loop.getYield().getCarried())) {
    auto add = yielded.getDefiningOp<arith::AddIOp>();
    if (!isNumber(argument.getType()) || !add || add.getLhs() != argument)
      continue;
    std::optional<int64_t> step = getConstantIntValue(add.getRhs());
    Number first = numberOf(init);
    if (step && first.isSmall() &&
        first.sum.add(Sum::of(loop.getCounter()), *step))
      numbers[argument] = first;
  }
}

unsigned BoundFolding::run(Operation *root) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op))
      return WalkResult::skip();
    if (auto loop = dyn_cast<LoopOp>(op))
      visitLoop(loop);
    else if (auto compare = dyn_cast<arith::CmpIOp>(op))
      visitCompare(compare);
    else if (op->getNumResults() == 1 && isNumber(op->getResult(0).getType()) &&
             op->getNumRegions() == 0)
      visitNumber(op);
    return WalkResult::advance();
  });
  return numReplaced;
}

unsigned loop::foldBounds(Operation *root) {
  return BoundFolding(root->getContext()).run(root);
}

namespace {
struct LoopFoldBounds : loopc::impl::LoopFoldBoundsBase<LoopFoldBounds> {
  void runOnOperation() override {
    bool hasLoop = getOperation()
                       .walk([](LoopOp) { return WalkResult::interrupt(); })
                       .wasInterrupted();
    unsigned folded = hasLoop ? foldBounds(getOperation()) : 0;
    numFolded += folded;
    if (folded == 0)
      markAllAnalysesPreserved();
  }
};
} // namespace
