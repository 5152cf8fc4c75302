//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ONNX models to the onnx and loop dialects.
//
// The result is `module { func.func @main(...) }`:
//
//  - the module has `loopc.model` (name), `loopc.ir_version`, `loopc.producer`;
//  - arguments and results of @main have `loopc.name` and, where the rank is
//    known, `loopc.dims`: the name of every dimension, "" where it has none or
//    is fixed;
//  - a graph input that also is an initializer has `loopc.default`, its value
//    where the caller leaves it out; before IR version 4 it is no argument but
//    the constant that its initializer says;
//  - locations are NameLoc("main/Loop 'decode'/body/#3 Gather 'g' (opset 13)")
//    around the model's file;
//  - weights of more than 1 KiB are resources (dense_resource), stored once
//    however many nodes and bodies use them; they refer to the mapped file of
//    external data or to the parsed model, without a copy. Elements are laid
//    out as MLIR does (C order, little endian): one byte for bool and for
//    element types of less than a byte, whose upper bits are zero.

#ifndef LOOPC_FRONTEND_ONNX_IMPORTER_H
#define LOOPC_FRONTEND_ONNX_IMPORTER_H

#include "loopc/Frontend/Common.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <functional>
#include <string>

namespace loopc {

/// How a model is imported.
struct ImportOptions : ShapePins {
  /// Says whether an operator (domain "" is ai.onnx) of that since_version has
  /// a lowering of its own. One that has none is replaced by its function body;
  /// one that has no such body either is an error. Null: every operator of a
  /// known schema stays as it is.
  std::function<bool(llvm::StringRef domain, llvm::StringRef opType,
                     int64_t since)>
      isLowered;
  /// Name of the model; empty: the graph's own, else the file's stem.
  std::string modelName;
  /// A Loop with a trip count and without a condition stops where its body
  /// yields false, as in onnxruntime.
  bool ortCompat = false;
  /// Folder of external data; empty: that of the model's file. A model from
  /// memory has none unless this is set.
  std::string externalDataFolder;
};

/// Imports the model in file `path`: binary, or textual (the onnx library's
/// text format; told apart by content). Emits errors and returns null where it
/// cannot.
mlir::OwningOpRef<mlir::ModuleOp> importONNXFile(llvm::StringRef path,
                                                 mlir::MLIRContext &context,
                                                 const ImportOptions &options);

/// The same from memory. `name` stands for the file in locations; where it is
/// the path of a file, external data is looked for beside it.
mlir::OwningOpRef<mlir::ModuleOp> importONNX(llvm::StringRef name,
                                             llvm::StringRef bytes,
                                             mlir::MLIRContext &context,
                                             const ImportOptions &options);

/// Reads "batch=1" into `options.dims`; returns what is wrong with it, or "".
std::string parseDimOption(llvm::StringRef text, ImportOptions &options);
/// Reads "x=1x?x3" ("x=" is a scalar) into `options.shapes`; the same.
std::string parseShapeOption(llvm::StringRef text, ImportOptions &options);

/// True if the onnx library knows any version of that operator.
bool hasSchema(llvm::StringRef domain, llvm::StringRef opType);

/// True if the onnx library defines that operator version by a function body,
/// under every opset that has it.
bool hasFunctionBody(llvm::StringRef domain, llvm::StringRef opType,
                     int64_t since);

/// Loads the dialects that the importer builds.
void registerImporterDialects(mlir::DialectRegistry &registry);

} // namespace loopc

#endif // LOOPC_FRONTEND_ONNX_IMPORTER_H
