//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// LLVM's parser of command lines, whose errors are one line each.

#ifndef LOOPC_SUPPORT_OPTIONPARSER_H
#define LOOPC_SUPPORT_OPTIONPARSER_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace loopc {

/// llvm::cl::ParseCommandLineOptions, which prints some of what is wrong and
/// returns the rest: what is wrong, in one line; nothing where all is well.
std::optional<std::string> parseOptions(int argc, const char *const *argv,
                                        llvm::StringRef overview);

} // namespace loopc

#endif // LOOPC_SUPPORT_OPTIONPARSER_H
