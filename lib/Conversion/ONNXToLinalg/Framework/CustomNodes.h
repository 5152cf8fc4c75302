//===- CustomNodes.h - Nodes of custom operators ----------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_CUSTOMNODES_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_CUSTOMNODES_H

#include "loopc/Conversion/ONNXToLinalg/NodeLowering.h"

namespace loopc {

/// Lowers a node of an operator of CustomOperators to a call.
mlir::LogicalResult lowerCustomNode(NodeLowering &l);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_FRAMEWORK_CUSTOMNODES_H
