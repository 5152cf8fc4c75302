//===- Ports.h - Types of a model's inputs and outputs ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOPC_IR_PORTS_H
#define LOOPC_DIALECT_LOOPC_IR_PORTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace loopc {

/// The type of an argument or a result in the model, with signs and strings. It
/// is verified that a value of that type is what the port holds.
inline constexpr llvm::StringLiteral kPortTypeAttrName = "loopc.type";

/// Unit attribute of the shape of the port before it, whose rank only a run
/// knows: that one has the elements, in one row.
inline constexpr llvm::StringLiteral kShapeOfAttrName = "loopc.shape_of";

/// The names of a port's extents, one for each axis, "" where one has none.
/// Extents of inputs that have one name are equal: who begins a run holds them
/// to that. What is known of them does not contradict it, which is verified.
inline constexpr llvm::StringLiteral kDimsAttrName = "loopc.dims";

/// Says among the attributes of a port of type `type` what its extents are
/// called; without `names` that they have none. Nothing where the type says no
/// rank.
void setDimNames(mlir::NamedAttrList &attributes, mlir::Type type,
                 llvm::ArrayRef<mlir::Attribute> names = {});

/// The name of the extent of argument `argument` of `function` along `axis`; ""
/// where it has none.
llvm::StringRef getDimName(mlir::FunctionOpInterface function,
                           unsigned argument, int64_t axis);

/// An axis of an argument of a function.
struct ArgumentAxis {
  unsigned argument;
  int64_t axis;

  bool operator==(const ArgumentAxis &other) const {
    return argument == other.argument && axis == other.axis;
  }
};

/// The first axis of an argument of `function` whose extent is that of `axis`
/// by their name; `axis` itself where it is the first, or has no name.
ArgumentAxis findFirstEqualAxis(mlir::FunctionOpInterface function,
                                ArgumentAxis axis);

/// An error where names say that two extents are equal that are known not to
/// be: of argument `argument` of `function` and one before it.
llvm::LogicalResult verifyDimNames(mlir::FunctionOpInterface function,
                                   unsigned argument);

/// How buffers hold integers and floats of type `element`: without a sign, in a
/// byte at least, and floats of a byte or less as their bits.
mlir::Type getStoredElement(mlir::Type element);

/// True if a value of the type `model` is held by one of type `value`: elements
/// as buffers hold them, and a shape that it can have. `isFlat`: the shape is
/// the next port.
bool isHeldBy(mlir::Type model, mlir::Type value, bool isFlat);

/// Whether the next argument or result is the shape of number `index`.
bool isFlatArgument(mlir::FunctionOpInterface function, unsigned index);
bool isFlatResult(mlir::FunctionOpInterface function, unsigned index);

/// Gives the types of `function`'s ports, where they are written down, the
/// shapes that its arguments and results have now.
void refreshPortTypes(mlir::FunctionOpInterface function);

} // namespace loopc

#endif // LOOPC_DIALECT_LOOPC_IR_PORTS_H
