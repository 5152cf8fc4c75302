//===- Passes.h - Passes that watch what a model does -----------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_INSTRUMENT_PASSES_H
#define LOOPC_INSTRUMENT_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace loopc::loop {
class LoopDialect;
} // namespace loopc::loop

namespace loopc {

#define GEN_PASS_DECL
#include "loopc/Instrument/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "loopc/Instrument/Passes.h.inc"

} // namespace loopc

#endif // LOOPC_INSTRUMENT_PASSES_H
