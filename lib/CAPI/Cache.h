//===- Cache.h - Compiled models on disk ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of files that are never changed:
//   KEY.so      a library that is run by libloopc, and behind it what was said
//               when it was compiled, and hashes of both
//   KEY.files   of a model that other files belong to: their names
//   HASH.stamp  that a large file of this stamp, a model's or a library of this
//               folder, has these contents; its time is that of the last use
//   KEY.lock    held by who compiles KEY
//   turn.lock   held by who compiles in the background
//   background.log  what that did not end well, and what was said (Tiers.cpp);
//               a line ends with the key
//   new-XXXXXX  a folder of what is being made, held by who makes it
// What is written goes to a name of its own, then to its place at once. Nothing
// in the folder is believed: each file says by a hash that it is whole. Only
// what belongs to this user, and nobody else can write, is used: it is code.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_CACHE_H
#define LOOPC_LIB_CAPI_CACHE_H

#include "Files.h"
#include "Impl.h"
#include "Watch.h"

#include <optional>

namespace loopc::capi {

/// A folder for what is being made. It goes with this object, or, where the
/// process is killed, with the next one that looks.
class WorkFolder {
public:
  WorkFolder() = default;
  WorkFolder(WorkFolder &&other) noexcept
      : path(std::exchange(other.path, "")), lock(std::move(other.lock)) {}
  WorkFolder &operator=(WorkFolder &&other) noexcept {
    std::swap(path, other.path);
    std::swap(lock, other.lock);
    return *this;
  }
  ~WorkFolder();

  /// A new one in `parent`; an empty one where that cannot be.
  static WorkFolder create(const std::string &parent);
  /// Removes those that nobody works in any more.
  static void removeAbandoned(const std::string &parent);

  explicit operator bool() const { return !path.empty(); }
  std::string file(const char *name) const { return path + "/" + name; }

private:
  std::string path;
  Descriptor lock;
};

/// Keeps others from compiling the same, while it lives.
class KeyLock {
public:
  KeyLock() = default;
  KeyLock(std::string path, Descriptor file)
      : path(std::move(path)), file(std::move(file)) {}
  KeyLock(KeyLock &&other) noexcept
      : path(std::exchange(other.path, "")), file(std::move(other.file)) {}
  KeyLock &operator=(KeyLock &&other) noexcept {
    std::swap(path, other.path);
    std::swap(file, other.file);
    return *this;
  }
  ~KeyLock();

  explicit operator bool() const { return bool(file); }

private:
  std::string path;
  Descriptor file;
};

/// What is said of a model beside its code.
struct EntryText {
  std::string symbol; ///< NAME of NAME_model
  std::vector<loopc_diagnostics::Entry> diagnostics;
};

/// A model that was found: the library, and what was said.
struct Entry {
  std::string path;
  EntryText text;
};

/// An entry as `loopc cache list` shows it.
struct EntryRow {
  std::string key;
  std::string name; ///< of the model's file
  uint64_t size = 0;
  int64_t used = 0; ///< when it was used last, in nanoseconds since 1970
};

class Cache {
public:
  /// The folder that `where` names: a path, "" for the environment's
  /// LOOPC_CACHE_DIR or the user's own, "off" for none. It is made where it is
  /// not there. None where it cannot be used; then `diagnostics` gets a
  /// warning, once in a process for each folder.
  static std::optional<Cache> open(const std::string &where,
                                   loopc_diagnostics &diagnostics);

  const std::string &getFolder() const { return folder; }

  /// Looks for `key`, which is used now. `isStrict` as `hash` has it.
  std::optional<Entry> find(const Hash &key, bool isStrict,
                            loopc_diagnostics &diagnostics);

  /// Takes the library `file`, of a work folder of this cache. `name` is that
  /// of the model's file.
  /// \returns where it is; "" where it could not be kept, and `file` is there
  /// still.
  std::string keep(const Hash &key, const std::string &file,
                   const std::string &name, const EntryText &text);
  /// Keeps nothing of `key`: the entry cannot be used.
  void drop(const Hash &key);

  /// Names of the files that belong to the model of this key; nothing where no
  /// such model is known.
  std::optional<std::vector<std::string>> findFiles(const Hash &key);
  void keepFiles(const Hash &key, const std::vector<std::string> &files);

  /// The hash of a file, but for the last `behind` bytes. Of a large one that
  /// has not been changed since it was read, what it was then, unless
  /// `isStrict`. False where it cannot be read.
  bool hash(int descriptor, bool isStrict, Hash &hash, uint64_t behind = 0);

  /// Waits until no other process or thread compiles `key`, or `watch` has
  /// enough. What is returned keeps others waiting, unless files cannot be
  /// locked there.
  KeyLock lock(const Hash &key, Watch &watch);
  /// The same without waiting: nothing where another one has the lock.
  KeyLock tryLock(const Hash &key);
  /// Of those that compile in the background one has its turn. Nothing where
  /// another one has it, unless this is to wait.
  KeyLock takeTurn(bool waits);

  /// A folder for what is being made.
  WorkFolder makeWorkFolder() { return WorkFolder::create(folder); }

  std::vector<EntryRow> list() const;
  uint64_t getSize() const;
  /// Removes what was used longest ago, until what is left has at most `most`
  /// bytes. \returns how many entries went.
  size_t shrink(uint64_t most);

  /// Most bytes that a cache has: LOOPC_CACHE_SIZE, or 4 GiB.
  static uint64_t getLimit();

private:
  explicit Cache(std::string folder) : folder(std::move(folder)) {}

  std::string getPath(const Hash &key, const char *suffix) const {
    return folder + "/" + toHex(key) + suffix;
  }
  bool replace(const std::string &path, std::string_view bytes);
  bool readOwn(const std::string &path, std::string &bytes);

  std::string folder;
};

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_CACHE_H
