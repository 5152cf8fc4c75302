//===- wrapper.cpp - The C++ wrapper
//---------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/loopc.hpp"

#include <iostream>

int main(int, char **argv) {
  loopc::Session session(argv[1], loopc::Options().optLevel(1));
  auto outputs =
      session.run({{"anomaly", loopc::Value::vector<double>({3.05})},
                   {"eccentricity", loopc::Value::vector<double>({0.21})},
                   {"limit", loopc::Value::scalar<int64_t>(10)},
                   {"tolerance", loopc::Value::scalar(1e-9)}});
  std::cout << outputs[session.outputIndex("angle")].as<double>()[0] << '\n';
  try {
    loopc::Session missing("/no/such/model.onnx");
  } catch (const loopc::CompileError &error) {
    std::cout << error.getCode() << '\n';
  }
}
