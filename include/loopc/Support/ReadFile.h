//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Files that users name, which may be pipes or devices without an end.

#ifndef LOOPC_SUPPORT_READFILE_H
#define LOOPC_SUPPORT_READFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace loopc {

/// Most bytes that are read of what is no regular file: the size of a protobuf.
constexpr size_t kMaxStreamBytes = (size_t(1) << 31) - 1;

/// What a stream must begin with to be read on; it is given up to 4096 bytes.
using IsPlausible = llvm::function_ref<bool(llvm::StringRef)>;

/// The bytes of a file; "-" is standard input. Regular files are mapped where
/// they are large. Of another one (a pipe, a device) at most kMaxStreamBytes
/// are read, and no more than the beginning where that is not plausible: who
/// parses it says what is wrong with it.
llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path, IsPlausible isPlausible = nullptr);

/// Lists, while it lives, the files that this thread reads beside a model, by
/// the names that they are opened by: who keeps what was compiled has to know
/// them.
class FileRecorder {
public:
  explicit FileRecorder(std::vector<std::string> &files);
  ~FileRecorder();
  FileRecorder(const FileRecorder &) = delete;
  FileRecorder &operator=(const FileRecorder &) = delete;

  /// Called by whoever reads such a file.
  static void note(llvm::StringRef path);

private:
  std::vector<std::string> &files;
  FileRecorder *outer;
};

/// True if a protobuf may begin so: with a field that has a number and a type.
bool mayBeProtobuf(llvm::StringRef head);

} // namespace loopc

#endif // LOOPC_SUPPORT_READFILE_H
