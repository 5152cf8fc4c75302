//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which sums need not be taken over the padding of an image:
//
//   linalg.fill ins(0) outs(%padded)
//   (something) outs(%part of %padded)
//   linalg.generic (sum of products over windows) ins(%padded, %weights)
//
// A product with zero is zero where the weights are finite, so that the loops
// over a window begin and end where some row of the tile reads the image.

#include "ContractionPlan.h"
#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "loopc/Dialect/Nest/Analysis/Views.h"
#include "loopc/Support/ConstantElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;
using namespace loopc;

/// Of known extents so much of what the windows read along an axis is padding
/// at least; else bounds take code that saves nothing.
static constexpr double kLeastPadding = 0.04;
/// Of open ones windows whose elements are so far apart reach far into it.
static constexpr int64_t kFarApart = 2;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {
/// A use of a buffer or of a view of it, and where it stands in the block of
/// the buffer's fill.
struct BufferUse {
  Operation *place;
  size_t number; ///< of its finding
  OpOperand *operand;
};
} // namespace

/// The uses of `buffer` and of its views behind `fill`, in order; none where it
/// may have another name.
static std::optional<SmallVector<BufferUse>> findUsesBehind(Value buffer,
                                                            Operation *fill) {
  SmallVector<BufferUse> uses;
  Block *block = fill->getBlock();
  bool isKnown = allUsesOfViews(buffer, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    Operation *place = block->findAncestorOpInBlock(*user);
    if (place && fill->isBeforeInBlock(place))
      uses.push_back({place, uses.size(), &use});
    return isa<linalg::LinalgOp, memref::DimOp, memref::DeallocOp>(user) ||
           getAccess(user).buffer;
  });
  if (!isKnown)
    return std::nullopt;
  llvm::sort(uses, [](const BufferUse &x, const BufferUse &y) {
    return x.place == y.place ? x.number < y.number
                              : x.place->isBeforeInBlock(y.place);
  });
  return uses;
}

static bool isZeroFill(Operation *op) {
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && (matchPattern(fill.getInputs()[0], m_Zero()) ||
                  matchPattern(fill.getInputs()[0], m_PosZeroFloat()));
}

/// True if nothing is written to the buffer by `use`.
static bool isRead(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto op = dyn_cast<linalg::LinalgOp>(user))
    return op.hasPureBufferSemantics() && op.isDpsInput(&use);
  return isa<memref::DimOp>(user) || hasSingleEffect<MemoryEffects::Read>(user);
}

/// The view `buffer` of all of `filled`, whose part `part` is not zero: where
/// that is along its axes; none where it is another view.
static std::optional<ZeroBorder> borderOf(Value buffer, Value filled,
                                          memref::SubViewOp part) {
  if (buffer == filled)
    return ZeroBorder{part.getMixedOffsets(), part.getMixedSizes()};
  auto view = buffer.getDefiningOp<memref::ExpandShapeOp>();
  if (!view || view.getSrc() != filled)
    return std::nullopt;
  ZeroBorder border;
  for (auto [axis, group] : llvm::enumerate(view.getReassociationIndices())) {
    bool isOne = group.size() == 1;
    OpFoldResult none;
    border.offsets.append(group.size(),
                          isOne ? part.getMixedOffsets()[axis] : none);
    border.sizes.append(group.size(),
                        isOne ? part.getMixedSizes()[axis] : none);
  }
  return border;
}

static void findReaders(linalg::FillOp fill, ZeroBorders &borders) {
  Value buffer = fill.getOutputs()[0];
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().getLayout().isIdentity() || !isZeroFill(fill))
    return;
  std::optional<SmallVector<BufferUse>> uses = findUsesBehind(buffer, fill);
  memref::SubViewOp part;
  // What is not read is zeros, or is written to one part of the buffer.
  auto keepsBorder = [&](OpOperand &use) {
    if (isRead(use) || isZeroFill(use.getOwner()))
      return true;
    auto written = use.get().getDefiningOp<memref::SubViewOp>();
    bool isPart = written && written.getSource() == buffer &&
                  written.hasUnitStride() &&
                  written.getType().getRank() == alloc.getType().getRank() &&
                  isa<linalg::LinalgOp>(use.getOwner());
    if (!part && isPart && written->getBlock() == fill->getBlock())
      part = written;
    return isPart && part &&
           written.getMixedOffsets() == part.getMixedOffsets() &&
           written.getMixedSizes() == part.getMixedSizes();
  };
  for (size_t k = 0; uses && k < uses->size();) {
    ArrayRef<BufferUse> here = ArrayRef(*uses).drop_front(k).take_while(
        [&](BufferUse use) { return use.place == (*uses)[k].place; });
    if (!llvm::all_of(here,
                      [&](BufferUse use) { return keepsBorder(*use.operand); }))
      return;
    for (BufferUse use : here)
      if (part && isRead(*use.operand))
        if (auto border = borderOf(use.operand->get(), buffer, part))
          borders[use.operand] = *border;
    k += here.size();
  }
}

ZeroBorders loopc::findZeroBorders(Operation *root) {
  ZeroBorders borders;
  root->walk([&](linalg::FillOp fill) { findReaders(fill, borders); });
  return borders;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The element of an operand that `value` is, converted or not.
static BlockArgument elementOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp,
             arith::UIToFPOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// True if no element of `bytes` has all bits of `exponent`.
template <typename Bits>
static bool areFinite(ArrayRef<char> bytes, Bits exponent) {
  for (size_t k = 0; k + sizeof(Bits) <= bytes.size(); k += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + k, sizeof(Bits));
    if ((bits & exponent) == exponent)
      return false;
  }
  return !bytes.empty();
}

bool loopc::isFiniteConstant(memref::GlobalOp global) {
  Type element = global.getType().getElementType();
  if (!global.getConstant())
    return false;
  ArrayRef<char> bytes = getRawBytes(global.getInitialValueAttr());
  if (element.isF32())
    return areFinite<uint32_t>(bytes, 0x7f800000);
  if (element.isF16())
    return areFinite<uint16_t>(bytes, 0x7c00);
  return element.isBF16() && areFinite<uint16_t>(bytes, 0x7f80);
}

/// True if all elements of `buffer` are integers, or those of a constant finite
/// numbers.
static bool areFinite(Value buffer) {
  if (isa<IntegerType>(getElementTypeOrSelf(buffer)))
    return true;
  auto get = getViewRoot(buffer).getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : memref::GlobalOp();
  return global && isFiniteConstant(global);
}

/// True if `op` adds nothing to its sum where `input` is zero: all that it adds
/// is a product of that and of a finite number.
static bool addsNothingAtZero(linalg::LinalgOp op, OpOperand *input) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  Operation *sum = generic ? reorderableAddition(op) : nullptr;
  if (!sum)
    return false;
  BlockArgument before = generic.getRegionOutputArgs().front();
  Value other = sum->getOperand(sum->getOperand(0) == before ? 1 : 0);
  Operation *product = other.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  BlockArgument x = elementOf(product->getOperand(0)),
                y = elementOf(product->getOperand(1));
  BlockArgument zero = op.getMatchingBlockArgument(input);
  if (!x || !y || x == y || (x != zero && y != zero))
    return false;
  BlockArgument weight = x == zero ? y : x;
  return weight != before && weight.getOwner() == op.getBlock() &&
         areFinite(op.getMatchingOpOperand(weight)->get());
}

/// The loops of `kind` that `expr` grows by, if it is one.
static std::optional<unsigned> findLoop(linalg::LinalgOp op, AffineExpr expr,
                                        utils::IteratorType kind) {
  std::optional<unsigned> found;
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type != kind || !expr.isFunctionOfDim(dim))
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  return found;
}

/// True if enough of what windows read by `axis` is padding for all rows of a
/// tile.
static bool isPadded(const PaddedAxis &axis, const ContractionPlan &plan) {
  // How far the last row of a tile reads behind the first.
  int64_t reach = axis.position == plan.rowDim
                      ? axis.stride * (plan.versions.back().tile.rows - 1)
                      : 0;
  std::optional<int64_t> begin = getConstantIntValue(axis.begin),
                         size = getConstantIntValue(axis.size);
  int64_t positions = plan.extents[axis.position],
          elements = plan.extents[axis.element];
  if (!begin || !size || ShapedType::isDynamic(positions) ||
      ShapedType::isDynamic(elements))
    return axis.dilation >= kFarApart && axis.dilation > reach;
  int64_t inside = 0;
  for (int64_t element : llvm::seq(elements)) {
    int64_t from = *begin - axis.dilation * element - axis.first;
    auto position = [&](int64_t at) {
      return std::clamp<int64_t>(llvm::divideCeilSigned(at, axis.stride), 0,
                                 positions);
    };
    inside += position(from + *size) - position(from - reach);
  }
  int64_t all = positions * elements;
  return all - inside >= kLeastPadding * all;
}

/// How windows go along an axis of an operand, which they read by `expr`.
static std::optional<PaddedAxis>
findAxis(linalg::LinalgOp op, const ContractionPlan &plan, AffineExpr expr) {
  auto position = findLoop(op, expr, utils::IteratorType::parallel),
       element = findLoop(op, expr, utils::IteratorType::reduction);
  bool isInLoops = position && element && position != plan.columnDim &&
                   position != plan.laneDim && element != plan.laneDim;
  bool isWrittenOut = plan.isSumWrittenOut && element == plan.sumDims.back();
  if (!isInLoops || isWrittenOut)
    return std::nullopt;
  unsigned loops = op.getNumLoops();
  std::optional<int64_t> stride = stepAlong(expr, *position, loops),
                         dilation = stepAlong(expr, *element, loops);
  SmallVector<AffineExpr> zeros(loops,
                                getAffineConstantExpr(0, op.getContext()));
  auto first = dyn_cast<AffineConstantExpr>(expr.replaceDims(zeros));
  if (!stride || !dilation || *stride < 1 || *dilation < 1 || !first)
    return std::nullopt;
  return PaddedAxis{.position = *position,
                    .element = *element,
                    .stride = *stride,
                    .dilation = *dilation,
                    .first = first.getValue()};
}

SmallVector<PaddedAxis, 2> loopc::findPaddedAxes(linalg::LinalgOp op,
                                                 const ContractionPlan &plan,
                                                 const ZeroBorders &borders) {
  SmallVector<PaddedAxis, 2> found;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto border = borders.find(input);
    if (border == borders.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [expr, begin, size] : llvm::zip_equal(
             map.getResults(), border->second.offsets, border->second.sizes)) {
      std::optional<PaddedAxis> axis = findAxis(op, plan, expr);
      if (!size || !axis)
        continue;
      axis->begin = begin;
      axis->size = size;
      if (isPadded(*axis, plan))
        found.push_back(*axis);
    }
    if (!found.empty())
      return addsNothingAtZero(op, input) ? found
                                          : SmallVector<PaddedAxis, 2>();
  }
  return found;
}
