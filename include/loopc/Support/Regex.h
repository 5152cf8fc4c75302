//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Regular expressions in RE2's syntax, compiled to programs that the runtime
// runs (loopc_rt_regex_full_match).

#ifndef LOOPC_SUPPORT_REGEX_H
#define LOOPC_SUPPORT_REGEX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace loopc {

/// The program of `pattern`, RE2 syntax: everything of it but Unicode classes
/// (\pN) and \C. Nothing, and the reason in `error`, where the pattern is not
/// valid or asks for these.
std::optional<llvm::SmallVector<uint32_t>> compileRegex(llvm::StringRef pattern,
                                                        std::string &error);

} // namespace loopc

#endif // LOOPC_SUPPORT_REGEX_H
