//===- Network.cpp - Networks in Python -----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors, layers, loops and conditionals are numbers here; loopc/network.py
// makes objects of them.
//
//===----------------------------------------------------------------------===//

#include "Network.h"

#include "Values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

using namespace loopc::python;
using namespace nanobind::literals;
using Extents = std::vector<int64_t>;

/// `number` of a call, or what the call refused.
static int32_t checked(const Network &network, int32_t number) {
  if (number < 0)
    throw ArgumentError(loopc_network_error(network.get()));
  return number;
}

static void checkStatus(const Network &network, int status) {
  if (status != LOOPC_COMPILE_OK)
    throw ArgumentError(loopc_network_error(network.get()));
}

/// C's texts end at the first zero: one that has more is not cut.
static const char *text(const std::string &string) {
  if (string.find('\0') != std::string::npos)
    throw ArgumentError("a text of a network must not have zeros in it");
  return string.c_str();
}

static std::vector<const char *>
pointersTo(const std::vector<std::string> &strings) {
  std::vector<const char *> pointers;
  for (const std::string &string : strings)
    pointers.push_back(text(string));
  return pointers;
}

/// (type, extents or None).
static nb::tuple tensorType(const Network &network, int32_t tensor) {
  int32_t type = 0, rank = -1;
  int64_t extents[32];
  checkStatus(network, loopc_network_tensor_type(network.get(), tensor, &type,
                                                 extents, &rank));
  if (rank < 0)
    return nb::make_tuple(type, nb::none());
  nb::list list;
  for (int32_t k = 0; k < rank; ++k)
    list.append(extents[k]);
  return nb::make_tuple(type, list);
}

static Extents getInts(const Network &network, int32_t layer,
                       const std::string &name) {
  Extents values(
      loopc_network_get_ints(network.get(), layer, text(name), nullptr, 0));
  loopc_network_get_ints(network.get(), layer, text(name), values.data(),
                         values.size());
  return values;
}

/// Type, number and bytes of weights.
static nb::tuple getWeights(const Network &network, int32_t layer,
                            const std::string &name) {
  int32_t type;
  const void *data;
  size_t size;
  size_t count = loopc_network_get_weights(network.get(), layer, text(name),
                                           &type, &data, &size);
  return nb::make_tuple(type, count, nb::bytes(data, size));
}

static void defineTensors(nb::class_<Network> &c) {
  c.def("add_input", [](const Network &n, const std::string &name, int32_t type,
                        const Extents &extents, int32_t rank) {
    return checked(n, loopc_network_add_input(n.get(), text(name), type,
                                              extents.data(), rank));
  });
  c.def("set_dimension_name", [](const Network &n, int32_t tensor,
                                 int32_t index, const std::string &name) {
    checkStatus(n, loopc_network_set_dimension_name(n.get(), tensor, index,
                                                    text(name)));
  });
  c.def("mark_output", [](const Network &n, int32_t tensor, bool isOutput) {
    checkStatus(n, loopc_network_mark_output(n.get(), tensor, isOutput));
  });
  c.def("set_tensor_name", [](const Network &n, int32_t tensor,
                              const std::string &name) {
    checkStatus(n, loopc_network_set_tensor_name(n.get(), tensor, text(name)));
  });
  c.def("tensor_name", [](const Network &n, int32_t tensor) {
    return std::string(loopc_network_tensor_name(n.get(), tensor));
  });
  c.def("tensor_type", &tensorType);
  c.def("inputs", [](const Network &n) {
    std::vector<int32_t> list;
    for (int32_t k = 0; k < loopc_network_num_inputs(n.get()); ++k)
      list.push_back(loopc_network_input(n.get(), k));
    return list;
  });
  c.def("outputs", [](const Network &n) {
    std::vector<int32_t> list;
    for (int32_t k = 0; k < loopc_network_num_outputs(n.get()); ++k)
      list.push_back(loopc_network_output(n.get(), k));
    return list;
  });
}

static void defineLayers(nb::class_<Network> &c) {
  c.def("add_layer", [](const Network &n, const std::string &kind,
                        const std::vector<int32_t> &inputs, int32_t scope,
                        int32_t numOutputs) {
    return checked(n,
                   loopc_network_add_layer(n.get(), text(kind), inputs.data(),
                                           inputs.size(), scope, numOutputs));
  });
  c.def("add_constant", [](const Network &n, int32_t type,
                           const Extents &extents, const nb::bytes &data) {
    return checked(
        n, loopc_network_add_constant(n.get(), type, extents.data(),
                                      static_cast<int32_t>(extents.size()),
                                      data.c_str(), data.size()));
  });
  c.def("add_string_constant", [](const Network &n, const Extents &extents,
                                  const std::vector<std::string> &values) {
    return checked(n, loopc_network_add_string_constant(
                          n.get(), extents.data(),
                          static_cast<int32_t>(extents.size()),
                          pointersTo(values).data(), values.size()));
  });
  c.def("set_input", [](const Network &n, int32_t layer, int32_t index,
                        int32_t tensor) {
    checkStatus(n, loopc_network_set_input(n.get(), layer, index, tensor));
  });
  c.def("remove_last_layer", [](const Network &n) {
    checkStatus(n, loopc_network_remove_last_layer(n.get()));
  });
  c.def("num_layers",
        [](const Network &n) { return loopc_network_num_layers(n.get()); });
  c.def("layer_kind", [](const Network &n, int32_t layer) {
    return std::string(loopc_network_layer_kind(n.get(), layer));
  });
  c.def("layer_name", [](const Network &n, int32_t layer) {
    return std::string(loopc_network_layer_name(n.get(), layer));
  });
  c.def("set_layer_name", [](const Network &n, int32_t layer,
                             const std::string &name) {
    checkStatus(n, loopc_network_set_layer_name(n.get(), layer, text(name)));
  });
  c.def("layer_inputs", [](const Network &n, int32_t layer) {
    std::vector<int32_t> list;
    for (int32_t k = 0; k < loopc_network_layer_num_inputs(n.get(), layer); ++k)
      list.push_back(loopc_network_layer_input(n.get(), layer, k));
    return list;
  });
  c.def("layer_outputs", [](const Network &n, int32_t layer) {
    std::vector<int32_t> list;
    for (int32_t k = 0; k < loopc_network_layer_num_outputs(n.get(), layer);
         ++k)
      list.push_back(loopc_network_layer_output(n.get(), layer, k));
    return list;
  });
}

static void defineValues(nb::class_<Network> &c) {
  c.def("set_int", [](const Network &n, int32_t layer, const std::string &name,
                      int64_t value) {
    checkStatus(n, loopc_network_set_int(n.get(), layer, text(name), value));
  });
  c.def("set_float", [](const Network &n, int32_t layer,
                        const std::string &name, double value) {
    checkStatus(n, loopc_network_set_float(n.get(), layer, text(name), value));
  });
  c.def("set_string", [](const Network &n, int32_t layer,
                         const std::string &name, const std::string &value) {
    checkStatus(
        n, loopc_network_set_string(n.get(), layer, text(name), text(value)));
  });
  c.def("set_ints", [](const Network &n, int32_t layer, const std::string &name,
                       const Extents &values) {
    checkStatus(n, loopc_network_set_ints(n.get(), layer, text(name),
                                          values.data(), values.size()));
  });
  c.def("set_floats", [](const Network &n, int32_t layer,
                         const std::string &name,
                         const std::vector<double> &values) {
    checkStatus(n, loopc_network_set_floats(n.get(), layer, text(name),
                                            values.data(), values.size()));
  });
  c.def("set_strings",
        [](const Network &n, int32_t layer, const std::string &name,
           const std::vector<std::string> &values) {
          checkStatus(n, loopc_network_set_strings(n.get(), layer, text(name),
                                                   pointersTo(values).data(),
                                                   values.size()));
        });
  c.def("set_weights",
        [](const Network &n, int32_t layer, const std::string &name,
           int32_t type, const Extents &extents, const nb::bytes &data) {
          checkStatus(n, loopc_network_set_weights(
                             n.get(), layer, text(name), type, extents.data(),
                             static_cast<int32_t>(extents.size()), data.c_str(),
                             data.size()));
        });
  c.def("get_int",
        [](const Network &n, int32_t layer, const std::string &name) {
          return loopc_network_get_int(n.get(), layer, text(name));
        });
  c.def("get_float",
        [](const Network &n, int32_t layer, const std::string &name) {
          return loopc_network_get_float(n.get(), layer, text(name));
        });
  c.def("get_string", [](const Network &n, int32_t layer,
                         const std::string &name) {
    return std::string(loopc_network_get_string(n.get(), layer, text(name)));
  });
  c.def("get_ints", &getInts);
  c.def("get_weights", &getWeights);
}

static void defineScopes(nb::class_<Network> &c) {
  c.def("add_loop", [](const Network &n) {
    return checked(n, loopc_network_add_loop(n.get()));
  });
  c.def("set_loop_name", [](const Network &n, int32_t loop,
                            const std::string &name) {
    checkStatus(n, loopc_network_set_loop_name(n.get(), loop, text(name)));
  });
  c.def("loop_name", [](const Network &n, int32_t loop) {
    return std::string(loopc_network_loop_name(n.get(), loop));
  });
  c.def("add_conditional", [](const Network &n) {
    return checked(n, loopc_network_add_conditional(n.get()));
  });
  c.def("set_conditional_name",
        [](const Network &n, int32_t number, const std::string &name) {
          checkStatus(n, loopc_network_set_conditional_name(n.get(), number,
                                                            text(name)));
        });
  c.def("conditional_name", [](const Network &n, int32_t number) {
    return std::string(loopc_network_conditional_name(n.get(), number));
  });
}

void loopc::python::defineNetwork(nb::module_ &m) {
  nb::class_<Network> c(m, "Network");
  c.def("__init__", [](Network *self, const std::string &name) {
    loopc_network *made = loopc_network_create(text(name));
    if (!made)
      throw std::bad_alloc();
    new (self) Network;
    self->owned.reset(made);
  });
  c.def("text", [](const Network &n) {
    return std::string(loopc_network_text(n.get()));
  });
  defineTensors(c);
  defineLayers(c);
  defineValues(c);
  defineScopes(c);
}
