//===- Network.h - Networks in Python ---------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_PYTHON_NETWORK_H
#define LOOPC_PYTHON_NETWORK_H

#include "loopc-c/network.h"

#include <nanobind/nanobind.h>

#include <memory>

namespace loopc::python {

/// A loopc_network.
struct Network {
  struct Deleter {
    void operator()(loopc_network *network) const {
      loopc_network_destroy(network);
    }
  };
  std::unique_ptr<loopc_network, Deleter> owned;

  loopc_network *get() const { return owned.get(); }
};

/// Adds the class Network to the module: what loopc/network.py needs.
void defineNetwork(nanobind::module_ &m);

} // namespace loopc::python

#endif // LOOPC_PYTHON_NETWORK_H
