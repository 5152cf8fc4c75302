//===- Tiff.cpp - TIFF files by libtiff ---------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include <tiffio.h>

using namespace loopc::images;

namespace {
struct File {
  Bytes bytes;
  uint64_t at = 0;
};
} // namespace

static tmsize_t read(thandle_t handle, void *to, tmsize_t count) {
  auto *file = static_cast<File *>(handle);
  uint64_t left =
      file->bytes.size() - std::min<uint64_t>(file->at, file->bytes.size());
  uint64_t taken = std::min<uint64_t>(left, count);
  if (taken)
    std::memcpy(to, file->bytes.data() + file->at, taken);
  file->at += taken;
  return static_cast<tmsize_t>(taken);
}

static tmsize_t refuseWrite(thandle_t, void *, tmsize_t) { return 0; }

static toff_t seek(thandle_t handle, toff_t to, int from) {
  auto *file = static_cast<File *>(handle);
  uint64_t base = from == SEEK_SET   ? 0
                  : from == SEEK_CUR ? file->at
                                     : file->bytes.size();
  return file->at = base + to;
}

static int close(thandle_t) { return 0; }

static toff_t getSize(thandle_t handle) {
  return static_cast<File *>(handle)->bytes.size();
}

/// Reads all pixels as 32 bits, of which alpha is dropped.
static bool readPixels(TIFF *tiff, Picture &picture) {
  char why[1024] = "";
  TIFFRGBAImage image;
  if (!TIFFRGBAImageOK(tiff, why) || !TIFFRGBAImageBegin(&image, tiff, 1, why))
    return picture.fail(why);
  image.req_orientation = ORIENTATION_TOPLEFT;
  uint64_t count = uint64_t(image.width) * image.height;
  uint8_t *out = picture.allocate(image.height, image.width);
  std::unique_ptr<uint32_t[]> pixels(out ? new (std::nothrow) uint32_t[count]
                                         : nullptr);
  bool isRead = pixels && TIFFRGBAImageGet(&image, pixels.get(), image.width,
                                           image.height);
  for (uint64_t k = 0; isRead && k < count; ++k) {
    out[3 * k] = TIFFGetR(pixels[k]);
    out[3 * k + 1] = TIFFGetG(pixels[k]);
    out[3 * k + 2] = TIFFGetB(pixels[k]);
  }
  TIFFRGBAImageEnd(&image);
  return isRead || picture.fail("the TIFF file is damaged");
}

bool loopc::images::decodeTiff(Bytes bytes, Picture &picture) {
  // Faults are told by results; the handlers would print them.
  [[maybe_unused]] static auto *errors = TIFFSetErrorHandler(nullptr);
  [[maybe_unused]] static auto *warnings = TIFFSetWarningHandler(nullptr);
  File file{bytes};
  // m: the library maps no file.
  TIFF *tiff = TIFFClientOpen("image", "rm", &file, read, refuseWrite, seek,
                              close, getSize, nullptr, nullptr);
  if (!tiff)
    return picture.fail("the TIFF file is damaged");
  bool isRead = readPixels(tiff, picture);
  TIFFClose(tiff);
  return isRead;
}
