//===- TestModel.h - Models made by hand ------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptions of models whose entry is a C++ function: it plays the part of
// compiled code.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_UNITTESTS_RUNTIME_TESTMODEL_H
#define LOOPC_UNITTESTS_RUNTIME_TESTMODEL_H

#include "loopc-rt/runtime.h"

#include <cstring>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

namespace loopc::test {

inline constexpr DLDataType kF32 = {kDLFloat, 32, 1};
inline constexpr DLDataType kF64 = {kDLFloat, 64, 1};
inline constexpr DLDataType kI64 = {kDLInt, 64, 1};
inline constexpr DLDataType kBool = {kDLBool, 8, 1};
inline constexpr DLDataType kI4 = {kDLInt, 4, 1};
inline constexpr DLDataType kU4 = {kDLUInt, 4, 1};
inline constexpr DLDataType kI2 = {kDLInt, 2, 1};
inline constexpr DLDataType kU2 = {kDLUInt, 2, 1};

/// A dimension that is open and has a name.
inline loopc_dim named(const char *name) { return {-1, name}; }
inline loopc_dim fixed(int64_t extent) { return {extent, nullptr}; }
inline loopc_dim open() { return {-1, nullptr}; }

using Entry = int32_t (*)(void *run, void **inputs, void **outputs);

/// A loopc_model with everything that it points to.
class TestModel {
public:
  explicit TestModel(Entry entry) {
    model.abi_version = LOOPC_ABI_VERSION;
    model.name = "test";
    model.producer = "test";
    model.cpu_features = "";
    model.entry = entry;
  }

  TestModel &input(const char *name, DLDataType dtype,
                   std::vector<loopc_dim> dims) {
    inputs.push_back({name, makeType(dtype, std::move(dims))});
    return *this;
  }
  TestModel &output(const char *name, DLDataType dtype,
                    std::vector<loopc_dim> dims) {
    outputs.push_back({name, makeType(dtype, std::move(dims))});
    return *this;
  }
  /// Ports whose rank is known only at run time.
  TestModel &unrankedInput(const char *name, DLDataType dtype) {
    input(name, dtype, {});
    types.back().rank = -1;
    return *this;
  }
  TestModel &unrankedOutput(const char *name, DLDataType dtype) {
    output(name, dtype, {});
    types.back().rank = -1;
    return *this;
  }
  /// Makes the port that was added last one of strings of the same shape, or of
  /// sequences or optionals of what it was.
  TestModel &ofStrings() {
    types.back().kind = LOOPC_STRINGS;
    types.back().dtype = {};
    return *this;
  }
  TestModel &inSequence() { return nest(LOOPC_SEQUENCE); }
  TestModel &inOptional() { return nest(LOOPC_OPTIONAL); }
  /// Gives the input that was added last a default.
  TestModel &defaultsTo(const void *data, std::vector<int64_t> shape) {
    defaultShapes.push_back(std::move(shape));
    defaults.resize(inputs.size(), {nullptr, nullptr, -1});
    defaults.back() = {data, defaultShapes.back().data(),
                       static_cast<int32_t>(defaultShapes.back().size())};
    return *this;
  }
  /// The type of the port that was added last.
  loopc_type &lastType() { return types.back(); }

  /// Writes nothing the second time: threads may run one model.
  loopc_model *get() {
    auto set = [](auto &field, auto value) {
      if (field != value)
        field = value;
    };
    set(model.num_inputs, inputs.size());
    set(model.inputs, inputs.data());
    set(model.num_outputs, outputs.size());
    set(model.outputs, outputs.data());
    if (!defaults.empty()) {
      defaults.resize(inputs.size(), {nullptr, nullptr, -1});
      set(model.defaults, defaults.data());
    }
    return &model;
  }

  loopc_model model = {};

private:
  TestModel &nest(int32_t kind) {
    elements.push_back(types.back());
    types.back() = {};
    types.back().kind = kind;
    types.back().element = &elements.back();
    return *this;
  }

  const loopc_type *makeType(DLDataType dtype, std::vector<loopc_dim> dims) {
    dimLists.push_back(std::move(dims));
    loopc_type type = {};
    type.kind = LOOPC_TENSOR;
    type.rank = static_cast<int32_t>(dimLists.back().size());
    type.dtype = dtype;
    type.dims = dimLists.back().data();
    types.push_back(type);
    return &types.back();
  }

  std::vector<loopc_port> inputs;
  std::vector<loopc_port> outputs;
  std::vector<loopc_default> defaults;
  std::deque<std::vector<int64_t>> defaultShapes;
  std::deque<loopc_type> types;
  std::deque<loopc_type> elements;
  std::deque<std::vector<loopc_dim>> dimLists;
};

/// A tensor of the caller's, with its memory.
template <typename T> struct TestTensor {
  TestTensor(DLDataType dtype, std::vector<int64_t> shape, std::vector<T> data,
             std::vector<int64_t> strides = {})
      : shape(std::move(shape)), strides(std::move(strides)),
        data(std::move(data)), dtype(dtype) {}

  loopc_value get() {
    loopc_value value = {};
    value.kind = LOOPC_TENSOR;
    DLTensor &tensor = value.as.tensor;
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    return value;
  }

  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<T> data;
  DLDataType dtype;
};

/// MLIR's memref descriptor of rank `Rank`.
template <int Rank> struct MemRef {
  void *allocated;
  void *aligned;
  int64_t offset;
  int64_t sizes[Rank];
  int64_t strides[Rank];

  template <typename T> T *data() const {
    return static_cast<T *>(aligned) + offset;
  }
};
template <> struct MemRef<0> {
  void *allocated;
  void *aligned;
  int64_t offset;

  template <typename T> T *data() const {
    return static_cast<T *>(aligned) + offset;
  }
};

template <int Rank> MemRef<Rank> &getMemRef(void *slot) {
  return *static_cast<MemRef<Rank> *>(slot);
}

/// The slot of a tensor whose rank is known only at run time.
struct UnrankedSlot {
  MemRef<1> elements;
  MemRef<1> shape;
};

/// A new buffer of the run in C order.
template <int Rank>
MemRef<Rank> allocate(void *run, size_t elementBytes,
                      std::vector<int64_t> sizes) {
  MemRef<Rank> result = {};
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  result.allocated = result.aligned =
      loopc_rt_alloc(static_cast<loopc_run *>(run),
                     count * static_cast<int64_t>(elementBytes));
  if constexpr (Rank > 0) {
    int64_t stride = 1;
    for (int dim = Rank - 1; dim >= 0; --dim) {
      result.sizes[dim] = sizes[dim];
      result.strides[dim] = stride;
      stride *= sizes[dim];
    }
  }
  return result;
}

/// Outcome of a run.
struct Outcome {
  int status = -1;
  std::string message;
  loopc_run_statistics statistics = {};
};

inline Outcome runModel(TestModel &model, std::vector<loopc_value> inputs,
                        std::vector<loopc_value> &outputs,
                        const loopc_run_options *options = nullptr) {
  Outcome outcome;
  loopc_error error;
  memset(&error, 0x55, sizeof(error));
  loopc_run_options counted = {};
  counted.size = sizeof(counted);
  if (options && options->size == sizeof(counted))
    counted = *options;
  counted.statistics = &outcome.statistics;
  // Options of another size are about that size.
  bool isKnown = !options || options->size == sizeof(counted);
  outcome.status =
      loopc_model_run(model.get(), isKnown ? &counted : options, inputs.data(),
                      inputs.size(), outputs.data(), outputs.size(), &error);
  outcome.message = error.message;
  if (error.status != outcome.status)
    outcome.message += " (and the error has another status)";
  return outcome;
}

/// Options with their size set.
inline loopc_run_options makeOptions() {
  loopc_run_options options = {};
  options.size = sizeof(options);
  return options;
}

template <typename T>
std::vector<T> getData(const loopc_value &value, size_t count) {
  const T *data = static_cast<const T *>(value.as.tensor.data);
  return std::vector<T>(data, data + count);
}

inline std::vector<int64_t> getShape(const loopc_value &value) {
  const DLTensor &tensor = value.as.tensor;
  return std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim);
}

/// True for a value that holds nothing.
inline bool isZero(const loopc_value &value) {
  static const loopc_value zero = {};
  return memcmp(&value, &zero, sizeof(value)) == 0;
}

/// An allocator that counts, and fails from the `failAt`th call on.
struct CountingAllocator {
  CountingAllocator() {
    table.context = this;
    table.allocate = [](void *context, size_t bytes, size_t alignment) {
      auto *self = static_cast<CountingAllocator *>(context);
      if (self->numAllocated == self->failAt)
        return static_cast<void *>(nullptr);
      ++self->numAllocated;
      self->liveBytes += bytes;
      return aligned_alloc(alignment,
                           (bytes + alignment - 1) / alignment * alignment);
    };
    table.deallocate = [](void *context, void *pointer, size_t bytes) {
      auto *self = static_cast<CountingAllocator *>(context);
      ++self->numFreed;
      self->liveBytes -= bytes;
      free(pointer);
    };
  }

  loopc_allocator table = {};
  size_t numAllocated = 0;
  size_t numFreed = 0;
  size_t liveBytes = 0;
  size_t failAt = SIZE_MAX;
};

} // namespace loopc::test

#endif // LOOPC_UNITTESTS_RUNTIME_TESTMODEL_H
