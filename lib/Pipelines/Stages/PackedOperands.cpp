//===- PackedOperands.cpp - Are there zeros behind packed operands? -------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// `loopc.packed` says of an operand that it is whole panels, with zeros behind
// the elements that there are. Its verifier sees the map and the extents; here
// it is followed to what has made it.

#include "StageErrors.h"
#include "loopc/Dialect/Loopc/IR/Panels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace loopc;

static SmallVector<PanelGroup> getGroups(const Panels &panels) {
  SmallVector<PanelGroup> groups{{panels.dim, panels.width}};
  if (panels.group)
    groups.push_back(*panels.group);
  return groups;
}

/// The number of the operand of `op` that is panels.
static unsigned findPackedOperand(linalg::GenericOp op, const Panels &panels) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return llvm::find(maps, panels.map) - maps.begin();
}

static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

static ArrayRef<char> getBytes(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

static bool isZero(ArrayRef<char> bytes) {
  return llvm::all_of(bytes, [](char byte) { return byte == 0; });
}

static bool isZero(ElementsAttr value) {
  ArrayRef<char> bytes = getBytes(value);
  return !bytes.empty() && isZero(bytes);
}

/// True if all elements of `value` with the last number of `quotient` and a
/// number from `first` on along `remainder` are zero.
static bool isZeroBehind(ElementsAttr value, unsigned quotient,
                         unsigned remainder, int64_t first) {
  if (isZero(value))
    return true;
  ArrayRef<char> bytes = getBytes(value);
  // One element that stands for all, or bits.
  ArrayRef<int64_t> shape = value.getShapedType().getShape();
  int64_t size = bytes.size() / value.getNumElements();
  if (size == 0 ||
      static_cast<int64_t>(bytes.size()) != size * value.getNumElements())
    return false;
  SmallVector<int64_t> counts(shape), strides = mlir::computeStrides(shape);
  counts[quotient] = 1;
  counts[remainder] = shape[remainder] - first;
  int64_t begin =
      (shape[quotient] - 1) * strides[quotient] + first * strides[remainder];
  for (int64_t k : llvm::seq(computeProduct(counts))) {
    int64_t at = begin;
    for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
      at += k % counts[axis] * strides[axis];
      k /= counts[axis];
    }
    if (!isZero(bytes.slice(at * size, size)))
      return false;
  }
  return true;
}

/// Whether a constant is panels of as many elements as `op` reads along their
/// axes, as far as that is known, and of zeros.
static bool hasZeros(linalg::GenericOp op, const Panels &panels,
                     ElementsAttr value) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  return llvm::all_of(getGroups(panels), [&](PanelGroup group) {
    int64_t rest = ShapedType::isStatic(extents[group.dim])
                       ? extents[group.dim] % group.size
                       : 0;
    AffineExpr d = getAffineDimExpr(group.dim, op.getContext());
    ArrayRef<AffineExpr> results = panels.map.getResults();
    unsigned quotient =
        llvm::find(results, d.floorDiv(group.size)) - results.begin();
    unsigned remainder = llvm::find(results, d % group.size) - results.begin();
    return rest == 0 || isZeroBehind(value, quotient, remainder, rest);
  });
}

/// Whether `writer` writes panels, of a tensor of zeros where it leaves out
/// elements.
static bool fillsPanels(linalg::GenericOp writer) {
  std::optional<Panels> panels = getPanels(writer);
  if (!panels)
    return false;
  OpOperand &init = writer->getOpOperand(findPackedOperand(writer, *panels));
  if (!writer.isDpsInit(&init))
    return false;
  Value place = withoutCasts(init.get());
  ElementsAttr constant;
  if (matchPattern(place, m_Constant(&constant)) && isZero(constant))
    return true;
  auto fill = place.getDefiningOp<linalg::FillOp>();
  if (fill && (matchPattern(fill.getInputs()[0], m_Zero()) ||
               matchPattern(fill.getInputs()[0], m_PosZeroFloat())))
    return true;
  SmallVector<int64_t> extents = writer.getStaticLoopRanges();
  return llvm::all_of(getGroups(*panels), [&](PanelGroup group) {
    return ShapedType::isStatic(extents[group.dim]) &&
           extents[group.dim] % group.size == 0;
  });
}

void loopc::verifyPackedOperand(Operation *op, StageErrors &errors) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  std::optional<Panels> panels = generic ? getPanels(op) : std::nullopt;
  if (!panels)
    return;
  unsigned number = findPackedOperand(generic, *panels);
  if (generic.isDpsInit(&op->getOpOperand(number)))
    return;
  Value source = withoutCasts(op->getOperand(number));
  ElementsAttr constant;
  auto writer = source.getDefiningOp<linalg::GenericOp>();
  bool isFilled = matchPattern(source, m_Constant(&constant))
                      ? hasZeros(generic, *panels, constant)
                      : writer && fillsPanels(writer);
  if (!isFilled)
    errors.emit(op) << "says by '" << kPackedAttrName << "' that operand #"
                    << number
                    << " has zeros behind its elements, and that is not proved";
}
