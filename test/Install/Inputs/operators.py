# ===- operators.py - Operators of other libraries, of an installed package -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Decodes an image and splits words with the package that is imported, from its folder alone."""

import pathlib
import struct
import zlib

import loopc
import numpy as np
from onnx import parser


def png(pixels: np.ndarray) -> bytes:
    """A PNG file of pixels [height, width, 3]."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


image = parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 20]>
    g (uint8[n] file) => (uint8[h, w, c] image) { image = ImageDecoder(file) }
""")
words = parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>
    g (string[n] x) => (string[n, m] y) {
      y = com.microsoft.Tokenizer<mark = 0, mincharnum = 1, pad_value = "#", separators = [" "]>(x)
    }
""")
decoder = loopc.InferenceSession(image.SerializeToString())
pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
(seen,) = decoder.run(None, {"file": np.frombuffer(png(pixels), np.uint8)})
print("image", (seen == pixels).all())
try:
    decoder.run(None, {"file": np.frombuffer(b"II*\0" + bytes(16), np.uint8)})
except loopc.RunError as error:
    print(error)
tokenizer = loopc.InferenceSession(words.SerializeToString())
print(tokenizer.run(None, {"x": np.array(["to be or", "not"], dtype=object)})[0].tolist())
loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()}
print(sorted(p for p in loaded if "libpng" in p or "libre2" in p))
