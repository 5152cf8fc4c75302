//===- Protocol.h - What libloopc and its worker tell one another --*- C++
//-*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes, written and read by two programs of one build: integers as they lie in
// memory, texts and lists behind their lengths. Whoever reads checks every
// length, since a cache holds such bytes, too.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_PROTOCOL_H
#define LOOPC_LIB_CAPI_PROTOCOL_H

#include "Impl.h"

#include <cstring>
#include <type_traits>

namespace loopc::capi {

/// Appends values to bytes.
class Writer {
public:
  template <typename... Ts> void operator()(const Ts &...values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes); }
  const std::string &get() const { return bytes; }

private:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void put(T value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void put(const std::string &text) {
    put(uint64_t(text.size()));
    bytes.append(text);
  }
  template <typename A, typename B> void put(const std::pair<A, B> &pair) {
    put(pair.first);
    put(pair.second);
  }
  template <typename T> void put(const std::vector<T> &list) {
    put(uint64_t(list.size()));
    for (const T &one : list)
      put(one);
  }
  void put(const loopc_diagnostics::Entry &entry) {
    (*this)(entry.severity, entry.code, entry.location, entry.message,
            entry.text);
  }

  std::string bytes;
};

/// Takes values from bytes, in the order in which they were written. After the
/// first that is not there all are as they were.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  template <typename... Ts> void operator()(Ts &...values) {
    (take(values), ...);
  }
  /// Whether all that was asked for was there.
  bool isGood() const { return good; }

private:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void take(T &value) {
    if (has(sizeof(value))) {
      std::memcpy(&value, bytes.data(), sizeof(value));
      bytes.remove_prefix(sizeof(value));
    }
  }
  void take(std::string &text) {
    uint64_t size = 0;
    take(size);
    if (has(size)) {
      text = bytes.substr(0, size);
      bytes.remove_prefix(size);
    }
  }
  template <typename A, typename B> void take(std::pair<A, B> &pair) {
    take(pair.first);
    take(pair.second);
  }
  template <typename T> void take(std::vector<T> &list) {
    uint64_t size = 0;
    take(size);
    // Nothing in a list takes less than a byte.
    if (!has(size))
      return;
    list.clear();
    for (uint64_t k = 0; k < size && good; ++k)
      take(list.emplace_back());
  }
  void take(loopc_diagnostics::Entry &entry) {
    (*this)(entry.severity, entry.code, entry.location, entry.message,
            entry.text);
  }
  bool has(uint64_t size) {
    good = good && size <= bytes.size();
    return good;
  }

  std::string_view bytes;
  bool good = true;
};

/// The options that change what is made of a model, for a Writer or a Reader.
/// All options are named: a new one does not compile before it is decided
/// whether code depends on it, and the cache would take two models for one.
template <typename Archive, typename Options>
void visitOptions(Archive &archive, Options &options) {
  auto &[target, cpu, features, chip, deviceLoops, cublas, weights, name,
         baseDirectory, minKernelWork, allowTf32, optLevel, ortCompat,
         fpContract, verify, checkAccesses, profile, disabledPasses,
         customLibraries, dims, shapes, states, quickCode,
         // What code does not depend on.
         cache, strictCache, tier, timeoutSeconds, cancel, progress,
         progressContext] = options;
  archive(target, cpu, features, chip, deviceLoops, cublas, weights, name,
          baseDirectory, minKernelWork, allowTf32, optLevel, ortCompat,
          fpContract, verify, checkAccesses, profile, disabledPasses,
          customLibraries, dims, shapes, states, quickCode);
}

/// What a worker is to compile. Its model is what is open as kModelDescriptor.
struct Request {
  std::string build;   ///< of the library that asks
  int32_t emit = 0;    ///< a loopc_emit; 0: a library for the cache
  std::string model;   ///< the name of its file, or "" for bytes
  bool isOpen = false; ///< else the file is opened by that name
  std::string output;  ///< the file to write
  std::string runtime; ///< the libloopc that runs it, where emit is 0
  /// Where emit is 0: the worker goes on in the background, and keeps optimised
  /// code in this cache. "": it does not.
  std::string cache;
  std::string key; ///< a ModelKey, for that
  loopc_compile_options options;

  template <typename Archive, typename Self>
  static void visit(Archive &archive, Self &self) {
    archive(self.build, self.emit, self.model, self.isOpen, self.output,
            self.runtime, self.cache, self.key, self.options.tier);
    visitOptions(archive, self.options);
  }
};

/// What becomes of it.
struct Reply {
  int32_t status = LOOPC_COMPILE_ERROR_INTERNAL; ///< a loopc_compile_status
  std::string symbol;                            ///< NAME of NAME_model
  std::vector<std::string> files; ///< what was read beside the model
  std::vector<loopc_diagnostics::Entry> diagnostics;
  bool isQuick = false; ///< optimised code is being made by the worker

  template <typename Archive, typename Self>
  static void visit(Archive &archive, Self &self) {
    archive(self.status, self.symbol, self.files, self.diagnostics,
            self.isQuick);
  }
};

/// A worker's descriptors: the model, the request, and the pipe that it answers
/// through.
inline constexpr int kModelDescriptor = 3, kRequestDescriptor = 4,
                     kReplyDescriptor = 5;

/// What comes through the pipe: a kind, the length of what follows, and that.
enum class Message : char {
  Progress = 'P', ///< a fraction (double) and the phase
  Done = 'D'      ///< a Reply; the last one
};
struct MessageHead {
  Message kind;
  uint64_t size;
};

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_PROTOCOL_H
