//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_LOOP_IR_VERSIONEDTYPES_TD
#define LOOPC_DIALECT_LOOP_IR_VERSIONEDTYPES_TD

include "mlir/IR/OpBase.td"

def Loop_VersionedTypeInterface : TypeInterface<"VersionedTypeInterface"> {
  let cppNamespace = "::loopc::loop";
  let description = [{
    A type of another dialect that loops may carry. The `loop` dialect knows the
    type lists of ONNX's Loop, If and Scan for builtin types; a dialect that
    defines more types of a model's values says for each of them which lists
    hold it (`loop_types`).
  }];
  let methods = [InterfaceMethod<
    [{The first version of Loop whose type list holds values of this type, or
      tensors of it where it is an element type; nothing where no version's
      does.}],
    "::std::optional<int64_t>", "getFirstLoopVersion">];
}

#endif // LOOPC_DIALECT_LOOP_IR_VERSIONEDTYPES_TD
