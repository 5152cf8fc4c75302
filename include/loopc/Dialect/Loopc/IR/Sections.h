//===- Sections.h - Parts of a function that passes work on ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_SECTIONS_H
#define LOOPC_DIALECT_LOOPC_IR_SECTIONS_H

#include "llvm/ADT/StringRef.h"

namespace loopc {

/// Unit attribute of a function that is a section of another one until it is
/// put back: its first results are its arguments, or what stands for these.
inline constexpr llvm::StringLiteral kSectionAttrName = "loopc.section";

/// Array attribute of a call of a section that stands for several: pairs of the
/// locations, names of constants and messages of checks that it has, and of
/// those that take their place where this call was.
inline constexpr llvm::StringLiteral kLabelsAttrName = "loopc.labels";

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_SECTIONS_H
