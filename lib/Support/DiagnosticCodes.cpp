//===- DiagnosticCodes.cpp - The codes of diagnostics ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace loopc;

static constexpr StringRef codes[] = {
#define LOOPC_DIAG(code, name, summary) #code,
#include "loopc/Support/Diagnostics.def"
};
static constexpr StringRef summaries[] = {
#define LOOPC_DIAG(code, name, summary) summary,
#include "loopc/Support/Diagnostics.def"
};
static constexpr Diag allDiags[] = {
#define LOOPC_DIAG(code, name, summary) Diag::name,
#include "loopc/Support/Diagnostics.def"
};

StringRef loopc::getCode(Diag diag) {
  return codes[static_cast<unsigned>(diag)];
}
StringRef loopc::getSummary(Diag diag) {
  return summaries[static_cast<unsigned>(diag)];
}
ArrayRef<Diag> loopc::getAllDiags() { return allDiags; }

bool loopc::mayUseColor(raw_ostream &os) {
  const char *noColor = std::getenv("NO_COLOR");
  return os.is_displayed() && os.has_colors() && !(noColor && *noColor);
}
