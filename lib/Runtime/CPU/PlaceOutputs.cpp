//===- PlaceOutputs.cpp - Results in memory of the caller -----------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"
#include "DeviceBorder.h"

#include <string.h>

using namespace loopc::rt;

/// Asks the caller for the memory of an output, once. \returns the status of an
/// error.
static int32_t askForPlace(loopc_run &run, size_t number, int32_t rank,
                           const int64_t *shape, Result &result) {
  // Kept, to be compared with what comes out.
  size_t bytes = static_cast<size_t>(rank) * sizeof(int64_t);
  auto *kept = static_cast<int64_t *>(
      allocate(run, static_cast<int64_t>(bytes), /*byModel=*/false));
  if (!kept)
    return getStatus(run);
  if (bytes != 0)
    memcpy(kept, shape, bytes);
  result.wasAsked = true;
  result.placeShape = kept;
  result.placeRank = rank;
  result.place = static_cast<char *>(
      run.placeOutput(run.placeContext, number, kept, rank));
  return LOOPC_OK;
}

/// Whether the caller is asked where an output shall lie.
static bool isAsked(const loopc_run &run, const loopc_model &model,
                    size_t number) {
  return run.placeOutput && !run.returnsOnDevice &&
         model.outputs[number].type->kind == LOOPC_TENSOR &&
         number < model.num_outputs - model.num_states;
}

int32_t loopc::rt::findPlace(loopc_run &run, const loopc_model &model,
                             size_t number, Result &result) {
  if (!isAsked(run, model, number))
    return LOOPC_OK;
  if (!result.wasAsked)
    return askForPlace(run, number, result.rank, result.shape, result);
  bool isSame = result.rank == result.placeRank;
  for (int32_t dim = 0; dim < result.rank && isSame; ++dim)
    isSame = result.shape[dim] == result.placeShape[dim];
  if (isSame)
    return LOOPC_OK;
  return recordPortError(run, LOOPC_ERROR_ABI, getOutputName(model, number),
                         "the model returned shape %s, and had said %s",
                         ShapeText(result.rank, result.shape).text,
                         ShapeText(result.placeRank, result.placeShape).text);
}

/// True where a value of the caller, or an element of it, lies in `range`.
static bool isIn(const loopc_value &value, const Range &range) {
  if (value.kind == LOOPC_OPTIONAL)
    return value.as.optional.value && isIn(*value.as.optional.value, range);
  if (value.kind == LOOPC_SEQUENCE) {
    for (size_t i = 0; i < value.as.sequence.count; ++i)
      if (isIn(value.as.sequence.items[i], range))
        return true;
    return false;
  }
  if (value.kind != LOOPC_TENSOR)
    return false;
  const DLTensor &tensor = value.as.tensor;
  ElementLayout layout;
  int64_t count;
  if (!getElementLayout(tensor.dtype, layout) ||
      !getNumElements(tensor.ndim, tensor.shape, layout.innerBytes, count) ||
      count == 0)
    return false;
  const char *begin;
  uint64_t bytes;
  getSpan(tensor, layout, count, begin, bytes);
  auto address = reinterpret_cast<uintptr_t>(begin);
  return range.overlaps({address, address + bytes});
}

/// True for memory that nothing else of the run lies in: an input would be
/// overwritten while it is read.
static bool isAlone(const Border &border, size_t number, const Range &range) {
  for (size_t k = 0; k < border.model->num_inputs; ++k)
    if (isIn(border.inputs[k], range))
      return false;
  for (size_t k = 0; k < border.model->num_outputs; ++k) {
    if (k == number)
      continue;
    const Result &other = border.results[k];
    auto address = reinterpret_cast<uintptr_t>(other.place);
    if (isIn(border.outputs[k], range) ||
        range.overlaps({address, address + other.placeBytes}))
      return false;
  }
  return true;
}

/// The memory of the caller in which `bytes` bytes of an output are computed;
/// null where that cannot be.
static char *openPlace(loopc_run &run, size_t number, int32_t rank,
                       const int64_t *shape, uint64_t bytes) {
  Border &border = *run.border;
  const loopc_type &type = *border.model->outputs[number].type;
  const loopc_value &output = border.outputs[number];
  Result &result = border.results[number];
  ElementLayout layout;
  int64_t count, capacity;
  // A buffer of another size than the tensor is no buffer for it.
  if (type.kind != LOOPC_TENSOR || result.place || result.wasAsked ||
      !getElementLayout(type.dtype, layout) || layout.isPacked ||
      !getNumElements(rank, shape, layout.innerBytes, count) || count == 0 ||
      static_cast<uint64_t>(count) * layout.innerBytes != bytes)
    return nullptr;
  char *place = nullptr;
  if (output.kind == 0) {
    if (!isAsked(run, *border.model, number) ||
        askForPlace(run, number, rank, shape, result))
      return nullptr;
    place = result.place;
  } else {
    const DLTensor &tensor = output.as.tensor;
    if (!isOfDevice(tensor.device) && tensor.ndim == rank &&
        getNumElements(rank, tensor.shape, layout.innerBytes, capacity) &&
        count <= capacity)
      place = getBuffer(output);
  }
  auto address = reinterpret_cast<uintptr_t>(place);
  if (!place || address % kDataAlignment != 0 ||
      !isAlone(border, number, {address, address + bytes}))
    return nullptr;
  result.placeBytes = bytes;
  return result.place = place;
}

extern "C" void *loopc_rt_alloc_output(loopc_run *run, int64_t bytes,
                                       int64_t number, const int64_t *shape,
                                       int64_t rank) {
  if (run->border && bytes > 0 &&
      number < static_cast<int64_t>(run->border->model->num_outputs))
    if (char *place = openPlace(*run, static_cast<size_t>(number),
                                static_cast<int32_t>(rank), shape,
                                static_cast<uint64_t>(bytes)))
      return place;
  return allocate(*run, bytes, /*byModel=*/true, MemoryUse::Output);
}
