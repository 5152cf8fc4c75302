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
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace loopc;

/// True if the extents of a group of `expanded` are known, and their product
/// is another number than the extent of `collapsed` that they replace.
static bool doGroupsContradict(MemRefType collapsed, MemRefType expanded,
                               ArrayRef<ReassociationIndices> groups) {
  for (auto [extent, group] : llvm::zip(collapsed.getShape(), groups)) {
    int64_t product = 1;
    for (int64_t axis : group) {
      int64_t part = expanded.getDimSize(axis);
      product = ShapedType::isDynamic(part) || ShapedType::isDynamic(product)
                    ? ShapedType::kDynamic
                    : product * part;
    }
    if (ShapedType::isStatic(product) && ShapedType::isStatic(extent) &&
        product != extent)
      return true;
  }
  return false;
}

/// A view whose extents are not those of what it is a view of. Code that a run
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
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    auto from = dyn_cast<MemRefType>(cast.getSource().getType());
    auto to = dyn_cast<MemRefType>(cast.getType());
    return from && to && from.getRank() == to.getRank() &&
           from.getElementType() == to.getElementType() &&
           failed(verifyCompatibleShape(from.getShape(), to.getShape()));
  }
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op))
    return doGroupsContradict(view.getSrcType(), view.getResultType(),
                              view.getReassociationIndices());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    return doGroupsContradict(view.getResultType(), view.getSrcType(),
                              view.getReassociationIndices());
  return false;
}

unsigned
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
    return 0;
  found.clear();
  unsigned numImpossible = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    size_t before = found.size();
    if (!isValid(op, /*recursively=*/false) && isImpossibleView(op)) {
      found.truncate(before);
      ++numImpossible;
    }
  });
  for (Diagnostic &each : found)
    if (each.getSeverity() == DiagnosticSeverity::Error)
      report(each);
  return numImpossible;
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
