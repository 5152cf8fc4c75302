//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Bodies of functions with expressions. ONNX's textual syntax has a line and a
// name for each node; here calls stand in calls, and numbers and operators are
// written as such:
//
//   rows = Unsqueeze(Range(keys - queries, keys, 1), [1])
//
// is written out as nodes of Sub, Constant, Range, Constant and Unsqueeze.

#ifndef LOOPC_LIB_FRONTEND_ONNX_FUNCTIONTEXT_H
#define LOOPC_LIB_FRONTEND_ONNX_FUNCTIONTEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace loopc::importer {

/// The nodes of `body` in ONNX's textual syntax. What an expression may have
/// beside that syntax:
///   a * b  a / b  a + b  a - b   and in parentheses; Mul, Div, Add, Sub
///   a < b  <=  >  >=  ==         with spaces around; Less and so on
///   a & b  a | b                 And, Or
///   2  -1  0.5                   a Constant: scalar, int64 or float32
///   [1, 2]  [0.5]                a Constant: list of int64 or float32
///   @alpha                       a Constant: that attribute, a float
///   float(x)  int64(x)  bool(x)  Cast
///   a = b                        Identity
/// The same holds in the graphs that attributes are, as bodies of Loop. What is
/// no such expression is left as it is, for ONNX's parser to speak of.
std::string expandExpressions(llvm::StringRef body);

} // namespace loopc::importer

#endif // LOOPC_LIB_FRONTEND_ONNX_FUNCTIONTEXT_H
