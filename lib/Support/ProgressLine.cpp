//===- ProgressLine.cpp - Signs of life on a terminal ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/ProgressLine.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

void loopc::ProgressLine::show(StringRef phase, double fraction,
                               double seconds) {
  constexpr double kPatience = 1;
  if (seconds < kPatience || !errs().is_displayed())
    return;
  std::string text;
  raw_string_ostream(text) << tool << ": " << phase << ", "
                           << static_cast<int>(100 * fraction) << "%, "
                           << static_cast<int>(seconds) << " s";
  if (text == shown)
    return;
  errs() << '\r' << left_justify(text, shown.size());
  shown = std::move(text);
}

void loopc::ProgressLine::clear() {
  if (!shown.empty())
    errs() << '\r' << std::string(shown.size(), ' ') << '\r';
  shown.clear();
}
