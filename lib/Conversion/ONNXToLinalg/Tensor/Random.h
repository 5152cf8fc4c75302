//===- Random.h - Random numbers in lowerings -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RANDOM_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RANDOM_H

#include "Framework/ElementwiseUtils.h"

namespace loopc {

/// A stream of random numbers that begins where a node runs. The number at a
/// position (i64) is a function of both.
class RandomStream {
public:
  RandomStream(NodeLowering &l, std::optional<int64_t> seed);

  /// In [0, 1), of the type that arithmetic on `type` is done in.
  mlir::Value uniform(ScalarBuilder &s, mlir::Value position,
                      mlir::Type type) const;
  /// Mean 0, variance 1.
  mlir::Value normal(ScalarBuilder &s, mlir::Value position,
                     mlir::Type type) const;

private:
  mlir::Value bits(ScalarBuilder &s, mlir::Value position) const;

  mlir::Value stream;
};

/// Attribute 'seed', a float, where it is given.
std::optional<int64_t> floatSeed(NodeLowering &l);

/// The position (i64) of an element in C order.
mlir::Value linearPosition(ScalarBuilder &s, mlir::ValueRange indices,
                           llvm::ArrayRef<mlir::Value> extents);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_TENSOR_RANDOM_H
