//===- ConvertDialects.cpp - From all dialects to LLVM's ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Conversion/ToLLVM/NoAliasArguments.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTDIALECTSTOLLVM
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Dialects whose own interface has their conversion. That of functions is
/// asked for with a symbol table.
static constexpr StringLiteral kDialects[] = {
    "arith", "cf", "complex", "index", "math", "memref", "rt", "ub", "vector"};

static bool isConverted(StringRef dialect) {
  return dialect == "func" || llvm::is_contained(kDialects, dialect);
}

/// Enough for any number of cores that are there for one compiler.
static constexpr size_t kMaxParts = 16;

/// Converts all in `module`.
static LogicalResult convert(ModuleOp module) {
  MLIRContext &context = *module.getContext();
  ConversionTarget target(context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  // Operations that nothing here converts are not folded either, which MLIR
  // cannot take back without rollback.
  for (Dialect *dialect : context.getLoadedDialects())
    if (!isConverted(dialect->getNamespace()))
      target.addLegalDialect(dialect->getNamespace());
  LLVMTypeConverter converter(&context);
  RewritePatternSet patterns(&context);
  for (StringRef name : kDialects)
    // A dialect that is not loaded has no operations here.
    if (Dialect *dialect = context.getLoadedDialect(name))
      if (auto *interface = dyn_cast<ConvertToLLVMPatternInterface>(dialect))
        interface->populateConvertToLLVMConversionPatterns(target, converter,
                                                           patterns);
  SymbolTableCollection tables;
  populateFuncToLLVMConversionPatterns(converter, patterns, &tables);
  populateNoAliasArgumentPatterns(converter, patterns, tables);
  // All patterns are MLIR's or above, and succeed where they begin to write.
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyPartialConversion(module, target, std::move(patterns), config);
}

namespace {
/// A module whose functions are dealt to several, so that threads convert them
/// side by side. What is converted looks at no other function; what it declares
/// is declared in its own module first.
class DividedModule {
public:
  /// `partOps` operations are worth a part. How many there are follows from the
  /// code alone.
  DividedModule(ModuleOp whole, size_t partOps) : whole(whole) {
    deal(partOps);
  }

  LogicalResult convertAll() {
    return failableParallelForEach(
        whole.getContext(), parts,
        [](OwningOpRef<ModuleOp> &part) { return convert(*part); });
  }

  /// Brings all back in the order in which it was. Fails where two parts have
  /// made the same definition.
  LogicalResult join();

private:
  void deal(size_t partOps);

  ModuleOp whole;
  SmallVector<OwningOpRef<ModuleOp>> parts;
  SmallVector<StringAttr> order;
};
} // namespace

/// The operations in `op`.
static size_t countOps(Operation &op) {
  size_t count = 0;
  op.walk([&](Operation *) { ++count; });
  return count;
}

void DividedModule::deal(size_t partOps) {
  struct Function {
    Operation *op;
    size_t size, position;
  };
  SmallVector<Function> functions;
  size_t total = 0;
  for (Operation &op : *whole.getBody()) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      order.push_back(symbol.getNameAttr());
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal())
      continue;
    functions.push_back({&op, countOps(op), functions.size()});
    total += functions.back().size;
  }
  size_t numParts = std::min(total / partOps, kMaxParts);
  if (numParts < 2)
    return;
  SmallVector<size_t> load(numParts);
  for (size_t k = 0; k < numParts; ++k) {
    parts.push_back(ModuleOp::create(whole.getLoc()));
    (*parts.back())->setAttrs(whole->getDiscardableAttrDictionary());
  }
  // The largest first, each to the part that has least.
  llvm::sort(functions, [](const Function &a, const Function &b) {
    return std::tie(b.size, a.position) < std::tie(a.size, b.position);
  });
  for (const Function &function : functions) {
    auto *least = llvm::min_element(load);
    *least += function.size;
    ModuleOp part = *parts[std::distance(load.begin(), least)];
    function.op->moveBefore(part.getBody(), part.getBody()->end());
  }
}

static bool isDeclaration(Operation &op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function && function.isExternal();
}

LogicalResult DividedModule::join() {
  if (parts.empty())
    return success();
  llvm::SmallDenseMap<StringAttr, Operation *, 64> found;
  Block *body = whole.getBody();
  auto record = [&](Operation &op) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    return !symbol || found.try_emplace(symbol.getNameAttr(), &op).second;
  };
  for (Operation &op : *body)
    record(op);
  for (OwningOpRef<ModuleOp> &part : parts)
    for (Operation &op : llvm::make_early_inc_range(*part->getBody()))
      if (record(op))
        op.moveBefore(body, body->end());
      else if (!isDeclaration(op))
        return op.emitOpError("is defined in another part, too");
  for (StringAttr name : order)
    if (Operation *op = found.lookup(name))
      op->moveBefore(body, body->end());
  return success();
}

namespace {
struct ConvertDialectsToLLVM
    : loopc::impl::ConvertDialectsToLLVMBase<ConvertDialectsToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    DividedModule divided(getOperation(), std::max(partOps.getValue(), 1u));
    LogicalResult result = divided.convertAll();
    // What is not in functions; all where there is little.
    if (succeeded(result))
      result = convert(getOperation());
    if (failed(divided.join()) || failed(result))
      signalPassFailure();
  }
};
} // namespace
