//===- ScratchFile.h - Files without a name ---------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What linkers and assemblers read and write between our own steps. A file that
// no folder has goes with the process, whatever ends it, SIGKILL included.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_SUPPORT_SCRATCHFILE_H
#define LOOPC_SUPPORT_SCRATCHFILE_H

#include "llvm/Support/Error.h"

#include <string>

namespace loopc {

/// A file that is open and has no name in any folder.
class ScratchFile {
public:
  ScratchFile() = default;
  ScratchFile(ScratchFile &&other) noexcept { *this = std::move(other); }
  ScratchFile &operator=(ScratchFile &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    std::swap(path, other.path);
    std::swap(isNamed, other.isNamed);
    return *this;
  }
  ~ScratchFile();

  /// In the folder of temporary files, or in memory where nothing can be
  /// written there.
  static llvm::Expected<ScratchFile> create();
  /// The same, with `bytes` in it.
  static llvm::Expected<ScratchFile> createWith(llvm::StringRef bytes);

  int getDescriptor() const { return descriptor; }

  /// A path to it, for this process and for those that it starts.
  llvm::StringRef getPath() const { return path; }

  /// Writes all of `bytes` behind what is there.
  llvm::Error write(llvm::StringRef bytes);

  /// All that is in it.
  llvm::Expected<std::string> read() const;

private:
  int descriptor = -1;
  std::string path;
  /// It has a name after all, which is removed at the end.
  bool isNamed = false;
};

} // namespace loopc

#endif // LOOPC_SUPPORT_SCRATCHFILE_H
