//===- List.cpp - Lists of tensors ----------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "List.h"

#include <string.h>

using namespace loopc::rt;

/// Capacity of the first allocation of a list that grows.
static constexpr int64_t kFirstCapacity = 4;

static constexpr int64_t kMaxCapacity =
    (INT64_MAX - int64_t{sizeof(loopc_rt_list)}) / int64_t{sizeof(Element)};

loopc_rt_list *loopc::rt::createList(loopc_run &run, int64_t capacity,
                                     bool byModel) {
  // What does not fit is refused by allocate().
  int64_t bytes = capacity > kMaxCapacity
                      ? INT64_MAX
                      : static_cast<int64_t>(sizeof(loopc_rt_list)) +
                            capacity * static_cast<int64_t>(sizeof(Element));
  auto *list = static_cast<loopc_rt_list *>(allocate(run, bytes, byModel));
  if (!list)
    return nullptr;
  list->owners = 1;
  list->length = 0;
  list->capacity = capacity;
  return list;
}

static void retainElement(loopc_run *run, const Element &element) {
  loopc_rt_retain(run, element.owner);
  loopc_rt_retain(run, element.shapeOwner);
  loopc_rt_list_retain(run, element.list);
}

static void releaseElement(loopc_run *run, const Element &element) {
  loopc_rt_free(run, element.owner);
  loopc_rt_free(run, element.shapeOwner);
  loopc_rt_list_release(run, element.list);
}

/// True for the only count of a list: nobody else sees what becomes of it.
static bool isOnlyOwner(const loopc_rt_list *list) {
  return __atomic_load_n(&list->owners, __ATOMIC_ACQUIRE) == 1;
}

/// A list with the elements of `list` (consumed, may be null) less those in
/// [position, position + removed), and with room for `inserted` ones in front
/// of what follows them, which the caller fills in. Null after an error.
static loopc_rt_list *resize(loopc_run *run, loopc_rt_list *list,
                             int64_t position, int64_t removed,
                             int64_t inserted) {
  int64_t oldLength = loopc_rt_list_length(list);
  int64_t length = oldLength - removed + inserted;
  int64_t rest = position + removed; // first of the elements behind the gap
  size_t restBytes = static_cast<size_t>(oldLength - rest) * sizeof(Element);
  bool isMine = list && isOnlyOwner(list);
  if (isMine && length <= list->capacity) {
    Element *elements = list->elements();
    for (int64_t i = position; i < rest; ++i)
      releaseElement(run, elements[i]);
    memmove(elements + position + inserted, elements + rest, restBytes);
    list->length = length;
    return list;
  }
  int64_t capacity = length;
  if (inserted != 0) {
    // Doubling makes appending amortised constant time.
    capacity = length <= kFirstCapacity ? kFirstCapacity : oldLength * 2;
  }
  loopc_rt_list *result = createList(*run, capacity, /*byModel=*/true);
  if (result) {
    Element *to = result->elements();
    if (list) {
      const Element *from = list->elements();
      memcpy(to, from, static_cast<size_t>(position) * sizeof(Element));
      memcpy(to + position + inserted, from + rest, restBytes);
    }
    result->length = length;
    if (isMine) {
      // The elements moved with their counts; a list is only made anew to grow.
      loopc_rt_free(run, list);
      return result;
    }
    for (int64_t i = 0; i < length; ++i)
      if (i < position || i >= position + inserted)
        retainElement(run, to[i]);
  }
  loopc_rt_list_release(run, list);
  return result;
}

/// Loops that fill a list, as data ask for, ask every so many elements whether
/// the run shall end.
static constexpr int64_t kElementsPerPoll = 1024;

static loopc_rt_list *insertElement(loopc_run *run, loopc_rt_list *list,
                                    int64_t position, const Element &element) {
  loopc_rt_list *result = nullptr;
  if (loopc_rt_list_length(list) % kElementsPerPoll != kElementsPerPoll - 1 ||
      loopc_rt_poll(run) == LOOPC_OK)
    result = resize(run, list, position, /*removed=*/0, /*inserted=*/1);
  else
    loopc_rt_list_release(run, list);
  if (!result) {
    releaseElement(run, element);
    return nullptr;
  }
  result->elements()[position] = element;
  return result;
}

extern "C" int64_t loopc_rt_list_length(const loopc_rt_list *list) {
  return list ? list->length : 0;
}

extern "C" loopc_rt_list *
loopc_rt_list_insert(loopc_run *run, loopc_rt_list *list, int64_t position,
                     void *owner, const void *data, int64_t bytes,
                     const int64_t *shape, int64_t rank) {
  Element element = {};
  element.owner = owner;
  element.data = data;
  element.bytes = bytes;
  element.rank = rank;
  if (!owner) {
    element.owner = loopc_rt_alloc(run, bytes);
    element.data = element.owner;
    if (element.owner && bytes > 0) {
      memcpy(element.owner, data, static_cast<size_t>(bytes));
      countCopy(*run, static_cast<uint64_t>(bytes));
    }
  }
  if (element.owner && rank > 0) {
    int64_t shapeBytes = rank * static_cast<int64_t>(sizeof(int64_t));
    element.shapeOwner = loopc_rt_alloc(run, shapeBytes);
    element.shape = static_cast<int64_t *>(element.shapeOwner);
    if (element.shapeOwner)
      memcpy(element.shapeOwner, shape, static_cast<size_t>(shapeBytes));
  }
  if (element.owner && (rank == 0 || element.shapeOwner))
    return insertElement(run, list, position, element);
  releaseElement(run, element);
  loopc_rt_list_release(run, list);
  return nullptr;
}

extern "C" loopc_rt_list *loopc_rt_list_insert_list(loopc_run *run,
                                                    loopc_rt_list *list,
                                                    int64_t position,
                                                    loopc_rt_list *inner) {
  Element element = {};
  element.list = inner;
  return insertElement(run, list, position, element);
}

extern "C" loopc_rt_list *loopc_rt_list_erase(loopc_run *run,
                                              loopc_rt_list *list,
                                              int64_t position,
                                              int32_t *status) {
  *status = LOOPC_OK;
  if (list->length == 1) {
    loopc_rt_list_release(run, list);
    return nullptr;
  }
  loopc_rt_list *result =
      resize(run, list, position, /*removed=*/1, /*inserted=*/0);
  if (!result)
    *status = getStatus(*run);
  return result;
}

extern "C" void loopc_rt_list_at(loopc_run *run, const loopc_rt_list *list,
                                 int64_t position,
                                 loopc_rt_element_view *view) {
  const Element &element = list->elements()[position];
  retainElement(run, element);
  // Not written: the compiler keeps what it was lent read-only.
  view->data = const_cast<void *>(element.data);
  view->owner = element.owner;
  view->bytes = element.bytes;
  view->rank = element.rank;
  view->shape_owner = element.shapeOwner;
  view->shape = element.shape;
}

extern "C" loopc_rt_list *loopc_rt_list_at_list(loopc_run *run,
                                                const loopc_rt_list *list,
                                                int64_t position) {
  return loopc_rt_list_retain(run, list->elements()[position].list);
}

extern "C" loopc_rt_list *loopc_rt_list_retain(loopc_run *run,
                                               loopc_rt_list *list) {
  if (!list)
    return nullptr;
  if (run->concurrent)
    __atomic_fetch_add(&list->owners, 1, __ATOMIC_RELAXED);
  else
    ++list->owners;
  return list;
}

extern "C" void loopc_rt_list_release(loopc_run *run, loopc_rt_list *list) {
  if (!list)
    return;
  int64_t owners = run->concurrent
                       ? __atomic_sub_fetch(&list->owners, 1, __ATOMIC_ACQ_REL)
                       : --list->owners;
  if (owners != 0)
    return;
  // Lists nest no deeper than the types of the model do.
  for (int64_t i = 0; i < list->length; ++i)
    releaseElement(run, list->elements()[i]);
  loopc_rt_free(run, list);
}
