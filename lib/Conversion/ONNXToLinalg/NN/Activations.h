//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The activation functions of recurrent cells.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H

#include "Framework/ElementwiseUtils.h"

namespace loopc {

using ActivationFn = mlir::Value (*)(ScalarBuilder &s, mlir::Value x,
                                     double alpha, double beta);

/// An activation as its name in ONNX, how many parameters it takes, and what
/// these are where they are not given.
struct ActivationKind {
  llvm::StringLiteral name;
  unsigned parameters;
  double alpha, beta;
  ActivationFn build;

  /// By name, whatever its case; null where there is none.
  static const ActivationKind *find(llvm::StringRef name);
};

/// One activation of a cell.
struct Activation {
  const ActivationKind *kind = nullptr;
  double alpha = 0, beta = 0;
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_NN_ACTIVATIONS_H
