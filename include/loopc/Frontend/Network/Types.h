//===- Types.h - Enumerations and dimensions of networks --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spelled as in TensorRT where the meaning is the same; docs/Network.md has the
// table of what differs. Enumerators are those of Enums.def, Layers.def and
// DataTypes.def, with a `k` before their names.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_TYPES_H
#define LOOPC_FRONTEND_NETWORK_TYPES_H

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace loopc::network {

/// Element types. From kDOUBLE on they are loopc's own.
enum class DataType : int32_t {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY) k##NAME = NUMBER,
#include "loopc-c/DataTypes.def"
};

/// Extents of a tensor, -1 where one is not known. `nbDims` of -1: the rank is
/// not known; of more than MAX_DIMS: an error of the call that gets them.
/// TensorRT has at most 8.
struct Dims {
  static constexpr int32_t MAX_DIMS = 32;
  int32_t nbDims = 0;
  int64_t d[MAX_DIMS] = {};

  Dims() = default;
  Dims(int32_t count, std::initializer_list<int64_t> extents) {
    nbDims = count;
    int32_t k = 0;
    for (int64_t extent : extents)
      if (k < nbDims && k < MAX_DIMS)
        d[k++] = extent;
  }
};

/// The extents; none for a rank that is not known, or too large.
inline std::vector<int64_t> toVector(const Dims &dims) {
  bool isGood = dims.nbDims > 0 && dims.nbDims <= Dims::MAX_DIMS;
  return {dims.d, dims.d + (isGood ? dims.nbDims : 0)};
}

struct Dims2 : Dims {
  Dims2(int64_t d0, int64_t d1) : Dims(2, {d0, d1}) {}
};
using DimsHW = Dims2;
struct Dims3 : Dims {
  Dims3(int64_t d0, int64_t d1, int64_t d2) : Dims(3, {d0, d1, d2}) {}
};
struct Dims4 : Dims {
  Dims4(int64_t d0, int64_t d1, int64_t d2, int64_t d3)
      : Dims(4, {d0, d1, d2, d3}) {}
};

/// An order of axes: result axis `k` is axis `order[k]`.
struct Permutation {
  int32_t order[Dims::MAX_DIMS] = {};
};

/// Constant values in C order, little endian; bools of one byte, element types
/// of less than a byte packed, the first element in the lowest bits. They are
/// copied when a layer gets them.
struct Weights {
  DataType type = DataType::kFLOAT;
  const void *values = nullptr;
  int64_t count = 0; ///< number of elements; 0 for none
};

/// Kinds of layers, with TensorRT's numbers. kNODE is loopc's own.
enum class LayerType : int32_t {
#define LOOPC_LAYER(CLASS, BASE, KIND, NUMBER, ...) k##KIND = NUMBER,
#include "loopc/Frontend/Network/Layers.def"
};

#define LOOPC_ENUM(T, DOC) enum class T : int32_t {
#define LOOPC_ENUMERATOR(NAME, NUMBER, DOC) k##NAME = NUMBER,
#define LOOPC_ENUM_ALIAS(NAME, NUMBER) k##NAME = NUMBER,
#define LOOPC_ENUM_END()                                                       \
  }                                                                            \
  ;
#include "loopc/Frontend/Network/Enums.def"

/// "FLOAT", "INT64", ...; null where there is no such type.
const char *getName(DataType type);
/// "ElementWise", "TripLimit", ...; null where there is no such layer.
const char *getName(LayerType type);
/// Bits of an element; 0 for strings and what is no type.
int32_t getBits(DataType type);

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_TYPES_H
