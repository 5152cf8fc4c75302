//===- SumClasses.cpp - Sums over the elements of classes -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// tensor-sum-classes: a matrix that says which element is of which class, as of
// a OneHot, is not stored where it is only summed over:
//
//   %hot = generic (k, n) ins(%c) { %c[n] == k ? 1.0 : 0.0 }
//   %sums = generic (k, d, n) ins(%hot, %x) { %out + %hot[k, n] * %x[n, d] }
//     becomes
//   %sums = generic (k, d, n) ins(%k, %c, %turned) {
//     %out + (%c[n] == %k[k] ? 1.0 : 0.0) * %turned[d, n] }
//
// Nothing is left out: what is multiplied with 0 may be no number. There are
// few columns, so that little is computed several times. Where only the run
// knows their number there are both forms, and a test. What counts elements, a
// sum of %hot alone, is a column of ones of a product.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Tensor/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <limits>

namespace loopc {
#define GEN_PASS_DEF_TENSORSUMCLASSES
#include "loopc/Tensor/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using utils::IteratorType;

/// So many columns read a number of the matrix while it is in a register.
static constexpr int64_t kMostColumns = 8;
/// So many elements fill vectors along the sum.
static constexpr int64_t kLeastElements = 32;
/// Classes have numbers of 32 bits, as many as f32 has.
static constexpr int64_t kMostClasses = std::numeric_limits<int32_t>::max();

namespace {
/// What sums the matrix up over the elements, alone or times columns.
struct Reader {
  linalg::GenericOp op;
  OpOperand *matrix;
  unsigned classes, elements; ///< loops
  std::optional<unsigned> column;
  OpOperand *columns = nullptr;
};

class ClassSums {
public:
  explicit ClassSums(linalg::GenericOp matrix) : matrix(matrix) {}

  /// True if the matrix need not be stored, maybe depending on the run.
  bool match();
  /// Makes the sums without it, or both versions.
  void rewrite(IRRewriter &rewriter);

private:
  bool matchMatrix();
  bool isOfElements(Value value);
  bool matchReader(OpOperand &use);
  bool canMove();
  bool fits(OpFoldResult extent, arith::CmpIPredicate is, int64_t number);
  Value makeCondition(ImplicitLocOpBuilder &b);
  Value emitClasses(ImplicitLocOpBuilder &b);
  Value emitNumbers(ImplicitLocOpBuilder &b);
  Value emitTurned(ImplicitLocOpBuilder &b, Reader &reader, bool hasOnes);
  Value emitSum(ImplicitLocOpBuilder &b, Reader &reader, ValueRange shared,
                Value columns, Value init);
  Reader *findCounted(Reader &count);
  Value emitWithOnes(ImplicitLocOpBuilder &b, Reader &reader,
                     ValueRange shared);
  Value takeColumns(ImplicitLocOpBuilder &b, Reader &reader, Value all,
                    Reader &wanted);
  void emitPlaces(ImplicitLocOpBuilder &b);
  SmallVector<Value> emitSums(ImplicitLocOpBuilder &b);
  SmallVector<Value> emitAsTheyAre(ImplicitLocOpBuilder &b);

  OpFoldResult extentOf(unsigned loop) {
    AffineMap map = matrix.getMatchingIndexingMap(matrix.getDpsInitOperand(0));
    return sizes[*map.getResultPosition(
        getAffineDimExpr(loop, matrix.getContext()))];
  }

  linalg::GenericOp matrix;
  SmallVector<OpFoldResult> sizes; ///< of the matrix
  unsigned classLoop = 0, elementLoop = 0;
  arith::SelectOp select;
  Value number;               ///< in the body: the class of an element
  SetVector<Operation *> ops; ///< what computes it, in order
  SmallVector<Reader> readers;
  /// Numbers of columns.
  SmallVector<OpFoldResult> widths;

  // What is made in front of the branch, so that loops around it allocate no
  // memory in each iteration.
  Value numbers;    ///< of the classes
  Value classPlace; ///< for classes of elements
  llvm::SmallDenseMap<Reader *, Value> placesWithOnes; ///< for sums
};
} // namespace

//===----------------------------------------------------------------------===//
// What is matched
//===----------------------------------------------------------------------===//

/// The loop whose index `value` is, as an integer that holds it.
static std::optional<unsigned> loopOfIndex(Value value) {
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>();
      cast && value.getType().isInteger(64))
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<unsigned>(index.getDim()) : std::nullopt;
}

/// True if `value`, in the body, depends on the element alone and can be
/// computed where there are no classes.
bool ClassSums::isOfElements(Value value) {
  Block *body = matrix.getBody();
  if (value.getParentBlock() != body)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand *operand = matrix.getMatchingOpOperand(argument);
    AffineMap map = matrix.getMatchingIndexingMap(operand);
    return matrix.isDpsInput(operand) && map.isProjectedPermutation() &&
           !map.isFunctionOfDim(classLoop);
  }
  Operation *op = value.getDefiningOp();
  if (isa<linalg::IndexOp>(op) || op->getNumRegions() != 0 ||
      !isSafeToSpeculate(op) ||
      !llvm::all_of(op->getOperands(),
                    [&](Value operand) { return isOfElements(operand); }))
    return false;
  ops.insert(op);
  return true;
}

bool ClassSums::matchMatrix() {
  if (!matrix.hasPureTensorSemantics() || matrix.getNumLoops() != 2 ||
      matrix.getNumReductionLoops() != 0 || matrix->getNumResults() != 1 ||
      matrix->use_empty() || loop::isCold(matrix))
    return false;
  OpOperand *init = matrix.getDpsInitOperand(0);
  Block *body = matrix.getBody();
  select =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!matrix.getMatchingIndexingMap(init).isPermutation() || !select ||
      !isa<FloatType>(select.getType()) ||
      select.getTrueValue().getParentBlock() == body ||
      select.getFalseValue().getParentBlock() == body)
    return false;
  auto same = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!same || same.getPredicate() != arith::CmpIPredicate::eq)
    return false;
  for (auto [index, other] : {std::pair(same.getLhs(), same.getRhs()),
                              std::pair(same.getRhs(), same.getLhs())}) {
    std::optional<unsigned> dim = loopOfIndex(index);
    if (!dim || loopOfIndex(other))
      continue;
    classLoop = *dim;
    elementLoop = 1 - *dim;
    number = other;
    ops.clear();
    if (other.getParentBlock() == body && isOfElements(other))
      return true;
  }
  return false;
}

/// True if `op` adds up what its body computes, in any order.
static bool addsUp(linalg::GenericOp op) {
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  Value before = op.getRegionOutputArgs().front();
  return sum && sum->getBlock() == op.getBody() && before.hasOneUse() &&
         llvm::is_contained(sum->getOperands(), before) &&
         arith::bitEnumContainsAll(sum.getFastmath(),
                                   arith::FastMathFlags::reassoc);
}

bool ClassSums::matchReader(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || op->getBlock() != matrix->getBlock() ||
      !op.hasPureTensorSemantics() || !op.isDpsInput(&use) ||
      op->getNumResults() != 1 || op.getNumReductionLoops() != 1 ||
      op.hasIndexSemantics() || op.getNumDpsInputs() > 2 ||
      op.getNumLoops() != op.getNumDpsInputs() + 1 || !addsUp(op))
    return false;
  AffineMap map = op.getMatchingIndexingMap(&use);
  AffineMap made = matrix.getMatchingIndexingMap(matrix.getDpsInitOperand(0));
  if (!map.isProjectedPermutation() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0))
           .isProjectedPermutation())
    return false;
  auto loopOf = [&](unsigned loop) {
    return map.getDimPosition(
        *made.getResultPosition(getAffineDimExpr(loop, matrix.getContext())));
  };
  Reader reader{op, &use, loopOf(classLoop), loopOf(elementLoop), {}};
  auto types = op.getIteratorTypesArray();
  if (types[reader.elements] != IteratorType::reduction)
    return false;
  if (op.getNumDpsInputs() == 2) {
    reader.columns = op.getDpsInputOperand(1 - use.getOperandNumber());
    AffineMap other = op.getMatchingIndexingMap(reader.columns);
    if (reader.columns->get() == matrix.getResult(0) ||
        !other.isProjectedPermutation() || other.getNumResults() != 2 ||
        other.isFunctionOfDim(reader.classes) ||
        getElementTypeOrSelf(reader.columns->get()) != select.getType())
      return false;
    reader.column = 3 - reader.classes - reader.elements;
  }
  readers.push_back(reader);
  return true;
}

/// True if all readers may stand where the last of them does: nothing between
/// wants what the others compute.
bool ClassSums::canMove() {
  Operation *last = readers.back().op;
  return llvm::all_of(readers, [&](Reader &reader) {
    return llvm::all_of(reader.op->getUsers(), [&](Operation *user) {
      Operation *at = matrix->getBlock()->findAncestorOpInBlock(*user);
      return at && last->isBeforeInBlock(at);
    });
  });
}

/// False if `extent` is known and does not hold.
bool ClassSums::fits(OpFoldResult extent, arith::CmpIPredicate is,
                     int64_t number) {
  std::optional<int64_t> known = getConstantIntValue(extent);
  return !known ||
         arith::applyCmpPredicate(is, APInt(64, *known), APInt(64, number));
}

bool ClassSums::match() {
  if (!matchMatrix())
    return false;
  for (OpOperand &use : matrix->getUses())
    if (!matchReader(use))
      return false;
  if (llvm::none_of(readers, [](Reader &r) { return r.columns; }))
    return false;
  llvm::sort(readers, [](const Reader &a, const Reader &b) {
    return a.op->isBeforeInBlock(b.op);
  });
  if (!canMove())
    return false;
  OpBuilder b(readers.back().op);
  sizes = tensor::getMixedSizes(b, matrix.getLoc(), matrix.getDpsInits()[0]);
  for (Reader &reader : readers)
    if (reader.column) {
      AffineMap map = reader.op.getMatchingIndexingMap(reader.columns);
      unsigned axis =
          *map.getResultPosition(b.getAffineDimExpr(*reader.column));
      widths.push_back(
          resolveDim(b, matrix.getLoc(), reader.columns->get(), axis));
    }
  using P = arith::CmpIPredicate;
  return llvm::all_of(widths,
                      [&](OpFoldResult width) {
                        return fits(width, P::ule, kMostColumns);
                      }) &&
         fits(extentOf(elementLoop), P::uge, kLeastElements) &&
         fits(extentOf(classLoop), P::ule, kMostClasses) &&
         fits(extentOf(classLoop), P::uge, 1);
}

//===----------------------------------------------------------------------===//
// What is made
//===----------------------------------------------------------------------===//

/// Whether there are few columns, many elements, and classes with short
/// numbers; null if that is known.
Value ClassSums::makeCondition(ImplicitLocOpBuilder &b) {
  Value condition;
  auto require = [&](OpFoldResult extent, arith::CmpIPredicate is,
                     int64_t number) {
    auto value = dyn_cast<Value>(extent);
    if (!value)
      return;
    Value holds = arith::CmpIOp::create(
        b, is, value, arith::ConstantIndexOp::create(b, number));
    condition = condition
                    ? arith::AndIOp::create(b, condition, holds).getResult()
                    : holds;
  };
  using P = arith::CmpIPredicate;
  for (OpFoldResult width : widths)
    require(width, P::ule, kMostColumns);
  require(extentOf(elementLoop), P::uge, kLeastElements);
  require(extentOf(classLoop), P::ule, kMostClasses);
  require(extentOf(classLoop), P::uge, 1);
  return condition;
}

/// The axis of the result of `reader` along which its columns lie.
static unsigned columnAxis(Reader &reader) {
  AffineMap out =
      reader.op.getMatchingIndexingMap(reader.op.getDpsInitOperand(0));
  return *out.getResultPosition(
      getAffineDimExpr(*reader.column, out.getContext()));
}

/// `extent` + 1.
static OpFoldResult oneMore(ImplicitLocOpBuilder &b, OpFoldResult extent) {
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    return b.getIndexAttr(*known + 1);
  Value one = arith::ConstantIndexOp::create(b, 1);
  return arith::AddIOp::create(b, cast<Value>(extent), one).getResult();
}

/// The number of the class of each element, -1 where it is of none.
Value ClassSums::emitClasses(ImplicitLocOpBuilder &b) {
  SmallVector<AffineExpr> places(2, b.getAffineDimExpr(0));
  SmallVector<Value> inputs, arguments;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : matrix.getDpsInputOperands()) {
    AffineMap map = matrix.getMatchingIndexingMap(input);
    if (map.isFunctionOfDim(classLoop))
      continue;
    inputs.push_back(input->get());
    arguments.push_back(matrix.getMatchingBlockArgument(input));
    maps.push_back(map.replaceDimsAndSymbols(places, {}, 1, 0));
  }
  maps.push_back(b.getMultiDimIdentityMap(1));
  Type i32 = b.getI32Type();
  Value most =
      getValueOrCreateConstantIndexOp(b, b.getLoc(), extentOf(classLoop));
  Value empty = classPlace;
  auto build = [&](OpBuilder &nested, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(arguments, args.drop_back());
    for (Operation &op : matrix.getBody()->without_terminator())
      if (ops.contains(&op))
        nested.clone(op, mapping);
    Value found = mapping.lookupOrDefault(number);
    Type type = found.getType();
    auto bound = [&](Value limit) {
      return type.isIndex()
                 ? limit
                 : arith::IndexCastOp::create(nested, loc, type, limit)
                       .getResult();
    };
    // As an unsigned number a negative one is beyond all classes.
    Value isOne = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ult,
                                        found, bound(most));
    Value narrow =
        type.isIndex()
            ? arith::IndexCastOp::create(nested, loc, i32, found).getResult()
            : arith::TruncIOp::create(nested, loc, i32, found).getResult();
    Value none = arith::ConstantIntOp::create(nested, loc, i32, -1);
    Value chosen = arith::SelectOp::create(nested, loc, isOne, narrow, none);
    linalg::YieldOp::create(nested, loc, chosen);
  };
  return linalg::GenericOp::create(b, empty.getType(), inputs, empty, maps,
                                   ArrayRef{IteratorType::parallel}, build)
      .getResult(0);
}

/// The numbers of all classes: an index of a loop is no operand of vectors.
Value ClassSums::emitNumbers(ImplicitLocOpBuilder &b) {
  Type i32 = b.getI32Type();
  Value empty = tensor::EmptyOp::create(b, {extentOf(classLoop)}, i32);
  return linalg::GenericOp::create(
             b, empty.getType(), ValueRange(), empty,
             ArrayRef{b.getMultiDimIdentityMap(1)},
             ArrayRef{IteratorType::parallel},
             [&](OpBuilder &nested, Location loc, ValueRange) {
               Value at = linalg::IndexOp::create(nested, loc, 0);
               Value narrow = arith::IndexCastOp::create(nested, loc, i32, at);
               linalg::YieldOp::create(nested, loc, narrow);
             })
      .getResult(0);
}

/// What `reader` reads, each column contiguous, and behind the columns one of
/// ones where it `hasOnes`; made once where loops do not change it.
Value ClassSums::emitTurned(ImplicitLocOpBuilder &b, Reader &reader,
                            bool hasOnes) {
  Value source = reader.columns->get();
  AffineMap map = reader.op.getMatchingIndexingMap(reader.columns);
  bool isTurned = map.getDimPosition(1) == reader.elements;
  if (isTurned && !hasOnes)
    return source;
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), source);
  OpBuilder::InsertionGuard guard(b);
  // A view is perhaps checked in the loop.
  bool isThere = hasElements(source, b.getMultiDimIdentityMap(2), sizes);
  for (Operation *parent = matrix->getParentOp();
       isThere && parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (loop && !loop.isDefinedOutsideOfLoop(source))
      break;
    if (loop)
      b.setInsertionPoint(loop);
  }
  sizes = tensor::getMixedSizes(b, b.getLoc(), source);
  if (!isTurned)
    std::swap(sizes[0], sizes[1]);
  Value turned = source;
  if (!isTurned) {
    Value empty = tensor::EmptyOp::create(b, sizes, select.getType());
    AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
    auto out = AffineMap::get(2, 0, {d1, d0}, b.getContext());
    turned = linalg::GenericOp::create(
                 b, empty.getType(), source, empty,
                 ArrayRef{b.getMultiDimIdentityMap(2), out},
                 SmallVector<IteratorType>(2, IteratorType::parallel),
                 [](OpBuilder &nested, Location loc, ValueRange args) {
                   linalg::YieldOp::create(nested, loc, args[0]);
                 })
                 .getResult(0);
  }
  if (!hasOnes)
    return turned;
  SmallVector<OpFoldResult> all{oneMore(b, sizes[0]), sizes[1]};
  Value empty = tensor::EmptyOp::create(b, all, select.getType());
  Value one =
      arith::ConstantOp::create(b, b.getFloatAttr(select.getType(), 1.0));
  Value ones = linalg::FillOp::create(b, one, empty).result();
  SmallVector<OpFoldResult> begin(2, b.getIndexAttr(0)),
      steps(2, b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, turned, ones, begin, sizes, steps);
}

/// What `reader` sums up, of `columns`, beginning with `init`; `shared` are the
/// numbers of classes, and the class of each element.
Value ClassSums::emitSum(ImplicitLocOpBuilder &b, Reader &reader,
                         ValueRange shared, Value columns, Value init) {
  linalg::GenericOp op = reader.op;
  unsigned count = op.getNumLoops();
  AffineExpr row = b.getAffineDimExpr(0), column = b.getAffineDimExpr(1),
             sum = b.getAffineDimExpr(count - 1);
  SmallVector<AffineExpr> places(count, column);
  places[reader.classes] = row;
  places[reader.elements] = sum;
  auto mapOf = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(count, 0, exprs, b.getContext());
  };
  SmallVector<Value> inputs(shared);
  SmallVector<AffineMap> maps{mapOf(row), mapOf(sum)};
  if (columns) {
    inputs.push_back(columns);
    maps.push_back(mapOf({column, sum}));
  }
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0))
                     .replaceDimsAndSymbols(places, {}, count, 0));
  SmallVector<IteratorType> kinds(count, IteratorType::parallel);
  kinds.back() = IteratorType::reduction;
  auto build = [&](OpBuilder &nested, Location loc, ValueRange args) {
    Value same = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                       args[1], args[0]);
    Value number = arith::SelectOp::create(
        nested, loc, same, select.getTrueValue(), select.getFalseValue());
    IRMapping mapping;
    mapping.map(op.getMatchingBlockArgument(reader.matrix), number);
    if (columns)
      mapping.map(op.getMatchingBlockArgument(reader.columns), args[2]);
    mapping.map(op.getRegionOutputArgs().front(), args.back());
    for (Operation &inner : *op.getBody())
      nested.clone(inner, mapping);
  };
  return linalg::GenericOp::create(b, init.getType(), inputs, init, maps, kinds,
                                   build)
      .getResult(0);
}

/// What `op` begins with everywhere, if that is a number.
static Value startOf(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill ? fill.getInputs()[0] : Value();
}

/// A product of which a column of ones has the sums of `count`; null if none.
Reader *ClassSums::findCounted(Reader &count) {
  // A product with 1 is the number itself.
  auto isSumOf = [&](Reader &reader) {
    auto sum = reader.op.getBody()
                   ->getTerminator()
                   ->getOperand(0)
                   .getDefiningOp<arith::AddFOp>();
    Value before = reader.op.getRegionOutputArgs().front();
    Value added = sum.getLhs() == before ? sum.getRhs() : sum.getLhs();
    if (reader.columns) {
      auto product = added.getDefiningOp<arith::MulFOp>();
      Value columns = reader.op.getMatchingBlockArgument(reader.columns);
      if (!product || !llvm::is_contained(product->getOperands(), columns))
        return false;
      added = product.getLhs() == columns ? product.getRhs() : product.getLhs();
    }
    return added == reader.op.getMatchingBlockArgument(reader.matrix);
  };
  Value start = startOf(count.op);
  if (count.columns || !start || !isSumOf(count))
    return nullptr;
  auto found = llvm::find_if(readers, [&](Reader &reader) {
    return reader.columns && startOf(reader.op) == start && isSumOf(reader);
  });
  return found == readers.end() ? nullptr : &*found;
}

void ClassSums::emitPlaces(ImplicitLocOpBuilder &b) {
  numbers = emitNumbers(b);
  classPlace =
      tensor::EmptyOp::create(b, {extentOf(elementLoop)}, b.getI32Type());
  for (Reader &count : readers) {
    Reader *reader = findCounted(count);
    if (!reader || placesWithOnes.contains(reader))
      continue;
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(b, b.getLoc(), reader->op.getDpsInits()[0]);
    unsigned axis = columnAxis(*reader);
    sizes[axis] = oneMore(b, sizes[axis]);
    placesWithOnes[reader] =
        tensor::EmptyOp::create(b, sizes, select.getType());
  }
}

/// The sums of `reader` of all columns and of ones.
Value ClassSums::emitWithOnes(ImplicitLocOpBuilder &b, Reader &reader,
                              ValueRange shared) {
  Value start = linalg::FillOp::create(b, startOf(reader.op),
                                       placesWithOnes.lookup(&reader))
                    .result();
  return emitSum(b, reader, shared, emitTurned(b, reader, /*hasOnes=*/true),
                 start);
}

/// The part of `all`, sums of `reader` with ones, that is the result of
/// `wanted`: `reader`, or what counts.
Value ClassSums::takeColumns(ImplicitLocOpBuilder &b, Reader &reader, Value all,
                             Reader &wanted) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), reader.op.getDpsInits()[0]);
  SmallVector<OpFoldResult> begin(2, b.getIndexAttr(0)),
      steps(2, b.getIndexAttr(1));
  if (&wanted != &reader) {
    unsigned axis = columnAxis(reader);
    begin[axis] = sizes[axis];
    sizes[axis] = b.getIndexAttr(1);
  }
  auto type = cast<RankedTensorType>(wanted.op->getResult(0).getType());
  return tensor::ExtractSliceOp::create(b, type, all, begin, sizes, steps);
}

SmallVector<Value> ClassSums::emitSums(ImplicitLocOpBuilder &b) {
  SmallVector<Value> shared{numbers, emitClasses(b)};
  llvm::SmallDenseMap<Reader *, Value> counted;
  for (Reader &reader : readers)
    if (placesWithOnes.contains(&reader))
      counted[&reader] = emitWithOnes(b, reader, shared);
  SmallVector<Value> results;
  for (Reader &reader : readers) {
    Reader *product = reader.columns ? &reader : findCounted(reader);
    if (Value all = counted.lookup(product)) {
      results.push_back(takeColumns(b, *product, all, reader));
      continue;
    }
    Value columns =
        reader.columns ? emitTurned(b, reader, /*hasOnes=*/false) : Value();
    results.push_back(
        emitSum(b, reader, shared, columns, reader.op.getDpsInits()[0]));
  }
  return results;
}

SmallVector<Value> ClassSums::emitAsTheyAre(ImplicitLocOpBuilder &b) {
  IRMapping mapping;
  b.clone(*matrix, mapping);
  SmallVector<Value> results;
  for (Reader &reader : readers)
    results.push_back(b.clone(*reader.op, mapping)->getResult(0));
  return results;
}

void ClassSums::rewrite(IRRewriter &rewriter) {
  ImplicitLocOpBuilder b(matrix.getLoc(), rewriter);
  b.setInsertionPoint(readers.back().op);
  SmallVector<Value> results;
  emitPlaces(b);
  if (Value condition = makeCondition(b)) {
    SmallVector<Type> types;
    for (Reader &reader : readers)
      types.push_back(reader.op->getResult(0).getType());
    auto branch =
        scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, emitSums(b));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, emitAsTheyAre(b));
    llvm::append_range(results, branch.getResults());
  } else {
    results = emitSums(b);
  }
  for (auto [reader, result] : llvm::zip_equal(readers, results))
    rewriter.replaceOp(reader.op, result);
  rewriter.eraseOp(matrix);
}

namespace {
struct TensorSumClasses : loopc::impl::TensorSumClassesBase<TensorSumClasses> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> all;
    // A reader, which goes with its matrix, is none of them.
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumLoops() == 2 && op.getNumReductionLoops() == 0)
        all.push_back(op);
    });
    for (linalg::GenericOp op : all) {
      ClassSums sums(op);
      if (!sums.match())
        continue;
      sums.rewrite(rewriter);
      ++numSummed;
    }
  }
};
} // namespace
