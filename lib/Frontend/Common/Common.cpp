//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Frontend/Common.h"
#include "loopc/Support/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace loopc;

/// What there is, behind `lead`, for an error that names what is not there;
/// empty where there is nothing.
static std::string listNames(StringRef lead, const llvm::StringSet<> &names) {
  SmallVector<StringRef> sorted;
  for (StringRef name : names.keys())
    if (!name.empty())
      sorted.push_back(name);
  llvm::sort(sorted);
  if (sorted.empty())
    return "";
  return lead.str() + "'" + llvm::join(sorted, "', '") + "'";
}

LogicalResult loopc::checkPins(Location loc, const ShapePins &pins,
                               const llvm::StringSet<> &inputs,
                               const llvm::StringSet<> &dims, StringRef what) {
  for (const auto &pin : pins.dims)
    if (!dims.contains(pin.getKey()))
      return loopc::emitError(loc, Diag::UnknownDim)
             << "no input of the " << what << " has a dimension '"
             << pin.getKey() << "'" << listNames("; there are: ", dims);
  for (const auto &pin : pins.shapes)
    if (!inputs.contains(pin.getKey()))
      return loopc::emitError(loc, Diag::UnknownInput)
             << "the " << what << " has no input '" << pin.getKey() << "'"
             << listNames("; it has: ", inputs);
  return success();
}

void loopc::fixDim(ShapePins &pins, StringRef input, int64_t axis,
                   StringRef name) {
  auto shape = pins.shapes.find(input);
  if (name.empty() || shape == pins.shapes.end() ||
      axis >= static_cast<int64_t>(shape->second.size()))
    return;
  int64_t extent = shape->second[axis];
  if (ShapedType::isDynamic(extent))
    return;
  // Shapes that contradict each other are what they say, and fix nothing else:
  // there are models whose names do not mean what they say.
  auto [known, isNew] = pins.dims.try_emplace(name, extent);
  if (known->second != extent)
    known->second = ShapedType::kDynamic;
}

LogicalResult loopc::verifyImported(ModuleOp module) {
  MLIRContext &context = *module.getContext();
  bool printsOps = context.shouldPrintOpOnDiagnostic();
  context.printOpOnDiagnostic(false);
  LogicalResult verified = verify(module);
  context.printOpOnDiagnostic(printsOps);
  return verified;
}

namespace {
/// Keeps diagnostics back until it is known whether they matter.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(MLIRContext &context)
      : context(context),
        handler(std::in_place, &context, [this](Diagnostic &diag) {
          held.push_back(std::move(diag));
          return success();
        }) {}

  /// Lets those that come now pass.
  void stop() { handler.reset(); }

  /// Hands on what was kept.
  void release() {
    stop();
    for (Diagnostic &diag : held)
      context.getDiagEngine().emit(std::move(diag));
    held.clear();
  }

private:
  MLIRContext &context;
  std::vector<Diagnostic> held;
  std::optional<ScopedDiagnosticHandler> handler;
};
} // namespace

LogicalResult loopc::settleTypes(
    SmallVectorImpl<Type> &types, const TypeSettling &settling,
    llvm::function_ref<LogicalResult(ArrayRef<Type>, SmallVectorImpl<Type> &)>
        import) {
  if (settling.known.size() == types.size())
    for (auto [type, known] : llvm::zip(types, settling.known))
      if (Type joined = onnx::joinTypes(type, known))
        type = joined;
  constexpr unsigned kPatience = 6;
  std::unique_ptr<HeldDiagnostics> firstErrors;
  for (unsigned round = 0;; ++round) {
    SmallVector<Type> next;
    auto held = std::make_unique<HeldDiagnostics>(*settling.context);
    LogicalResult imported = import(types, next);
    held->stop();
    if (succeeded(imported) && ArrayRef(next) == ArrayRef<Type>(types)) {
      held->release();
      return success();
    }
    if (failed(imported)) {
      // What is said of the tightest types is said best.
      if (!firstErrors)
        firstErrors = std::move(held);
      next = llvm::map_to_vector(types, settling.loosen);
      if (!settling.retries || ArrayRef(next) == ArrayRef<Type>(types)) {
        firstErrors->release();
        return failure();
      }
    }
    // Where one dimension after the other turns out to change, all do.
    if (round >= kPatience)
      for (auto [type, old] : llvm::zip(next, types))
        if (type != old)
          type = settling.loosen(type);
    types.assign(next);
  }
}
