//===- Lanes.h - Elements of small tensors in vectors ----------*- C++ -*--===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CODEGEN_CPU_REGISTERS_LANES_H
#define LOOPC_LIB_CODEGEN_CPU_REGISTERS_LANES_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace loopc {

/// Numbers of elements, of lanes, or along axes.
using Indices = llvm::SmallVector<int64_t>;

/// The extents of `tensor`.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);

/// For each element of the space `ranges`, in C order, the number of the
/// element of a tensor of `shape` that `map` leads to.
Indices elementsOf(mlir::AffineMap map, llvm::ArrayRef<int64_t> ranges,
                   llvm::ArrayRef<int64_t> shape);

/// The lanes of a vector that holds `count` elements; nobody reads those behind
/// them. A power of two: LLVM 22 takes wrong lanes for some of the others where
/// there is AVX (24 that come as 6 rows, the last 3 not behind the first 3).
int64_t lanesOf(int64_t count);

/// `from`, and its last one again for each lane behind them.
Indices fillLanes(llvm::ArrayRef<int64_t> from);

/// The indices of row `row` of a tensor of `shape`, its last axis aside.
Indices rowIndices(llvm::ArrayRef<int64_t> shape, int64_t row);

/// True if `slice` takes, or fills, known elements of a tensor of `shape`, one
/// beside the other.
bool isKnownSlice(mlir::OffsetSizeAndStrideOpInterface slice,
                  llvm::ArrayRef<int64_t> shape);

/// The numbers of the elements of a tensor of `shape` that `slice` takes, or
/// fills.
Indices placesOfSlice(mlir::OffsetSizeAndStrideOpInterface slice,
                      llvm::ArrayRef<int64_t> shape);

} // namespace loopc

#endif // LOOPC_LIB_CODEGEN_CPU_REGISTERS_LANES_H
