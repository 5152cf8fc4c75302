//===- Files.h - Files with compiled code ------------------------*- C++ -*-
//===//
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

/// A file that ends with its owner; a library that was loaded from it stays.
class TemporaryFile {
public:
  /// Makes an empty file. Throws Error, as all functions here do.
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const std::string &getPath() const { return path; }

private:
  std::string path;
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);

/// Writes a file; one that is there already stays whole for those that have it
/// mapped.
void replaceFile(const std::string &path, const std::string &bytes);

} // namespace loopc::ort

#endif // LOOPC_LIB_ONNXRUNTIME_FILES_H
