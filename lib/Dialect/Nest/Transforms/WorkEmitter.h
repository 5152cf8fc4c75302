//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The work of a nest as a number that the run computes.

#ifndef LOOPC_LIB_DIALECT_NEST_TRANSFORMS_WORKEMITTER_H
#define LOOPC_LIB_DIALECT_NEST_TRANSFORMS_WORKEMITTER_H

#include "loopc/Dialect/Nest/Analysis/Cost.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace loopc {

/// Computes work where the run knows what it is, from what `mapping` has for
/// the values around the nest.
class WorkEmitter {
public:
  WorkEmitter(mlir::ImplicitLocOpBuilder &b, const WorkEstimate &estimate,
              const mlir::IRMapping &mapping)
      : b(b), estimate(estimate), mapping(mapping) {}

  /// A number of instructions, f64.
  mlir::Value emit(const Work &work) {
    mlir::Value sum;
    for (const Work::OpenLoop &open : work.open) {
      mlir::Value trips = emitTrips(open.loop);
      mlir::Value part =
          mlir::arith::MulFOp::create(b, trips, emit(open.iteration));
      sum = sum ? mlir::arith::AddFOp::create(b, sum, part) : part;
    }
    if (sum && work.known == 0)
      return sum;
    mlir::Value known = makeFloat(work.known);
    return sum ? mlir::arith::AddFOp::create(b, sum, known) : known;
  }

  mlir::Value makeFloat(double value) {
    return mlir::arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  }

private:
  mlir::Value emitTrips(mlir::scf::ForOp loop) {
    mlir::Value lower = lookup(loop.getLowerBound(), /*isUpper=*/false);
    mlir::Value size = b.createOrFold<mlir::arith::SubIOp>(
        lookup(loop.getUpperBound(), /*isUpper=*/true), lower);
    // Whole numbers are compared: what is not a number costs twice the code.
    mlir::Value zero =
        mlir::arith::ConstantOp::create(b, b.getIntegerAttr(size.getType(), 0));
    mlir::Value isThere = mlir::arith::CmpIOp::create(
        b, mlir::arith::CmpIPredicate::sgt, size, zero);
    size = mlir::arith::SelectOp::create(b, isThere, size, zero);
    if (mlir::isConstantIntValue(loop.getStep(), 1))
      return toFloat(size);
    mlir::Value known = estimate.findKnownBound(loop.getStep(), false);
    mlir::Value step = mapping.lookup(known);
    // Of the greater of two numbers this one may be none that a step can be.
    if (known != loop.getStep())
      step = b.createOrFold<mlir::arith::MaxSIOp>(
          step, mlir::arith::ConstantOp::create(
                    b, b.getIntegerAttr(step.getType(), 1)));
    return mlir::arith::DivFOp::create(b, toFloat(size), toFloat(step));
  }

  mlir::Value toFloat(mlir::Value index) {
    if (index.getType().isIndex())
      index = mlir::arith::IndexCastOp::create(b, b.getI64Type(), index);
    return mlir::arith::SIToFPOp::create(b, b.getF64Type(), index);
  }

  mlir::Value lookup(mlir::Value bound, bool isUpper) {
    return mapping.lookup(estimate.findKnownBound(bound, isUpper));
  }

  mlir::ImplicitLocOpBuilder &b;
  const WorkEstimate &estimate;
  const mlir::IRMapping &mapping;
};

} // namespace loopc

#endif // LOOPC_LIB_DIALECT_NEST_TRANSFORMS_WORKEMITTER_H
