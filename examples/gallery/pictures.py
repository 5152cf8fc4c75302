# ===- pictures.py - Pictures that models make -----------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Runs the models of this folder, and makes the pictures of docs/Gallery.md.

python pictures.py [FOLDER]
"""

import struct
import sys
import zlib
from pathlib import Path

import loopc
import numpy as np

HERE = Path(__file__).parent


def run(name: str, **feeds: np.ndarray) -> list[np.ndarray]:
    """What a model of this folder computes."""
    session = loopc.InferenceSession(str(HERE / f"{name}.onnxtxt"))
    return session.run(None, feeds)


def png(pixels: np.ndarray) -> bytes:
    """The bytes of a PNG file of pixels [height, width, 3] of 8 bits."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IEND", b"")


def mandelbrot() -> bytes:
    """How fast points leave, as colours; those that stay are black."""
    re, im = np.meshgrid(np.linspace(-2.2, 0.8, 480), np.linspace(-1.15, 1.15, 368))
    limit = 200
    (steps,) = run("mandelbrot", re=re.astype(np.float32), im=im.astype(np.float32),
                   limit=np.array(limit))  # fmt: skip
    share = np.log1p(steps) / np.log1p(limit)
    colours = np.stack([share**3, share**1.5, np.sqrt(share)], axis=-1)
    return png(np.where(steps[..., None] < limit, colours * 255, 0).astype(np.uint8))


def life() -> bytes:
    """A board of random cells after 200 generations."""
    board = (np.random.default_rng(7).random((120, 160)) < 0.3).astype(np.float32)
    last, alive = run("life", board=board, generations=np.array(200))
    print(f"life: {board.sum():.0f} cells at first, {alive[-1]:.0f} after {len(alive)} generations")
    large = last.repeat(3, axis=0).repeat(3, axis=1)[..., None]
    return png(np.where(large > 0, [40, 90, 200], [245, 245, 245]).astype(np.uint8))


def lorenz() -> bytes:
    """The way of a point, from the side."""
    (way,) = run("lorenz", start=np.array([1.0, 1.0, 1.0]), steps=np.array(40000),
                 dt=np.array(0.002))  # fmt: skip
    columns = np.round((way[:, 0] + 22) * 10).astype(int)
    rows = np.round((52 - way[:, 2]) * 7).astype(int)
    hits = np.zeros((370, 440))
    np.add.at(hits, (rows, columns), 1)
    share = np.minimum(hits / 3, 1)[..., None]
    return png((255 - share * (255 - np.array([180, 40, 60]))).astype(np.uint8))


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for picture in (mandelbrot, life, lorenz):
        file = folder / f"{picture.__name__}.png"
        file.write_bytes(picture())
        print(f"{file.name}: {file.stat().st_size} bytes")
