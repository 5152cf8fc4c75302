//===- custom.h - Operators of one's own ------------------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator that ONNX does not have, as functions in C99 or C++20. It may
// stand wherever a node may, in the bodies of loops and branches, too.
//
//   #include "loopc-rt/custom.h"
//
//   static int scale(loopc_custom_call *call) {
//     const float *x = call->inputs[0].data;
//     float *y = call->outputs[0].data;
//     float factor = loopc_custom_float(call, "factor", 1);
//     for (int64_t k = 0; k < call->inputs[0].count; ++k)
//       y[k] = factor * x[k];
//     return 0;
//   }
//   static const loopc_custom_port inputs[] = {
//       {.name = "x", .types = "float32"}};
//   static const loopc_custom_port outputs[] = {
//       {.name = "y", .type_of = "x", .shape_of = "x"}};
//   static const loopc_custom_parameter parameters[] = {
//       {.name = "factor", .kind = LOOPC_CUSTOM_FLOAT}};
//   LOOPC_CUSTOM_OP(scale, .domain = "my.ops", .name = "Scale",
//                   .since_version = 1, .inputs = inputs, .num_inputs = 1,
//                   .outputs = outputs, .num_outputs = 1,
//                   .parameters = parameters, .num_parameters = 1,
//                   .compute = scale);
//   LOOPC_CUSTOM_LIBRARY(&loopc_op_scale)
//
// A shared library of such operators is given to the compiler, which reads what
// they take and return. A session calls them in that library; code that was
// compiled to an object refers to loopc_op_scale, which is linked with it
// (docs/CustomOperators.md).
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_RT_CUSTOM_H
#define LOOPC_RT_CUSTOM_H

#include "loopc-rt/loopc_rt.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the structs below.
#define LOOPC_CUSTOM_ABI 1

/// What the dtype of a tensor of texts is: its elements are loopc_strings.
enum { LOOPC_CUSTOM_TEXT_CODE = 3, LOOPC_CUSTOM_TEXT_BITS = 128 };

/// A tensor, in C order without gaps. A bool is a byte, 0 or 1.
typedef struct {
  void *data; ///< of an input: it is only read
  const int64_t *shape;
  int64_t rank;
  int64_t count; ///< of elements
  DLDataType dtype;
  int32_t is_given; ///< 0: the model leaves this input or output out
} loopc_custom_tensor;

typedef enum {
  LOOPC_CUSTOM_INT = 1,
  LOOPC_CUSTOM_FLOAT = 2,
  LOOPC_CUSTOM_STRING = 3,
  LOOPC_CUSTOM_INTS = 4,
  LOOPC_CUSTOM_FLOATS = 5,
  LOOPC_CUSTOM_STRINGS = 6
} loopc_custom_kind;

/// An attribute of a node.
typedef struct {
  const char *name;
  int64_t kind;  ///< a loopc_custom_kind
  int64_t count; ///< of values; 1 where the kind has one
  /// int64_t, float or loopc_string, `count` of them. Texts are terminated,
  /// too.
  const void *values;
} loopc_custom_attribute;

struct loopc_custom_op;

/// One call of an operator. What it points to lives as long as the call.
typedef struct loopc_custom_call {
  uint64_t size; ///< of this struct
  const struct loopc_custom_op *op;
  const loopc_custom_attribute *attributes;
  int64_t num_attributes;
  /// As many as the node has; more are left out.
  const loopc_custom_tensor *inputs;
  int64_t num_inputs;
  /// All that the operator has.
  loopc_custom_tensor *outputs;
  int64_t num_outputs;
  /// For the functions below.
  int (*fail)(struct loopc_custom_call *call, const char *message);
  int (*set_shape)(struct loopc_custom_call *call, int64_t output,
                   const int64_t *shape, int64_t rank);
  void *(*allocate)(struct loopc_custom_call *call, int64_t output,
                    const int64_t *shape, int64_t rank);
  char *(*allocate_text)(struct loopc_custom_call *call, int64_t bytes);
  void *context; ///< the caller's
  /// The place of the node in the model, as errors have it; null in infer()
  /// when the compiler calls it. Not all callers have this field: see `size`.
  const char *where;
} loopc_custom_call;

enum {
  LOOPC_CUSTOM_OPTIONAL = 1, ///< may be left out
  LOOPC_CUSTOM_VARIADIC = 2, ///< the last input: once or more often
  LOOPC_CUSTOM_NEW_AXIS = 4  ///< of an output: one axis more than `rank_of`
};

/// For loopc_custom_port::rank.
#define LOOPC_CUSTOM_RANK(rank) (1 + (rank))

/// An input or output of an operator.
typedef struct {
  const char *name;
  /// The element types that it may have, by NumPy's names with blanks between
  /// them: "float32 float64". An output has one.
  const char *types;
  /// Or the name of an input (a former one, of an input) whose type it has.
  const char *type_of;
  /// Of an output: the input whose shape it has, or whose rank.
  const char *shape_of;
  const char *rank_of;
  /// Of an output: LOOPC_CUSTOM_RANK(r), or 0 where only a run tells.
  int32_t rank;
  uint32_t flags;
} loopc_custom_port;

/// An attribute that nodes may have.
typedef struct {
  const char *name;
  int32_t kind;        ///< a loopc_custom_kind
  int32_t is_required; ///< else it may be missing
} loopc_custom_parameter;

enum {
  /// It has effects, or does not always return the same: it is called as often
  /// as the model says, in that order.
  LOOPC_CUSTOM_STATEFUL = 1,
  /// Made by loopc of an operator in a library for onnxruntime, which does not
  /// say which attributes nodes have: they may have any. Only the process that
  /// loaded the library can call it.
  LOOPC_CUSTOM_OF_ONNXRUNTIME = 2
};

/// An operator; made by LOOPC_CUSTOM_OP.
typedef struct loopc_custom_op {
  uint32_t abi_version; ///< LOOPC_CUSTOM_ABI
  uint32_t size;        ///< of this struct
  const char *symbol;   ///< the name of this variable
  const char *domain;
  const char *name;
  /// The first version of the domain that has the operator so.
  int64_t since_version;
  const loopc_custom_port *inputs;
  int64_t num_inputs;
  const loopc_custom_port *outputs;
  int64_t num_outputs;
  const loopc_custom_parameter *parameters;
  int64_t num_parameters;
  uint64_t flags;
  /// Says the shapes of outputs that have none of `shape_of`, by
  /// loopc_custom_set_shape(), from shapes of inputs and attributes; `data` may
  /// be null. Null, or an output without a shape: compute allocates it. The
  /// compiler calls it, too, where it knows the shapes of all inputs.
  /// \returns 0, or what loopc_custom_fail() returns.
  int (*infer)(loopc_custom_call *call);
  /// Computes the outputs, whose memory is there where their shapes are known.
  /// Several threads may call it at the same time. \returns as infer.
  int (*compute)(loopc_custom_call *call);
} loopc_custom_op;

/// What a library has; made by LOOPC_CUSTOM_LIBRARY.
typedef struct {
  uint32_t abi_version; ///< LOOPC_CUSTOM_ABI
  uint32_t count;
  const loopc_custom_op *const *operators;
} loopc_custom_library;

/// Ends the run with an error that says where the node is, and `message`.
static inline int loopc_custom_fail(loopc_custom_call *call,
                                    const char *message) {
  return call->fail(call, message);
}

/// In infer: output `output` has this shape. \returns 0, or an error.
static inline int loopc_custom_set_shape(loopc_custom_call *call,
                                         int64_t output, const int64_t *shape,
                                         int64_t rank) {
  return call->set_shape(call, output, shape, rank);
}

/// In compute: memory for output `output`, once, where infer said no shape.
/// Null where there is none: return an error then.
static inline void *loopc_custom_allocate(loopc_custom_call *call,
                                          int64_t output, const int64_t *shape,
                                          int64_t rank) {
  return call->allocate(call, output, shape, rank);
}

/// Memory for a text that an output has, as long as the run lasts; or null.
static inline char *loopc_custom_text(loopc_custom_call *call, int64_t bytes) {
  return call->allocate_text(call, bytes);
}

/// Whether the node has input `input`.
static inline int loopc_custom_has(const loopc_custom_call *call,
                                   int64_t input) {
  return input < call->num_inputs && call->inputs[input].is_given;
}

/// The node's attribute, or null where it has none of that name.
static inline const loopc_custom_attribute *
loopc_custom_find(const loopc_custom_call *call, const char *name) {
  for (int64_t k = 0; k < call->num_attributes; ++k)
    if (strcmp(call->attributes[k].name, name) == 0)
      return &call->attributes[k];
  return NULL;
}

/// The values of attributes, or `fallback` where the node has none.
static inline int64_t loopc_custom_int(const loopc_custom_call *call,
                                       const char *name, int64_t fallback) {
  const loopc_custom_attribute *found = loopc_custom_find(call, name);
  return found ? *(const int64_t *)found->values : fallback;
}
static inline float loopc_custom_float(const loopc_custom_call *call,
                                       const char *name, float fallback) {
  const loopc_custom_attribute *found = loopc_custom_find(call, name);
  return found ? *(const float *)found->values : fallback;
}
static inline const char *loopc_custom_string(const loopc_custom_call *call,
                                              const char *name,
                                              const char *fallback) {
  const loopc_custom_attribute *found = loopc_custom_find(call, name);
  return found ? ((const loopc_string *)found->values)->data : fallback;
}

#ifdef __cplusplus
} // extern "C"
#define LOOPC_CUSTOM_EXTERN extern "C"
#else
#define LOOPC_CUSTOM_EXTERN extern
#endif

#define LOOPC_CUSTOM_VISIBLE __attribute__((visibility("default")))

/// Defines the operator loopc_op_ID, of the fields that follow.
#define LOOPC_CUSTOM_OP(id, ...)                                               \
  LOOPC_CUSTOM_EXTERN LOOPC_CUSTOM_VISIBLE const loopc_custom_op               \
      loopc_op_##id;                                                           \
  const loopc_custom_op loopc_op_##id = {.abi_version = LOOPC_CUSTOM_ABI,      \
                                         .size = sizeof(loopc_custom_op),      \
                                         .symbol = "loopc_op_" #id,            \
                                         __VA_ARGS__}

/// Lists the operators of a shared library, once in it. Where objects are
/// linked with a model nobody asks for the list.
#define LOOPC_CUSTOM_LIBRARY(...)                                              \
  LOOPC_CUSTOM_EXTERN LOOPC_CUSTOM_VISIBLE __attribute__((weak))               \
  const loopc_custom_library *                                                 \
  loopc_custom_operators(void) {                                               \
    static const loopc_custom_op *const operators[] = {__VA_ARGS__};           \
    static const loopc_custom_library library = {                              \
        LOOPC_CUSTOM_ABI, sizeof(operators) / sizeof(operators[0]),            \
        operators};                                                            \
    return &library;                                                           \
  }

#endif // LOOPC_RT_CUSTOM_H
