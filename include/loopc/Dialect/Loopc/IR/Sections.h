//===- Sections.h - Parts of a function that passes work on ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_SECTIONS_H
#define LOOPC_DIALECT_LOOPC_IR_SECTIONS_H

#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"

#define GET_OP_CLASSES
#include "loopc/Dialect/Loopc/IR/SectionOps.h.inc"

namespace loopc {

/// Unit attribute of a function that is a section of another one, which calls
/// it by loopc.call_section, until it is put back: its first results are its
/// arguments, or what stands for these.
inline constexpr llvm::StringLiteral kSectionAttrName = "loopc.section";

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_SECTIONS_H
