//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionSteps.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "loopc/Support/IndexCasts.h"
#include "loopc/Tensor/MergeGenerics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace loopc;

namespace {
/// What a nest of loops takes the largest of.
struct LargestIndex {
  /// From the outside in.
  SmallVector<scf::ForOp> loops;
  /// What the innermost one reads, all of them elements of generics.
  SmallVector<tensor::ExtractOp> reads;
};

/// How a value in the body of a generic depends on the number along an axis.
enum class Course {
  Unknown,
  /// It is the same all along it.
  Constant,
  /// A multiple of the number and what is the same: it wraps around at most
  /// once.
  Affine,
  /// That, with bounds below and above, at which it stays.
  Bounded,
};
} // namespace

static Course courseOf(Value value, linalg::GenericOp op, unsigned dim);

static Course courseOfOperation(Operation *made, linalg::GenericOp op,
                                unsigned dim) {
  // Elements that fit into memory have numbers of no more than 2^42.
  constexpr int64_t kMaxFactor = 1 << 20;
  if (auto number = dyn_cast<linalg::IndexOp>(made))
    return number.getDim() == dim ? Course::Affine : Course::Constant;
  SmallVector<Course> courses;
  for (Value operand : made->getOperands())
    courses.push_back(courseOf(operand, op, dim));
  if (llvm::is_contained(courses, Course::Unknown) ||
      made->getNumRegions() != 0 || !isMemoryEffectFree(made))
    return Course::Unknown;
  if (llvm::all_of(courses, [](Course c) { return c == Course::Constant; }))
    return Course::Constant;
  if (!llvm::all_of(made->getOperandTypes(), isWideInteger))
    return Course::Unknown;
  if (isa<arith::IndexCastOp>(made) &&
      isWideInteger(made->getResult(0).getType()))
    return courses[0];
  if (courses.size() != 2 || !llvm::is_contained(courses, Course::Constant))
    return Course::Unknown;
  Course other = courses[0] == Course::Constant ? courses[1] : courses[0];
  if (isa<arith::MaxSIOp, arith::MinSIOp>(made))
    return Course::Bounded;
  if (isa<arith::AddIOp, arith::SubIOp>(made) && other == Course::Affine)
    return Course::Affine;
  std::optional<int64_t> factor = getConstantIntValue(made->getOperand(1));
  bool isNumber = made->getOperand(0).getDefiningOp<linalg::IndexOp>() ||
                  made->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  return isa<arith::MulIOp>(made) && isNumber && other == Course::Affine &&
                 factor && llvm::AbsoluteValue(*factor) <= kMaxFactor
             ? Course::Affine
             : Course::Unknown;
}

/// How `value` in the body of `op` depends on the number along `dim`. Where it
/// is Affine or Bounded, and what it is at both ends is an index of an axis,
/// it is one everywhere in between: a number that wraps around comes from and
/// goes to where no index is, unless bounds hold it at both.
static Course courseOf(Value value, linalg::GenericOp op, unsigned dim) {
  if (value.getParentBlock() != op.getBody())
    return Course::Constant;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return courseOfOperation(value.getDefiningOp(), op, dim);
  OpOperand *operand = op.getMatchingOpOperand(argument);
  return op.isDpsInput(operand) &&
                 !op.getMatchingIndexingMap(operand).isFunctionOfDim(dim)
             ? Course::Constant
             : Course::Unknown;
}

/// True if `place`, in the innermost loop, is the element `read`, or that and
/// `extent` where it is negative; sets `extent` in this case.
static bool isPlaceOf(Value place, tensor::ExtractOp &read, Value &extent) {
  if (auto select = place.getDefiningOp<arith::SelectOp>()) {
    auto negative = select.getCondition().getDefiningOp<arith::CmpIOp>();
    auto fromEnd = select.getTrueValue().getDefiningOp<arith::AddIOp>();
    place = select.getFalseValue();
    if (!negative || negative.getPredicate() != arith::CmpIPredicate::slt ||
        negative.getLhs() != place ||
        !matchPattern(negative.getRhs(), m_Zero()))
      return false;
    if (!fromEnd || fromEnd.getLhs() != place)
      return false;
    extent = fromEnd.getRhs();
  }
  place = withoutIndexCasts(place);
  read = place.getDefiningOp<tensor::ExtractOp>();
  return read && isWideInteger(place.getType());
}

/// True if all that is asked of `largest` is whether it is below one extent,
/// `extent` if there is one, and the rest is said where it is not.
static bool isOnlyChecked(Value largest, Value extent) {
  SmallVector<Value> open{largest};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto check = dyn_cast<loop::CheckOp>(user)) {
        if (use.get() == check.getCondition())
          return false;
        continue;
      }
      auto compare = dyn_cast<arith::CmpIOp>(user);
      if (compare && value == largest &&
          compare.getPredicate() == arith::CmpIPredicate::ult &&
          compare.getLhs() == largest &&
          (!extent || isEqualConstantIntOrValue(compare.getRhs(), extent)))
        continue;
      if (!isa<arith::CmpIOp, arith::SubIOp, arith::SelectOp>(user))
        return false;
      llvm::append_range(open, user->getResults());
    }
  }
  return true;
}

/// The nest of loops that begins with `loop`, if it takes the largest of
/// elements of generics, which is only compared.
static std::optional<LargestIndex> matchLargest(scf::ForOp loop) {
  LargestIndex largest;
  scf::ForOp inner = loop;
  for (;;) {
    if (!isConstantIntValue(inner.getStep(), 1) ||
        !isConstantIntValue(inner.getLowerBound(), 0) ||
        inner.getNumResults() == 0)
      return std::nullopt;
    largest.loops.push_back(inner);
    auto next = dyn_cast<scf::ForOp>(inner.getBody()->front());
    if (!next)
      break;
    if (next->getNextNode() != inner.getBody()->getTerminator() ||
        !llvm::equal(next.getInitArgs(), inner.getRegionIterArgs()) ||
        !llvm::equal(inner.getYieldedValues(), next.getResults()))
      return std::nullopt;
    inner = next;
  }
  // What else an iteration does, as a check, it does in each.
  if (!isMemoryEffectFree(inner))
    return std::nullopt;
  for (auto [result, arg, yielded] :
       llvm::zip_equal(loop.getResults(), inner.getRegionIterArgs(),
                       inner.getYieldedValues())) {
    auto max = yielded.getDefiningOp<arith::MaxUIOp>();
    tensor::ExtractOp read;
    Value extent;
    if (!max || max.getLhs() != arg || !isPlaceOf(max.getRhs(), read, extent) ||
        !isOnlyChecked(result, extent) || read->getBlock() != inner.getBody())
      return std::nullopt;
    auto maker = read.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!maker || !isElementwise(maker) || maker->getNumResults() != 1)
      return std::nullopt;
    largest.reads.push_back(read);
  }
  return largest;
}

/// True if what is read need be asked for at the ends of `loop` only.
static bool needsEndsOnly(const LargestIndex &largest, scf::ForOp loop) {
  return llvm::all_of(largest.reads, [&](tensor::ExtractOp read) {
    auto op = read.getTensor().getDefiningOp<linalg::GenericOp>();
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    return llvm::all_of(
        llvm::enumerate(read.getIndices()), [&](const auto &index) {
          if (index.value() != loop.getInductionVar())
            return isConstantIntValue(index.value(), 0) ||
                   isa<BlockArgument>(index.value());
          return courseOf(yielded, op, index.index()) != Course::Unknown;
        });
  });
}

/// The element of a generic that `read` extracts, computed by itself.
static Value computeElement(IRRewriter &rewriter, tensor::ExtractOp read) {
  auto op = read.getTensor().getDefiningOp<linalg::GenericOp>();
  rewriter.setInsertionPoint(read);
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (isa<RankedTensorType>(value.getType())) {
      SmallVector<Value> place;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim)
          return {};
        place.push_back(read.getIndices()[dim.getPosition()]);
      }
      value =
          rewriter.createOrFold<tensor::ExtractOp>(read.getLoc(), value, place);
    }
    mapping.map(op.getMatchingBlockArgument(input), value);
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto number = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(number.getResult(), read.getIndices()[number.getDim()]);
    else
      rewriter.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
}

unsigned loopc::checkEndsOfIndices(IRRewriter &rewriter,
                                   func::FuncOp function) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  unsigned count = 0;
  for (scf::ForOp loop : loops) {
    std::optional<LargestIndex> largest = matchLargest(loop);
    if (!largest)
      continue;
    bool isShort = true;
    for (scf::ForOp each : largest->loops) {
      if (!needsEndsOnly(*largest, each)) {
        isShort = false;
        continue;
      }
      ImplicitLocOpBuilder b(each.getLoc(), rewriter);
      b.setInsertionPoint(each);
      Value one = arith::ConstantIndexOp::create(b, 1);
      Value last = b.createOrFold<arith::SubIOp>(each.getUpperBound(), one);
      each.setStep(b.createOrFold<arith::MaxSIOp>(last, one));
      ++count;
    }
    if (!isShort)
      continue;
    for (tensor::ExtractOp read : largest->reads) {
      auto op = read.getTensor().getDefiningOp<linalg::GenericOp>();
      if (Value element = computeElement(rewriter, read))
        rewriter.replaceOp(read, element);
      if (op->use_empty())
        rewriter.eraseOp(op);
    }
  }
  return count;
}

/// True for numbers that are computed of those of their elements, and of what
/// is the same for all of them, and that loops read one by one.
static bool isReadInLoops(linalg::GenericOp op) {
  constexpr int64_t kMaxOperations = 8;
  Block *body = op.getBody();
  return isElementwise(op) && op->getNumResults() == 1 &&
         getElementTypeOrSelf(op.getResult(0)).isIntOrIndex() &&
         op.hasIndexSemantics() &&
         llvm::range_size(body->without_terminator()) <= kMaxOperations &&
         llvm::all_of(body->without_terminator(),
                      [](Operation &inner) {
                        return isa<linalg::IndexOp>(inner) || isCheap(inner);
                      }) &&
         llvm::all_of(
             op.getDpsInputOperands(),
             [&](OpOperand *input) {
               return op.getMatchingIndexingMap(input).getNumResults() == 0;
             }) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<tensor::ExtractOp>(user) &&
                  isa<scf::ForOp>(user->getParentOp());
         });
}

unsigned loopc::computeIndicesInLoops(IRRewriter &rewriter,
                                      func::FuncOp function) {
  SmallVector<linalg::GenericOp> all;
  function.walk([&](linalg::GenericOp op) {
    if (!op->use_empty() && isReadInLoops(op))
      all.push_back(op);
  });
  for (linalg::GenericOp op : all) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto read = cast<tensor::ExtractOp>(user);
      rewriter.replaceOp(read, computeElement(rewriter, read));
    }
    rewriter.eraseOp(op);
  }
  return all.size();
}
