//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Pipelines/VerifyOperations.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;

/// True if the extents of a group of `expanded` are known, and their product
/// is another number than the extent of `collapsed` that they replace; or if it
/// is 0 whatever the open ones of the group are, for which upstream's verifier
/// wants an open extent, and its folds write 0:
///
///   memref.collapse_shape %b [[0, 1]] : memref<0x?xf32> into memref<0xf32>
static bool doGroupsContradict(ShapedType collapsed, ShapedType expanded,
                               ArrayRef<ReassociationIndices> groups) {
  auto isOfAxes = [&](const ReassociationIndices &group) {
    return llvm::all_of(group, [&](int64_t axis) {
      return axis >= 0 && axis < expanded.getRank();
    });
  };
  if (!llvm::all_of(groups, isOfAxes))
    return false;
  for (auto [extent, group] : llvm::zip(collapsed.getShape(), groups)) {
    SmallVector<int64_t> parts;
    for (int64_t axis : group)
      parts.push_back(expanded.getDimSize(axis));
    bool isOpen = llvm::any_of(parts, ShapedType::isDynamic);
    if (isOpen && llvm::is_contained(parts, 0) && extent == 0)
      return true;
    if (!isOpen && ShapedType::isStatic(extent) &&
        llvm::product_of(parts) != extent)
      return true;
  }
  return false;
}

/// True if a cast, or a copy, is between known extents that differ.
static bool doCastsContradict(Type one, Type other) {
  auto from = dyn_cast<ShapedType>(one), to = dyn_cast<ShapedType>(other);
  return from && to && from.hasRank() && to.hasRank() &&
         from.getRank() == to.getRank() &&
         from.getElementType() == to.getElementType() &&
         failed(verifyCompatibleShape(from.getShape(), to.getShape()));
}

/// True if a part of something of type `whole` that `slice` describes with
/// numbers is not in it; one of no elements at the end of it is none for MLIR.
static bool isOutside(ShapedType whole, ShapedType part,
                      OffsetSizeAndStrideOpInterface slice) {
  auto rank = static_cast<size_t>(whole.getRank());
  ArrayRef<int64_t> sizes = slice.getStaticSizes();
  if (slice.getStaticOffsets().size() != rank || sizes.size() != rank ||
      slice.getStaticStrides().size() != rank ||
      isRankReducedType(
          RankedTensorType::get(sizes, whole.getElementType()),
          RankedTensorType::get(part.getShape(), part.getElementType())) !=
          SliceVerificationResult::Success)
    return false;
  return !verifyInBoundsSlice(whole.getShape(), slice.getStaticOffsets(), sizes,
                              slice.getStaticStrides())
              .isValid;
}

/// A view whose extents are not those of what it is a view of, or as known as
/// upstream's verifier wants them, or a part that is not in it, or a copy to
/// something else. Code that a run
/// never reaches, behind a check that never holds or in a version of a loop for
/// extents that there are not, may describe such a one, and upstream's folds
/// write into its type what they know:
///
///   %d = memref.cast %b : memref<2xf32> to memref<?xf32>
///   %v = memref.cast %d : memref<?xf32> to memref<1xf32>
///   ->  %v = memref.cast %b : memref<2xf32> to memref<1xf32>
///
/// Its verifier says that there is no such view, which is right.
static bool isImpossibleView(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<memref::CastOp, tensor::CastOp>([](auto cast) {
        return doCastsContradict(cast.getSource().getType(), cast.getType());
      })
      .Case<memref::ExpandShapeOp, tensor::ExpandShapeOp>([](auto view) {
        return doGroupsContradict(view.getSrcType(), view.getResultType(),
                                  view.getReassociationIndices());
      })
      .Case<memref::CollapseShapeOp, tensor::CollapseShapeOp>([](auto view) {
        return doGroupsContradict(view.getResultType(), view.getSrcType(),
                                  view.getReassociationIndices());
      })
      .Case<memref::SubViewOp, tensor::ExtractSliceOp>([](auto part) {
        return isOutside(part.getSourceType(), part.getType(), part);
      })
      .Case<memref::CopyOp>([](memref::CopyOp copy) {
        return doCastsContradict(copy.getSource().getType(),
                                 copy.getTarget().getType());
      })
      .Case<tensor::InsertSliceOp>([](tensor::InsertSliceOp part) {
        return isOutside(part.getDestType(), part.getSourceType(), part);
      })
      .Default([](Operation *) { return false; });
}

SmallVector<Operation *>
loopc::verifyOperations(Operation *root,
                        llvm::function_ref<void(Diagnostic &)> report) {
  MLIRContext *context = root->getContext();
  SmallVector<Diagnostic> found;
  auto isValid = [&](Operation *op, bool recursively) {
    ScopedDiagnosticHandler handler(
        context, [&](Diagnostic &each) { found.push_back(std::move(each)); });
    return succeeded(verify(op, recursively));
  };
  if (isValid(root, /*recursively=*/true))
    return {};
  found.clear();
  SmallVector<Operation *> impossible;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    size_t before = found.size();
    if (!isValid(op, /*recursively=*/false) && isImpossibleView(op)) {
      found.truncate(before);
      impossible.push_back(op);
    }
  });
  for (Diagnostic &each : found)
    if (each.getSeverity() == DiagnosticSeverity::Error)
      report(each);
  return impossible;
}

namespace {
struct PassVerifier : PassInstrumentation {
  explicit PassVerifier(bool &hasFailed) : hasFailed(hasFailed) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    // One error is followed by others.
    if (hasFailed)
      return;
    verifyOperations(op, [&](Diagnostic &each) {
      hasFailed = true;
      loopc::emitError(each.getLocation(), Diag::Internal)
          << "behind the pass " << pass->getName() << ": " << each.str();
    });
  }

  bool &hasFailed;
};
} // namespace

void loopc::verifyEachPass(PassManager &passes, bool &hasFailed) {
  passes.addInstrumentation(std::make_unique<PassVerifier>(hasFailed));
}
