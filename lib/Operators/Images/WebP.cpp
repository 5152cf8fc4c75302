//===- WebP.cpp - WebP files by libwebp ---------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codecs.h"

#include <webp/decode.h>

using namespace loopc::images;

bool loopc::images::decodeWebP(Bytes bytes, Picture &picture) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK)
    return picture.fail("the WebP file is damaged");
  if (features.has_animation)
    return picture.fail("the WebP file is an animation");
  uint8_t *out = picture.allocate(features.height, features.width);
  if (!out)
    return false;
  size_t row = 3 * size_t(features.width);
  if (!WebPDecodeRGBInto(bytes.data(), bytes.size(), out, row * features.height,
                         static_cast<int>(row)))
    return picture.fail("the WebP file is damaged");
  return true;
}
