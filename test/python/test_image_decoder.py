# ===- test_image_decoder.py - ImageDecoder ---------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""ImageDecoder: pixels of files that are written here, and of ONNX's own; damaged files."""

import struct
import zlib

import loopc
import loopc.aot
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.backend.test.case.node import _image_decoder_data as frozen

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (5, 7, 3), dtype=np.uint8)
GRAY = RGB[:, :, :1]


def model(pixels="RGB", declared="n"):
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
      decoder (uint8[{declared}] file) => (uint8[h, w, c] image) {{
        image = ImageDecoder<pixel_format = "{pixels}">(file)
      }}"""
    return onnx.parser.parse_model(text).SerializeToString()


@pytest.fixture(scope="module")
def sessions():
    return {p: loopc.InferenceSession(model(p)) for p in ("RGB", "BGR", "Grayscale")}


def as_bytes(data):
    return np.frombuffer(bytes(data), np.uint8)


def decode(sessions, data, pixels="RGB"):
    return sessions[pixels].run(None, {"file": as_bytes(data)})[0]


def luma(rgb):
    weights = np.int64([19595, 38470, 7471])
    return ((rgb.astype(np.int64) @ weights + 0x8000) >> 16).astype(np.uint8)[:, :, None]


def png(rows, color, bits=8, palette=b"", alpha=b""):
    """A PNG file of rows of bytes, without filters."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    height, width = len(rows), rows[0].shape[0]
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    parts = [chunk(b"IHDR", header)]
    parts += [chunk(b"PLTE", palette)] if palette else []
    parts += [chunk(b"tRNS", alpha)] if alpha else []
    return b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"IDAT", data), chunk(b"IEND", b"")])


def bmp(bits, rows, masks=(), palette=b"", height=5):
    header = struct.pack("<IiiHHIIiiII", 40, 7, height, 1, bits, 3 if masks else 0,
                         0, 0, 0, 0, 0)  # fmt: skip
    extra = b"".join(struct.pack("<I", m) for m in masks) + palette
    begin = 14 + len(header) + len(extra)
    return b"BM" + struct.pack("<IHHI", begin + len(rows), 0, 0, begin) + header + extra + rows


def core_bmp(bits, rows):
    """A BMP file of 2 rows and 4 columns with the oldest header, which has no masks."""
    begin = 14 + 12
    header = struct.pack("<IHHHH", 12, 4, 2, 1, bits)
    return b"BM" + struct.pack("<IHHI", begin + len(rows), 0, 0, begin) + header + rows


def padded(rows):
    """Rows of bytes, from the last to the first, in multiples of four bytes."""
    return b"".join(bytes(r) + b"\0" * (-len(bytes(r)) % 4) for r in rows)


def test_png(sessions):
    wide = (RGB.astype(np.uint16) * 256 + 17).astype(">u2")
    alpha = np.dstack([RGB, GRAY])
    palette = RNG.integers(0, 256, (4, 3), dtype=np.uint8)
    index = RNG.integers(0, 4, (5, 7), dtype=np.uint8)
    gray3 = np.repeat(GRAY, 3, axis=2)
    for data, expected in [
        (png(list(RGB), 2), RGB),
        (png(list(wide), 2, bits=16), RGB),
        (png(list(alpha), 6), RGB),
        (png(list(GRAY), 0), gray3),
        (png(list(np.dstack([GRAY, RGB[:, :, 1:2]])), 4), gray3),
        (png(list(index), 3, palette=palette.tobytes()), palette[index]),
        (png(list(index), 3, palette=palette.tobytes(), alpha=b"\0\x80"), palette[index]),
    ]:
        np.testing.assert_array_equal(decode(sessions, data), expected)
        np.testing.assert_array_equal(decode(sessions, data, "BGR"), expected[:, :, ::-1])
        np.testing.assert_array_equal(decode(sessions, data, "Grayscale"), luma(expected))


def test_bmp(sessions):
    upward = RGB[::-1]
    bgr = upward[:, :, ::-1]
    palette = RNG.integers(0, 256, (16, 4), dtype=np.uint8)
    index = RNG.integers(0, 16, (5, 7), dtype=np.uint8)
    nibbles = [
        bytes((int(r[2 * k]) << 4) | (int(r[2 * k + 1]) if 2 * k + 1 < 7 else 0) for k in range(4))
        for r in index[::-1]
    ]
    packed = upward.astype(np.uint16) >> 3
    short = (packed[:, :, 0] << 10) | (packed[:, :, 1] << 5) | packed[:, :, 2]
    rgba = np.dstack([upward, upward[:, :, :1]])
    for data, expected in [
        (bmp(24, padded(bgr)), RGB),
        (bmp(24, padded(bgr[::-1]), height=-5), RGB),
        (bmp(32, padded(np.dstack([bgr, bgr[:, :, :1]]))), RGB),
        (bmp(32, padded(rgba), masks=(0xFF, 0xFF00, 0xFF0000)), RGB),
        (bmp(16, padded(short)), ((RGB >> 3).astype(int) * 255 // 31).astype(np.uint8)),
        (bmp(8, padded(index[::-1]), palette=palette.tobytes()), palette[index][:, :, 2::-1]),
        (bmp(4, padded(nibbles), palette=palette.tobytes()), palette[index][:, :, 2::-1]),
    ]:
        np.testing.assert_array_equal(decode(sessions, data), expected)


def test_bmp_with_the_oldest_header(sessions):
    """Pixels of 16 and 32 bits have the usual masks."""
    pixel = RGB[:2, :4]
    packed = pixel[::-1].astype(np.uint16) >> 3
    short = (packed[:, :, 0] << 10) | (packed[:, :, 1] << 5) | packed[:, :, 2]
    wide = np.dstack([pixel[::-1, :, ::-1], pixel[:, :, :1]])
    np.testing.assert_array_equal(decode(sessions, core_bmp(32, wide.tobytes())), pixel)
    expected = ((pixel >> 3).astype(int) * 255 // 31).astype(np.uint8)
    np.testing.assert_array_equal(decode(sessions, core_bmp(16, short.tobytes())), expected)


def test_portable(sessions):
    gray3 = np.repeat(GRAY, 3, axis=2)
    bits = RNG.integers(0, 2, (5, 7))
    black = np.repeat((1 - bits)[:, :, None] * 255, 3, axis=2)
    digits = b" ".join(str(v).encode() for v in RGB.ravel())
    for data, expected in [
        (b"P6\n# made here\n7 5\n255\n" + RGB.tobytes(), RGB),
        (b"P6 7 5 65535\n" + (RGB.astype(">u2") * 257).tobytes(), RGB),
        (b"P5\n7 5\n255\n" + GRAY.tobytes(), gray3),
        (b"P3\n7 5\n255\n" + digits + b"\n", RGB),
        (b"P1\n7 5\n" + b"".join(str(v).encode() for v in bits.ravel()), black),
        (b"P4\n7 5\n" + np.packbits(bits.astype(np.uint8), axis=1).tobytes(), black),
    ]:
        np.testing.assert_array_equal(decode(sessions, data), expected)


FROZEN = [v for v in vars(frozen).values() if isinstance(v, frozen.ImageData)]


def test_files_of_onnx(sessions):
    assert len(FROZEN) >= 8
    for file in FROZEN:
        rgb = decode(sessions, file.data)
        assert rgb.shape == (32, 32, 3)
        np.testing.assert_array_equal(decode(sessions, file.data, "BGR"), rgb[:, :, ::-1])
        np.testing.assert_array_equal(decode(sessions, file.data, "Grayscale"), luma(rgb))


@pytest.mark.parametrize(
    "data", [b"", b"P", b"no image at all", b"\xff\xd8\xff", b"BM", b"P6 0 5 255\n"]
)
def test_what_is_no_image(sessions, data):
    with pytest.raises(loopc.RunError, match="ImageDecoder"):
        decode(sessions, data)


def test_damaged_files(sessions):
    """Each ends with an error or a picture, whatever it says."""
    files = [bytes(f.data) for f in FROZEN] + [png(list(RGB), 2), bmp(24, padded(RGB))]
    files += [core_bmp(bits, bytes(64)) for bits in (1, 4, 8, 16, 24, 32)]
    for data in files:
        for k in range(40):
            bad = bytearray(data if k % 2 else data[: RNG.integers(1, len(data) + 1)])
            # Half of the files are whole but for their headers.
            last = min(len(bad), 40) if k % 2 else len(bad)
            for _ in range(RNG.integers(0, 4)):
                bad[RNG.integers(0, last)] = RNG.integers(0, 256)
            # Extents of billions are for memory to refuse, not for this test to wait for.
            try:
                image = decode(sessions, bad)
            except loopc.RunError:
                continue
            assert image.shape[2] == 3


def test_sizes_that_no_image_has(sessions):
    """Refused by the header, before there is memory for the pixels."""
    large = bytearray(png(list(RGB), 2))
    large[16:24] = struct.pack(">II", 2**15, 2**15)
    large[29:33] = struct.pack(">I", zlib.crc32(large[12:29]))
    with pytest.raises(loopc.RunError, match=r"more than 2\^28 pixels"):
        decode(sessions, large)


def test_pixel_format_and_rank():
    with pytest.raises(loopc.RunError, match="none of RGB, BGR and Grayscale"):
        loopc.InferenceSession(model("CMYK")).run(None, {"file": as_bytes(png(list(RGB), 2))})


def test_in_a_loop():
    """A picture for each trip, of another size than the one before."""
    text = """<ir_version: 10, opset_import: ["" : 21]>
      frames (int64 count, uint8[n] file, uint8[m] other) => (int64[k, 3] shapes) {
        going = Constant<value = bool {1}>()
        zero = Constant<value = int64 {0}>()
        shapes = Loop<body = step (int64 i, bool c) => (bool d, int64[3] shape) {
          d = Identity(c)
          isFirst = Equal(i, zero)
          chosen = If(isFirst)<then_branch = a () => (x) { x = Identity(file) },
                               else_branch = b () => (y) { y = Identity(other) }>
          image = ImageDecoder(chosen)
          shape = Shape(image)
        }>(count, going)
      }"""
    made = onnx.parser.parse_model(text).SerializeToString()
    feeds = {"count": np.int64(2), "file": as_bytes(png(list(RGB), 2)),
             "other": as_bytes(b"P5 2 1 255\n\0\1")}  # fmt: skip
    (shapes,) = loopc.InferenceSession(made).run(None, feeds)
    assert shapes.tolist() == [[5, 7, 3], [1, 2, 3]]
    assert loopc.InferenceSession(made).run(None, {**feeds, "count": np.int64(0)})[0].size == 0


def test_ahead_of_time():
    """The library of the operator is found beside libloopc, wherever the system looks."""
    session = loopc.aot.session(onnx.load_from_string(model()))
    (image,) = session.run(None, {"file": as_bytes(png(list(RGB), 2))})
    np.testing.assert_array_equal(image, RGB)
