//===- Cache.cpp - Compiled models on disk --------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include "Protocol.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace loopc::capi;

/// Of the layout of entries; another one has other names.
static constexpr char kMagic[8] = {'l', 'o', 'o', 'p', 'c', '-', 'e', '1'};
static constexpr size_t kHashBytes = 16;

/// Whether a file is read sooner than its stamp is looked for.
static bool isSmall(uint64_t size) { return size < (1 << 20); }

namespace {
/// The end of an entry.
struct Footer {
  char magic[8];
  uint64_t librarySize; ///< of the library, which is first
  uint64_t textSize;    ///< of what is between both
  char key[kHashBytes];
  char text[kHashBytes];    ///< the hash of what is between
  char library[kHashBytes]; ///< the hash of the library
};
} // namespace

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The folder that `where` names; "" for none. `isNamed`: somebody chose it.
static std::string choose(std::string where, bool &isNamed) {
  if (where.empty())
    where = getVariable("LOOPC_CACHE_DIR");
  isNamed = !where.empty();
  if (where == "off")
    return "";
  if (isNamed)
    return where;
  // Relative paths there are to be ignored, says the specification.
  if (std::string root = getVariable("XDG_CACHE_HOME"); root.starts_with("/"))
    return root + "/loopc";
  std::string home = getVariable("HOME");
  return home.starts_with("/") ? home + "/.cache/loopc" : "";
}

/// Makes a folder and those above it, for this user alone.
static bool makeFolders(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos)
    return false;
  return makeFolders(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

/// Whether nobody but this user can have written it, nor the administrator, who
/// may do anything.
static bool isOwn(const struct stat &status) {
  return status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// True once in a process for each text.
static bool isNew(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  std::lock_guard<std::mutex> guard(mutex);
  return seen.insert(text).second;
}

static void warnOnce(const std::string &text, loopc_diagnostics &diagnostics) {
  if (isNew(text))
    diagnostics.addWarning(kCacheCode, text);
}

std::optional<Cache> Cache::open(const std::string &where,
                                 loopc_diagnostics &diagnostics) {
  bool isNamed;
  std::string folder = choose(where, isNamed);
  if (folder.empty())
    return std::nullopt;
  struct stat status;
  bool isThere = makeFolders(folder) && stat(folder.c_str(), &status) == 0;
  if (!isThere || !S_ISDIR(status.st_mode)) {
    // Many services have no home, and nobody there asked for a cache.
    if (isNamed)
      warnOnce("compiled models are not kept: the folder '" + folder +
                   "' cannot be made: " + strerror(isThere ? ENOTDIR : errno),
               diagnostics);
    return std::nullopt;
  }
  if (!isOwn(status)) {
    warnOnce("compiled models are not kept: the folder '" + folder +
                 "' belongs to another user, or others can write to it",
             diagnostics);
    return std::nullopt;
  }
  struct statvfs system;
  if (statvfs(folder.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC)) {
    warnOnce("compiled models are not kept: nothing in the folder '" + folder +
                 "' can be run",
             diagnostics);
    return std::nullopt;
  }
  return Cache(std::move(folder));
}

uint64_t Cache::getLimit() {
  constexpr uint64_t kDefault = uint64_t(4) << 30;
  std::string text = getVariable("LOOPC_CACHE_SIZE");
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || end == text.c_str() || errno)
    return kDefault;
  static constexpr std::string_view kUnits = "KMGT";
  size_t unit = *end ? kUnits.find(*end & ~0x20) : 0;
  if (!*end)
    return number;
  if (unit == std::string_view::npos)
    return kDefault;
  int shift = 10 * (static_cast<int>(unit) + 1);
  return number > (UINT64_MAX >> shift) ? UINT64_MAX : number << shift;
}

//===----------------------------------------------------------------------===//
// Small files
//===----------------------------------------------------------------------===//

/// Writes a file that has its own hash in front, whole or not at all.
bool Cache::replace(const std::string &path, std::string_view bytes) {
  static std::atomic<unsigned> number = 0;
  std::string temporary = path + "." + std::to_string(getpid()) + "." +
                          std::to_string(number.fetch_add(1)) + ".tmp";
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  bool isWritten = file && writeAll(file.get(), hashOf(bytes)) &&
                   writeAll(file.get(), bytes) &&
                   rename(temporary.c_str(), path.c_str()) == 0;
  if (file && !isWritten)
    unlink(temporary.c_str());
  return isWritten;
}

/// Reads such a file of this user; false where there is none, or it is damaged.
bool Cache::readOwn(const std::string &path, std::string &bytes) {
  Descriptor file = openToRead(path);
  struct stat status;
  if (!file || fstat(file.get(), &status) || !isOwn(status) ||
      !readSmall(file.get(), bytes) || bytes.size() < kHashBytes)
    return false;
  Hash hash = bytes.substr(0, kHashBytes);
  bytes.erase(0, kHashBytes);
  return hashOf(bytes) == hash;
}

std::optional<std::vector<std::string>> Cache::findFiles(const Hash &key) {
  std::string bytes;
  std::vector<std::string> files;
  if (!readOwn(getPath(key, ".files"), bytes))
    return std::nullopt;
  Reader reader(bytes);
  reader(files);
  if (!reader.isGood())
    return std::nullopt;
  return files;
}

void Cache::keepFiles(const Hash &key, const std::vector<std::string> &files) {
  Writer writer;
  writer(files);
  replace(getPath(key, ".files"), writer.get());
}

/// The name of the file that has the hash of a file of this stamp.
static std::string getStampName(const FileStamp &stamp) {
  Writer writer;
  writer(stamp.device, stamp.number, stamp.size, stamp.modified, stamp.changed);
  return toHex(hashOf(writer.get())) + ".stamp";
}

bool Cache::hash(int descriptor, bool isStrict, Hash &hash, uint64_t behind) {
  struct stat status;
  if (fstat(descriptor, &status))
    return false;
  FileStamp stamp = FileStamp::of(status);
  uint64_t size = stamp.size - std::min(behind, stamp.size);
  if (isSmall(stamp.size))
    return hashFile(descriptor, size, hash);
  std::string path = folder + "/" + getStampName(stamp);
  std::string bytes;
  if (!isStrict && readOwn(path, bytes) && bytes.size() == kHashBytes) {
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    hash = bytes;
    return true;
  }
  int64_t begin = getNow();
  if (!hashFile(descriptor, size, hash))
    return false;
  // Who writes within a tick of the clock leaves no other time.
  constexpr int64_t kTick = 2'000'000'000;
  if (!fstat(descriptor, &status) && FileStamp::of(status) == stamp &&
      std::max(stamp.modified, stamp.changed) < begin - kTick)
    replace(path, hash);
  return true;
}

/// Opens a file to lock.
static Descriptor openLock(const std::string &path) {
  return Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

KeyLock Cache::tryLock(const Hash &key) {
  std::string path = getPath(key, ".lock");
  Descriptor file = openLock(path);
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return KeyLock();
  return KeyLock(std::move(path), std::move(file));
}

KeyLock Cache::takeTurn(bool waits) {
  std::string path = folder + "/turn.lock";
  // Who had it before removes the file, of which the next one must have it.
  while (Descriptor file = openLock(path)) {
    struct stat held, named;
    int status;
    do
      status = flock(file.get(), waits ? LOCK_EX : LOCK_EX | LOCK_NB);
    while (status != 0 && errno == EINTR);
    if (status != 0)
      return KeyLock();
    if (fstat(file.get(), &held) == 0 && stat(path.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino)
      return KeyLock(std::move(path), std::move(file));
  }
  return KeyLock();
}

KeyLock Cache::lock(const Hash &key, Watch &watch) {
  std::string path = getPath(key, ".lock");
  Descriptor file = openLock(path);
  while (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    watch.setProgress("waiting for another process", 0);
    bool mayWait = errno == EWOULDBLOCK || errno == EINTR;
    if (!mayWait || watch.poll() != LOOPC_COMPILE_OK)
      return KeyLock();
    usleep(kPollMilliseconds * 1000);
  }
  return file ? KeyLock(std::move(path), std::move(file)) : KeyLock();
}

KeyLock::~KeyLock() {
  // First: who waits has the file open, and who comes makes a new one.
  if (file)
    unlink(path.c_str());
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The end of an entry and what is in front of it; false where the file is not
/// one of `key` (any key where that is empty).
static bool readEnd(int descriptor, const Hash &key, Footer &footer,
                    std::string &text, std::string &name) {
  constexpr uint64_t kMaxText = 1 << 26;
  struct stat status;
  if (fstat(descriptor, &status) || !S_ISREG(status.st_mode) ||
      status.st_size < static_cast<off_t>(sizeof(footer)))
    return false;
  uint64_t end = static_cast<uint64_t>(status.st_size) - sizeof(footer);
  if (!readAt(descriptor, end, &footer, sizeof(footer)) ||
      std::memcmp(footer.magic, kMagic, sizeof(kMagic)) != 0 ||
      footer.textSize > kMaxText || footer.textSize > end ||
      footer.librarySize != end - footer.textSize)
    return false;
  if (!key.empty() && std::string_view(footer.key, kHashBytes) != key)
    return false;
  text.resize(footer.textSize);
  if (!readAt(descriptor, footer.librarySize, text.data(), text.size()) ||
      hashOf(text) != std::string_view(footer.text, kHashBytes))
    return false;
  Reader reader(text);
  reader(name);
  return reader.isGood();
}

std::optional<Entry> Cache::find(const Hash &key, bool isStrict,
                                 loopc_diagnostics &diagnostics) {
  Entry entry;
  entry.path = getPath(key, ".so");
  Descriptor file = openToRead(entry.path);
  struct stat status;
  if (!file || fstat(file.get(), &status))
    return std::nullopt;
  if (!isOwn(status)) {
    warnOnce("'" + entry.path +
                 "' is not used: it belongs to another user, or others can "
                 "write to it",
             diagnostics);
    return std::nullopt;
  }
  Footer footer;
  std::string bytes, name;
  Hash hash;
  if (!readEnd(file.get(), key, footer, bytes, name) ||
      !this->hash(file.get(), isStrict, hash,
                  footer.textSize + sizeof(footer)) ||
      hash != std::string_view(footer.library, kHashBytes))
    return std::nullopt;
  Reader reader(bytes);
  reader(name, entry.text.symbol, entry.text.diagnostics);
  if (!reader.isGood())
    return std::nullopt;
  // When it was used last; of a large one its stamp tells, since it would not
  // be recognised by another time. A folder that cannot be written to is good
  // enough.
  if (isSmall(static_cast<uint64_t>(status.st_size)))
    futimens(file.get(), nullptr);
  return entry;
}

std::string Cache::keep(const Hash &key, const std::string &file,
                        const std::string &name, const EntryText &text) {
  Descriptor library(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status;
  if (!library || fstat(library.get(), &status) || fchmod(library.get(), 0600))
    return "";
  Writer writer;
  writer(name, text.symbol, text.diagnostics);
  Footer footer = {};
  std::memcpy(footer.magic, kMagic, sizeof(kMagic));
  footer.librarySize = static_cast<uint64_t>(status.st_size);
  footer.textSize = writer.get().size();
  Hash hash;
  uint64_t size = footer.librarySize + footer.textSize + sizeof(footer);
  if (size > getLimit() || !hashFile(library.get(), footer.librarySize, hash))
    return "";
  std::memcpy(footer.key, key.data(), kHashBytes);
  std::memcpy(footer.library, hash.data(), kHashBytes);
  hash = hashOf(writer.get());
  std::memcpy(footer.text, hash.data(), kHashBytes);
  std::string path = getPath(key, ".so");
  bool isKept =
      lseek(library.get(), 0, SEEK_END) >= 0 &&
      writeAll(library.get(), writer.get()) &&
      writeAll(library.get(),
               {reinterpret_cast<const char *>(&footer), sizeof(footer)}) &&
      fsync(library.get()) == 0 && rename(file.c_str(), path.c_str()) == 0;
  if (!isKept)
    return "";
  WorkFolder::removeAbandoned(folder);
  // The new one stays, whatever the clocks of the others say.
  futimens(library.get(), nullptr);
  shrink(getLimit());
  return path;
}

void Cache::drop(const Hash &key) { unlink(getPath(key, ".so").c_str()); }

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

namespace {
struct Stored {
  std::string name;
  uint64_t size;
  int64_t used;
};
} // namespace

/// The files of a cache, those used longest ago first.
static std::vector<Stored> readFolder(const std::string &path) {
  // The last two are left over where a process was killed.
  static constexpr std::string_view kSuffixes[] = {".so",  ".files", ".stamp",
                                                   ".log", ".lock",  ".tmp"};
  std::vector<Stored> files;
  DIR *folder = opendir(path.c_str());
  if (!folder)
    return files;
  while (const dirent *entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    struct stat status;
    if (std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                    [&](auto suffix) { return name.ends_with(suffix); }) &&
        fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
            0) {
      FileStamp stamp = FileStamp::of(status);
      Stored file = {entry->d_name, stamp.size, stamp.modified};
      if (name.ends_with(".so") && !isSmall(stamp.size) &&
          fstatat(dirfd(folder), getStampName(stamp).c_str(), &status,
                  AT_SYMLINK_NOFOLLOW) == 0)
        file.used = std::max(file.used, FileStamp::of(status).modified);
      files.push_back(std::move(file));
    }
  }
  closedir(folder);
  std::sort(files.begin(), files.end(),
            [](const Stored &a, const Stored &b) { return a.used < b.used; });
  return files;
}

std::vector<EntryRow> Cache::list() const {
  std::vector<EntryRow> rows;
  for (const Stored &file : readFolder(folder)) {
    if (!file.name.ends_with(".so"))
      continue;
    EntryRow row;
    row.key = file.name.substr(0, file.name.size() - 3);
    row.size = file.size;
    row.used = file.used;
    Descriptor opened = openToRead(folder + "/" + file.name);
    Footer footer;
    std::string text;
    if (!opened || !readEnd(opened.get(), Hash(), footer, text, row.name))
      row.name = "(damaged)";
    rows.push_back(std::move(row));
  }
  return rows;
}

uint64_t Cache::getSize() const {
  uint64_t size = 0;
  for (const Stored &file : readFolder(folder))
    size += file.size;
  return size;
}

size_t Cache::shrink(uint64_t most) {
  std::vector<Stored> files = readFolder(folder);
  uint64_t size = 0;
  for (const Stored &file : files)
    size += file.size;
  size_t removed = 0;
  for (const Stored &file : files) {
    if (size <= most && most)
      break;
    if (unlink((folder + "/" + file.name).c_str()) != 0)
      continue;
    size -= file.size;
    removed += file.name.ends_with(".so");
  }
  return removed;
}
