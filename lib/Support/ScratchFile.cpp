//===- ScratchFile.cpp - Files without a name -----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/ScratchFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace loopc;
namespace fs = llvm::sys::fs;

static llvm::Error lastError() {
  return llvm::errorCodeToError(
      std::error_code(errno, std::generic_category()));
}

/// A file in `folder`; its name where it has one. -1 where there can be none.
static int openIn(llvm::StringRef folder, llvm::SmallString<128> &name) {
  int descriptor =
      ::open(folder.str().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0)
    return descriptor;
  // Not every file system has files without names.
  llvm::SmallString<128> model(folder);
  llvm::sys::path::append(model, "loopc-%%%%%%%%.tmp");
  if (fs::createUniqueFile(model, descriptor, name, fs::OF_None, 0600))
    return -1;
  return descriptor;
}

ScratchFile::~ScratchFile() {
  if (isNamed)
    fs::remove(path);
  if (descriptor >= 0)
    ::close(descriptor);
}

llvm::Expected<ScratchFile> ScratchFile::create() {
  llvm::SmallString<128> folder, name;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  int first = openIn(folder, name);
  if (first < 0)
    first = ::memfd_create("loopc", MFD_CLOEXEC);
  if (first < 0)
    return lastError();
  // Programs that are started have it under the same number, which is none of
  // those that they have anyway.
  int descriptor = ::fcntl(first, F_DUPFD, 3);
  int problem = errno;
  ::close(first);
  ScratchFile file;
  file.descriptor = descriptor;
  file.path = "/proc/self/fd/" + std::to_string(descriptor);
  if (!name.empty()) {
    if (descriptor < 0 || fs::exists(file.path)) {
      fs::remove(name);
    } else {
      file.path = name.str().str();
      file.isNamed = true;
    }
  }
  errno = problem;
  return descriptor < 0 ? llvm::Expected<ScratchFile>(lastError())
                        : std::move(file);
}

llvm::Expected<ScratchFile> ScratchFile::createWith(llvm::StringRef bytes) {
  llvm::Expected<ScratchFile> file = create();
  if (file)
    if (llvm::Error error = file->write(bytes))
      return std::move(error);
  return file;
}

llvm::Error ScratchFile::write(llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(),
                            std::min<size_t>(bytes.size(), 1 << 30));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return lastError();
    bytes = bytes.drop_front(count);
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> ScratchFile::read() const {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  return (*buffer)->getBuffer().str();
}
