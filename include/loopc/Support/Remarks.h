//===- Remarks.h - What was done to a loop, or why not ----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks of passes, by MLIR's remark engine: nothing is made or printed unless
// somebody asked for it, with `loopc --remarks` or
// `loopc-opt --remark-format=emitRemark --remarks-filter=loop`.
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_SUPPORT_REMARKS_H
#define LOOPC_SUPPORT_REMARKS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/Twine.h"

namespace loopc {

/// Says what was done at `loc`; `name` is the short name of the optimisation.
void remarkDone(mlir::Location loc, llvm::StringRef name,
                const llvm::Twine &text);

/// Says why something was not done at `loc`.
void remarkMissed(mlir::Location loc, llvm::StringRef name,
                  const llvm::Twine &text);

/// Says what was found out about what is at `loc`.
void remarkFact(mlir::Location loc, llvm::StringRef name,
                const llvm::Twine &text);

/// Says in the locations of what is in `loop`, itself included, that this is
/// its version for any extents, beside one for extents that agree. They name
/// the same nodes, and passes carry them on.
void locateInGeneralVersion(mlir::Operation *loop);

/// True for such a location.
bool isInGeneralVersion(mlir::Location loc);

/// Makes remarks diagnostics of `context`, of severity remark.
void enableRemarks(mlir::MLIRContext &context);

} // namespace loopc

#endif // LOOPC_SUPPORT_REMARKS_H
