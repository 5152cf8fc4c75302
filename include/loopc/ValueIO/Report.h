//===- Report.h - Values compared and printed -------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_VALUEIO_REPORT_H
#define LOOPC_VALUEIO_REPORT_H

#include "loopc/ValueIO/HostValue.h"

#include "llvm/Support/raw_ostream.h"

namespace loopc::io {

/// How much floats may differ: |actual - expected| <= atol + rtol |expected|,
/// as numpy.allclose says. NaN equals NaN, infinities equal themselves.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// Compares kinds, element types, shapes and elements; integers, booleans and
/// strings must be equal. Prints the first differences of a tensor to `os`,
/// indented, with `name` in front. \returns true if there is none.
bool compareValues(const HostValue &actual, const HostValue &expected,
                   const Tolerance &tolerance, llvm::StringRef name,
                   llvm::raw_ostream &os);

/// Prints the elements of `value` in brackets. More than `limit` elements (of a
/// tensor, or tensors of a sequence; of a tensor without elements, more empty
/// brackets) are abbreviated: three at either end of each axis; negative: never.
void printElements(const HostValue &value, int64_t limit,
                   llvm::raw_ostream &os);

} // namespace loopc::io

#endif // LOOPC_VALUEIO_REPORT_H
