//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Messages.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace loopc;
using llvm::raw_ostream;

InFlightDiagnostic loopc::emitError(Location loc, Diag diag) {
  return std::move(mlir::emitError(loc) << getCode(diag) << ": ");
}
InFlightDiagnostic loopc::emitWarning(Location loc, Diag diag) {
  return std::move(mlir::emitWarning(loc) << getCode(diag) << ": ");
}

StringRef loopc::extractCode(StringRef text) {
  StringRef code = text.take_front(6);
  if (code.size() == 6 && code.starts_with("LC") &&
      llvm::all_of(code.drop_front(2), llvm::isDigit) &&
      text.drop_front(6).starts_with(": "))
    return code;
  return {};
}

StringRef loopc::stripCode(StringRef text) {
  return extractCode(text).empty() ? text : text.drop_front(8);
}

Diag loopc::classify(StringRef text) {
  // Operations' own errors read "'onnx.node' op ...".
  if (text.starts_with("'onnx."))
    return Diag::BadNode;
  if (text.starts_with("'loop."))
    return Diag::BadLoop;
  return Diag::LoweringFailed;
}

/// Finds the file and the innermost name that a location holds.
static void findParts(Location loc, std::string &file, std::string &name) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    if (name.empty())
      name = named.getName().str();
    findParts(named.getChildLoc(), file, name);
  } else if (auto position = dyn_cast<FileLineColLoc>(loc)) {
    if (!file.empty())
      return;
    file = position.getFilename().str();
    // Models have no lines: their nodes are at 0:0.
    if (position.getLine())
      file += ":" + std::to_string(position.getLine()) + ":" +
              std::to_string(position.getColumn());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations()) {
      findParts(part, file, name);
      if (!file.empty() || !name.empty())
        return;
    }
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    findParts(call.getCallee(), file, name);
  }
}

std::string loopc::getLocationText(Location loc) {
  std::string file, name;
  findParts(loc, file, name);
  if (!file.empty() && !name.empty())
    return file + ": " + name;
  return file + name;
}

std::string loopc::locationPath(Location loc) {
  std::string path;
  loc->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name)
      return WalkResult::advance();
    path = name.getName().str();
    return WalkResult::interrupt();
  });
  if (path.empty()) {
    // Of MLIR that somebody wrote: the place in the file, wherever that lies.
    std::string file, name;
    findParts(loc, file, name);
    StringRef place = llvm::sys::path::filename(file);
    path = place.empty() ? "an unknown place" : place.str();
  }
  return escapeHoles(escapeControls(path));
}

static CollectedDiagnostic collect(Diagnostic &diag) {
  CollectedDiagnostic result;
  result.severity = diag.getSeverity();
  std::string text = diag.str();
  result.code = extractCode(text).str();
  if (result.code.empty() && result.isError())
    result.code = getCode(classify(text)).str();
  result.message = elideMiddle(escapeControls(stripCode(text)));
  result.location =
      elideMiddle(escapeControls(getLocationText(diag.getLocation())));
  for (Diagnostic &note : diag.getNotes()) {
    result.notes.push_back(collect(note));
    // A note at the place of its diagnostic need not say so again.
    if (result.notes.back().location == result.location)
      result.notes.back().location.clear();
  }
  return result;
}

static void print(const CollectedDiagnostic &diag, raw_ostream &os,
                  bool color) {
  auto paint = [&](raw_ostream::Colors what, StringRef text) {
    if (color)
      os.changeColor(what, /*Bold=*/true);
    os << text;
    if (color)
      os.resetColor();
  };
  if (!diag.location.empty())
    os << diag.location << ": ";
  switch (diag.severity) {
  case DiagnosticSeverity::Error:
    paint(raw_ostream::RED, "error: ");
    break;
  case DiagnosticSeverity::Warning:
    paint(raw_ostream::MAGENTA, "warning: ");
    break;
  case DiagnosticSeverity::Note:
    paint(raw_ostream::CYAN, "note: ");
    break;
  case DiagnosticSeverity::Remark:
    paint(raw_ostream::BLUE, "remark: ");
    break;
  }
  if (!diag.code.empty())
    os << diag.code << ": ";
  os << diag.message << "\n";
  for (const CollectedDiagnostic &note : diag.notes)
    print(note, os, color);
}

std::string CollectedDiagnostic::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(*this, os, /*color=*/false);
  return text;
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diag) {
        collected.push_back(collect(diag));
        numErrors += collected.back().isError();
        return success();
      }) {}

std::string DiagnosticCollector::str() const {
  std::string text;
  for (const CollectedDiagnostic &diag : collected)
    text += diag.str();
  return text;
}

void DiagnosticCollector::clear() {
  collected.clear();
  numErrors = 0;
}

TextDiagnosticPrinter::TextDiagnosticPrinter(MLIRContext *context,
                                             raw_ostream &os)
    : handler(context, [this, &os](Diagnostic &diag) {
        CollectedDiagnostic collected = collect(diag);
        numErrors += collected.isError();
        numWarnings += collected.severity == DiagnosticSeverity::Warning;
        print(collected, os, mayUseColor(os));
        return success();
      }) {}

void loopc::printError(raw_ostream &os, StringRef tool, Diag diag,
                       const Twine &message) {
  CollectedDiagnostic text;
  text.code = getCode(diag).str();
  text.location = tool.str();
  text.message = message.str();
  print(text, os, mayUseColor(os));
}
