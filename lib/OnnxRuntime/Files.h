//===- Files.h - Files with compiled code ----------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_ONNXRUNTIME_FILES_H
#define LOOPC_LIB_ONNXRUNTIME_FILES_H

#include <string>

namespace loopc::ort {

/// Room for a library and what the compiler writes beside it, in a folder that
/// ends with its owner; a library that was loaded stays.
class TemporaryFile {
public:
  /// Makes the folder. Throws Error, as all functions here do.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &getPath() const { return path; }

private:
  std::string folder;
  std::string path; ///< where the library will be
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);

/// Writes a file; one that is there already stays whole for those that have it
/// mapped.
void replaceFile(const std::string &path, const std::string &bytes);

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_FILES_H
