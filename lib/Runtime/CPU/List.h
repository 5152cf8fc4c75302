//===- List.h - Lists of tensors --------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_RUNTIME_CPU_LIST_H
#define LOOPC_LIB_RUNTIME_CPU_LIST_H

#include "Run.h"

namespace loopc::rt {

/// A tensor, in C order and as it lies inside a model, or a list.
struct Element {
  void *owner; ///< a count of a block, or null: memory that outlives the run
  const void *data;
  int64_t bytes;
  int64_t rank;
  void *shapeOwner;     ///< as `owner`
  const int64_t *shape; ///< null where the rank is 0
  loopc_rt_list *list;  ///< where elements are lists: null is the empty one
};

} // namespace loopc::rt

/// One block of the run: this and then the elements.
struct loopc_rt_list {
  int64_t owners;
  int64_t length;
  int64_t capacity;

  loopc::rt::Element *elements() {
    return reinterpret_cast<loopc::rt::Element *>(this + 1);
  }
  const loopc::rt::Element *elements() const {
    return reinterpret_cast<const loopc::rt::Element *>(this + 1);
  }
};

namespace loopc::rt {

/// A list with room for `capacity` elements and without any so far; null after
/// recording an error.
loopc_rt_list *createList(loopc_run &run, int64_t capacity, bool byModel);

} // namespace loopc::rt

#endif // LOOPC_LIB_RUNTIME_CPU_LIST_H
