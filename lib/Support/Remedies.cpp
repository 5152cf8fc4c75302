//===- Remedies.cpp - What can be done about an error ---------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/Remedies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"

using namespace loopc;

llvm::StringRef loopc::getRemedy(Diag diag) {
  // A diagnostic without a remedy is a warning of the compiler.
  switch (diag) {
#define LOOPC_REMEDY(name, text)                                               \
  case Diag::name:                                                             \
    return text;
#include "loopc/Support/Remedies.def"
  }
  llvm_unreachable("all diagnostics have a remedy");
}

static llvm::StringRef getName(Diag diag) {
  switch (diag) {
#define LOOPC_DIAG(code, name, summary)                                        \
  case Diag::name:                                                             \
    return #name;
#include "loopc/Support/Diagnostics.def"
  }
  llvm_unreachable("all diagnostics have a name");
}

/// Writes `text` in lines of 80 characters at most.
static void writeWrapped(llvm::StringRef text, llvm::raw_ostream &os) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ');
  size_t column = 0;
  for (llvm::StringRef word : words) {
    if (column && column + 1 + word.size() > 80) {
      os << '\n';
      column = 0;
    }
    os << (column ? " " : "") << word;
    column += word.size() + (column ? 1 : 0);
  }
  os << '\n';
}

bool loopc::explainCode(llvm::StringRef code, llvm::raw_ostream &os) {
  const Diag *found = llvm::find_if(
      getAllDiags(), [&](Diag diag) { return code == getCode(diag); });
  if (found == getAllDiags().end())
    return false;
  os << code << ' ' << getName(*found) << ": " << getSummary(*found) << "\n\n";
  writeWrapped(getRemedy(*found), os);
  return true;
}
