//===- ImageDecoder.cpp - ONNX's operator ImageDecoder ------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ImageDecoder as a custom operator (loopc-rt/custom.h) in a library of its
// own: models without images need none of the libraries of image formats.

#include "Codecs.h"
#include "loopc-rt/custom.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

using namespace loopc::images;

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

void Picture::copyReason(const char *why) {
  size_t length = std::min(std::strlen(why), sizeof(reason) - 1);
  std::memcpy(reason, why, length);
  reason[length] = 0;
}

bool Picture::check(int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    return fail("the image has no size");
  if (height > kMaxPixels / width)
    return fail("the image has more than 2^28 pixels");
  return true;
}

uint8_t *Picture::allocate(int64_t height, int64_t width) {
  if (!check(height, width))
    return nullptr;
  uint8_t *room = makeRoom(height, width);
  if (!room)
    fail("there is no memory for the image");
  return room;
}

namespace {
/// The output of the call itself: three channels.
class OutputPicture : public Picture {
public:
  explicit OutputPicture(loopc_custom_call *call) : call(call) {}

  /// Exchanges red and blue.
  void swapChannels() {
    for (uint8_t *pixel = data; pixel != data + 3 * count; pixel += 3)
      std::swap(pixel[0], pixel[2]);
  }

private:
  uint8_t *makeRoom(int64_t height, int64_t width) override {
    const int64_t shape[] = {height, width, 3};
    count = height * width;
    data = static_cast<uint8_t *>(loopc_custom_allocate(call, 0, shape, 3));
    return data;
  }

  loopc_custom_call *call;
  uint8_t *data = nullptr;
  int64_t count = 0; ///< of pixels
};

/// Three channels in memory of their own, which become one of the output.
class GrayPicture : public Picture {
public:
  explicit GrayPicture(loopc_custom_call *call) : call(call) {}

  /// Luma of ITU-R BT.601 with 16 bits of fraction: gray stays as it is.
  bool write() {
    const int64_t shape[] = {height, width, 1};
    auto *out =
        static_cast<uint8_t *>(loopc_custom_allocate(call, 0, shape, 3));
    if (!out)
      return fail("there is no memory for the image");
    const uint8_t *pixel = data.get();
    for (int64_t k = 0; k < height * width; ++k, pixel += 3)
      out[k] = (19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] +
                0x8000u) >>
               16;
    return true;
  }

private:
  uint8_t *makeRoom(int64_t rows, int64_t columns) override {
    height = rows;
    width = columns;
    data.reset(new (std::nothrow) uint8_t[rows * columns * 3]);
    return data.get();
  }

  loopc_custom_call *call;
  std::unique_ptr<uint8_t[]> data;
  int64_t height = 0, width = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

namespace {
struct Format {
  const char *magic; ///< what files begin with; '.' is any byte
  size_t length;     ///< of `magic`
  Decoder decode;    ///< null: the build has no library for it
  const char *absent;
};
} // namespace

#define LOOPC_FORMAT(magic, decode, absent)                                    \
  {magic, sizeof(magic) - 1, decode, absent}
#ifdef LOOPC_WITH_JPEG
#define LOOPC_JPEG decodeJpeg
#else
#define LOOPC_JPEG nullptr
#endif
#ifdef LOOPC_WITH_PNG
#define LOOPC_PNG decodePng
#else
#define LOOPC_PNG nullptr
#endif
#ifdef LOOPC_WITH_TIFF
#define LOOPC_TIFF decodeTiff
#else
#define LOOPC_TIFF nullptr
#endif
#ifdef LOOPC_WITH_WEBP
#define LOOPC_WEBP decodeWebP
#else
#define LOOPC_WEBP nullptr
#endif
#ifdef LOOPC_WITH_JPEG2000
#define LOOPC_JPEG2000 decodeJpeg2000
#else
#define LOOPC_JPEG2000 nullptr
#endif

static constexpr char kNoJpeg[] = "libloopc_images was built without JPEG",
                      kNoPng[] = "libloopc_images was built without PNG",
                      kNoTiff[] = "libloopc_images was built without TIFF",
                      kNoWebP[] = "libloopc_images was built without WebP",
                      kNo2000[] = "libloopc_images was built without JPEG 2000";

static constexpr Format kFormats[] = {
    LOOPC_FORMAT("\xff\xd8\xff", LOOPC_JPEG, kNoJpeg),
    LOOPC_FORMAT("\x89PNG\r\n\x1a\n", LOOPC_PNG, kNoPng),
    LOOPC_FORMAT("BM", decodeBmp, ""),
    LOOPC_FORMAT("II*\0", LOOPC_TIFF, kNoTiff),
    LOOPC_FORMAT("MM\0*", LOOPC_TIFF, kNoTiff),
    LOOPC_FORMAT("II+\0", LOOPC_TIFF, kNoTiff),
    LOOPC_FORMAT("MM\0+", LOOPC_TIFF, kNoTiff),
    LOOPC_FORMAT("RIFF....WEBP", LOOPC_WEBP, kNoWebP),
    LOOPC_FORMAT("\0\0\0\x0cjP  \r\n\x87\n", LOOPC_JPEG2000, kNo2000),
    LOOPC_FORMAT("\xff\x4f\xff\x51", LOOPC_JPEG2000, kNo2000),
    LOOPC_FORMAT("P1", decodePortable, ""),
    LOOPC_FORMAT("P2", decodePortable, ""),
    LOOPC_FORMAT("P3", decodePortable, ""),
    LOOPC_FORMAT("P4", decodePortable, ""),
    LOOPC_FORMAT("P5", decodePortable, ""),
    LOOPC_FORMAT("P6", decodePortable, ""),
};

static bool beginsWith(Bytes bytes, const Format &format) {
  if (bytes.size() < format.length)
    return false;
  for (size_t k = 0; k < format.length; ++k)
    if (format.magic[k] != '.' &&
        bytes[k] != static_cast<uint8_t>(format.magic[k]))
      return false;
  return true;
}

static bool decode(Bytes bytes, Picture &picture) {
  for (const Format &format : kFormats)
    if (beginsWith(bytes, format))
      return format.decode ? format.decode(bytes, picture)
                           : picture.fail(format.absent);
  return picture.fail("the bytes are no image of a format that is known: JPEG, "
                      "PNG, BMP, TIFF, WebP, JPEG 2000 or a portable anymap");
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

static int compute(loopc_custom_call *call) {
  const loopc_custom_tensor &stream = call->inputs[0];
  if (stream.rank != 1)
    return loopc_custom_fail(call, "the encoded stream is no vector of bytes");
  const char *pixels = loopc_custom_string(call, "pixel_format", "RGB");
  bool isBgr = std::strcmp(pixels, "BGR") == 0;
  Bytes bytes(static_cast<const uint8_t *>(stream.data),
              static_cast<size_t>(stream.count));
  if (std::strcmp(pixels, "Grayscale") == 0) {
    GrayPicture picture(call);
    if (!decode(bytes, picture) || !picture.write())
      return loopc_custom_fail(call, picture.getReason());
    return 0;
  }
  if (!isBgr && std::strcmp(pixels, "RGB") != 0)
    return loopc_custom_fail(
        call, "'pixel_format' is none of RGB, BGR and Grayscale");
  OutputPicture picture(call);
  if (!decode(bytes, picture))
    return loopc_custom_fail(call, picture.getReason());
  if (isBgr)
    picture.swapChannels();
  return 0;
}

static const loopc_custom_port inputs[] = {
    {.name = "encoded_stream", .types = "uint8"}};
static const loopc_custom_port outputs[] = {
    {.name = "image", .types = "uint8", .rank = LOOPC_CUSTOM_RANK(3)}};
static const loopc_custom_parameter parameters[] = {
    {.name = "pixel_format", .kind = LOOPC_CUSTOM_STRING, .is_required = 0}};

LOOPC_CUSTOM_OP(image_decoder, .domain = "", .name = "ImageDecoder",
                .since_version = 20, .inputs = inputs, .num_inputs = 1,
                .outputs = outputs, .num_outputs = 1, .parameters = parameters,
                .num_parameters = 1, .compute = compute);
LOOPC_CUSTOM_LIBRARY(&loopc_op_image_decoder)
