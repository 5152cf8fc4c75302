//===- Emitter.h - A network as a module -----------------------*- C++ -*===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_FRONTEND_NETWORK_EMITTER_H
#define LOOPC_LIB_FRONTEND_NETWORK_EMITTER_H

#include "LayerEmitter.h"
#include "Plan.h"
#include "loopc/Frontend/Network/Emit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace loopc::network {

/// Emits one network, once.
class Emitter : LayerEmitter {
public:
  Emitter(const INetworkDefinition &network, mlir::MLIRContext &context,
          const EmitOptions &options)
      : LayerEmitter(network, context), options(options) {}

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  //===--- Emitter.cpp: the network's border ------------------------------===//

  LogicalResult checkPins();
  LogicalResult emitMain();
  LogicalResult emitInputs(mlir::func::FuncOp func);
  /// The type, and the name of each dimension.
  FailureOr<Type> inputType(const ITensor &tensor,
                            llvm::SmallVectorImpl<mlir::Attribute> &names);
  LogicalResult emitOutputs(mlir::func::FuncOp func);

  /// The value of `tensor`; null after an error where there is none.
  FailureOr<Value> get(const ITensor &tensor);
  LogicalResult emitItems(llvm::ArrayRef<Item> items);
  LogicalResult emitScope(const Scope &scope);

  //===--- Loops.cpp ------------------------------------------------------===//

  struct LoopParts;
  LogicalResult emitLoop(const Scope &scope);
  LogicalResult readLoop(LoopParts &parts);
  LogicalResult readOutputs(LoopParts &parts);
  /// Splits what the kWHILE condition needs from the rest of the body.
  LogicalResult planCondition(LoopParts &parts);
  /// True if the items may be run for a trip that does not happen.
  bool isSafe(const LoopParts &parts, llvm::ArrayRef<Item> items);
  /// An integer scalar, sign extended.
  Value toI64(Value integer);
  LogicalResult emitFirstCondition(LoopParts &parts);
  /// The condition's items for trip `index`, with the values that `recurrences`
  /// has then; gives the condition and what the body shares with it.
  LogicalResult emitCondition(LoopParts &parts,
                              llvm::ArrayRef<Value> recurrences, Value index,
                              llvm::SmallVectorImpl<Value> &values);
  /// The same where `index` is one of the trips, else false.
  FailureOr<Value> emitGuardedCondition(LoopParts &parts,
                                        llvm::ArrayRef<Value> recurrences,
                                        Value index);
  LogicalResult settleLoop(LoopParts &parts);
  LogicalResult emitBody(LoopParts &parts, llvm::SmallVectorImpl<Type> &next);
  LogicalResult joinCarried(LoopParts &parts, llvm::ArrayRef<Value> values,
                            llvm::SmallVectorImpl<Type> &next);
  LogicalResult buildLoop(LoopParts &parts);

  LogicalResult emitConditional(const Scope &scope);
  LogicalResult emitBranch(const Scope &scope, int32_t side,
                           mlir::Region &region,
                           llvm::SmallVectorImpl<Value> &values);

  EmitOptions options;
  std::unique_ptr<Plan> plan;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Types of the carried values that a loop ended with.
  llvm::DenseMap<const Scope *, llvm::SmallVector<Type>> settled;
};

} // namespace loopc::network

#endif // LOOPC_LIB_FRONTEND_NETWORK_EMITTER_H
