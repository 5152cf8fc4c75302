//===- NestUses.h - What a nest does with buffers ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_DIALECT_NEST_TRANSFORMS_NESTUSES_H
#define LOOPC_LIB_DIALECT_NEST_TRANSFORMS_NESTUSES_H

#include "loopc/Support/CpuModel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace loopc {

/// A buffer of so many bytes leaves the caches next to a core before it is read
/// again: it is made smaller.
inline constexpr int64_t kBeyondCaches = CpuModel::kSecondCache / 2;

/// How a nest uses one buffer.
struct NestUse {
  bool isRead = false, isWritten = false;
  /// The axis along which each iteration stays within its own part; none where
  /// it does not.
  std::optional<unsigned> axis;
  bool isFirst = true;

  void add(std::optional<unsigned> at, bool writes) {
    axis = isFirst || axis == at ? at : std::nullopt;
    isFirst = false;
    (writes ? isWritten : isRead) = true;
  }
};

/// All that a nest reads and writes, by the buffers that others are views of.
using NestUses = llvm::MapVector<mlir::Value, NestUse>;

/// What `nest` does with buffers; none where it does something else as well.
std::optional<NestUses> findNestUses(mlir::scf::ForOp nest);

/// Which buffers are allocated and known by no other name: all that uses one or
/// a view of it is an access, frees it or returns it. It is remembered while
/// nests are moved and put together, as many of them may write one buffer.
class KnownBuffers {
public:
  bool isKnownToAccesses(mlir::Value buffer);
  /// True if nobody knows what is written by another name.
  bool writesPrivately(const NestUses &uses);
  /// How many uses of buffers were looked at.
  unsigned getWork() const { return work; }

private:
  llvm::DenseMap<mlir::Value, bool> known;
  unsigned work = 0;
};

/// True for a buffer that an iteration writes before it reads it (Parallel.h).
bool isBufferOfIteration(mlir::Value buffer);

/// True for a loop whose iterations are said to be independent.
bool isParallelNest(mlir::scf::ForOp loop);

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_NEST_TRANSFORMS_NESTUSES_H
