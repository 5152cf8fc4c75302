//===- Link.h - Objects of several parts, shared objects --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_LINK_H
#define LOOPC_LIB_TARGET_LINK_H

#include "loopc/Target/TargetOptions.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace loopc {

/// The bytes of an ELF object.
using ObjectBytes = llvm::SmallVector<char, 0>;

/// Links `objects`, made from the parts of one module, to one object, in which
/// hidden symbols are local.
mlir::FailureOr<ObjectBytes> joinObjects(std::vector<ObjectBytes> objects,
                                         mlir::Location loc);

/// Links `object` and the runtime to the shared object `output`, which is
/// written as it is made. `reserved` is the number of bytes that it has more
/// than `object`, for sections without bytes.
mlir::LogicalResult linkSharedObject(ObjectBytes object, uint64_t reserved,
                                     llvm::StringRef output,
                                     llvm::StringRef soname,
                                     const TargetOptions &options,
                                     mlir::Location loc);

} // namespace loopc

#endif // LOOPC_LIB_TARGET_LINK_H
