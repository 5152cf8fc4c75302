//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Messages.h"

using namespace llvm;

std::string loopc::escapeHoles(StringRef text) {
  std::string escaped = text.str();
  for (StringRef hole : {"{}", "{*}"})
    for (size_t at = 0; (at = escaped.find(hole, at)) != std::string::npos;
         ++at)
      escaped.insert(at + 1, " ");
  return escaped;
}
