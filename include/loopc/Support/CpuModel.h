//===- CpuModel.h - What code for a CPU is made for -------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each number that is a property of the processor, or follows from one, and
// that more than one decision depends on. The measurements are in
// docs/Rationale/Contractions.md.

#ifndef LOOPC_SUPPORT_CPUMODEL_H
#define LOOPC_SUPPORT_CPUMODEL_H

#include "loopc/Support/VectorUnit.h"

#include <algorithm>
#include <cstdint>

namespace loopc {

/// The processor that code is made for: the vector registers of #loopc.target,
/// and caches of the sizes that servers have had for some years.
struct CpuModel : VectorUnit {
  explicit CpuModel(VectorUnit unit) : VectorUnit(unit) {}

  //===--------------------------------------------------------------------===//
  // Caches
  //===--------------------------------------------------------------------===//

  /// Bytes of a core's first and second cache. The target does not tell them:
  /// an object runs on all processors with its instructions.
  static constexpr int64_t kFirstCache = 32 << 10;
  static constexpr int64_t kSecondCache = 1 << 20;
  /// A buffer of so many bytes stays in no cache as a whole. Scores of 197
  /// positions of 12 heads (1.9 MB) took 6 % longer where one loop computed and
  /// read them, those of 384 positions (7 MB) 15 % less.
  static constexpr int64_t kLargeBuffer = 4 << 20;
  /// Operands of so few bytes are read as they are, if their rows are vectors:
  /// they leave half of the first cache to the rest.
  static constexpr int64_t kSmallOperand = kFirstCache / 2;
  /// Weights of so many bytes stay in the second cache while all positions of
  /// an image go by; of more, only those of some channels (512 channels of 7x7
  /// took a fifth of the time).
  static constexpr int64_t kCachedWeights = kSecondCache / 2;

  /// Elements of a sum after which the next rows are begun, where there are
  /// many: two vectors of each are what a tile shares, and they stay in the
  /// first cache (AVX2) or, in twice as many bytes, near it.
  static constexpr int64_t kSumBlock = 512;
  /// Tiles below one another whose rows, of a block of the sum, stay in the
  /// second cache while all columns go by.
  static constexpr int64_t kRowTiles = 32;
  /// Sums of up to so many elements take as long to store as to compute. Then
  /// blocks have fewer tiles: the results of more rows lie in too many pages,
  /// and in the same sets of the first cache where rows are a power of two long
  /// (1,024 rows and columns and sums of 64 took 1.5 times as long, 1,000
  /// columns of sums of 16 as well).
  static constexpr int64_t kStoredSum = 128;
  static constexpr int64_t kRowTilesOfStored = 4;
  /// Up to so many rows sums are not done in blocks: they would be stored as
  /// often as what they share is read.
  static constexpr int64_t kRowsOfOneBlock = 16;

  /// How many elements of a sum of `extent` (negative: unknown) are done for
  /// all tiles of `rows` rows before the rest of it; 0: all. One block
  /// and a half are done at once: two would be stored in between. An
  /// instruction adds `products` to a sum, which are as many bytes as one.
  static int64_t sumBlock(int64_t extent, int64_t rows, int64_t products = 1) {
    int64_t most = kSumBlock * products;
    bool areMany = rows < 0 || rows > kRowsOfOneBlock;
    return areMany && (extent < 0 || extent > most * 3 / 2) ? most : 0;
  }

  //===--------------------------------------------------------------------===//
  // Vector registers
  //===--------------------------------------------------------------------===//

  /// Bits of the shortest vectors that there are instructions for.
  static constexpr unsigned kMinBits = 128;
  /// Sums of products that must be under way: an addition takes four cycles,
  /// and two begin in each.
  static constexpr int64_t kSumsUnderWay = 8;
  /// Chains of operations that hide how long each takes, of rows and elements,
  /// where loads and stores take most of the time.
  static constexpr unsigned kChains = 4;
  /// The largest square, in vectors of as many lanes, that is transposed in
  /// registers. Of more the shuffles are a block of too many instructions.
  static constexpr int64_t kSquareLanes = 16;
  /// Vectors in a row of a panel at most. With panels as wide as a tile half of
  /// a small cell's weights was padding: a loop of two GRUs took 1.6 times as
  /// long.
  static constexpr int64_t kPanelVectors = 2;
  /// Rows from which on what they share is brought together, or transposed, in
  /// a strip of their product (128 rows of 128 sums: 45 instead of 84 us).
  static constexpr int64_t kRowsOfStrip = 32;

  bool hasMasks() const { return maskBits != 0; }
  /// True if a masked store takes as long as another one. Those of AVX2 take 13
  /// cycles each on AMD's processors.
  bool hasCheapMasks() const { return maskBits == 8; }
  /// True if masked loads and stores take elements of `elementBits`.
  bool canMask(unsigned elementBits) const {
    return hasMasks() && elementBits >= maskBits;
  }
  /// Elements of `elementBits` in a register.
  int64_t lanesOf(unsigned elementBits) const { return bits / elementBits; }

  /// Registers for the sums of a tile. Beside them are vectors of one operand
  /// and an element of the other.
  int64_t sumRegisters() const { return registers > 16 ? 24 : 12; }
  /// Rows of a tile at most, of two vectors each: 198 GFLOP/s at 256^3 with
  /// AVX-512, where OpenBLAS has 170.
  int64_t tileRows() const { return registers > 16 ? 8 : 6; }
  /// Vectors, and rows at most, of a tile that fills the registers for sums:
  /// ten loads for 24 products, where a tile of eight rows needs as many for
  /// 16. Convolutions of 64 to 256 channels take 0.9 to 0.98 of the time.
  int64_t wideTileVectors() const { return registers > 16 ? 4 : 2; }
  int64_t wideTileRows() const { return sumRegisters() / wideTileVectors(); }
};

} // namespace loopc

#endif // LOOPC_SUPPORT_CPUMODEL_H
