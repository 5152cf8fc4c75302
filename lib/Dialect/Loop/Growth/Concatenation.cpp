//===- Concatenation.cpp - Tensors put behind one another -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Concatenation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace loopc;

//===----------------------------------------------------------------------===//
// Sums of extents
//===----------------------------------------------------------------------===//

Sum &Sum::add(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    constant += *number;
    return *this;
  }
  auto term = cast<Value>(value);
  auto op = term.getDefiningOp<arith::AddIOp>();
  if (op && budget != 0) {
    --budget;
    return add(op.getLhs()).add(op.getRhs());
  }
  // Equal dimensions are one tensor.dim only behind CSE.
  if (auto dim = term.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> axis = dim.getConstantIndex()) {
      ++dims[{dim.getSource(), *axis}];
      return *this;
    }
  ++terms[term];
  return *this;
}

bool Sum::operator==(const Sum &other) const {
  auto same = [](const auto &a, const auto &b) {
    return a.size() == b.size() && llvm::all_of(a, [&](auto &entry) {
             return b.lookup(entry.first) == entry.second;
           });
  };
  return constant == other.constant && same(terms, other.terms) &&
         same(dims, other.dims);
}

//===----------------------------------------------------------------------===//
// Finding concatenations
//===----------------------------------------------------------------------===//

SmallVector<tensor::InsertSliceOp> loopc::insertionsOf(Value value,
                                                       Block *block) {
  SmallVector<tensor::InsertSliceOp> parts;
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    if (insert->getBlock() != block || (!parts.empty() && !value.hasOneUse()))
      return {};
    parts.push_back(insert);
    value = insert.getDest();
  }
  if (!value.getDefiningOp<tensor::EmptyOp>())
    return {};
  std::reverse(parts.begin(), parts.end());
  return parts;
}

SmallVector<OpFoldResult> Concatenation::extents() const {
  tensor::InsertSliceOp first = parts.front();
  return first.getDest().getDefiningOp<tensor::EmptyOp>().getMixedSizes();
}

bool Concatenation::matchAxis(std::optional<int64_t> &axis) const {
  for (tensor::InsertSliceOp part : parts)
    for (auto [k, offset] : llvm::enumerate(part.getMixedOffsets())) {
      if (isConstantIntValue(offset, 0))
        continue;
      if (axis && *axis != static_cast<int64_t>(k))
        return false;
      axis = k;
    }
  return axis.has_value();
}

bool Concatenation::isGapless(int64_t axis) const {
  Sum end(IntegerAttr::get(IndexType::get(last().getContext()), 0));
  for (tensor::InsertSliceOp part : parts) {
    if (part.getSourceType().getRank() != part.getDestType().getRank() ||
        !llvm::all_of(part.getMixedStrides(), [](OpFoldResult stride) {
          return isConstantIntValue(stride, 1);
        }))
      return false;
    if (!(Sum(part.getMixedOffsets()[axis]) == end))
      return false;
    end.add(sizeOf(part, axis));
  }
  return end == Sum(extents()[axis]);
}
