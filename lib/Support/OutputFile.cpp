//===- OutputFile.cpp - Files that are written whole or not at all --------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <csignal>

using namespace loopc;
namespace fs = llvm::sys::fs;

/// Nobody reads what is said any more: ends the process as without a handler,
/// but not with files half written.
static void onBrokenPipe(int signal) {
  llvm::sys::RunInterruptHandlers();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// LLVM removes files on other signals, but not on this one.
static void removeOnBrokenPipe() {
  struct sigaction now;
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
    std::signal(SIGPIPE, onBrokenPipe);
}

OutputFile &OutputFile::operator=(OutputFile &&other) {
  std::swap(path, other.path);
  std::swap(temporary, other.temporary);
  std::swap(memory, other.memory);
  std::swap(stream, other.stream);
  std::swap(isFinished, other.isFinished);
  return *this;
}

OutputFile::~OutputFile() {
  if (auto *file = static_cast<llvm::raw_fd_ostream *>(
          temporary.empty() ? nullptr : stream.get())) {
    // Its destructor would end the program after an error, that of writing
    // what is buffered included.
    file->flush();
    file->clear_error();
  }
  stream.reset();
  if (temporary.empty())
    return;
  fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

llvm::Expected<OutputFile> OutputFile::create(llvm::StringRef path,
                                              bool removeOnSignal) {
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
  int descriptor;
  llvm::SmallString<128> temporary;
  if (std::error_code error = fs::createUniqueFile(file.path + ".%%%%%%%%.tmp",
                                                   descriptor, temporary))
    return llvm::errorCodeToError(error);
  file.temporary = temporary.str().str();
  if (removeOnSignal) {
    llvm::sys::RemoveFileOnSignal(temporary);
    removeOnBrokenPipe();
  }
  file.stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                       /*shouldClose=*/true);
  return file;
}

llvm::StringRef OutputFile::getTemporaryPath() const { return temporary; }

llvm::Error OutputFile::finish() {
  if (isFinished)
    return llvm::Error::success();
  isFinished = true;
  if (!temporary.empty()) {
    auto &file = static_cast<llvm::raw_fd_ostream &>(*stream);
    file.flush();
    std::error_code error = file.error();
    file.clear_error();
    return llvm::errorCodeToError(error);
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

llvm::Error OutputFile::keep() {
  if (llvm::Error error = finish())
    return error;
  if (temporary.empty())
    return llvm::Error::success();
  stream.reset();
  // Where it fails the other name stays, for the destructor.
  if (std::error_code error = fs::rename(temporary, path))
    return llvm::errorCodeToError(error);
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return llvm::Error::success();
}

static bool areSameFile(llvm::StringRef a, llvm::StringRef b) {
  fs::file_status first, second;
  if (!fs::status(a, first) && !fs::status(b, second))
    return fs::is_regular_file(first) && fs::equivalent(first, second);
  llvm::SmallString<128> left(a), right(b);
  for (llvm::SmallString<128> *path : {&left, &right}) {
    // Where there is no current folder, the names are all that is known.
    (void)fs::make_absolute(*path);
    llvm::sys::path::remove_dots(*path);
  }
  return left == right;
}

std::string loopc::findSameFile(llvm::ArrayRef<NamedFile> read,
                                llvm::ArrayRef<NamedFile> written) {
  auto describe = [](const NamedFile &a, const NamedFile &b) {
    return (a.what + " and " + b.what + " are one file, '" + b.path + "'")
        .str();
  };
  auto isFile = [](const NamedFile &file) {
    return !file.path.empty() && file.path != "-";
  };
  for (size_t k = 0; k < written.size(); ++k) {
    if (!isFile(written[k]))
      continue;
    for (llvm::ArrayRef<NamedFile> others : {read, written.take_front(k)})
      for (const NamedFile &other : others)
        if (isFile(other) && areSameFile(other.path, written[k].path))
          return describe(other, written[k]);
  }
  return "";
}
