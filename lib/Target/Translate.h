//===- Translate.h - From the LLVM dialect to LLVM IR -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_TRANSLATE_H
#define LOOPC_LIB_TARGET_TRANSLATE_H

#include "Machine.h"
#include "Weights.h"
#include "loopc/Target/ModelInfo.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace loopc {

/// Where the bytes of the weights are.
enum class WeightPlace {
  Object, ///< in a section of this object, in reach of its code
  Process ///< anywhere in memory
};

/// LLVM IR with its context. Errors of LLVM's passes become diagnostics at the
/// location of the MLIR module.
struct LLVMModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  /// Set by LLVM's diagnostics.
  std::unique_ptr<bool> hasError;
};

/// Translates `module`: all functions become internal but NAME_model and
/// NAME_run, which are added. Not optimised.
mlir::FailureOr<LLVMModule> translateModule(mlir::ModuleOp module,
                                            const ModelInfo &info,
                                            const Machine &machine,
                                            const WeightSet &weights,
                                            WeightPlace place);

/// Runs LLVM's passes of -O0 to -O3.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    unsigned level);

/// Writes `module` as assembly or object.
mlir::LogicalResult emitCode(LLVMModule &module, llvm::TargetMachine &machine,
                             llvm::CodeGenFileType kind,
                             llvm::raw_pwrite_stream &os, mlir::Location loc);

/// Takes the weights out of `weights` that no code of `module` reads any more.
void dropUnusedWeights(const llvm::Module &module, WeightSet &weights);

/// Adds the weights as a section of its own, whose bytes the assembler takes
/// from `file`, as WeightSet::write() writes it.
void addWeightSection(llvm::Module &module, const ModelInfo &info,
                      const WeightSet &weights, llvm::StringRef file);

/// Adds an empty section, with the symbols of the weights where they will be
/// once writeObject() has filled it.
void addEmptyWeightSection(llvm::Module &module, const ModelInfo &info,
                           const WeightSet &weights);

/// Writes the ELF object `object`, made after addEmptyWeightSection(), and the
/// bytes of the weights behind it: they are copied once, from where they are to
/// the file.
mlir::LogicalResult writeObject(llvm::MutableArrayRef<char> object,
                                const ModelInfo &info, const WeightSet &weights,
                                llvm::raw_ostream &os, mlir::Location loc);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_TRANSLATE_H
