//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What every front end does on the way to the onnx and loop dialects.

#ifndef LOOPC_FRONTEND_COMMON_H
#define LOOPC_FRONTEND_COMMON_H

#include "loopc/Dialect/ONNX/IR/ONNX.h"
#include "loopc/Dialect/ONNX/IR/Schema.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

namespace loopc {

/// What a user fixes of the shapes that a model leaves open.
struct ShapePins {
  /// Extents for named dimensions (--dim batch=1); ShapedType::kDynamic where
  /// the name is none, and those that have it are unrelated (--dim batch=?).
  llvm::StringMap<int64_t> dims;
  /// Shapes for inputs (--shape x=1x3); ShapedType::kDynamic where it is left
  /// open.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
};

/// Emits an error at `loc` for a pin of a dimension or an input that `what`
/// ("model") does not have.
llvm::LogicalResult checkPins(mlir::Location loc, const ShapePins &pins,
                              const llvm::StringSet<> &inputs,
                              const llvm::StringSet<> &dims,
                              llvm::StringRef what);

/// A shape that is given for an input fixes the extents of its named
/// dimensions, of other inputs, too: axis `axis` of `input` is called `name`.
void fixDim(ShapePins &pins, llvm::StringRef input, int64_t axis,
            llvm::StringRef name);

/// Verifies what a front end made. Errors come without the text of the
/// operation, which with all its weights would help nobody.
llvm::LogicalResult verifyImported(mlir::ModuleOp module);

/// How the types of the carried values of a loop are settled.
struct TypeSettling {
  mlir::MLIRContext *context;
  /// The types that the same loop had when it was imported before: a loop in a
  /// loop is imported again with the outer one, and begins where it ended, so
  /// that nesting does not multiply the rounds. Empty: never before.
  llvm::ArrayRef<mlir::Type> known = {};
  /// The loosest type that a carried value of a type can have.
  llvm::function_ref<mlir::Type(mlir::Type)> loosen;
  /// A body that fails may succeed with looser types: it is tried again with
  /// the loosest. False: the first failure is the last.
  bool retries = true;
};

/// Imports a loop's body with the initial values' types, `types`, and again
/// with looser ones, until the types of what it yields are those of its
/// arguments (loop_carried). `import` imports the body for the types of its
/// arguments and tells those that it yields. On return `types` has what was
/// tried last.
llvm::LogicalResult settleTypes(
    llvm::SmallVectorImpl<mlir::Type> &types, const TypeSettling &settling,
    llvm::function_ref<llvm::LogicalResult(llvm::ArrayRef<mlir::Type>,
                                           llvm::SmallVectorImpl<mlir::Type> &)>
        import);

} // namespace loopc

#endif // LOOPC_FRONTEND_COMMON_H
