//===- OutputFile.cpp - Files that are written whole or not at all --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFile.h"

using namespace loopc;
namespace fs = llvm::sys::fs;

OutputFile::~OutputFile() {
  if (auto *file = static_cast<llvm::raw_fd_ostream *>(temporary ? stream.get()
                                                                 : nullptr))
    file->clear_error(); // its destructor would end the program
  stream.reset();
  if (temporary)
    llvm::consumeError(temporary->discard());
}

llvm::Expected<OutputFile> OutputFile::create(llvm::StringRef path) {
  OutputFile file;
  file.path = path.str();
  fs::file_status status;
  bool isThere = path != "-" && !fs::status(path, status);
  if (isThere && fs::is_directory(status))
    return llvm::createStringError("is a directory");
  if (path == "-" || (isThere && !fs::is_regular_file(status))) {
    file.memory = std::make_unique<llvm::SmallVector<char, 0>>();
    file.stream = std::make_unique<llvm::raw_svector_ostream>(*file.memory);
    return file;
  }
  // Where the path is a link, what it leads to is replaced.
  llvm::SmallString<128> target;
  if (isThere && !fs::real_path(path, target))
    file.path = target.str().str();
  auto temporary = fs::TempFile::create(file.path + ".%%%%%%%%.tmp");
  if (!temporary)
    return temporary.takeError();
  file.temporary.emplace(std::move(*temporary));
  file.stream = std::make_unique<llvm::raw_fd_ostream>(file.temporary->FD,
                                                       /*shouldClose=*/false);
  return file;
}

llvm::StringRef OutputFile::getTemporaryPath() const {
  return temporary ? llvm::StringRef(temporary->TmpName) : "";
}

llvm::Error OutputFile::keep() {
  if (temporary) {
    auto &file = static_cast<llvm::raw_fd_ostream &>(*stream);
    file.flush();
    std::error_code error = file.error();
    file.clear_error();
    if (error)
      return llvm::errorCodeToError(error);
    stream.reset();
    llvm::Error failure = temporary->keep(path);
    temporary.reset();
    return failure;
  }
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, fs::CD_OpenExisting, fs::FA_Write,
                            fs::OF_None);
  if (error)
    return llvm::errorCodeToError(error);
  file.write(memory->data(), memory->size());
  file.flush();
  error = file.error();
  file.clear_error();
  return llvm::errorCodeToError(error);
}
