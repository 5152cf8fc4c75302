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
#include <string>
#include <vector>

namespace loopc {

/// Where the bytes of the weights are.
enum class WeightPlace {
  Object, ///< in a section of this object, in reach of its code
  Process ///< anywhere in memory
};

/// LLVM IR with its context.
struct LLVMModule {
  /// What LLVM's passes say. Threads work on modules, so that it waits here.
  struct Message {
    bool isError;
    std::string text;
  };

  /// A context without a module, that collects messages.
  static LLVMModule create();

  /// Emits the messages at `loc`, the place of the MLIR module. Failure if one
  /// was an error.
  mlir::LogicalResult report(mlir::Location loc);

  std::unique_ptr<std::vector<Message>> messages;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  /// The lines of TargetOptions::nodesFile.
  std::vector<std::string> nodes;
};

/// Translates `module`: all functions become internal but NAME_model and
/// NAME_run, which are added. Not optimised. Kernels, which `module` loses, are
/// compiled to the end.
mlir::FailureOr<LLVMModule>
translateModule(mlir::ModuleOp module, const ModelInfo &info,
                const Machine &machine, const TargetOptions &options,
                const WeightSet &weights, WeightPlace place);

/// Runs LLVM's passes of -O0 to -O3.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    unsigned level);

/// Writes `module` as assembly or object; false if the target has no such file.
bool emitCode(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::CodeGenFileType kind, llvm::raw_pwrite_stream &os);

/// Adds the weights as a section of its own, whose bytes the assembler takes
/// from `file`, as WeightSet::write() writes it.
void addWeightSection(llvm::Module &module, const ModelInfo &info,
                      const WeightSet &weights, llvm::StringRef file);

/// What becomes of a section of weights whose bytes LLVM does not see.
enum class WeightBytes {
  Appended, ///< the section is empty until appendWeights()
  Reserved  ///< it takes room in what is linked, which fillWeights() fills
};

/// Adds such a section, with the symbols of the weights where they will be.
/// They are local, or hidden if code of other objects reads them (`isShared`).
void addEmptyWeightSection(llvm::Module &module, const ModelInfo &info,
                           const WeightSet &weights, WeightBytes bytes,
                           bool isShared);

/// Writes the ELF object `object`, made with WeightBytes::Appended, and the
/// bytes of the weights behind it: they are copied once, from where they are to
/// the file.
mlir::LogicalResult appendWeights(llvm::MutableArrayRef<char> object,
                                  const WeightSet &weights,
                                  llvm::raw_ostream &os, mlir::Location loc);

/// Writes the bytes of the weights into the ELF file `path`, which was linked
/// of an object made with WeightBytes::Reserved.
mlir::LogicalResult fillWeights(llvm::StringRef path, const WeightSet &weights,
                                mlir::Location loc);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_TRANSLATE_H
