//===- CodeGen.h - From the LLVM dialect to machine code --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a module must hold when it comes here:
//   - llvm.func @loopc_entry(run, inputs, outputs: !llvm.ptr) -> i32;
//   - calls to loopc_rt_* (loopc-rt/runtime.h), to libm and to what LLVM knows
//     of libc, to nothing else;
//   - the module attributes of ModelInfo.h;
//   - weights as globals without initializer whose attribute `loopc.weight`
//     has the bytes.
// Everything reports through the diagnostics of the module's context.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_TARGET_CODEGEN_H
#define LOOPC_TARGET_CODEGEN_H

#include "loopc/Target/ModelInfo.h"
#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include "llvm/TargetParser/Triple.h"

namespace llvm {
class raw_pwrite_stream;
} // namespace llvm

namespace loopc {

/// What generateCode() writes.
enum class CodeKind { LLVMIR, PTX, Assembly, Object };

/// Registers the translations to LLVM IR that generateCode() needs.
void registerTargetTranslations(mlir::DialectRegistry &registry);

/// Checks triple, CPU and features, and reports what is wrong at `loc`.
mlir::LogicalResult checkTarget(const TargetOptions &options,
                                mlir::Location loc);

/// An empty store for machines of any target.
std::shared_ptr<MachineStore> createMachineStore();

/// The name of the CPU whose code most machines of the target run: what objects
/// and libraries are made for where nobody says it. Of this machine's
/// architecture it is one that this machine runs, too.
std::string getPortableCpu(const llvm::Triple &triple);

/// Compiles `module`, which is used up, and writes it to `os`.
///
/// The bytes of the weights go into an object; the text of LLVM IR and assembly
/// names the file `weightsFile` instead, which is written beside it (empty: it
/// is named NAME.weights, and not written). PTX is the device code alone.
mlir::LogicalResult generateCode(mlir::ModuleOp module, const ModelInfo &info,
                                 const TargetOptions &options, CodeKind kind,
                                 llvm::raw_pwrite_stream &os,
                                 llvm::StringRef weightsFile = "",
                                 mlir::TimingScope timing = {});

/// Compiles `module`, which is used up, and links it with the runtime to the
/// shared object `output`, which is written as it is made: callers give the
/// name of a temporary file. The bytes of the weights are written once, into
/// that file. `soname` is what programs that link to it will look for.
mlir::LogicalResult generateShared(mlir::ModuleOp module, const ModelInfo &info,
                                   const TargetOptions &options,
                                   llvm::StringRef output,
                                   llvm::StringRef soname,
                                   mlir::TimingScope timing = {});

/// Writes the C header of the model: its functions, and the names, types and
/// shapes of inputs and outputs as comments and as macros.
void writeHeader(const ModelInfo &info, llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_TARGET_CODEGEN_H
