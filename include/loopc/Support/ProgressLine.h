//===- ProgressLine.h - Signs of life on a terminal -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_PROGRESSLINE_H
#define LOOPC_SUPPORT_PROGRESSLINE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace loopc {

/// A line of standard error, where that is a terminal, that shows how far a
/// compilation is, once it takes so long that somebody may wonder. It goes with
/// this object.
class ProgressLine {
public:
  explicit ProgressLine(llvm::StringRef tool) : tool(tool.str()) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// `fraction` of the work is done, `seconds` after its beginning.
  void show(llvm::StringRef phase, double fraction, double seconds);

  /// Makes room for what else is printed.
  void clear();

private:
  std::string tool, shown;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_PROGRESSLINE_H
