//===- ModelKey.cpp - Where a model is in the cache -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelKey.h"
#include "Key.h"

using namespace loopc::capi;

Hash loopc::capi::getQuickKey(const Hash &key) { return hashOf(key + "quick"); }

Hash loopc::capi::getLaterKey(const Hash &alone) {
  return hashOf(alone + "later");
}

std::optional<Hash> ModelKey::find(Cache &cache,
                                   const std::vector<std::string> &files,
                                   int64_t before) const {
  std::vector<Hash> hashes;
  for (const std::string &file : files) {
    Descriptor opened =
        openToRead(file.starts_with("/") ? file : folder + "/" + file);
    struct stat status;
    if (!opened || fstat(opened.get(), &status) != 0 ||
        !S_ISREG(status.st_mode) || FileStamp::of(status).modified >= before ||
        !cache.hash(opened.get(), isStrict, hashes.emplace_back()))
      return std::nullopt;
  }
  return hashes.empty() ? alone : combine(settings, contents, hashes);
}

std::vector<std::string>
ModelKey::getRelative(const std::vector<std::string> &files) const {
  std::vector<std::string> relative;
  std::string prefix = folder + "/";
  for (const std::string &file : files)
    relative.push_back(file.starts_with(prefix) ? file.substr(prefix.size())
                                                : file);
  return relative;
}

std::string ModelKey::keep(Cache &cache, const Descriptor &model,
                           const std::string &output, const Reply &reply,
                           bool isQuick) const {
  struct stat status;
  if (model &&
      (fstat(model.get(), &status) != 0 || !(FileStamp::of(status) == stamp)))
    return "";
  std::vector<std::string> files = getRelative(reply.files);
  std::optional<Hash> whole = find(cache, files, begin);
  if (!whole)
    return "";
  EntryText text = {reply.symbol, reply.diagnostics};
  renameModel(text.diagnostics, name, kPathMark);
  std::string path = cache.keep(isQuick ? getQuickKey(*whole) : *whole, output,
                                name.empty() ? "<bytes>" : name, text);
  if (!path.empty() && !files.empty())
    cache.keepFiles(alone, files);
  // Whoever has it open keeps it until then.
  if (!path.empty() && !isQuick)
    cache.drop(getQuickKey(*whole));
  return path;
}
