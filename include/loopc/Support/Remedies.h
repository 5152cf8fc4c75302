//===- Remedies.h - What can be done about an error -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_REMEDIES_H
#define LOOPC_SUPPORT_REMEDIES_H

#include "loopc/Support/Diagnostics.h"

namespace loopc {

/// What usually leads to a diagnostic, and what to do about it: whole
/// sentences.
llvm::StringRef getRemedy(Diag diag);

/// Writes code, name, summary and remedy of the diagnostic with code "LC0207";
/// false where there is none.
bool explainCode(llvm::StringRef code, llvm::raw_ostream &os);

} // namespace loopc

#endif // LOOPC_SUPPORT_REMEDIES_H
