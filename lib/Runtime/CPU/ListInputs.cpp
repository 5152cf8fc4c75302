//===- ListInputs.cpp - Sequences and optionals on their way in -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Border.h"

using namespace loopc::rt;

/// Fills an element, all zero so far. Its shape is the caller's, its data too
/// where that can be.
static int32_t makeElement(loopc_run &run, const loopc_type &type,
                           const loopc_value &value, Element &element) {
  switch (type.kind) {
  case LOOPC_SEQUENCE:
  case LOOPC_OPTIONAL:
    return makeInputList(run, type, value, element.list);
  case LOOPC_STRINGS: {
    const loopc_strings &strings = value.as.strings;
    int64_t count;
    getNumElements(strings.ndim, strings.shape, sizeof(loopc_string), count);
    element.data = strings.data;
    element.bytes = count * static_cast<int64_t>(sizeof(loopc_string));
    element.rank = strings.ndim;
    element.shape = strings.shape;
    return LOOPC_OK;
  }
  default:
    break;
  }
  const DLTensor &tensor = value.as.tensor;
  InnerElements inner;
  if (int32_t status = makeInnerElements(run, tensor, inner))
    return status;
  element.owner = inner.copy;
  element.data = inner.data;
  element.bytes = inner.bytes;
  element.rank = tensor.ndim;
  element.shape = tensor.shape;
  return LOOPC_OK;
}

int32_t loopc::rt::makeInputList(loopc_run &run, const loopc_type &type,
                                 const loopc_value &value,
                                 loopc_rt_list *&list) {
  bool isOptional = type.kind == LOOPC_OPTIONAL;
  const loopc_value *items =
      isOptional ? value.as.optional.value : value.as.sequence.items;
  size_t count = isOptional ? items != nullptr : value.as.sequence.count;
  list = nullptr;
  if (count == 0)
    return LOOPC_OK;
  list = createList(run, static_cast<int64_t>(count), /*byModel=*/false);
  if (!list)
    return getStatus(run);
  for (size_t i = 0; i < count; ++i) {
    Element &element = list->elements()[i];
    element = {};
    if (int32_t status = makeElement(run, *type.element, items[i], element))
      return status;
  }
  list->length = static_cast<int64_t>(count);
  return LOOPC_OK;
}
