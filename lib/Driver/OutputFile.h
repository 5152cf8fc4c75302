//===- OutputFile.h - Files that are written whole or not at all *- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_DRIVER_OUTPUTFILE_H
#define LOOPC_LIB_DRIVER_OUTPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace loopc {

/// A file under another name until keep() is called: then it appears whole, or
/// replaces the old one. Without keep() nothing stays. "-" is standard output,
/// and what is no plain file (/dev/null) is written to; both at keep().
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(OutputFile &&) = default;
  OutputFile &operator=(OutputFile &&) = default;
  ~OutputFile();

  static llvm::Expected<OutputFile> create(llvm::StringRef path);

  llvm::raw_pwrite_stream &getStream() { return *stream; }

  /// The file that a program of its own may write, instead of the stream; ""
  /// where there is none.
  llvm::StringRef getTemporaryPath() const;

  llvm::Error keep();

private:
  std::string path;
  std::optional<llvm::sys::fs::TempFile> temporary;
  std::unique_ptr<llvm::SmallVector<char, 0>> memory;
  std::unique_ptr<llvm::raw_pwrite_stream> stream;
};

} // namespace loopc

#endif // LOOPC_LIB_DRIVER_OUTPUTFILE_H
