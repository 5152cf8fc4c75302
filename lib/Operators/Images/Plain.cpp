//===- Plain.cpp - Formats without a library: BMP, portable anymaps -----===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace loopc::images;

//===----------------------------------------------------------------------===//
// BMP: rows from the bottom up, each a multiple of four bytes
//===----------------------------------------------------------------------===//

/// Kinds of compression in BMP's header: none, and none with masks of colours.
static constexpr uint32_t kPlain = 0, kBitFields = 3;

namespace {
/// What BMP's header says.
struct Bitmap {
  Bytes bytes;
  int64_t width = 0, height = 0, pixels = 0; ///< where the pixels begin
  bool isTopDown = false;
  unsigned bits = 0;
  Bytes palette;
  unsigned paletteStep = 4;
  uint32_t masks[3] = {};

  uint32_t get(size_t at, unsigned count) const {
    uint32_t value = 0;
    for (unsigned k = 0; k < count && at + k < bytes.size(); ++k)
      value |= uint32_t(bytes[at + k]) << (8 * k);
    return value;
  }
  bool readHeader(Picture &picture);
  bool readMasks(uint32_t compression, Picture &picture);
  void writePixel(const uint8_t *row, int64_t column, uint8_t *out) const;
};
} // namespace

bool Bitmap::readMasks(uint32_t compression, Picture &picture) {
  if (compression != kPlain && compression != kBitFields)
    return picture.fail("a compressed BMP file is not read");
  if (bits != 16 && bits != 32)
    return true;
  for (unsigned c = 0; c < 3; ++c) {
    // The masks stand behind the first 40 bytes of every header that has them.
    masks[c] = compression == kBitFields ? get(14 + 40 + 4 * c, 4)
               : bits == 16              ? 0x1fu << (5 * (2 - c))
                                         : 0xffu << (8 * (2 - c));
    if (masks[c] == 0)
      return picture.fail("the BMP file has no mask of a colour");
  }
  return true;
}

bool Bitmap::readHeader(Picture &picture) {
  if (bytes.size() < 26)
    return picture.fail("the BMP file ends early");
  size_t header = get(14, 4);
  bool isOld = header == 12;
  if (!isOld && (header < 40 || bytes.size() < 14 + header))
    return picture.fail("the BMP file is damaged");
  pixels = get(10, 4);
  width = isOld ? int64_t(get(18, 2)) : static_cast<int32_t>(get(18, 4));
  height = isOld ? int64_t(get(20, 2)) : static_cast<int32_t>(get(22, 4));
  bits = isOld ? get(24, 2) : get(28, 2);
  isTopDown = height < 0;
  height = isTopDown ? -height : height;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 &&
      bits != 32)
    return picture.fail("the BMP file has pixels of another number of bits");
  paletteStep = isOld ? 3 : 4;
  size_t begin = 14 + header;
  if (bits <= 8)
    palette = bytes.subspan(
        begin, std::min<size_t>(paletteStep << bits, bytes.size() - begin));
  return readMasks(isOld ? kPlain : get(30, 4), picture);
}

void Bitmap::writePixel(const uint8_t *row, int64_t column,
                        uint8_t *out) const {
  if (bits == 24) {
    for (unsigned c = 0; c < 3; ++c)
      out[c] = row[3 * column + 2 - c];
    return;
  }
  if (bits <= 8) {
    unsigned each = 8 / bits;
    unsigned index = row[column / each] >> (bits * (each - 1 - column % each)) &
                     ((1u << bits) - 1);
    size_t at = size_t(index) * paletteStep;
    for (unsigned c = 0; c < 3; ++c)
      out[c] = at + 3 <= palette.size() ? palette[at + 2 - c] : 0;
    return;
  }
  uint32_t pixel = 0;
  std::memcpy(&pixel, row + column * (bits / 8), bits / 8);
  for (unsigned c = 0; c < 3; ++c) {
    uint64_t most = masks[c] >> std::countr_zero(masks[c]);
    uint64_t value = (pixel & masks[c]) >> std::countr_zero(masks[c]);
    out[c] = static_cast<uint8_t>(value * 255 / most);
  }
}

bool loopc::images::decodeBmp(Bytes bytes, Picture &picture) {
  Bitmap map;
  map.bytes = bytes;
  if (!map.readHeader(picture))
    return false;
  if (map.width < 1 || map.height < 1)
    return picture.fail("the image has no size");
  uint64_t step = (uint64_t(map.width) * map.bits + 31) / 32 * 4;
  if (static_cast<uint64_t>(map.pixels) > bytes.size() ||
      step > (bytes.size() - map.pixels) / map.height)
    return picture.fail("the BMP file ends early");
  uint8_t *out = picture.allocate(map.height, map.width);
  if (!out)
    return false;
  for (int64_t y = 0; y < map.height; ++y) {
    const uint8_t *row = bytes.data() + map.pixels +
                         step * (map.isTopDown ? y : map.height - 1 - y);
    for (int64_t x = 0; x < map.width; ++x, out += 3)
      map.writePixel(row, x, out);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Portable anymaps: PBM, PGM and PPM, as text and as bytes
//===----------------------------------------------------------------------===//

namespace {
class TextReader {
public:
  explicit TextReader(Bytes bytes) : bytes(bytes) {}

  /// The next number, or -1.
  int64_t number() {
    skipBlanks();
    int64_t value = -1;
    for (; at < bytes.size() && isDigit(bytes[at]); ++at)
      if (value = std::max<int64_t>(value, 0) * 10 + bytes[at] - '0';
          value > INT32_MAX)
        return -1;
    return value;
  }
  /// The next bit of a bitmap as text, which may stand without a blank.
  int64_t bit() {
    skipBlanks();
    if (at >= bytes.size() || (bytes[at] != '0' && bytes[at] != '1'))
      return -1;
    return bytes[at++] - '0';
  }
  /// What stands behind one blank.
  Bytes rest() const { return bytes.subspan(std::min(at + 1, bytes.size())); }

private:
  static bool isDigit(uint8_t c) { return c >= '0' && c <= '9'; }
  static bool isBlank(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13); }
  void skipBlanks() {
    for (bool isComment = false; at < bytes.size(); ++at) {
      if (bytes[at] == '#')
        isComment = true;
      else if (bytes[at] == '\n')
        isComment = false;
      if (!isComment && !isBlank(bytes[at]))
        return;
    }
  }

  Bytes bytes;
  size_t at = 2; // behind P and the digit
};

struct Anymap {
  bool isText, isBitmap;
  int64_t channels, width = 0, height = 0, most = 1;
};
} // namespace

static bool readText(TextReader &reader, const Anymap &map, uint8_t *out) {
  for (int64_t k = 0; k < map.width * map.height; ++k, out += 3)
    for (int c = 0; c < map.channels; ++c) {
      int64_t value = map.isBitmap ? 1 - reader.bit() : reader.number();
      if (value < 0 || value > map.most)
        return false;
      out[c] = static_cast<uint8_t>((value * 255 + map.most / 2) / map.most);
      for (int other = c + 1; map.channels == 1 && other < 3; ++other)
        out[other] = out[0];
    }
  return true;
}

static void readBytes(Bytes data, const Anymap &map, uint8_t *out) {
  int64_t row = map.isBitmap ? (map.width + 7) / 8 : 0;
  int64_t size = map.most > 255 ? 2 : 1;
  for (int64_t k = 0; k < map.width * map.height; ++k, out += 3)
    for (int c = 0; c < 3; ++c) {
      int64_t at = (k * map.channels + (map.channels == 3 ? c : 0)) * size;
      int64_t value;
      if (map.isBitmap) {
        int64_t x = k % map.width;
        value = !(data[k / map.width * row + x / 8] >> (7 - x % 8) & 1);
      } else {
        value = size == 1 ? data[at] : data[at] << 8 | data[at + 1];
      }
      value = std::min(value, map.most);
      out[c] = static_cast<uint8_t>((value * 255 + map.most / 2) / map.most);
    }
}

bool loopc::images::decodePortable(Bytes bytes, Picture &picture) {
  int kind = bytes[1] - '0';
  Anymap map{.isText = kind <= 3,
             .isBitmap = kind % 3 == 1,
             .channels = kind % 3 == 0 ? 3 : 1};
  TextReader reader(bytes);
  map.width = reader.number();
  map.height = reader.number();
  if (!map.isBitmap)
    map.most = reader.number();
  if (map.width < 1 || map.height < 1 || map.most < 1 || map.most > 65535)
    return picture.fail("the header of the anymap is damaged");
  Bytes data = reader.rest();
  // A sample is a bit or more, also as text.
  uint64_t row = map.isBitmap ? uint64_t(map.width + 7) / 8
                              : uint64_t(map.width) * map.channels *
                                    (map.most > 255 && !map.isText ? 2 : 1);
  if (row > data.size() / map.height && !(map.isText && map.isBitmap))
    return picture.fail("the anymap ends early");
  uint8_t *out = picture.allocate(map.height, map.width);
  if (!out)
    return false;
  if (!map.isText)
    readBytes(data, map, out);
  else if (!readText(reader, map, out))
    return picture.fail("the anymap ends early");
  return true;
}
