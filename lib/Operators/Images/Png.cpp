//===- Png.cpp - PNG files by libpng ------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <cstdlib>
#include <cstring>

#include <png.h>

using namespace loopc::images;

namespace {
struct Reader {
  Bytes bytes;
  size_t at = 0;
  char error[160] = {};
};
} // namespace

static void read(png_structp png, png_bytep to, size_t count) {
  auto *reader = static_cast<Reader *>(png_get_io_ptr(png));
  if (count > reader->bytes.size() - reader->at)
    png_error(png, "the file ends early");
  std::memcpy(to, reader->bytes.data() + reader->at, count);
  reader->at += count;
}

static void jumpBack(png_structp png, png_const_charp text) {
  auto *reader = static_cast<Reader *>(png_get_error_ptr(png));
  std::strncpy(reader->error, text, sizeof(reader->error) - 1);
  png_longjmp(png, 1);
}

static void ignore(png_structp, png_const_charp) {}

/// Everything becomes 8-bit RGB.
static void setTransforms(png_structp png, png_infop info) {
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  int colors = png_get_color_type(png, info);
  if (colors == PNG_COLOR_TYPE_GRAY || colors == PNG_COLOR_TYPE_GRAY_ALPHA)
    png_set_gray_to_rgb(png);
}

bool loopc::images::decodePng(Bytes bytes, Picture &picture) {
  Reader reader{bytes};
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, jumpBack, ignore);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) {
    png_destroy_read_struct(&png, nullptr, nullptr);
    return picture.fail("libpng cannot begin");
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return picture.fail(reader.error);
  }
  png_set_read_fn(png, &reader, read);
  png_read_info(png, info);
  setTransforms(png, info);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  int64_t height = png_get_image_height(png, info);
  size_t row = png_get_rowbytes(png, info);
  uint8_t *out = picture.allocate(height, png_get_image_width(png, info));
  bool isRead = out && row == 3 * size_t(png_get_image_width(png, info));
  for (int pass = 0; isRead && pass < passes; ++pass)
    for (int64_t k = 0; k < height; ++k)
      png_read_row(png, out + k * row, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return isRead || picture.fail("the pixels are of a kind that is not read");
}
