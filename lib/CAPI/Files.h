//===- Files.h - Descriptors, and hashes of what is in files ----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_FILES_H
#define LOOPC_LIB_CAPI_FILES_H

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace loopc::capi {

/// A file descriptor that is closed at the end.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() { reset(); }

  void reset();
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number = -1;
};

/// 128 bits that stand for bytes (XXH3).
using Hash = std::string; // 16 bytes
Hash hashOf(std::string_view bytes);
/// Lower-case digits.
std::string toHex(const Hash &hash);

/// Opens a file to read; closed when another program starts.
Descriptor openToRead(const std::string &path);

/// The hash of the first `size` bytes of a file; false, with errno, where they
/// cannot be read.
bool hashFile(int descriptor, uint64_t size, Hash &hash);

/// All bytes from `offset` on; false where that fails.
bool readAt(int descriptor, uint64_t offset, void *bytes, size_t size);
/// All of a small file.
bool readSmall(int descriptor, std::string &bytes);

/// Writes all bytes; false, with errno, where that fails.
bool writeAll(int descriptor, std::string_view bytes);

/// Bytes in memory as a file, at its beginning; none where the system has no
/// such files.
Descriptor makeMemoryFile(std::string_view bytes);

/// By which a file is recognised without being read: device, number, size and
/// times. It changes when somebody writes to the file or replaces it.
struct FileStamp {
  uint64_t device = 0, number = 0, size = 0;
  int64_t modified = 0, changed = 0; ///< in nanoseconds

  static FileStamp of(const struct stat &status);
  bool operator==(const FileStamp &) const = default;
};

/// Nanoseconds since 1970, by the clock of files' times.
int64_t getNow();

/// The file that holds the code at `address`, with an absolute path; "" where
/// nobody knows.
std::string findLibraryOf(const void *address);

/// The build id of an ELF file of 64 bits: what the linker wrote into it, a
/// hash of all that it linked. "" where there is none.
std::string readBuildId(const std::string &path);

/// The names that an ELF shared library of 64 bits defines for others to see.
/// False, with `problem`, where it is none.
bool readDefinedNames(int descriptor, std::vector<std::string> &names,
                      std::string &problem);

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_FILES_H
