//===- NodeSteps.h - What is done to nodes beside the table -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What convert-onnx-to-linalg does to nodes before, or without, the rows of its
// table; each in the file of its family.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_NODESTEPS_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_NODESTEPS_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace loopc {

/// Lowers a node of an operator of CustomOperators to a call.
mlir::LogicalResult lowerCustomNode(NodeLowering &l);

/// Reads elements of what SplitToSequence makes of slices of one element each
/// from the tensor that is split, and the length from its extent:
///
///   SequenceAt(SplitToSequence(x), i)  ->  Gather(x, i)
///
/// The extents of a sequence's elements are known to nobody, those of a slice
/// are; and a sequence that nothing else reads is not made.
void readPartsInPlace(mlir::func::FuncOp function);

/// Makes products (MatMul, Gemm, Conv) of what DequantizeLinear yields of
/// integers of 8 bits, with scales that are constants, products of integers.
void foldQuantizedProducts(mlir::Operation *root);

/// Moves the integers where what DequantizeLinear yields of 8 bits is moved and
/// then quantized as it was before.
void moveQuantizedIntegers(mlir::Operation *root);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_NODESTEPS_H
