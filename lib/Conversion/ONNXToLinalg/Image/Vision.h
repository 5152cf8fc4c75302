//===- Vision.h - Sampling of images ----------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_VISION_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_VISION_H

#include "Framework/ElementwiseUtils.h"

namespace loopc {

/// Weight of an element at `distance` (not negative) in a cubic convolution
/// (Keys, 1981) with coefficient `a`.
mlir::Value cubicWeight(ScalarBuilder &s, mlir::Value distance, double a);

void addGridSampleRows(LoweringTable &table);
void addRegionRows(LoweringTable &table);
void addSuppressionRows(LoweringTable &table);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_IMAGE_VISION_H
