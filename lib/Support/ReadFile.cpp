//===- ReadFile.cpp - Files that may have no end --------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/ReadFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;

static ErrorOr<std::unique_ptr<MemoryBuffer>>
readStream(sys::fs::file_t file, StringRef path,
           loopc::IsPlausible isPlausible) {
  constexpr size_t kHead = 4096, kPiece = 1 << 20;
  SmallVector<char, 0> bytes;
  bool isJudged = !isPlausible;
  while (true) {
    size_t begin = bytes.size();
    size_t wanted = begin < kHead ? kHead - begin : kPiece;
    bytes.resize_for_overwrite(begin + wanted);
    Expected<size_t> count =
        sys::fs::readNativeFile(file, MutableArrayRef(bytes).drop_front(begin));
    if (!count)
      return errorToErrorCode(count.takeError());
    bytes.truncate(begin + *count);
    if (bytes.size() > loopc::kMaxStreamBytes)
      return std::make_error_code(std::errc::file_too_large);
    if (!isJudged && (*count == 0 || bytes.size() >= kHead)) {
      isJudged = true;
      if (!isPlausible(StringRef(bytes.data(), bytes.size())))
        break;
    }
    if (*count == 0)
      break;
  }
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), path, /*RequiresNullTerminator=*/false);
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
loopc::readFile(StringRef path, IsPlausible isPlausible) {
  if (path == "-")
    return readStream(sys::fs::getStdinHandle(), "<stdin>", isPlausible);
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return error;
  if (sys::fs::is_regular_file(status) || sys::fs::is_directory(status))
    return MemoryBuffer::getFile(path, /*IsText=*/false,
                                 /*RequiresNullTerminator=*/false);
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return errorToErrorCode(file.takeError());
  auto buffer = readStream(*file, path, isPlausible);
  sys::fs::closeFile(*file);
  return buffer;
}

static thread_local loopc::FileRecorder *recorder = nullptr;

loopc::FileRecorder::FileRecorder(std::vector<std::string> &files)
    : files(files), outer(recorder) {
  recorder = this;
}

loopc::FileRecorder::~FileRecorder() { recorder = outer; }

void loopc::FileRecorder::note(StringRef path) {
  if (recorder)
    recorder->files.push_back(path.str());
}

bool loopc::mayBeProtobuf(StringRef head) {
  if (head.empty())
    return true;
  auto tag = static_cast<unsigned char>(head[0]);
  // Of the types, 3 and 4 are groups, which ONNX has none of.
  return tag >> 3 && is_contained({0, 1, 2, 5}, tag & 7);
}
