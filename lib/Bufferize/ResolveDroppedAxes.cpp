//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// buffer-resolve-dropped-axes: views of which more than one axis may be the one
// that they leave out.
//
// A memref.subview does not say which axes of extent 1 it leaves out. It was
// made from a slice of a tensor, which goes by extents; of buffers upstream
// goes by strides, and takes the first axis where they are not known.

#include "loopc/Bufferize/Passes.h"
#include "loopc/Support/SubViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace loopc {
#define GEN_PASS_DEF_BUFFERRESOLVEDROPPEDAXES
#include "loopc/Bufferize/Passes.h.inc"
} // namespace loopc

using namespace mlir;

namespace {
struct BufferResolveDroppedAxes
    : loopc::impl::BufferResolveDroppedAxesBase<BufferResolveDroppedAxes> {
  void runOnOperation() override {
    loopc::resolveDroppedAxes(getOperation(), /*byExtents=*/true);
  }
};
} // namespace
