//===- Jpeg2000.cpp - JPEG 2000 files by OpenJPEG -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <algorithm>
#include <cstring>

#include <openjpeg.h>

using namespace loopc::images;

namespace {
struct File {
  Bytes bytes;
  size_t at = 0;
};
} // namespace

static OPJ_SIZE_T read(void *to, OPJ_SIZE_T count, void *user) {
  auto *file = static_cast<File *>(user);
  size_t taken = std::min(count, file->bytes.size() - file->at);
  if (taken == 0)
    return static_cast<OPJ_SIZE_T>(-1); // its mark of the end
  std::memcpy(to, file->bytes.data() + file->at, taken);
  file->at += taken;
  return taken;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *user) {
  auto *file = static_cast<File *>(user);
  int64_t left = static_cast<int64_t>(file->bytes.size() - file->at);
  int64_t taken =
      std::clamp<int64_t>(count, -static_cast<int64_t>(file->at), left);
  file->at += taken;
  return taken;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void *user) {
  auto *file = static_cast<File *>(user);
  if (to < 0 || static_cast<uint64_t>(to) > file->bytes.size())
    return OPJ_FALSE;
  file->at = to;
  return OPJ_TRUE;
}

/// A sample of `component` as 8 bits.
static uint8_t toByte(const opj_image_comp_t &component, int64_t at) {
  int64_t value = component.data[at];
  if (component.sgnd)
    value += int64_t(1) << (component.prec - 1);
  if (component.prec > 8)
    value >>= component.prec - 8;
  else if (component.prec < 8)
    value = value * 255 / ((1 << component.prec) - 1);
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

static bool writePixels(const opj_image_t &image, Picture &picture) {
  if (image.numcomps < 1 || image.color_space == OPJ_CLRSPC_SYCC ||
      image.color_space == OPJ_CLRSPC_EYCC ||
      image.color_space == OPJ_CLRSPC_CMYK)
    return picture.fail("a colour space of JPEG 2000 that is not read");
  const opj_image_comp_t &first = image.comps[0];
  // One or two: gray, and alpha behind it.
  unsigned colors = image.numcomps < 3 ? 1 : 3;
  for (unsigned c = 0; c < colors; ++c)
    if (image.comps[c].w != first.w || image.comps[c].h != first.h ||
        !image.comps[c].data || image.comps[c].prec < 1)
      return picture.fail("components of JPEG 2000 that differ in size");
  uint8_t *out = picture.allocate(first.h, first.w);
  if (!out)
    return false;
  int64_t count = int64_t(first.h) * first.w;
  for (int64_t k = 0; k < count; ++k)
    for (unsigned c = 0; c < 3; ++c)
      out[3 * k + c] = toByte(image.comps[colors == 1 ? 0 : c], k);
  return true;
}

bool loopc::images::decodeJpeg2000(Bytes bytes, Picture &picture) {
  File file{bytes};
  bool isRaw = bytes[0] == 0xff;
  opj_codec_t *codec =
      opj_create_decompress(isRaw ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
  opj_image_t *image = nullptr;
  bool isRead = codec && stream;
  if (isRead) {
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_stream_set_user_data(stream, &file, nullptr);
    opj_stream_set_user_data_length(stream, bytes.size());
    opj_stream_set_read_function(stream, read);
    opj_stream_set_skip_function(stream, skip);
    opj_stream_set_seek_function(stream, seek);
    isRead = opj_setup_decoder(codec, &parameters) &&
             opj_read_header(stream, codec, &image) &&
             picture.check(int64_t(image->y1) - image->y0,
                           int64_t(image->x1) - image->x0) &&
             opj_decode(codec, stream, image) &&
             opj_end_decompress(codec, stream);
  }
  if (isRead)
    isRead = writePixels(*image, picture);
  else
    picture.fail("the JPEG 2000 file is damaged");
  opj_image_destroy(image);
  if (stream)
    opj_stream_destroy(stream);
  if (codec)
    opj_destroy_codec(codec);
  return isRead;
}
