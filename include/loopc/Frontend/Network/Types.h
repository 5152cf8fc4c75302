//===- Types.h - Enumerations and dimensions of networks --------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spelled as in TensorRT where the meaning is the same; docs/Network.md has the
// table of what differs. Enumerators that TensorRT has not are marked.
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
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6, ///< e4m3fn
  kBF16 = 7,
  kINT64 = 8,
  kINT4 = 9,
  kFP4 = 10, ///< e2m1
  kE8M0 = 11,
  kDOUBLE = 100,
  kINT16 = 101,
  kUINT16 = 102,
  kUINT32 = 103,
  kUINT64 = 104,
  kUINT4 = 105,
  kINT2 = 106,
  kUINT2 = 107,
  kFP8_E5M2 = 108,
  kFP8_E4M3FNUZ = 109,
  kFP8_E5M2FNUZ = 110,
  kCOMPLEX64 = 111,
  kCOMPLEX128 = 112,
  kSTRING = 113
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
  kCONVOLUTION = 0,
  kCAST = 1,
  kACTIVATION = 2,
  kPOOLING = 3,
  kSOFTMAX = 6,
  kDECONVOLUTION = 7,
  kCONCATENATION = 8,
  kELEMENTWISE = 9,
  kUNARY = 11,
  kSHUFFLE = 13,
  kREDUCE = 14,
  kTOPK = 15,
  kGATHER = 16,
  kMATRIX_MULTIPLY = 17,
  kCONSTANT = 19,
  kIDENTITY = 20,
  kSLICE = 22,
  kSHAPE = 23,
  kPARAMETRIC_RELU = 24,
  kTRIP_LIMIT = 26,
  kRECURRENCE = 27,
  kITERATOR = 28,
  kLOOP_OUTPUT = 29,
  kSELECT = 30,
  kFILL = 31,
  kCONDITION = 34,
  kCONDITIONAL_INPUT = 35,
  kCONDITIONAL_OUTPUT = 36,
  kSCATTER = 37,
  kEINSUM = 38,
  kASSERTION = 39,
  kONE_HOT = 40,
  kNON_ZERO = 41,
  kREVERSE_SEQUENCE = 44,
  kNORMALIZATION = 45,
  kSQUEEZE = 47,
  kUNSQUEEZE = 48,
  kCUMULATIVE = 49,
  kNODE = 1000 ///< an operator of ONNX
};

enum class ElementWiseOperation : int32_t {
  kSUM = 0,
  kADD = 0, ///< what TensorRT's guide calls kSUM
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kSUB = 4,
  kDIV = 5, ///< of integers: towards zero
  kPOW = 6,
  kFLOOR_DIV = 7,
  kAND = 8,
  kOR = 9,
  kXOR = 10,
  kEQUAL = 11,
  kGREATER = 12,
  kLESS = 13
};

enum class UnaryOperation : int32_t {
  kEXP = 0,
  kLOG = 1,
  kSQRT = 2,
  kRECIP = 3,
  kABS = 4,
  kNEG = 5,
  kSIN = 6,
  kCOS = 7,
  kTAN = 8,
  kSINH = 9,
  kCOSH = 10,
  kASIN = 11,
  kACOS = 12,
  kATAN = 13,
  kASINH = 14,
  kACOSH = 15,
  kATANH = 16,
  kCEIL = 17,
  kFLOOR = 18,
  kERF = 19,
  kNOT = 20,
  kSIGN = 21,
  kROUND = 22, ///< halves to even
  kISINF = 23,
  kISNAN = 24
};

enum class ActivationType : int32_t {
  kRELU = 0,
  kSIGMOID = 1,
  kTANH = 2,
  kLEAKY_RELU = 3,        ///< x >= 0 ? x : alpha x
  kELU = 4,               ///< x >= 0 ? x : alpha (exp(x) - 1)
  kSELU = 5,              ///< beta (x > 0 ? x : alpha (exp(x) - 1))
  kSOFTSIGN = 6,          ///< x / (1 + |x|)
  kSOFTPLUS = 7,          ///< alpha log(exp(beta x) + 1)
  kCLIP = 8,              ///< max(alpha, min(beta, x))
  kHARD_SIGMOID = 9,      ///< max(0, min(1, alpha x + beta))
  kSCALED_TANH = 10,      ///< alpha tanh(beta x)
  kTHRESHOLDED_RELU = 11, ///< x > alpha ? x : 0
  kGELU_ERF = 12,
  kGELU_TANH = 13
};

enum class MatrixOperation : int32_t { kNONE = 0, kTRANSPOSE = 1, kVECTOR = 2 };

enum class ReduceOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kAVG = 4
};

/// What a slice reads beyond the bounds.
enum class SampleMode : int32_t {
  kSTRICT_BOUNDS = 0, ///< an error
  kDEFAULT = 0,
  kWRAP = 1,
  kCLAMP = 2,
  kFILL = 3, ///< input 4, or zero
  kREFLECT = 4
};

enum class GatherMode : int32_t { kDEFAULT = 0, kELEMENT = 1, kND = 2 };
enum class ScatterMode : int32_t { kELEMENT = 0, kND = 1 };
enum class TopKOperation : int32_t { kMAX = 0, kMIN = 1 };
enum class FillOperation : int32_t {
  kLINSPACE = 0,
  kRANDOM_UNIFORM = 1,
  kRANDOM_NORMAL = 2
};
enum class PoolingType : int32_t {
  kMAX = 0,
  kAVERAGE = 1,
  kMAX_AVERAGE_BLEND = 2
};
enum class PaddingMode : int32_t {
  kEXPLICIT_ROUND_DOWN = 0,
  kEXPLICIT_ROUND_UP = 1,
  kSAME_UPPER = 2,
  kSAME_LOWER = 3
};
enum class CumulativeOperation : int32_t { kSUM = 0 };

/// kLAST_VALUE: a recurrence after the last trip. kCONCATENATE: the values of
/// all trips on a new axis. kREVERSE: the same, the last trip first.
enum class LoopOutput : int32_t {
  kLAST_VALUE = 0,
  kCONCATENATE = 1,
  kREVERSE = 2
};

/// kCOUNT: a number of trips. kWHILE: tested before every trip.
enum class TripLimit : int32_t { kCOUNT = 0, kWHILE = 1 };

/// "FLOAT", "INT64", ...; null where there is no such type.
const char *getName(DataType type);
/// "ElementWise", "TripLimit", ...; null where there is no such layer.
const char *getName(LayerType type);
/// Bits of an element; 0 for strings and what is no type.
int32_t getBits(DataType type);

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_TYPES_H
