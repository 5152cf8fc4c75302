//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registers/Lanes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

Indices loopc::elementsOf(AffineMap map, ArrayRef<int64_t> ranges,
                          ArrayRef<int64_t> shape) {
  Indices result, at(ranges.size(), 0);
  for (int64_t n = 0, size = computeProduct(ranges); n < size; ++n) {
    int64_t rest = n;
    for (size_t k = ranges.size(); k-- > 0; rest /= ranges[k])
      at[k] = rest % ranges[k];
    int64_t element = 0;
    for (auto [extent, place] : llvm::zip(shape, map.compose(at)))
      element = element * extent + place;
    result.push_back(element);
  }
  return result;
}

ArrayRef<int64_t> loopc::shapeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

int64_t loopc::lanesOf(int64_t count) { return llvm::PowerOf2Ceil(count); }

Indices loopc::fillLanes(ArrayRef<int64_t> from) {
  Indices all(from);
  all.resize(lanesOf(from.size()), from.back());
  return all;
}

Indices loopc::rowIndices(ArrayRef<int64_t> shape, int64_t row) {
  Indices at(shape.size(), 0);
  for (size_t k = shape.size() - 1; k-- > 0; row /= shape[k])
    at[k] = row % shape[k];
  return at;
}

bool loopc::isKnownSlice(OffsetSizeAndStrideOpInterface slice,
                         ArrayRef<int64_t> shape) {
  return slice.hasUnitStride() && !ShapedType::isDynamicShape(shape) &&
         !ShapedType::isDynamicShape(slice.getStaticSizes()) &&
         !ShapedType::isDynamicShape(slice.getStaticOffsets());
}

Indices loopc::placesOfSlice(OffsetSizeAndStrideOpInterface slice,
                             ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> places;
  for (auto [k, offset] : llvm::enumerate(slice.getStaticOffsets()))
    places.push_back(getAffineDimExpr(k, slice.getContext()) + offset);
  return elementsOf(AffineMap::get(shape.size(), 0, places, slice.getContext()),
                    slice.getStaticSizes(), shape);
}
