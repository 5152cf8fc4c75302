//===- compiler.c - A program that has the compiler -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <loopc-c/loopc.h>
#include <loopc-c/network.h>
#include <stdio.h>

int main(void) {
  loopc_compile_options *options = loopc_compile_options_create();
  if (!options)
    return 1;
  loopc_compile_options_destroy(options);
  loopc_network *network = loopc_network_create("empty");
  if (loopc_network_add_input(network, "x", LOOPC_TYPE_FLOAT, NULL, 0) != 0)
    return 1;
  loopc_network_destroy(network);
  printf("loopc %s\n", loopc_version());
  return 0;
}
