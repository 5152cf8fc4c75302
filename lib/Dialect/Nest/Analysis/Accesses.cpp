//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Dialect/Nest/Analysis/Accesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace loopc;

Access loopc::getAccess(Operation *op) {
  return llvm::TypeSwitch<Operation *, Access>(op)
      .Case<memref::LoadOp>([](memref::LoadOp load) -> Access {
        return {load.getMemref(), load.getIndices(), {}, false};
      })
      .Case<memref::StoreOp>([](memref::StoreOp store) -> Access {
        return {store.getMemref(), store.getIndices(), {}, true};
      })
      .Case<vector::LoadOp>([](vector::LoadOp load) -> Access {
        return {load.getBase(), load.getIndices(), load.getVectorType(), false};
      })
      .Case<vector::StoreOp>([](vector::StoreOp store) -> Access {
        return {store.getBase(), store.getIndices(), store.getVectorType(),
                true};
      })
      // How many elements these reach is their masks' and bounds' matter.
      .Case<vector::MaskedLoadOp>([](auto load) -> Access {
        return {load.getBase(), load.getIndices(), {}, false};
      })
      .Case<vector::MaskedStoreOp>([](auto store) -> Access {
        return {store.getBase(), store.getIndices(), {}, true};
      })
      .Case<vector::TransferReadOp>([](auto read) -> Access {
        return {read.getBase(), read.getIndices(), {}, false};
      })
      .Case<vector::TransferWriteOp>([](auto write) -> Access {
        return {write.getBase(), write.getIndices(), {}, true};
      })
      .Default([](Operation *) { return Access(); });
}
