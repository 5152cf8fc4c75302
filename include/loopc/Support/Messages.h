//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Texts of messages.

#ifndef LOOPC_SUPPORT_MESSAGES_H
#define LOOPC_SUPPORT_MESSAGES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace loopc {

/// `text` with a space in each "{}" and "{*}": in the messages of loop.check
/// they stand for values, which those in names and texts of a model do not.
std::string escapeHoles(llvm::StringRef text);

/// `text` for a person and for C: control characters but line breaks and tabs,
/// which names in a damaged file may hold, become "\x00".
std::string escapeControls(llvm::StringRef text);

/// `text` without its middle where nobody would read it all: names of models
/// may have any length.
std::string elideMiddle(llvm::StringRef text, size_t longest = 2000);

} // namespace loopc

#endif // LOOPC_SUPPORT_MESSAGES_H
