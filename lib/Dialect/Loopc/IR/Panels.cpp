//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Loopc/IR/Panels.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/Interfaces/IndexingMapOpInterface.h"

using namespace mlir;
using namespace loopc;

/// The dimension and the number of `dim mod number`.
static std::optional<PanelGroup> matchRemainder(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !size || size.getValue() <= 0)
    return std::nullopt;
  return PanelGroup{dim.getPosition(), size.getValue()};
}

/// True if one of `exprs` is the quotient that belongs to `remainder`, and no
/// other one depends on its dimension.
static bool haveQuotient(ArrayRef<AffineExpr> exprs, PanelGroup remainder) {
  int64_t quotients = 0;
  for (AffineExpr expr : exprs) {
    if (!expr.isFunctionOfDim(remainder.dim))
      continue;
    AffineExpr d = getAffineDimExpr(remainder.dim, expr.getContext());
    if (expr != d.floorDiv(remainder.size))
      return false;
    ++quotients;
  }
  return quotients == 1;
}

std::optional<Panels> loopc::matchPanels(AffineMap map) {
  ArrayRef<AffineExpr> results = map.getResults();
  if (results.size() < 2)
    return std::nullopt;
  std::optional<PanelGroup> last = matchRemainder(results.back());
  results = results.drop_back();
  if (!last || !haveQuotient(results, *last))
    return std::nullopt;
  std::optional<PanelGroup> within = matchRemainder(results.back());
  if (!within)
    return Panels{map, last->dim, last->size};
  if (!haveQuotient(results.drop_back(), *within))
    return std::nullopt;
  return Panels{map, within->dim, within->size, last};
}

std::optional<Panels> loopc::getPanels(Operation *op) {
  auto structured = dyn_cast<IndexingMapOpInterface>(op);
  if (!structured || !op->hasAttr(kPackedAttrName))
    return std::nullopt;
  for (AffineMap map : structured.getIndexingMapsArray())
    if (std::optional<Panels> panels = matchPanels(map))
      return panels;
  return std::nullopt;
}

/// The extent of the loop `dim`, where an operand of `op` tells it.
static int64_t findExtent(Operation *op, ArrayRef<AffineMap> maps,
                          unsigned dim) {
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), maps)) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type || !type.hasRank() || type.getRank() != map.getNumResults())
      continue;
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (expr == getAffineDimExpr(dim, op->getContext()) &&
          !type.isDynamicDim(axis))
        return type.getDimSize(axis);
  }
  return ShapedType::kDynamic;
}

/// Whether the axes of `type` have the extents of `panels`.
static LogicalResult verifyExtents(Operation *op, unsigned operand,
                                   const Panels &panels,
                                   ArrayRef<AffineMap> maps) {
  auto type = dyn_cast<ShapedType>(op->getOperand(operand).getType());
  if (!type || !type.hasRank() || type.getRank() != panels.map.getNumResults())
    return success(); // which the operation's own verifier refuses
  auto verify = [&](PanelGroup part) -> LogicalResult {
    AffineExpr d = getAffineDimExpr(part.dim, op->getContext());
    int64_t extent = findExtent(op, maps, part.dim);
    for (auto [axis, expr] : llvm::enumerate(panels.map.getResults())) {
      int64_t expected = ShapedType::kDynamic;
      if (expr == d % part.size)
        expected = part.size;
      else if (expr == d.floorDiv(part.size) && ShapedType::isStatic(extent))
        expected = llvm::divideCeil(extent, part.size);
      // How many panels there are may be known to one of both only.
      if (ShapedType::isStatic(expected) && type.getDimSize(axis) != expected &&
          (expected == part.size || !type.isDynamicDim(axis)))
        return op->emitOpError()
               << "attribute '" << kPackedAttrName << "' says that operand #"
               << operand << " is panels, with an extent of " << expected
               << " along axis " << axis << ", and its type is " << type;
    }
    return success();
  };
  if (failed(verify({panels.dim, panels.width})))
    return failure();
  return panels.group ? verify(*panels.group) : success();
}

LogicalResult loopc::verifyPacked(Operation *op) {
  auto structured = dyn_cast<IndexingMapOpInterface>(op);
  if (!structured)
    return op->emitOpError() << "attribute '" << kPackedAttrName
                             << "' needs operands that are read by maps";
  SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
  if (maps.size() != op->getNumOperands())
    return success(); // which the operation's own verifier refuses
  std::optional<unsigned> found;
  unsigned count = 0;
  for (auto [k, map] : llvm::enumerate(maps))
    if (matchPanels(map)) {
      found = k;
      ++count;
    }
  if (count != 1)
    return op->emitOpError()
           << "attribute '" << kPackedAttrName
           << "' needs one operand whose map ends with 'd mod W' and has 'd "
              "floordiv W', and there are "
           << count;
  return verifyExtents(op, *found, *matchPanels(maps[*found]), maps);
}
