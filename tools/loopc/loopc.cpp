//===- loopc.cpp - Models to native code ----------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

extern "C" int loopc_command(int argc, char **argv);

int main(int argc, char **argv) { return loopc_command(argc, argv); }
