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

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm::cl {
class generic_parser_base;
} // namespace llvm::cl

namespace loopc {

/// "a, b or c".
std::string joinNames(llvm::ArrayRef<llvm::StringRef> names);

/// An option whose values have names, and the parser that knows them.
struct OptionChoices {
  llvm::StringRef option;
  const llvm::cl::generic_parser_base *parser;
};

/// Makes "-h" in `args` "--help", and -h an option that does nothing. LLVM
/// takes
/// "--hlep" for a group of options of one letter, whose first would print the
/// help and end the program with success. parseOptions does it itself.
void ungroupHelp(llvm::MutableArrayRef<char *> args);

/// llvm::cl::ParseCommandLineOptions, which prints some of what is wrong and
/// returns the rest: what is wrong, in one line; nothing where all is well. The
/// values of `choices` are listed where another one is given. Where the help is
/// asked for, and cannot be written, one line says so and the exit status is 3.
std::optional<std::string>
parseOptions(int argc, const char *const *argv, llvm::StringRef overview,
             llvm::ArrayRef<OptionChoices> choices = {});

} // namespace loopc

#endif // LOOPC_SUPPORT_OPTIONPARSER_H
