//===- Border.h - Values on their way in and out of a model -----*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The caller's loopc_values become memref descriptors and lists, and back.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_BORDER_H
#define LOOPC_LIB_RUNTIME_CPU_BORDER_H

#include "List.h"
#include "Run.h"
#include "Types.h"

namespace loopc::rt {

/// A ranked memref descriptor: words of 8 bytes.
struct Descriptor {
  int64_t *words;

  static constexpr size_t getNumWords(int64_t rank) {
    return 3 + 2 * static_cast<size_t>(rank);
  }
  void *allocated() const { return reinterpret_cast<void *>(words[0]); }
  char *aligned() const { return reinterpret_cast<char *>(words[1]); }
  int64_t offset() const { return words[2]; }
  int64_t *sizes() const { return words + 3; }
  int64_t *strides(int64_t rank) const { return words + 3 + rank; }

  /// Fills the descriptor of a tensor in C order.
  void set(const void *data, int64_t rank, const int64_t *shape) const;
};

/// Words of the slot of a port: a list, or the descriptor of a tensor (of
/// strings), two where the rank is not known before the run.
inline size_t getSlotWords(const loopc_type &type) {
  if (type.kind == LOOPC_SEQUENCE || type.kind == LOOPC_OPTIONAL)
    return 1;
  return type.rank < 0 ? 2 * Descriptor::getNumWords(1)
                       : Descriptor::getNumWords(type.rank);
}

/// How messages call an input or output: the states have numbers of their own.
inline PortName getInputName(const loopc_model &model, size_t number) {
  size_t count = model.num_inputs - model.num_states;
  const char *name = model.inputs[number].name;
  return number < count ? PortName{"input", name, number}
                        : PortName{"state", name, number - count};
}
inline PortName getOutputName(const loopc_model &model, size_t number) {
  size_t count = model.num_outputs - model.num_states;
  const char *name = model.outputs[number].name;
  return number < count ? PortName{"output", name, number}
                        : PortName{"state", name, number - count};
}

/// Refuses ports that this runtime cannot carry.
int32_t checkPortType(loopc_run &run, const PortName &port,
                      const loopc_type *type);

/// Checks a tensor of the caller against the type of its port, except for the
/// extents of its dimensions; `code` is the status of an error.
int32_t checkTensor(loopc_run &run, int32_t code, const PortName &port,
                    const loopc_type &type, const loopc_value &value);

/// Checks a value of the caller, nested ones too, and the extents that the
/// type gives.
int32_t checkInputValue(loopc_run &run, const PortName &port,
                        const loopc_type &type, const loopc_value &value);

/// Checks one input, which may be absent where it has a default.
int32_t checkInput(loopc_run &run, const loopc_model &model, size_t number,
                   const loopc_value &value);

/// Checks the caller's inputs against the model; reads no elements.
int32_t checkInputs(loopc_run &run, const loopc_model &model,
                    const loopc_value *inputs);

/// Elements of a tensor as they lie inside a model, in C order.
struct InnerElements {
  const void *data; ///< never null
  int64_t count;    ///< of elements
  int64_t bytes;
  void *copy; ///< memory of the run, or null: `data` is the caller's
};

/// Makes the elements of a checked tensor what a model reads: the caller's
/// where they lie so, else a copy.
int32_t makeInnerElements(loopc_run &run, const DLTensor &tensor,
                          InnerElements &inner);

/// Makes the list of a checked sequence or optional. What is in C order and as
/// a model has it is not copied.
int32_t makeInputList(loopc_run &run, const loopc_type &type,
                      const loopc_value &value, loopc_rt_list *&list);

/// Fills the slot of number `number` of the checked inputs, with a copy in run
/// memory where the caller's elements do not lie as the model wants them.
int32_t passInput(loopc_run &run, const loopc_model &model, size_t number,
                  const loopc_value *inputs, int64_t *slot);

/// Checks what the caller gave as outputs; writes nothing.
int32_t checkOutputs(loopc_run &run, const loopc_model &model,
                     const loopc_value *outputs);

/// Makes `value`, all zero so far, what `list` holds. \returns the status of an
/// error; then `value` is as it was.
int32_t makeListOutput(loopc_run &run, const PortName &port,
                       const loopc_type &type, const loopc_rt_list *list,
                       loopc_value &value);

/// Makes `value`, all zero so far, a tensor of strings. \p texts: loopc_strings
/// with strides in elements (null: C order).
int32_t makeStringsOutput(loopc_run &run, const PortName &port, int32_t rank,
                          const int64_t *shape, int64_t count,
                          const void *texts, int64_t memoryRank,
                          const int64_t *memoryShape,
                          const int64_t *memoryStrides, loopc_value &value);

/// True where a block can be the memory of an output that has `bytes` bytes,
/// without a copy. A view of a much larger buffer is copied rather than keeping
/// all of it alive.
bool canHandOver(const loopc_run &run, const ElementLayout &layout,
                 const Block *block, uint64_t bytes);

/// A result of the model on its way to an output.
struct Result {
  ElementLayout layout;
  int32_t rank;
  const int64_t *shape;
  int64_t count;  ///< of elements
  uint64_t bytes; ///< at the border
  /// Where the elements are: the shape may be flat where the rank was unknown;
  /// null strides stand for C order.
  int64_t memoryRank;
  const int64_t *memoryShape;
  const int64_t *memoryStrides;
  const char *data;
  Block *block;  ///< of the run, or null: the memory is somebody else's
  bool onDevice; ///< the data are a GPU's; see DeviceBorder.h
  bool isNew;    ///< the output came all zero
  bool isDone;   ///< the output has it already
  bool handOver; ///< the block becomes the output's memory
  bool wasAsked; ///< the caller was asked for `place`
  /// The caller's memory for the output, or null; where the result is computed
  /// there, its bytes; and the shape that it was asked for with, null for a
  /// buffer that came with the call.
  char *place;
  uint64_t placeBytes;
  const int64_t *placeShape;
  int32_t placeRank;
};

/// What a run was called with, and what becomes of its outputs.
struct Border {
  const loopc_model *model;
  const loopc_value *inputs;
  const loopc_value *outputs;
  Result *results;
};

/// The caller's memory for an output that came all zero, of which `result` has
/// rank, shape and type; null where there is none. Asks for it unless that was
/// done. \returns the status of an error.
int32_t findPlace(loopc_run &run, const loopc_model &model, size_t number,
                  Result &result);

/// Addresses [begin, end).
struct Range {
  uintptr_t begin;
  uintptr_t end;

  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// The memory that the caller gave for an output.
inline char *getBuffer(const loopc_value &value) {
  char *data = static_cast<char *>(value.as.tensor.data);
  return data ? data + value.as.tensor.byte_offset : nullptr;
}

/// Copies the elements of a result that the host has to `dst`, in C order and
/// as they are at the border.
void copyResult(loopc_run &run, const Result &result, char *dst);

/// Moves the results in `slots` to `outputs`: all, or none and an error.
/// `results` is room for one entry an output.
int32_t returnOutputs(loopc_run &run, const loopc_model &model, void **slots,
                      Result *results, loopc_value *outputs);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_BORDER_H
