//===- Jpeg.cpp - JPEG files by libjpeg ---------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

using namespace loopc::images;

namespace {
/// libjpeg's errors end in a jump; no object of C++ is alive where it lands.
struct Errors {
  jpeg_error_mgr base;
  jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};
} // namespace

static void jumpBack(j_common_ptr info) {
  auto *errors = reinterpret_cast<Errors *>(info->err);
  info->err->format_message(info, errors->text);
  longjmp(errors->back, 1);
}

/// Warnings, as of files that end early, print nothing.
static void ignore(j_common_ptr, int) {}

/// Inks to colours, in place: `row` has four bytes a pixel, of which three
/// stay.
static void convertInks(const uint8_t *row, uint8_t *out, int64_t width,
                        bool isInverted) {
  for (int64_t k = 0; k < width; ++k, row += 4, out += 3)
    for (int c = 0; c < 3; ++c) {
      unsigned ink = isInverted ? row[c] : 255u - row[c];
      unsigned black = isInverted ? row[3] : 255u - row[3];
      out[c] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
}

/// Reads all rows; the header is read. `inks` is a row of libjpeg's memory.
static bool readRows(jpeg_decompress_struct &info, Picture &picture) {
  bool hasInks =
      info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = hasInks ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  int64_t width = info.output_width;
  uint8_t *out = picture.allocate(info.output_height, width);
  if (!out)
    return false;
  JSAMPARRAY inks = nullptr;
  if (hasInks)
    inks = info.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&info),
                                  JPOOL_IMAGE, 4 * info.output_width, 1);
  while (info.output_scanline < info.output_height) {
    uint8_t *row = out + 3 * width * info.output_scanline;
    jpeg_read_scanlines(&info, hasInks ? inks : &row, 1);
    if (hasInks)
      convertInks(inks[0], row, width, info.saw_Adobe_marker);
  }
  jpeg_finish_decompress(&info);
  return true;
}

bool loopc::images::decodeJpeg(Bytes bytes, Picture &picture) {
  jpeg_decompress_struct info;
  Errors errors;
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = jumpBack;
  errors.base.emit_message = ignore;
  if (setjmp(errors.back)) {
    jpeg_destroy_decompress(&info);
    return picture.fail(errors.text);
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  bool isRead = readRows(info, picture);
  jpeg_destroy_decompress(&info);
  return isRead;
}
