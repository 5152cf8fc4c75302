//===- Strided.cpp - Copies of strided tensors ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strided.h"

#include "Run.h"
#include "Types.h"

#include <string.h>

using namespace loopc::rt;

namespace {

/// Elements along each side of what a transposing copy moves at once.
constexpr int64_t kTile = 32;

} // namespace

/// Strides of C order, last dimension first. Wraps for tensors without elements
/// whose other dimensions are absurd.
static int64_t advance(int64_t stride, int64_t extent) {
  return static_cast<int64_t>(static_cast<uint64_t>(stride) *
                              static_cast<uint64_t>(extent));
}

static uint64_t getMagnitude(int64_t stride) {
  return stride < 0 ? 0 - static_cast<uint64_t>(stride)
                    : static_cast<uint64_t>(stride);
}

/// Orders the dimensions by falling stride of the destination: the order of the
/// elements is free in a copy, and writes should be in sequence.
static void sortByDestination(StridedLoop &loop) {
  for (int i = 1; i < loop.count; ++i) {
    StridedDim dim = loop.dims[i];
    int j = i;
    for (; j > 0 && getMagnitude(loop.dims[j - 1].dst) < getMagnitude(dim.dst);
         --j)
      loop.dims[j] = loop.dims[j - 1];
    loop.dims[j] = dim;
  }
}

/// Makes one dimension of neighbours that are one in both tensors.
static void coalesce(StridedLoop &loop) {
  int last = 0;
  for (int i = 1; i < loop.count; ++i) {
    StridedDim &outer = loop.dims[last];
    const StridedDim &inner = loop.dims[i];
    if (outer.src == advance(inner.src, inner.extent) &&
        outer.dst == advance(inner.dst, inner.extent))
      outer = {outer.extent * inner.extent, inner.src, inner.dst};
    else
      loop.dims[++last] = inner;
  }
  if (loop.count > 0)
    loop.count = last + 1;
}

/// A row of elements. `Bytes` is the size of one, or 0: `elementBytes`.
template <size_t Bytes>
static void copyRow(char *dst, const char *src, const StridedDim &row,
                    size_t elementBytes) {
  size_t size = Bytes ? Bytes : elementBytes;
  for (int64_t i = 0; i < row.extent; ++i)
    memcpy(dst + i * row.dst, src + i * row.src, size);
}

/// One tile, `rows` by `columns`, where the source runs along the rows' index.
/// By way of a buffer: so each line of the source is read once, each line of
/// the destination written once, even where their distance is a power of two
/// and they push each other out of the cache.
template <size_t Bytes>
static void copyTile(char *dst, const char *src, const StridedDim &outer,
                     const StridedDim &inner, int64_t rows, int64_t columns) {
  alignas(64) char tile[kTile * kTile * Bytes];
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      memcpy(tile + (i * kTile + j) * static_cast<int64_t>(Bytes),
             src + i * outer.src + j * inner.src, Bytes);
  StridedDim row = {columns, Bytes, inner.dst};
  for (int64_t i = 0; i < rows; ++i)
    copyRow<Bytes>(dst + i * outer.dst,
                   tile + i * kTile * static_cast<int64_t>(Bytes), row, Bytes);
}

/// Two dimensions in tiles, for a source that runs along `outer`.
template <size_t Bytes>
static void copyTiles(char *dst, const char *src, const StridedDim &outer,
                      const StridedDim &inner) {
  for (int64_t i = 0; i < outer.extent; i += kTile) {
    int64_t rows = outer.extent - i < kTile ? outer.extent - i : kTile;
    for (int64_t j = 0; j < inner.extent; j += kTile) {
      int64_t columns = inner.extent - j < kTile ? inner.extent - j : kTile;
      char *tileDst = dst + i * outer.dst + j * inner.dst;
      const char *tileSrc = src + i * outer.src + j * inner.src;
      // Whole tiles apart, so that their loops have constant lengths.
      if (rows == kTile && columns == kTile && inner.dst == int64_t{Bytes} &&
          outer.src == int64_t{Bytes})
        copyTile<Bytes>(tileDst, tileSrc, {kTile, Bytes, outer.dst},
                        {kTile, inner.src, Bytes}, kTile, kTile);
      else
        copyTile<Bytes>(tileDst, tileSrc, outer, inner, rows, columns);
    }
  }
}

/// The copy of everything in `loop`, whose two innermost dimensions are done at
/// once where `tiled`, else only the innermost one.
template <size_t Bytes>
static void copyLoop(const StridedLoop &loop, char *dst, const char *src,
                     bool tiled, size_t elementBytes) {
  const StridedDim &row = loop.dims[loop.count - 1];
  bool wholeRow = row.src == static_cast<int64_t>(elementBytes) &&
                  row.dst == static_cast<int64_t>(elementBytes);
  int outerDims = loop.count - (tiled ? 2 : 1);
  int64_t index[64];
  for (int dim = 0; dim < outerDims; ++dim)
    index[dim] = 0;
  while (true) {
    if (tiled) {
      if constexpr (Bytes != 0)
        copyTiles<Bytes>(dst, src, loop.dims[loop.count - 2], row);
    } else if (wholeRow)
      memcpy(dst, src, static_cast<size_t>(row.extent) * elementBytes);
    else
      copyRow<Bytes>(dst, src, row, elementBytes);
    int dim = outerDims - 1;
    for (; dim >= 0; --dim) {
      const StridedDim &outer = loop.dims[dim];
      src += outer.src;
      dst += outer.dst;
      if (++index[dim] < outer.extent)
        break;
      src -= outer.src * outer.extent;
      dst -= outer.dst * outer.extent;
      index[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

/// Moves the dimension along which the source runs beside the innermost one,
/// where that pays. \returns whether to copy in tiles.
static bool prepareTiles(StridedLoop &loop, int64_t elementBytes) {
  int last = loop.count - 1;
  if (last < 1 || loop.dims[last].src == elementBytes)
    return false;
  int best = last;
  for (int dim = 0; dim < last; ++dim)
    if (getMagnitude(loop.dims[dim].src) < getMagnitude(loop.dims[best].src))
      best = dim;
  if (best == last || loop.dims[best].extent < 4 || loop.dims[last].extent < 4)
    return false;
  StridedDim dim = loop.dims[best];
  for (int i = best; i < last - 1; ++i)
    loop.dims[i] = loop.dims[i + 1];
  loop.dims[last - 1] = dim;
  return true;
}

StridedLoop::StridedLoop(int64_t rank, const int64_t *shape,
                         const int64_t *srcStrides, const int64_t *dstStrides,
                         int64_t scale) {
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (shape[dim] == 0) {
      isEmpty = true;
      return;
    }
    count += shape[dim] != 1;
  }
  int next = count;
  int64_t stride = 1;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    int64_t extent = shape[dim];
    if (extent == 1)
      continue;
    dims[--next] = {extent, (srcStrides ? srcStrides[dim] : stride) * scale,
                    (dstStrides ? dstStrides[dim] : stride) * scale};
    stride = advance(stride, extent);
  }
}

uint64_t loopc::rt::copyStrided(int64_t elementBytes, int64_t rank,
                                const int64_t *shape, const void *src,
                                const int64_t *srcStrides, void *dst,
                                const int64_t *dstStrides) {
  size_t size = static_cast<size_t>(elementBytes);
  if (isContiguous(rank, shape, srcStrides) &&
      isContiguous(rank, shape, dstStrides)) {
    for (int64_t dim = 0; dim < rank; ++dim)
      size *= static_cast<size_t>(shape[dim]);
    if (size == 0 || src == dst)
      return 0;
    memcpy(dst, src, size);
    return size;
  }
  StridedLoop loop(rank, shape, srcStrides, dstStrides, elementBytes);
  // Otherwise some dimension has two elements or more.
  if (loop.isEmpty)
    return 0;
  uint64_t elements = 1;
  bool isSame = src == dst;
  for (int i = 0; i < loop.count; ++i) {
    elements *= static_cast<uint64_t>(loop.dims[i].extent);
    isSame &= loop.dims[i].src == loop.dims[i].dst;
  }
  if (isSame)
    return 0;
  sortByDestination(loop);
  coalesce(loop);
  bool hasKernel = elementBytes <= 16 && __builtin_popcountll(size) == 1;
  bool tiled = hasKernel && prepareTiles(loop, elementBytes);
  char *to = static_cast<char *>(dst);
  const char *from = static_cast<const char *>(src);
  switch (elementBytes) {
  case 1:
    copyLoop<1>(loop, to, from, tiled, size);
    break;
  case 2:
    copyLoop<2>(loop, to, from, tiled, size);
    break;
  case 4:
    copyLoop<4>(loop, to, from, tiled, size);
    break;
  case 8:
    copyLoop<8>(loop, to, from, tiled, size);
    break;
  case 16:
    copyLoop<16>(loop, to, from, tiled, size);
    break;
  default:
    copyLoop<0>(loop, to, from, tiled, size);
  }
  return elements * size;
}

namespace {

/// MLIR's descriptor of a memref whose rank is dynamic.
struct UnrankedMemref {
  int64_t rank;
  const int64_t *descriptor;
};

} // namespace

extern "C" void loopc_rt_copy(loopc_run *run, int64_t elementBytes,
                              const void *src, const void *dst) {
  const auto *from = static_cast<const UnrankedMemref *>(src);
  const auto *to = static_cast<const UnrankedMemref *>(dst);
  int64_t rank = from->rank;
  // A descriptor is { allocated, aligned, offset, sizes[rank], strides[rank] },
  // all of 8 bytes.
  auto getData = [elementBytes](const int64_t *descriptor) {
    char *aligned;
    memcpy(&aligned, descriptor + 1, sizeof(aligned));
    return aligned + descriptor[2] * elementBytes;
  };
  const int64_t *shape = from->descriptor + 3;
  uint64_t bytes = copyStrided(
      elementBytes, rank, shape, getData(from->descriptor), shape + rank,
      getData(to->descriptor), to->descriptor + 3 + rank);
  countCopy(*run, bytes);
}
