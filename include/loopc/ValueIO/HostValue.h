//===- HostValue.h - Values that own their memory ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs and expected outputs of models as tools hold them: read from files,
// made from text or random numbers, compared and printed.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_VALUEIO_HOSTVALUE_H
#define LOOPC_VALUEIO_HOSTVALUE_H

#include "loopc-rt/loopc_rt.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <deque>
#include <new>
#include <string>
#include <vector>

namespace loopc::io {

/// Memory as the runtime aligns its own.
template <typename T> struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  AlignedAllocator() = default;
  template <typename U> AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(size_t n) {
    return static_cast<T *>(::operator new(n * sizeof(T), kAlignment));
  }
  void deallocate(T *pointer, size_t) {
    ::operator delete(pointer, kAlignment);
  }
  bool operator==(const AlignedAllocator &) const { return true; }
};
using Bytes = std::vector<uint8_t, AlignedAllocator<uint8_t>>;

/// A value with all its memory. Tensors are in C order; elements of less than
/// a byte are packed as at the border, first element in the low bits.
struct HostValue {
  int32_t kind = LOOPC_TENSOR;      ///< a loopc_kind
  DLDataType dtype = {0, 0, 1};     ///< of a tensor
  std::vector<int64_t> shape;       ///< of a tensor or of strings
  Bytes bytes;                      ///< of a tensor
  std::vector<std::string> strings; ///< of strings
  std::vector<HostValue> items;     ///< of a sequence; of an optional 0 or 1

  int64_t numElements() const;
};

/// Bytes whose type their file does not tell (numpy saves bfloat16 as "V2"):
/// such a tensor has this code and gets its type from resolveRaw().
inline constexpr uint8_t kRawCode = kDLOpaqueHandle;

/// Bytes of `count` elements; nothing where that is too much or negative.
std::optional<size_t> byteSize(DLDataType dtype, int64_t count);

/// Product of `shape`; nothing where it is negative or too large.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Gives tensors with kRawCode, in `value` or its items, the element type that
/// `type` has, where the sizes agree. Leaves all others.
void resolveRaw(HostValue &value, const loopc_type &type);

/// "float32", "bfloat16", "int4", ...; "raw16" for kRawCode, "?" for others.
std::string dtypeName(DLDataType dtype);

/// "float32[2, 3]", "string[]", "seq(int64)".
std::string describe(const HostValue &value);

/// "float32[N, ?]", "seq(int64[...])" of a port.
std::string describe(const loopc_type &type);

/// ONNX's TensorProto.DataType for `dtype`, 0 where there is none, and back:
/// bits == 0 where there is none (strings included).
int32_t onnxTypeOf(DLDataType dtype);
DLDataType dtypeOfOnnx(int32_t onnxType);

/// A copy of `value`, which is left as it was.
HostValue copyValue(const loopc_value &value);

/// loopc_values that point into HostValues, which must stay where they are.
class ValueViews {
public:
  /// Appends a view of `value`.
  void add(const HostValue &value) { fill(value, values.emplace_back()); }
  const loopc_value *data() const { return values.data(); }
  size_t size() const { return values.size(); }

private:
  void fill(const HostValue &from, loopc_value &to);

  std::vector<loopc_value> values;
  std::deque<std::vector<loopc_value>> nested;
  std::deque<std::vector<loopc_string>> strings;
};

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// True for floats of any width, bfloat16 and the 8- and 4-bit ones; false for
/// complex.
bool isFloat(DLDataType dtype);

/// Element `index` of a tensor of floats as a double (exact).
double getFloat(const HostValue &tensor, int64_t index);

/// Element `index` of a tensor of integers or booleans. Unsigned 64-bit
/// elements come with their bits.
int64_t getInteger(const HostValue &tensor, int64_t index);

/// Part 0 (real) or 1 (imaginary) of an element of a complex tensor.
double getComplex(const HostValue &tensor, int64_t index, int part);

/// Stores a number, rounded to nearest even. False where a finite number is too
/// large for the element type, or the type has no such value.
bool setFloat(HostValue &tensor, int64_t index, double number);

/// Stores the low bits of `number`.
void setInteger(HostValue &tensor, int64_t index, int64_t number);

/// A tensor of zeros (strings: empty ones where bits is 0).
llvm::Expected<HostValue> makeTensor(DLDataType dtype,
                                     llvm::ArrayRef<int64_t> shape);

/// An error with this text.
llvm::Error makeError(const llvm::Twine &text);

} // namespace loopc::io

#endif // LOOPC_VALUEIO_HOSTVALUE_H
