//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which axis rows run along, and what of their elements vectors can be computed
// of.

#include "Rows.h"
#include "RowPlan.h"
#include "VectorElements.h"
#include "loopc/Dialect/Loop/Transforms/Speculation.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/IndexCasts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

/// Bits of a number, of an index as many as of an address; 0 for other types.
static unsigned bitsOf(Type type) {
  if (type.isIndex())
    return 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

bool loopc::isVectorDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
             op) &&
         op->getResult(0).getType().isIntOrFloat() &&
         op->getResult(0).getType().getIntOrFloatBitWidth() >= 8 &&
         !matchPattern(op->getOperand(1), m_Constant());
}

/// What finds the places that the body of `op` reads from, and what numbers of
/// elements are compared with.
static llvm::SmallPtrSet<Value, 8> findPlaces(linalg::GenericOp op) {
  llvm::SmallPtrSet<Value, 8> places;
  for (Operation &inner : llvm::reverse(*op.getBody()))
    if (isa<memref::LoadOp>(inner) ||
        findComparedNumber(inner, op, op.getNumLoops() - 1) ||
        (inner.getNumResults() == 1 && places.contains(inner.getResult(0))))
      places.insert_range(inner.getOperands());
  return places;
}

unsigned loopc::bitsOfVectorBody(linalg::GenericOp op) {
  unsigned bits = 8;
  llvm::SmallPtrSet<Value, 8> places = findPlaces(op);
  auto count = [&](Value value) {
    unsigned own = bitsOf(value.getType());
    if (!places.contains(value))
      bits = std::max(bits, own);
    return own != 0;
  };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      if (!count(load.getResult()))
        return 0;
      continue;
    }
    // Numbers are counted up as what they are converted to.
    if (isa<linalg::IndexOp>(inner) &&
        llvm::all_of(inner.getUsers(), llvm::IsaPred<arith::IndexCastOp>))
      continue;
    if (isa<arith::IndexCastOp>(inner) && getNumber(inner)) {
      if (!count(inner.getResult(0)))
        return 0;
      continue;
    }
    if (!isa<linalg::IndexOp>(inner) && !isVectorDivision(&inner) &&
        !isVectorOperation(inner))
      return 0;
    if (!llvm::all_of(inner.getResults(), count) ||
        !llvm::all_of(inner.getOperands(), count))
      return 0;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (places.contains(op.getMatchingBlockArgument(&operand)))
      continue;
    unsigned own = bitsOf(getElementTypeOrSelf(operand.get().getType()));
    if (own == 0)
      return 0;
    bits = std::max(bits, own);
  }
  return bits;
}

bool loopc::variesAlong(Value value, linalg::GenericOp op, unsigned dim) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (next.getParentBlock() != op.getBody() || !seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (op.getMatchingIndexingMap(op.getMatchingOpOperand(argument))
              .isFunctionOfDim(dim))
        return true;
    } else {
      // A result depends on what the regions of its operation read, too.
      WalkResult found = next.getDefiningOp()->walk([&](Operation *inner) {
        auto number = dyn_cast<linalg::IndexOp>(inner);
        if (number && number.getDim() == dim)
          return WalkResult::interrupt();
        llvm::append_range(worklist, inner->getOperands());
        return WalkResult::advance();
      });
      if (found.wasInterrupted())
        return true;
    }
  }
  return false;
}

bool loopc::isNumberAlong(Value value, linalg::GenericOp op, unsigned dim) {
  Operation *made = value.getDefiningOp();
  if (auto number = dyn_cast_if_present<linalg::IndexOp>(made))
    return number.getDim() == dim;
  if (!isa_and_present<arith::AddIOp, arith::SubIOp>(made) ||
      variesAlong(made->getOperand(1), op, dim))
    return false;
  return isNumberAlong(made->getOperand(0), op, dim);
}

Value loopc::findOnePlace(Value value, linalg::GenericOp op, unsigned dim,
                          bool &isOneIfTrue) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select || variesAlong(select.getCondition(), op, dim))
    return {};
  Value place = select.getTrueValue(), one = select.getFalseValue();
  isOneIfTrue = isNumberAlong(one, op, dim);
  if (isOneIfTrue)
    std::swap(place, one);
  return isNumberAlong(place, op, dim) && !variesAlong(one, op, dim)
             ? select.getCondition()
             : Value();
}

/// `value` without what a negative number is made one from the end by, and the
/// bound that what is checked elsewhere is held below:
///
///     minui(select(%value < 0, %value + %extent, %value), %extent - 1)
static Value withoutWrap(Value value) {
  if (auto last = value.getDefiningOp<arith::MinUIOp>())
    value = last.getLhs();
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return value;
  Value from = select.getFalseValue();
  auto negative = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto fromEnd = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  bool isWrap = negative && fromEnd &&
                negative.getPredicate() == arith::CmpIPredicate::slt &&
                negative.getLhs() == from && fromEnd.getLhs() == from &&
                matchPattern(negative.getRhs(), m_Zero());
  return isWrap ? from : value;
}

/// 1 for numbers that count up by one along `dim`, but where they meet a bound,
/// -1 for those that count down, 0 for others.
static int findDirection(Value value, linalg::GenericOp op, unsigned dim) {
  Operation *made = value.getDefiningOp();
  if (auto number = dyn_cast_if_present<linalg::IndexOp>(made))
    return number.getDim() == dim ? 1 : 0;
  if (!made || made->getBlock() != op.getBody() ||
      !isWideInteger(value.getType()))
    return 0;
  if (isa<arith::IndexCastOp>(made))
    return findDirection(made->getOperand(0), op, dim);
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>(made))
    return 0;
  Value first = made->getOperand(0), second = made->getOperand(1);
  int sign = 1;
  if (!variesAlong(first, op, dim)) {
    std::swap(first, second);
    sign = isa<arith::SubIOp>(made) ? -1 : 1;
  }
  return variesAlong(second, op, dim) ? 0
                                      : sign * findDirection(first, op, dim);
}

int loopc::findBoundedDirection(Value value, linalg::GenericOp op,
                                unsigned dim) {
  return findDirection(withoutWrap(value), op, dim);
}

/// True for the number of the element along `dim`, or one that is more or less
/// by a constant: extents are far from where numbers would wrap around.
static bool isPlainNumber(Value value, linalg::GenericOp op, unsigned dim) {
  constexpr int64_t kMost = int64_t(1) << 32;
  Operation *made = value.getDefiningOp();
  if (auto number = dyn_cast_if_present<linalg::IndexOp>(made))
    return number.getDim() == dim;
  if (!made || made->getBlock() != op.getBody() ||
      !isWideInteger(value.getType()))
    return false;
  if (isa<arith::IndexCastOp>(made))
    return isPlainNumber(made->getOperand(0), op, dim);
  if (!isa<arith::AddIOp, arith::SubIOp>(made))
    return false;
  std::optional<int64_t> by = getConstantIntValue(made->getOperand(1));
  return by && *by <= kMost && *by >= -kMost &&
         isPlainNumber(made->getOperand(0), op, dim);
}

std::optional<unsigned> loopc::findComparedNumber(Operation &compare,
                                                  linalg::GenericOp op,
                                                  unsigned dim) {
  auto comparison = dyn_cast<arith::CmpIOp>(compare);
  if (!comparison || comparison.getPredicate() >= arith::CmpIPredicate::ult ||
      !isWideInteger(comparison.getLhs().getType()))
    return std::nullopt;
  for (unsigned k : {0, 1})
    if (isPlainNumber(comparison->getOperand(k), op, dim) &&
        !variesAlong(comparison->getOperand(1 - k), op, dim))
      return k;
  return std::nullopt;
}

int64_t loopc::repeatsAlong(Value value, linalg::GenericOp op, unsigned dim) {
  constexpr int64_t kMaxTimes = 16;
  int64_t times = 1;
  while (auto part = value.getDefiningOp<arith::DivUIOp>()) {
    std::optional<int64_t> by = getConstantIntValue(part.getRhs());
    if (!by || *by < 1 || *by > kMaxTimes)
      return 0;
    times *= *by;
    value = part.getLhs();
  }
  auto number = value.getDefiningOp<linalg::IndexOp>();
  bool isAlong =
      number && number->getBlock() == op.getBody() && number.getDim() == dim;
  return isAlong && times > 1 && times <= kMaxTimes &&
                 llvm::isPowerOf2_64(times)
             ? times
             : 0;
}

int64_t loopc::countRepeats(memref::LoadOp load, linalg::GenericOp op,
                            unsigned dim) {
  return load.getIndices().empty()
             ? 0
             : repeatsAlong(load.getIndices().back(), op, dim);
}

int64_t loopc::stepAlong(OpOperand &operand, linalg::GenericOp op,
                         unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(dim))
    return 0;
  AffineExpr number = getAffineDimExpr(dim, op.getContext());
  AffineExpr next = map.getResults().back().replace(number, number + 1);
  AffineExpr step =
      simplifyAffineExpr(next - map.getResults().back(), op.getNumLoops(), 0);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  return constant ? constant.getValue() : -1;
}

bool loopc::canLoadAlong(memref::LoadOp load, linalg::GenericOp op,
                         unsigned dim) {
  // An element that is written may be read by one behind it.
  if (llvm::any_of(op.getDpsInits(), [&](Value init) {
        return mayBeOneBuffer(init, load.getMemRef());
      }))
    return false;
  auto varies = [&](Value value) { return variesAlong(value, op, dim); };
  OperandRange indices = load.getIndices();
  if (llvm::none_of(indices, varies))
    return true;
  MemRefType type = load.getMemRefType();
  if (llvm::any_of(indices.drop_back(), varies) || !type.isLastDimUnitStride())
    return false;
  bool isOneIfTrue;
  if (isNumberAlong(indices.back(), op, dim) ||
      repeatsAlong(indices.back(), op, dim) ||
      findOnePlace(indices.back(), op, dim, isOneIfTrue))
    return isRowElement(type.getElementType());
  // Elements apart are read by 4 or 8 bytes.
  return type.getElementTypeBitWidth() >= 32 &&
         isVectorElement(type.getElementType());
}

bool loopc::isSumOfRow(linalg::LinalgOp op, unsigned dim, CpuModel cpu) {
  constexpr int64_t kLightBody = 16, kLong = 256;
  auto runsAlong = [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).isFunctionOfDim(dim);
  };
  if (op.getNumDpsInputs() < 2 ||
      llvm::count_if(op.getDpsInputOperands(), runsAlong) > 1)
    return false;
  int64_t extent = knownExtents(op)[dim];
  bool isLong = ShapedType::isStatic(extent) && extent >= kLong;
  if (!isLong && !isLightBody(*op.getBlock(), kLightBody))
    return false;
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  return generic && planRows(generic, cpu);
}

/// The order of axes in which the last one is what neighbours in memory differ
/// in, and not summed up where it need not be; none where that is so already,
/// or for no axis.
static std::optional<SmallVector<unsigned>> orderForRows(linalg::GenericOp op) {
  unsigned count = op.getNumLoops();
  auto isRowAxis = [&](unsigned dim) {
    bool used = false;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isFunctionOfDim(dim))
        continue;
      auto expr = dyn_cast<AffineDimExpr>(map.getResults().back());
      if (!expr || expr.getPosition() != dim ||
          !cast<MemRefType>(operand.get().getType()).isLastDimUnitStride())
        return false;
      used = true;
    }
    return used && knownExtents(op)[dim] != 1;
  };
  if (!op.hasPureBufferSemantics() || count < 2)
    return std::nullopt;
  // Where sums run along such an axis, and their results along another, each
  // lane has a sum of its own: none are added up across lanes.
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = knownExtents(op);
  bool isRow = isRowAxis(count - 1);
  if (isRow && kinds.back() == utils::IteratorType::parallel)
    return std::nullopt;
  constexpr int64_t kVector = 16;
  auto isBetter = [&](unsigned dim) {
    return !isRow ||
           (kinds[dim] == utils::IteratorType::parallel &&
            ShapedType::isStatic(extents[dim]) && extents[dim] >= kVector);
  };
  for (unsigned dim = count - 1; dim-- > 0;)
    if (isBetter(dim) && isRowAxis(dim)) {
      auto order = llvm::to_vector(llvm::seq<unsigned>(0, count));
      order.erase(order.begin() + dim);
      order.push_back(dim);
      return order;
    }
  return std::nullopt;
}

/// True if `view` has all of axis `axis` of its source.
static bool isWholeAlong(memref::SubViewOp view, int64_t axis) {
  OpFoldResult size = view.getMixedSizes()[axis];
  if (!isConstantIntValue(view.getMixedOffsets()[axis], 0))
    return false;
  MemRefType type = view.getSourceType();
  if (!type.isDynamicDim(axis))
    return isConstantIntValue(size, type.getDimSize(axis));
  auto value = dyn_cast<Value>(size);
  if (!value)
    return false;
  if (auto alloc = view.getSource().getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)] == value;
  auto dim = value.getDefiningOp<memref::DimOp>();
  return dim && dim.getSource() == view.getSource() &&
         dim.getConstantIndex() == axis;
}

/// True if each iteration of a loop that may run on several threads has a part
/// of its own of axis `axis`.
static bool isOfIteration(memref::SubViewOp view, int64_t axis) {
  auto offset = dyn_cast<Value>(view.getMixedOffsets()[axis]);
  if (!offset)
    return false;
  for (auto loop = view->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop->hasAttr(kParallelAttrName) &&
        !loop.isDefinedOutsideOfLoop(offset))
      return true;
  return false;
}

/// True if the part of the axes of `group` that `view` has can be told from
/// others' once they are one: by open extents nothing is proved.
static bool staysApart(memref::SubViewOp view, ReassociationIndicesRef group) {
  return !isOfIteration(view, group.front()) ||
         llvm::none_of(group.drop_front(), [&](int64_t axis) {
           return view.getSourceType().isDynamicDim(axis);
         });
}

/// The view that `buffer` is, if of the axes that each of `groups` puts
/// together it is cut from a buffer along the first at most; else null.
static memref::SubViewOp cutAcross(Value buffer,
                                   ArrayRef<ReassociationIndices> groups) {
  auto view = buffer.getDefiningOp<memref::SubViewOp>();
  if (!view || !view.hasUnitStride() ||
      view.getSourceType().getRank() != view.getType().getRank() ||
      !view.getSourceType().getLayout().isIdentity())
    return {};
  bool isWhole = llvm::all_of(groups, [&](ReassociationIndicesRef group) {
    return staysApart(view, group) &&
           llvm::all_of(group.drop_front(),
                        [&](int64_t axis) { return isWholeAlong(view, axis); });
  });
  return isWhole ? view : memref::SubViewOp();
}

bool loopc::canCount(ArrayRef<int64_t> extents) {
  bool overflows = false;
  int64_t elements = 1;
  for (int64_t extent : extents)
    if (ShapedType::isStatic(extent))
      overflows |= llvm::MulOverflow(elements, extent, elements);
  return !overflows;
}

/// True if a reshape puts the axes of `type` together, and the last one has as
/// known a stride as before: an open axis may have one element, which takes the
/// stride of the axis before it away, and with it the vectors.
static bool canCollapse(MemRefType type,
                        ArrayRef<ReassociationIndices> groups) {
  using memref::CollapseShapeOp;
  return CollapseShapeOp::isGuaranteedCollapsible(type, groups) &&
         (!type.isLastDimUnitStride() ||
          CollapseShapeOp::computeCollapsedType(type, groups)
              .isLastDimUnitStride());
}

bool loopc::canGroup(Value buffer, ArrayRef<ReassociationIndices> groups) {
  auto type = cast<MemRefType>(buffer.getType());
  return canCount(type.getShape()) &&
         (canCollapse(type, groups) || cutAcross(buffer, groups));
}

static OpFoldResult multiply(OpBuilder &b, Location loc, OpFoldResult x,
                             OpFoldResult y) {
  if (isConstantIntValue(x, 0) || isConstantIntValue(y, 1))
    return x;
  Value product = b.createOrFold<arith::MulIOp>(
      loc, getValueOrCreateConstantIndexOp(b, loc, x),
      getValueOrCreateConstantIndexOp(b, loc, y));
  return getAsOpFoldResult(product);
}

// The type of an open view does not tell that this can be done: its source is
// seen so, and cut.
Value loopc::groupBuffer(OpBuilder &b, Location loc, Value buffer,
                         ArrayRef<ReassociationIndices> groups) {
  if (canCollapse(cast<MemRefType>(buffer.getType()), groups))
    return memref::CollapseShapeOp::create(b, loc, buffer, groups);
  memref::SubViewOp view = cutAcross(buffer, groups);
  Value source =
      memref::CollapseShapeOp::create(b, loc, view.getSource(), groups);
  SmallVector<OpFoldResult> offsets, sizes;
  for (const ReassociationIndices &group : groups) {
    OpFoldResult offset = view.getMixedOffsets()[group.front()];
    OpFoldResult size = view.getMixedSizes()[group.front()];
    for (int64_t axis : llvm::drop_begin(group)) {
      offset = multiply(b, loc, offset, view.getMixedSizes()[axis]);
      size = multiply(b, loc, size, view.getMixedSizes()[axis]);
    }
    offsets.push_back(offset);
    sizes.push_back(size);
  }
  SmallVector<OpFoldResult> ones(groups.size(), b.getIndexAttr(1));
  return memref::SubViewOp::create(b, loc, source, offsets, sizes, ones);
}

/// The axes of an operand that is read by `map`, those that `dims` count along
/// put together.
static SmallVector<ReassociationIndices>
groupAxes(AffineMap map, ReassociationIndicesRef dims) {
  SmallVector<ReassociationIndices> groups;
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    int64_t dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim > dims.front() && dim <= dims.back())
      groups.back().push_back(k);
    else
      groups.push_back({static_cast<int64_t>(k)});
  }
  return groups;
}

/// The last loops of `op`, `dims`, as one. linalg's own function wants types to
/// tell that axes can be put together, which those of open views do not.
static linalg::GenericOp joinLoops(IRRewriter &rewriter, linalg::GenericOp op,
                                   ReassociationIndicesRef dims) {
  Location loc = op.getLoc();
  unsigned first = dims.front();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Value value = operand.get();
    if (map.isFunctionOfDim(first))
      value = groupBuffer(rewriter, loc, value, groupAxes(map, dims));
    operands.push_back(value);
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults())
      if (cast<AffineDimExpr>(expr).getPosition() <= first)
        exprs.push_back(expr);
    maps.push_back(AffineMap::get(first + 1, 0, exprs, op.getContext()));
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.truncate(first + 1);
  ArrayRef<Value> all = operands;
  auto made = linalg::GenericOp::create(
      rewriter, loc, all.take_front(op.getNumDpsInputs()),
      all.drop_front(op.getNumDpsInputs()), maps, kinds);
  rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(),
                              made.getRegion().begin());
  rewriter.eraseOp(op);
  return made;
}

/// True if another operation computes what `op` reads, or reads what it writes:
/// nests of both may take turns, head by head.
static bool takesTurns(linalg::GenericOp op) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto made = getViewRoot(operand).getDefiningOp<memref::AllocOp>();
    return made && !allUsersOfViews(made, [&](Operation *user) {
             return user == op || isa<memref::DimOp, memref::DeallocOp>(user) ||
                    user->hasTrait<OpTrait::IsTerminator>();
           });
  });
}

/// Neighbouring axes at the end of `op` as one, which makes longer rows: those
/// that are reduced, or not long. An open axis may have few, as those
/// of images do: it is joined with the one before it.
static linalg::GenericOp joinLastAxes(IRRewriter &rewriter,
                                      linalg::GenericOp op) {
  // Long rows, and rows of whole vectors from some length on, stay apart.
  constexpr int64_t kFew = 64, kLong = 512, kVector = 16;
  unsigned count = op.getNumLoops(), first = count;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = knownExtents(op);
  if (!op.hasPureBufferSemantics() || count < 2 || op.hasIndexSemantics())
    return op;
  bool isReduced = kinds.back() == utils::IteratorType::reduction;
  bool isOpen = ShapedType::isDynamic(extents.back());
  bool isApart = extents.back() >= kLong ||
                 (extents.back() >= kFew && extents.back() % kVector == 0);
  if (!isReduced && !isOpen && isApart)
    return op;
  auto canJoin = [&](ReassociationIndicesRef dims) {
    SmallVector<ReassociationIndices> one{ReassociationIndices(dims)};
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      return map.isProjectedPermutation() &&
             isa<MemRefType>(operand.get().getType()) &&
             linalg::areDimSequencesPreserved({map}, one) &&
             (!map.isFunctionOfDim(dims.front()) ||
              canGroup(operand.get(), groupAxes(map, dims)));
    });
  };
  // Of the others, one is left to be dealt to threads, but for rows that are no
  // vector, or no whole ones, or may be: all of them are one row, of which
  // threads get parts. What is of heads keeps them.
  bool isNoVector = isOpen ? count == 2 || !takesTurns(op)
                           : extents.back() < kVector ||
                                 (count == 2 && extents.back() % kVector != 0);
  unsigned least = isReduced || isNoVector ? 0 : isOpen ? count - 2 : 1;
  ReassociationIndices joined{count - 1};
  while (first > least + 1 && kinds[first - 2] == kinds.back()) {
    ReassociationIndices more = joined;
    more.insert(more.begin(), first - 2);
    if (!canJoin(more))
      break;
    joined = more;
    --first;
  }
  if (joined.size() < 2)
    return op;
  return joinLoops(rewriter, op, joined);
}

/// The numbers of loops whose order has changed, which linalg computes by maps:
/// each is another loop's.
static void renumberLoops(IRRewriter &rewriter, linalg::GenericOp op) {
  for (auto apply : llvm::make_early_inc_range(
           op.getBody()->getOps<affine::AffineApplyOp>()))
    if (auto dim = dyn_cast<AffineDimExpr>(apply.getAffineMap().getResult(0)))
      rewriter.replaceOp(apply, apply.getMapOperands()[dim.getPosition()]);
  for (auto number :
       llvm::make_early_inc_range(op.getBody()->getOps<linalg::IndexOp>()))
    if (number->use_empty())
      rewriter.eraseOp(number);
}

linalg::GenericOp loopc::arrangeRows(IRRewriter &rewriter,
                                     linalg::GenericOp op) {
  op = joinLastAxes(rewriter, op);
  if (std::optional<SmallVector<unsigned>> order = orderForRows(op)) {
    rewriter.setInsertionPoint(op);
    op = *linalg::interchangeGenericOp(rewriter, op, *order);
    renumberLoops(rewriter, op);
  }
  return op;
}
