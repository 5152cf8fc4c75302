//===- Files.cpp - Files with compiled code -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "Api.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace loopc::ort;

TemporaryFile::TemporaryFile() {
  std::error_code error;
  std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (error)
    throw Error(kProviderFail, "loopc finds no folder for temporary files: " +
                                   error.message());
  folder = place / "loopc-XXXXXX";
  if (!mkdtemp(folder.data()))
    throw Error(kProviderFail, "loopc cannot make the folder '" + folder +
                                   "': " + std::strerror(errno));
  path = folder + "/model.so";
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string loopc::ort::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file)
    throw Error(kNoSuchFile, "cannot read '" + path + "'");
  return bytes;
}

void loopc::ort::writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw Error(kProviderFail, "cannot write '" + path + "'");
}

void loopc::ort::replaceFile(const std::string &path,
                             const std::string &bytes) {
  std::string part = path + "." + std::to_string(getpid());
  writeFile(part, bytes);
  std::error_code error;
  std::filesystem::rename(part, path, error);
  if (error)
    throw Error(kProviderFail,
                "cannot write '" + path + "': " + error.message());
}
