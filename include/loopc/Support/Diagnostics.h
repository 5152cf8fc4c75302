//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Diagnostics with stable codes, and the handlers that print or collect them.
// A diagnostic carries its code at the front of its text ("LC0207: ..."), so
// that it survives every handler that MLIR has.

#ifndef LOOPC_SUPPORT_DIAGNOSTICS_H
#define LOOPC_SUPPORT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace loopc {

/// Every code of Diagnostics.def.
enum class Diag {
#define LOOPC_DIAG(code, name, summary) name,
#include "loopc/Support/Diagnostics.def"
};

/// "LC0207".
llvm::StringRef getCode(Diag diag);
/// The line that documentation shows for a code.
llvm::StringRef getSummary(Diag diag);
/// All codes, in the order of Diagnostics.def.
llvm::ArrayRef<Diag> getAllDiags();

/// Emits an error (a warning) whose text begins with the code of `diag`.
mlir::InFlightDiagnostic emitError(mlir::Location loc, Diag diag);
mlir::InFlightDiagnostic emitWarning(mlir::Location loc, Diag diag);

/// The code at the front of a diagnostic's text; empty where there is none.
llvm::StringRef extractCode(llvm::StringRef text);
/// The text without its code.
llvm::StringRef stripCode(llvm::StringRef text);

/// The code that stands for a diagnostic of MLIR itself, which has none: found
/// by the operation that its text names.
Diag classify(llvm::StringRef text);

/// A diagnostic, once handled. `location` is "model.onnx: main/#0 Add 'a'
/// (opset 14)", "file.mlir:3:7", or empty.
struct CollectedDiagnostic {
  mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error;
  std::string code;
  std::string location;
  /// Without code and location.
  std::string message;
  std::vector<CollectedDiagnostic> notes;

  bool isError() const { return severity == mlir::DiagnosticSeverity::Error; }
  /// As TextDiagnosticPrinter prints it, without colour; ends in a newline.
  std::string str() const;
};

/// File and graph path, or file:line:column, of a location.
std::string getLocationText(mlir::Location loc);

/// The path of a node in its model, as the importer wrote it into the location:
/// "main/Loop 'decode'/body/#3 Gather 'g' (opset 13)"; file:line:column, or "an
/// unknown place", where there is none. Messages of loop.check may begin with
/// it: braces in it hold no places for values.
std::string locationPath(mlir::Location loc);

/// Collects what is emitted while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  const std::vector<CollectedDiagnostic> &get() const { return collected; }
  unsigned getNumErrors() const { return numErrors; }
  /// All diagnostics as text.
  std::string str() const;
  /// Drops what was collected.
  void clear();

private:
  std::vector<CollectedDiagnostic> collected;
  unsigned numErrors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

/// Prints what is emitted while it lives:
///   model.onnx: main/Loop 'decode'/body/#3 Gather 'g' (opset 13): error:
///   LC0303: ...
/// with the notes below. Colour is used only where `os` is a terminal and
/// NO_COLOR is not set.
class TextDiagnosticPrinter {
public:
  explicit TextDiagnosticPrinter(mlir::MLIRContext *context,
                                 llvm::raw_ostream &os = llvm::errs());

  unsigned getNumErrors() const { return numErrors; }
  unsigned getNumWarnings() const { return numWarnings; }

private:
  unsigned numErrors = 0;
  unsigned numWarnings = 0;
  mlir::ScopedDiagnosticHandler handler;
};

/// True if text on `os` may be coloured.
bool mayUseColor(llvm::raw_ostream &os);

/// Prints an error that has no MLIR context behind it: "tool: error: LC0101:
/// ...".
void printError(llvm::raw_ostream &os, llvm::StringRef tool, Diag diag,
                const llvm::Twine &message);

} // namespace loopc

#endif // LOOPC_SUPPORT_DIAGNOSTICS_H
