//===- count-carried.cpp - A pass from outside of the tree ----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// mlir-opt with the dialect `loop` and a pass that says what loops carry.

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

namespace {
struct CountCarried : PassWrapper<CountCarried, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountCarried)

  StringRef getArgument() const override { return "count-carried"; }
  StringRef getDescription() const override { return "say what loops carry"; }
  void runOnOperation() override {
    getOperation().walk([](loopc::loop::LoopOp loop) {
      loop.emitRemark() << loop.getNumCarried() << " carried, "
                        << loop.getNumCollected() << " collected";
    });
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect,
                  loopc::loop::LoopDialect, tensor::TensorDialect>();
  PassRegistration<CountCarried>();
  return asMainReturnCode(MlirOptMain(argc, argv, "count-carried\n", registry));
}
