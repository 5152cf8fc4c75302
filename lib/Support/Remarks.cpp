//===- Remarks.cpp - What was done to a loop, or why not ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Remarks.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace {
/// Hands remarks on as diagnostics: they are printed, located and collected
/// like errors and warnings.
class DiagnosticStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const remark::detail::Remark &found) override {
    std::string text;
    for (const remark::detail::Remark::Arg &arg : found.getArgs())
      text += arg.val;
    mlir::emitRemark(found.getLocation()) << text;
  }
};
} // namespace

static remark::RemarkOpts makeOptions(StringRef name) {
  return remark::RemarkOpts::name(name).category("loop");
}

// The text is one string: MLIR prints each part with a key.

void loopc::remarkDone(Location loc, StringRef name, const Twine &text) {
  if (auto remark = remark::passed(loc, makeOptions(name)))
    remark << text.str();
}

void loopc::remarkMissed(Location loc, StringRef name, const Twine &text) {
  if (auto remark = remark::missed(loc, makeOptions(name)))
    remark << text.str();
}

void loopc::remarkFact(Location loc, StringRef name, const Twine &text) {
  if (auto remark = remark::analysis(loc, makeOptions(name)))
    remark << text.str();
}

static constexpr StringLiteral kGeneralVersion = "general version";

void loopc::locateInGeneralVersion(Operation *loop) {
  MLIRContext *context = loop->getContext();
  auto version = StringAttr::get(context, kGeneralVersion);
  loop->walk([&](Operation *op) {
    op->setLoc(FusedLoc::get({op->getLoc()}, version, context));
  });
}

bool loopc::isInGeneralVersion(Location loc) {
  return loc
      ->walk([](Location inner) {
        auto fused = dyn_cast<FusedLoc>(inner);
        auto why = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                         : StringAttr();
        return why && why.getValue() == kGeneralVersion
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void loopc::enableRemarks(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = ".*";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<DiagnosticStreamer>(),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}
