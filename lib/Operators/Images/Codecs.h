//===- Codecs.h - Decoders of image files -------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One decoder per file format. Each writes 8-bit RGB pixels, whatever the
// format stores: palettes are expanded, 16-bit samples lose their low byte, and
// alpha channels are dropped without blending.

#ifndef LOOPC_LIB_OPERATORS_IMAGES_CODECS_H
#define LOOPC_LIB_OPERATORS_IMAGES_CODECS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace loopc::images {

using Bytes = std::span<const uint8_t>;

/// Where a decoder writes an image: it says the size, then fills the rows.
class Picture {
public:
  virtual ~Picture() = default;

  /// Pixels of the largest image: a small file can say any size.
  static constexpr int64_t kMaxPixels = int64_t(1) << 28;

  /// False after fail() where no image may have this size.
  bool check(int64_t height, int64_t width);
  /// Memory for height * width * 3 bytes, once; null where there is none, after
  /// fail().
  uint8_t *allocate(int64_t height, int64_t width);
  /// Records the first reason. \returns false, for `return picture.fail(...)`.
  bool fail(const char *why) {
    if (!reason[0])
      copyReason(why);
    return false;
  }
  const char *getReason() const { return reason; }

protected:
  virtual uint8_t *makeRoom(int64_t height, int64_t width) = 0;

private:
  void copyReason(const char *why);
  char reason[200] = {};
};

/// A decoder returns false after picture.fail().
using Decoder = bool (*)(Bytes bytes, Picture &picture);

bool decodeBmp(Bytes bytes, Picture &picture);
bool decodePortable(Bytes bytes, Picture &picture);
bool decodeJpeg(Bytes bytes, Picture &picture);
bool decodePng(Bytes bytes, Picture &picture);
bool decodeTiff(Bytes bytes, Picture &picture);
bool decodeWebP(Bytes bytes, Picture &picture);
bool decodeJpeg2000(Bytes bytes, Picture &picture);

} // namespace loopc::images

#endif // LOOPC_LIB_OPERATORS_IMAGES_CODECS_H
