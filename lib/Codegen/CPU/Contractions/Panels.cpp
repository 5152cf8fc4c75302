//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Panels in maps: `n floordiv W` and `n mod W`.

#include "Contractions.h"

using namespace mlir;
using namespace loopc;

/// The dimension and the number of `dim floordiv number` or `dim mod number`.
static std::optional<PanelGroup> partOf(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !size || size.getValue() <= 0)
    return std::nullopt;
  return PanelGroup{dim.getPosition(), size.getValue()};
}

std::optional<PanelGroup> loopc::panelGroup(AffineMap map) {
  // Panels have a result within a group's, too.
  if (map.getNumResults() < 4)
    return std::nullopt;
  ArrayRef<AffineExpr> results = map.getResults();
  std::optional<PanelGroup> group = partOf(results.back(), AffineExprKind::Mod);
  if (!group || !partOf(results.drop_back().back(), AffineExprKind::Mod))
    return std::nullopt;
  AffineExpr d = getAffineDimExpr(group->dim, map.getContext());
  auto isPart = [&](AffineExpr expr) {
    return expr == d.floorDiv(group->size);
  };
  return llvm::count_if(results, isPart) == 1 ? group : std::nullopt;
}

int64_t loopc::panelWidth(AffineMap map, unsigned dim) {
  ArrayRef<AffineExpr> results = map.getResults();
  if (panelGroup(map))
    results = results.drop_back();
  if (results.size() < 2)
    return 0;
  auto within = partOf(results.back(), AffineExprKind::Mod);
  if (!within || within->dim != dim)
    return 0;
  AffineExpr d = getAffineDimExpr(dim, map.getContext());
  int64_t panels = 0;
  for (AffineExpr expr : results.drop_back()) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (expr != d.floorDiv(within->size))
      return 0;
    ++panels;
  }
  return panels == 1 ? within->size : 0;
}
