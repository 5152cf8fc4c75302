//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One-shot bufferization of loop.loop and loop.yield.
//
// The rule that makes it sound: behind loop-place-deallocations every carried
// buffer is owned by the loop alone. An init that somebody still needs is
// copied when the loop begins, a yielded buffer that belongs to somebody else
// when it is yielded. So an init counts as written by the loop, arguments are
// writable and distinct, and a result aliases nothing but its init.
//
// loop_parallel_assign: an argument keeps this iteration's value until the
// iteration ends; what is yielded in its place is another buffer, or one whose
// reads the analysis has found to come before the write.

#include "loopc/Dialect/Loop/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace loopc::loop;

/// Carried and collected buffers are in C order without gaps: the body's
/// code then knows its strides.
static BufferLikeType contiguousType(Type type) {
  auto tensor = cast<TensorType>(type);
  return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(tensor));
}

/// `value` as a buffer of exactly the type `type`; a view with another layout
/// is copied.
static FailureOr<Value> castBuffer(RewriterBase &rewriter, Value buffer,
                                   Type type,
                                   const BufferizationOptions &options) {
  if (buffer.getType() == type)
    return buffer;
  if (auto memref = dyn_cast<MemRefType>(type))
    return castOrReallocMemRefValue(rewriter, buffer, memref, options);
  return Value(memref::CastOp::create(rewriter, buffer.getLoc(), type, buffer));
}

/// Number of the carried value that `operand` is the init of; none otherwise.
static std::optional<unsigned> initNumber(LoopOp loop, OpOperand &operand) {
  unsigned begin =
      (loop.getTripCount() ? 1 : 0) + (loop.getCondition() ? 1 : 0);
  unsigned n = operand.getOperandNumber();
  if (n < begin || n >= begin + loop.getNumCarried())
    return std::nullopt;
  return n - begin;
}

namespace {
struct LoopInterface
    : BufferizableOpInterface::ExternalModel<LoopInterface, LoopOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return initNumber(cast<LoopOp>(op), operand).has_value();
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &state) const {
    auto loop = cast<LoopOp>(op);
    std::optional<unsigned> k = initNumber(loop, operand);
    if (!k)
      return {};
    bool same = state.areEquivalentBufferizedValues(
        loop.getCarriedArgs()[*k], loop.getYield().getCarried()[*k]);
    return {{loop.getResult(*k),
             same ? BufferRelation::Equivalent : BufferRelation::Unknown,
             /*isDefinite=*/same}};
  }

  bool bufferizesToAllocation(Operation *op, Value value) const {
    return llvm::is_contained(cast<LoopOp>(op).getCollectedResults(), value);
  }

  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return true;
  }

  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return contiguousType(value.getType());
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto loop = cast<LoopOp>(op);
    if (!loop.getSlices().empty())
      return loop.emitOpError("slices must be lowered before bufferization");
    auto isTensor = [](Value value) {
      return value && isa<TensorType>(value.getType());
    };
    if (isTensor(loop.getTripCount()) || isTensor(loop.getCondition()) ||
        llvm::any_of(loop.getLengths(), isTensor))
      return loop.emitOpError("trip count, condition and lengths must be made "
                              "scalars before bufferization (loop-scalarize)");
    SmallVector<Value> inits;
    for (Value init : loop.getInits()) {
      if (!isa<TensorType>(init.getType())) {
        inits.push_back(init);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, init, options, state);
      if (failed(buffer))
        return failure();
      buffer = castBuffer(rewriter, *buffer, contiguousType(init.getType()),
                          options);
      if (failed(buffer))
        return failure();
      inits.push_back(*buffer);
    }
    SmallVector<Type> results, arguments;
    for (Value result : loop.getResults())
      results.push_back(isa<TensorType>(result.getType())
                            ? Type(contiguousType(result.getType()))
                            : result.getType());
    Block *body = loop.getLoopBody();
    for (BlockArgument arg : body->getArguments())
      arguments.push_back(isa<TensorType>(arg.getType())
                              ? Type(contiguousType(arg.getType()))
                              : arg.getType());
    auto buffered =
        LoopOp::create(rewriter, loop.getLoc(), results, arguments,
                       loop.getTripCount(), loop.getCondition(), inits,
                       ValueRange(), loop.getLengths(), loop.getPorts());
    buffered->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(buffered.getLoopBody());
    SmallVector<Value> replacements;
    for (auto [old, arg] : llvm::zip(body->getArguments(),
                                     buffered.getLoopBody()->getArguments()))
      replacements.push_back(
          old.getType() == arg.getType()
              ? Value(arg)
              : ToTensorOp::create(rewriter, loop.getLoc(), old.getType(), arg)
                    .getResult());
    rewriter.mergeBlocks(body, buffered.getLoopBody(), replacements);
    replaceOpWithBufferizedValues(rewriter, op, buffered.getResults());
    return success();
  }
};

struct YieldInterface
    : BufferizableOpInterface::ExternalModel<YieldInterface, YieldOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    return true;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto yield = cast<YieldOp>(op);
    SmallVector<Value> carried, collected;
    auto convert = [&](ValueRange values, SmallVector<Value> &out,
                       bool contiguous) -> LogicalResult {
      for (Value value : values) {
        if (!isa<TensorType>(value.getType())) {
          out.push_back(value);
          continue;
        }
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (succeeded(buffer) && contiguous)
          buffer = castBuffer(rewriter, *buffer,
                              contiguousType(value.getType()), options);
        if (failed(buffer))
          return failure();
        out.push_back(*buffer);
      }
      return success();
    };
    if (failed(convert(yield.getCarried(), carried, true)) ||
        failed(convert(yield.getCollected(), collected, false)))
      return failure();
    replaceOpWithNewBufferizedOp<YieldOp>(rewriter, op, yield.getCondition(),
                                          carried, collected);
    return success();
  }
};
} // namespace

void loopc::loop::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LoopDialect *) {
    LoopOp::attachInterface<LoopInterface>(*context);
    YieldOp::attachInterface<YieldInterface>(*context);
  });
}
