//===- SliceSubsets.cpp - Comparing slices of constant place --------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceSubsets.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace loopc;

/// Two slices of one rank whose places are constants; null where they are not.
static std::pair<OffsetSizeAndStrideOpInterface, OffsetSizeAndStrideOpInterface>
getConstantSlices(Operation *op, Operation *candidate) {
  auto isConstant = [](OffsetSizeAndStrideOpInterface slice) {
    return slice &&
           llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
           llvm::none_of(slice.getStaticSizes(), ShapedType::isDynamic) &&
           llvm::none_of(slice.getStaticStrides(), ShapedType::isDynamic);
  };
  auto one = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  auto other = dyn_cast<OffsetSizeAndStrideOpInterface>(candidate);
  if (!isConstant(one) || !isConstant(other) ||
      one.getStaticOffsets().size() != other.getStaticOffsets().size())
    return {};
  return {one, other};
}

/// True if along some axis all of the one comes before all of the other.
static bool areDisjoint(OffsetSizeAndStrideOpInterface a,
                        OffsetSizeAndStrideOpInterface b) {
  auto isBefore = [](OffsetSizeAndStrideOpInterface x,
                     OffsetSizeAndStrideOpInterface y, size_t axis) {
    return x.getStaticOffsets()[axis] +
               (x.getStaticSizes()[axis] - 1) * x.getStaticStrides()[axis] <
           y.getStaticOffsets()[axis];
  };
  return llvm::any_of(llvm::seq(a.getStaticOffsets().size()), [&](size_t axis) {
    return isBefore(a, b, axis) || isBefore(b, a, axis);
  });
}

namespace {
template <typename SliceOp>
struct SliceSubset
    : SubsetOpInterface::ExternalModel<SliceSubset<SliceOp>, SliceOp> {
  using Equivalence = llvm::function_ref<bool(Value, Value)>;

  bool operatesOnEquivalentSubset(Operation *op, SubsetOpInterface candidate,
                                  Equivalence isEquivalent) const {
    auto [one, other] = getConstantSlices(op, candidate);
    if (!one)
      return detail::defaultOperatesOnEquivalentSubset(op, candidate,
                                                       isEquivalent);
    return one.getStaticOffsets() == other.getStaticOffsets() &&
           one.getStaticSizes() == other.getStaticSizes() &&
           one.getStaticStrides() == other.getStaticStrides() &&
           haveOneContainer(op, candidate, isEquivalent);
  }

  bool operatesOnDisjointSubset(Operation *op, SubsetOpInterface candidate,
                                Equivalence isEquivalent) const {
    auto [one, other] = getConstantSlices(op, candidate);
    if (!one)
      return detail::defaultOperatesOnDisjointSubset(op, candidate,
                                                     isEquivalent);
    return areDisjoint(one, other) &&
           haveOneContainer(op, candidate, isEquivalent);
  }

  FailureOr<HyperrectangularSlice>
  getAccessedHyperrectangularSlice(Operation *op) const {
    return HyperrectangularSlice(cast<OffsetSizeAndStrideOpInterface>(op));
  }

private:
  static bool haveOneContainer(Operation *op, SubsetOpInterface candidate,
                               Equivalence isEquivalent) {
    return isEquivalent(detail::getTensorContainer(op),
                        detail::getTensorContainer(candidate));
  }
};
} // namespace

void loopc::registerSliceSubsetModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractSliceOp::attachInterface<
        SliceSubset<tensor::ExtractSliceOp>>(*context);
    tensor::InsertSliceOp::attachInterface<SliceSubset<tensor::InsertSliceOp>>(
        *context);
  });
}
