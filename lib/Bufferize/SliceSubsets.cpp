//===- SliceSubsets.cpp - Comparing the places of slices ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Bufferize/Models.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace loopc;

/// What two slices of one tensor have to do with each other.
enum class Places { Equal, Disjoint, Overlapping, Unknown };

/// Where a slice is along one axis; its elements are from `first` to `last`.
struct Axis {
  int64_t offset, size, stride, first, last;

  bool operator==(const Axis &other) const {
    return offset == other.offset && size == other.size &&
           stride == other.stride;
  }
  bool isBefore(const Axis &other) const { return last < other.first; }
};

/// Where `slice` is along `axis`, if that is constant.
static std::optional<Axis> getConstants(OffsetSizeAndStrideOpInterface slice,
                                        size_t axis) {
  int64_t offset = slice.getStaticOffsets()[axis],
          size = slice.getStaticSizes()[axis],
          stride = slice.getStaticStrides()[axis];
  if (llvm::any_of(ArrayRef{offset, size, stride}, ShapedType::isDynamic))
    return std::nullopt;
  std::optional<int64_t> end =
      llvm::checkedMulAdd<int64_t>(size - 1, stride, offset);
  if (!end)
    return std::nullopt;
  bool isBackwards = stride < 0;
  return Axis{offset, size, stride, isBackwards ? *end : offset,
              isBackwards ? offset : *end};
}

/// True for a slice that goes forwards, which MLIR takes for granted.
static bool isForwards(Operation *op) {
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  return slice && llvm::all_of(slice.getStaticStrides(), [](int64_t stride) {
           return ShapedType::isStatic(stride) && stride > 0;
         });
}

/// True if `a` along `axis` is what `b` is, computed by the same operations.
static bool isSameAxis(OffsetSizeAndStrideOpInterface a,
                       OffsetSizeAndStrideOpInterface b, size_t axis) {
  return isEqualConstantIntOrValue(a.getMixedOffsets()[axis],
                                   b.getMixedOffsets()[axis]) &&
         isEqualConstantIntOrValue(a.getMixedSizes()[axis],
                                   b.getMixedSizes()[axis]) &&
         isEqualConstantIntOrValue(a.getMixedStrides()[axis],
                                   b.getMixedStrides()[axis]);
}

/// Compares the places that two slices take, as far as it shows without
/// solving inequalities.
static Places compare(Operation *op, Operation *candidate) {
  auto a = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  auto b = dyn_cast<OffsetSizeAndStrideOpInterface>(candidate);
  if (!a || !b || a.getStaticOffsets().size() != b.getStaticOffsets().size())
    return Places::Unknown;
  bool areEqual = true, areKnown = true;
  for (size_t axis : llvm::seq(a.getStaticOffsets().size())) {
    auto x = getConstants(a, axis), y = getConstants(b, axis);
    // One axis is enough, whatever is known of the others.
    if (x && y && (x->isBefore(*y) || y->isBefore(*x)))
      return Places::Disjoint;
    bool isSame = x && y ? *x == *y : isSameAxis(a, b, axis);
    areEqual &= isSame;
    areKnown &= isSame || (x && y);
  }
  if (areEqual)
    return Places::Equal;
  return areKnown ? Places::Overlapping : Places::Unknown;
}

namespace {
template <typename SliceOp>
struct SliceSubset
    : SubsetOpInterface::ExternalModel<SliceSubset<SliceOp>, SliceOp> {
  using Equivalence = llvm::function_ref<bool(Value, Value)>;

  bool operatesOnEquivalentSubset(Operation *op, SubsetOpInterface candidate,
                                  Equivalence isEquivalent) const {
    if (!haveOneContainer(op, candidate, isEquivalent))
      return false;
    Places places = compare(op, candidate);
    if (places == Places::Unknown)
      return detail::defaultOperatesOnEquivalentSubset(op, candidate,
                                                       isEquivalent);
    return places == Places::Equal;
  }

  bool operatesOnDisjointSubset(Operation *op, SubsetOpInterface candidate,
                                Equivalence isEquivalent) const {
    if (!haveOneContainer(op, candidate, isEquivalent))
      return false;
    Places places = compare(op, candidate);
    if (places == Places::Unknown)
      return isForwards(op) && isForwards(candidate) &&
             detail::defaultOperatesOnDisjointSubset(op, candidate,
                                                     isEquivalent);
    return places == Places::Disjoint;
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
