//===- Files.cpp - Descriptors, and hashes of what is in files ------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

using namespace loopc::capi;

void Descriptor::reset() {
  if (number >= 0)
    close(number);
  number = -1;
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

static Hash toHash(XXH128_hash_t value) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, value);
  return Hash(reinterpret_cast<const char *>(bytes.digest),
              sizeof(bytes.digest));
}

Hash loopc::capi::hashOf(std::string_view bytes) {
  return toHash(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string loopc::capi::toHex(const Hash &hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : hash)
    text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

namespace {
struct StateDeleter {
  void operator()(XXH3_state_t *state) const { XXH3_freeState(state); }
};
} // namespace

bool loopc::capi::hashFile(int descriptor, uint64_t size, Hash &hash) {
  // What fits into the second cache; not on a stack, which may be small.
  constexpr size_t kPiece = 1 << 18;
  std::unique_ptr<char[]> buffer(new char[kPiece]);
  std::unique_ptr<XXH3_state_t, StateDeleter> state(XXH3_createState());
  if (!state)
    return false;
  XXH3_128bits_reset(state.get());
  for (uint64_t at = 0; at < size;) {
    size_t wanted = std::min<uint64_t>(kPiece, size - at);
    if (!readAt(descriptor, at, buffer.get(), wanted))
      return false;
    XXH3_128bits_update(state.get(), buffer.get(), wanted);
    at += wanted;
  }
  hash = toHash(XXH3_128bits_digest(state.get()));
  return true;
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

Descriptor loopc::capi::openToRead(const std::string &path) {
  // A pipe that nobody writes to is not waited for.
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

bool loopc::capi::readAt(int descriptor, uint64_t offset, void *bytes,
                         size_t size) {
  char *to = static_cast<char *>(bytes);
  while (size) {
    ssize_t count = pread(descriptor, to, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    to += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool loopc::capi::readSmall(int descriptor, std::string &bytes) {
  constexpr off_t kMaxBytes = 1 << 24;
  struct stat status;
  if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) ||
      status.st_size > kMaxBytes)
    return false;
  bytes.resize(static_cast<size_t>(status.st_size));
  return readAt(descriptor, 0, bytes.data(), bytes.size());
}

bool loopc::capi::writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

Descriptor loopc::capi::makeMemoryFile(std::string_view bytes) {
  Descriptor file(memfd_create("loopc", MFD_CLOEXEC));
  if (file && (!writeAll(file.get(), bytes) || lseek(file.get(), 0, SEEK_SET)))
    file.reset();
  return file;
}

static int64_t toNanoseconds(const timespec &time) {
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

FileStamp FileStamp::of(const struct stat &status) {
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
          toNanoseconds(status.st_mtim), toNanoseconds(status.st_ctim)};
}

int64_t loopc::capi::getNow() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return toNanoseconds(now);
}
