//===- network.h - C API of networks built by hand --------------*- C -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks of layers, shaped like TensorRT's INetworkDefinition, from C:
// loopc/Frontend/Network/Network.h is the same in C++, docs/NetworkLayers.md
// says what the layers mean. Tensors, layers, loops and conditionals are
// numbers within their network, counted from 0; -1 stands for none and for
// failure.
//
//   loopc_network *n = loopc_network_create("double");
//   int64_t extents[] = {-1};
//   int32_t x = loopc_network_add_input(n, "x", LOOPC_TYPE_FLOAT, extents, 1);
//   int32_t both[] = {x, x};
//   int32_t sum = loopc_network_add_layer(n, "ElementWise", both, 2, -1, -1);
//   loopc_network_set_int(n, sum, "operation", 0);
//   loopc_network_mark_output(n, loopc_network_layer_output(n, sum, 0), 1);
//   loopc_session_create_from_network(n, NULL, &session, &diagnostics);
//
// A network is used by one thread at a time. It is only a description: sessions
// do not need it any more. What a call refuses is in loopc_network_error().
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_C_NETWORK_H
#define LOOPC_C_NETWORK_H

#include "loopc-c/loopc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loopc_network loopc_network;

/// Element types, DataType of the C++ API: LOOPC_TYPE_FLOAT, ...
typedef enum {
#define LOOPC_DATA_TYPE(NAME, NUMBER, BITS, ONNX, NUMPY)                       \
  LOOPC_TYPE_##NAME = NUMBER,
#include "loopc-c/DataTypes.def"
} loopc_data_type;

/// An empty network; null where memory has run out.
LOOPC_API loopc_network *loopc_network_create(const char *name);
LOOPC_API void loopc_network_destroy(loopc_network *network);

/// What the last call that failed said; "" before.
LOOPC_API const char *loopc_network_error(const loopc_network *network);

// Functions below that return int return a loopc_compile_status, those that
// return int32_t a number, or -1.

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// An input of the network: a tensor. Extents are -1 where they are not known;
/// a rank of -1 means that the rank is not known.
LOOPC_API int32_t loopc_network_add_input(loopc_network *network,
                                          const char *name, int32_t type,
                                          const int64_t *extents, int32_t rank);
/// Names an extent of an input that is not known.
LOOPC_API int loopc_network_set_dimension_name(loopc_network *network,
                                               int32_t tensor, int32_t index,
                                               const char *name);
LOOPC_API int loopc_network_mark_output(loopc_network *network, int32_t tensor,
                                        int is_output);
LOOPC_API int loopc_network_set_tensor_name(loopc_network *network,
                                            int32_t tensor, const char *name);
/// Lives until the tensor gets another name.
LOOPC_API const char *loopc_network_tensor_name(const loopc_network *network,
                                                int32_t tensor);
/// The type and extents that follow from the network as it is; `extents` has
/// room for 32.
LOOPC_API int loopc_network_tensor_type(loopc_network *network, int32_t tensor,
                                        int32_t *type, int64_t *extents,
                                        int32_t *rank);
LOOPC_API int32_t loopc_network_num_inputs(const loopc_network *network);
LOOPC_API int32_t loopc_network_input(const loopc_network *network,
                                      int32_t index);
LOOPC_API int32_t loopc_network_num_outputs(const loopc_network *network);
LOOPC_API int32_t loopc_network_output(const loopc_network *network,
                                       int32_t index);

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// A layer of a kind ("ElementWise", "Recurrence", ...: the names that
/// loopc_network_text() prints). An input of -1 is left out. `scope` is the
/// loop or conditional of a layer at its border, else -1. `num_outputs` counts
/// for "Node" only.
LOOPC_API int32_t loopc_network_add_layer(loopc_network *network,
                                          const char *kind,
                                          const int32_t *inputs,
                                          size_t num_inputs, int32_t scope,
                                          int32_t num_outputs);
/// Takes the layer that was added last away, where nothing came after it that
/// uses it: for who could not set it up. What a call adds that then fails is
/// not there anyway.
LOOPC_API int loopc_network_remove_last_layer(loopc_network *network);
/// A constant. Bools of one byte, elements of less than a byte packed.
LOOPC_API int32_t loopc_network_add_constant(loopc_network *network,
                                             int32_t type,
                                             const int64_t *extents,
                                             int32_t rank, const void *data,
                                             size_t size);
LOOPC_API int32_t loopc_network_add_string_constant(loopc_network *network,
                                                    const int64_t *extents,
                                                    int32_t rank,
                                                    const char *const *values,
                                                    size_t count);
/// Connects an input; closes a recurrence (input 1).
LOOPC_API int loopc_network_set_input(loopc_network *network, int32_t layer,
                                      int32_t index, int32_t tensor);
LOOPC_API int32_t loopc_network_num_layers(const loopc_network *network);
LOOPC_API const char *loopc_network_layer_kind(const loopc_network *network,
                                               int32_t layer);
LOOPC_API const char *loopc_network_layer_name(const loopc_network *network,
                                               int32_t layer);
LOOPC_API int loopc_network_set_layer_name(loopc_network *network,
                                           int32_t layer, const char *name);
LOOPC_API int32_t loopc_network_layer_num_inputs(const loopc_network *network,
                                                 int32_t layer);
LOOPC_API int32_t loopc_network_layer_input(const loopc_network *network,
                                            int32_t layer, int32_t index);
LOOPC_API int32_t loopc_network_layer_num_outputs(const loopc_network *network,
                                                  int32_t layer);
LOOPC_API int32_t loopc_network_layer_output(const loopc_network *network,
                                             int32_t layer, int32_t index);

// Values of layers by name: docs/NetworkLayers.md lists them.

LOOPC_API int loopc_network_set_int(loopc_network *network, int32_t layer,
                                    const char *name, int64_t value);
LOOPC_API int loopc_network_set_float(loopc_network *network, int32_t layer,
                                      const char *name, double value);
LOOPC_API int loopc_network_set_string(loopc_network *network, int32_t layer,
                                       const char *name, const char *value);
LOOPC_API int loopc_network_set_ints(loopc_network *network, int32_t layer,
                                     const char *name, const int64_t *values,
                                     size_t count);
LOOPC_API int loopc_network_set_floats(loopc_network *network, int32_t layer,
                                       const char *name, const double *values,
                                       size_t count);
LOOPC_API int loopc_network_set_strings(loopc_network *network, int32_t layer,
                                        const char *name,
                                        const char *const *values,
                                        size_t count);
/// Weights, or a tensor that a "Node" is given.
LOOPC_API int loopc_network_set_weights(loopc_network *network, int32_t layer,
                                        const char *name, int32_t type,
                                        const int64_t *extents, int32_t rank,
                                        const void *data, size_t size);
/// The number of elements of weights, 0 where there are none. `type` gets their
/// type, `data` their bytes, which live until the value is set again, and
/// `size` how many bytes these are. Each of the three may be null.
LOOPC_API size_t loopc_network_get_weights(const loopc_network *network,
                                           int32_t layer, const char *name,
                                           int32_t *type, const void **data,
                                           size_t *size);
/// The value, or 0 where there is none.
LOOPC_API int64_t loopc_network_get_int(const loopc_network *network,
                                        int32_t layer, const char *name);
LOOPC_API double loopc_network_get_float(const loopc_network *network,
                                         int32_t layer, const char *name);
LOOPC_API const char *loopc_network_get_string(const loopc_network *network,
                                               int32_t layer, const char *name);
/// The number of values, of which `capacity` at most are written.
LOOPC_API size_t loopc_network_get_ints(const loopc_network *network,
                                        int32_t layer, const char *name,
                                        int64_t *values, size_t capacity);

//===----------------------------------------------------------------------===//
// Loops and conditionals
//===----------------------------------------------------------------------===//

LOOPC_API int32_t loopc_network_add_loop(loopc_network *network);
LOOPC_API int loopc_network_set_loop_name(loopc_network *network, int32_t loop,
                                          const char *name);
LOOPC_API const char *loopc_network_loop_name(const loopc_network *network,
                                              int32_t loop);
LOOPC_API int32_t loopc_network_add_conditional(loopc_network *network);
LOOPC_API int loopc_network_set_conditional_name(loopc_network *network,
                                                 int32_t conditional,
                                                 const char *name);
LOOPC_API const char *
loopc_network_conditional_name(const loopc_network *network,
                               int32_t conditional);

//===----------------------------------------------------------------------===//
// What becomes of a network
//===----------------------------------------------------------------------===//

/// The network as text; lives until the next call.
LOOPC_API const char *loopc_network_text(loopc_network *network);

/// As loopc_session_create_from_file().
LOOPC_API int loopc_session_create_from_network(
    const loopc_network *network, const loopc_compile_options *options,
    loopc_session **session, loopc_diagnostics **diagnostics);

/// As loopc_compile_file().
LOOPC_API int loopc_compile_network(const loopc_network *network, int emit,
                                    const char *output,
                                    const loopc_compile_options *options,
                                    loopc_diagnostics **diagnostics);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // LOOPC_C_NETWORK_H
