//===- ModelKey.h - Where a model is in the cache ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_CAPI_MODELKEY_H
#define LOOPC_LIB_CAPI_MODELKEY_H

#include "Cache.h"
#include "Protocol.h"

namespace loopc::capi {

/// What the keys of a model are made of. A worker is told, where it keeps what
/// it compiles by itself.
struct ModelKey {
  std::string name;   ///< of the model's file; "" for bytes
  std::string folder; ///< that names of files beside the model are in
  Hash settings, contents;
  Hash alone;        ///< the key without files beside the model
  FileStamp stamp;   ///< of the model's file, before it was read
  int64_t begin = 0; ///< when that was
  bool isStrict = false;

  template <typename Archive, typename Self>
  static void visit(Archive &archive, Self &self) {
    archive(self.name, self.folder, self.settings, self.contents, self.alone,
            self.stamp.device, self.stamp.number, self.stamp.size,
            self.stamp.modified, self.stamp.changed, self.begin, self.isStrict);
  }

  /// The key of the model with these files beside it; nothing where one of them
  /// cannot be read, or was changed after `before`.
  std::optional<Hash> find(Cache &cache, const std::vector<std::string> &files,
                           int64_t before) const;

  /// `files` as the cache names them: those in the model's folder by what is
  /// behind it.
  std::vector<std::string>
  getRelative(const std::vector<std::string> &files) const;

  /// Puts the library `output`, which was compiled from the open file `model`
  /// (none: from bytes), into the cache, by its key or by that of code that was
  /// made quickly. \returns where it is then; "" where it is not kept.
  std::string keep(Cache &cache, const Descriptor &model,
                   const std::string &output, const Reply &reply,
                   bool isQuick) const;
};

/// The key of a model's code that was made quickly, by that of its optimised
/// code.
Hash getQuickKey(const Hash &key);
/// What is locked by who makes the optimised code of a model in the background,
/// by its key without files beside it.
Hash getLaterKey(const Hash &alone);

/// Stands in the cache for the path of the model, which may have moved.
inline constexpr std::string_view kPathMark = "\1model\1";

} // namespace loopc::capi

#endif // LOOPC_LIB_CAPI_MODELKEY_H
