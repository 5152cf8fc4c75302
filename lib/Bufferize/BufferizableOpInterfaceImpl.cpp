//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One-shot bufferization of loop.loop, loop.yield and the operations on lists.
//
// The rule that makes it sound: behind buffer-place-deallocations every carried
// buffer is owned by the loop alone. An init that somebody still needs is
// copied when the loop begins, a yielded buffer that belongs to somebody else
// when it is yielded. So an init counts as written by the loop, arguments are
// writable and distinct, and a result aliases nothing but its init.
//
// loop_parallel_assign: an argument keeps this iteration's value until the
// iteration ends; what is yielded in its place is another buffer, or one whose
// reads the analysis has found to come before the write.

#include "loopc/Bufferize/Models.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/RT/IR/CustomOp.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace loopc;
using namespace loopc::loop;

/// Carried and collected buffers are in C order without gaps: the body's
/// code then knows its strides.
static BufferLikeType contiguousType(Type type) {
  auto tensor = cast<TensorType>(type);
  return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(tensor));
}

/// `value` as a buffer of exactly the type `type`; a view with another layout
/// is copied.
/// (A cast to dynamic strides that the type calls gapless would be a lie.)
static FailureOr<Value> castBuffer(RewriterBase &rewriter, Value buffer,
                                   Type type,
                                   const BufferizationOptions &options) {
  if (buffer.getType() == type)
    return buffer;
  auto from = dyn_cast<MemRefType>(buffer.getType());
  auto to = dyn_cast<MemRefType>(type);
  if (from && to &&
      (from.getLayout().isIdentity() ||
       memref::isStaticShapeAndContiguousRowMajor(from)))
    return castOrReallocMemRefValue(rewriter, buffer, to, options);
  if (from && to) {
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < to.getRank(); ++axis)
      if (to.isDynamicDim(axis))
        sizes.push_back(
            memref::DimOp::create(rewriter, buffer.getLoc(), buffer, axis));
    FailureOr<Value> copy =
        options.createAlloc(rewriter, buffer.getLoc(), to, sizes);
    if (failed(copy) ||
        failed(options.createMemCpy(rewriter, buffer.getLoc(), buffer, *copy)))
      return failure();
    return copy;
  }
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

/// The type of a value's buffer, which has no gaps; that of a value that is no
/// tensor.
static Type bufferTypeOf(Type type) {
  return isa<TensorType>(type) ? Type(contiguousType(type)) : type;
}

/// The buffers of `values`, without gaps, behind `buffers`; what is no tensor
/// as it is.
static LogicalResult getContiguousBuffers(ValueRange values,
                                          SmallVectorImpl<Value> &buffers,
                                          RewriterBase &rewriter,
                                          const BufferizationOptions &options,
                                          const BufferizationState &state) {
  for (Value value : values) {
    FailureOr<Value> buffer = value;
    if (isa<TensorType>(value.getType()))
      buffer = getBuffer(rewriter, value, options, state);
    if (succeeded(buffer) && *buffer != value)
      buffer = castBuffer(rewriter, *buffer, contiguousType(value.getType()),
                          options);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return success();
}

namespace {
/// An operation that reads its operands, and whose results lie without gaps.
template <typename Model, typename ConcreteOp>
struct ContiguousInterface
    : BufferizableOpInterface::ExternalModel<Model, ConcreteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return contiguousType(value.getType());
  }
};

/// One that writes none of its operands, and gives nothing that shares their
/// memory.
template <typename Model, typename ConcreteOp>
struct ReadingInterface : ContiguousInterface<Model, ConcreteOp> {
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
};

struct LoopInterface : ContiguousInterface<LoopInterface, LoopOp> {

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
    bool same = keepsBuffer(loop, *k, state);
    return {{loop.getResult(*k),
             same ? BufferRelation::Equivalent : BufferRelation::Unknown,
             /*isDefinite=*/same}};
  }

  /// MLIR's default asks all operands, for each result.
  AliasingOpOperandList
  getAliasingOpOperands(Operation *op, Value value,
                        const AnalysisState &state) const {
    auto loop = cast<LoopOp>(op);
    auto result = dyn_cast<OpResult>(value);
    if (!result || result.getResultNumber() >= loop.getNumCarried())
      return {};
    unsigned k = result.getResultNumber();
    bool same = keepsBuffer(loop, k, state);
    return {{&loop.getInitsMutable()[k],
             same ? BufferRelation::Equivalent : BufferRelation::Unknown,
             /*isDefinite=*/same}};
  }

  /// True if each iteration hands on carried value `k` in the buffer that it
  /// got.
  static bool keepsBuffer(LoopOp loop, unsigned k, const AnalysisState &state) {
    return state.areEquivalentBufferizedValues(loop.getCarriedArgs()[k],
                                               loop.getYield().getCarried()[k]);
  }

  bool bufferizesToAllocation(Operation *op, Value value) const {
    auto result = dyn_cast<OpResult>(value);
    return result && result.getOwner() == op &&
           result.getResultNumber() >= cast<LoopOp>(op).getNumCarried();
  }

  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return true;
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
    LoopSignature signature(loop);
    signature.inits.clear();
    if (failed(getContiguousBuffers(loop.getInits(), signature.inits, rewriter,
                                    options, state)))
      return failure();
    for (CollectedPort &collected : signature.collected)
      collected.type = bufferTypeOf(collected.type);
    auto buffered = LoopOp::create(rewriter, loop.getLoc(), signature);
    Block *body = loop.getLoopBody();
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

struct YieldInterface : ReadingInterface<YieldInterface, YieldOp> {
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    return true;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto yield = cast<YieldOp>(op);
    if (isa<TensorType>(yield.getCondition().getType()))
      return yield.emitOpError("condition must be made a scalar before "
                               "bufferization (loop-scalarize)");
    SmallVector<Value> carried, collected;
    if (failed(getContiguousBuffers(yield.getCarried(), carried, rewriter,
                                    options, state)))
      return failure();
    for (Value value : yield.getCollected()) {
      FailureOr<Value> buffer = value;
      if (isa<TensorType>(value.getType()))
        buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      collected.push_back(*buffer);
    }
    replaceOpWithNewBufferizedOp<YieldOp>(rewriter, op, yield.getCondition(),
                                          carried, collected);
    return success();
  }
};

/// %a = rt.address_of %t : tensor<..>  ->  memref.extract_aligned_pointer
struct AddressOfInterface
    : ReadingInterface<AddressOfInterface, rt::AddressOfOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto address = cast<rt::AddressOfOp>(op);
    FailureOr<Value> buffer =
        getBuffer(rewriter, address.getConstant(), options, state);
    if (failed(buffer))
      return failure();
    Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(
        rewriter, op->getLoc(), *buffer);
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getI64Type(),
                                                    pointer);
    return success();
  }
};

/// What is added to the result may stand in the operand's memory, and the
/// operand's memory may be freed: it counts as written.
struct ReserveInterface : ContiguousInterface<ReserveInterface, ReserveOp> {
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Unknown, /*isDefinite=*/false}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto reserve = cast<ReserveOp>(op);
    SmallVector<Value> buffer;
    if (failed(getContiguousBuffers(reserve.getBuffer(), buffer, rewriter,
                                    options, state)))
      return failure();
    replaceOpWithNewBufferizedOp<ReserveOp>(
        rewriter, op, buffer[0].getType(), rewriter.getIndexType(), buffer[0],
        reserve.getOffset(), reserve.getUsed(), reserve.getFront(),
        reserve.getBack(), reserve.getAxisAttr());
    return success();
  }
};

/// Transformed in place.
struct FourierInterface
    : DstBufferizableOpInterfaceExternalModel<FourierInterface, rt::FourierOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto transform = cast<rt::FourierOp>(op);
    SmallVector<Value> buffer;
    if (failed(getContiguousBuffers(transform.getData(), buffer, rewriter,
                                    options, state)))
      return failure();
    rt::FourierOp::create(rewriter, op->getLoc(), buffer[0],
                          transform.getInverse());
    replaceOpWithBufferizedValues(rewriter, op, buffer);
    return success();
  }
};

/// The list reads the element; which buffer it has in the end is settled by
/// buffer-place-deallocations.
struct ListInsertInterface
    : ReadingInterface<ListInsertInterface, list::InsertOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto insert = cast<list::InsertOp>(op);
    SmallVector<Value> element;
    for (Value part : insert.getElement()) {
      if (!isa<TensorType>(part.getType())) {
        element.push_back(part);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, part, options, state);
      // Without gaps, wherever in its allocation it begins.
      if (succeeded(buffer) && cast<MemRefType>(buffer->getType())
                                       .getStridesAndOffset()
                                       .first.front() != 1)
        buffer = castBuffer(rewriter, *buffer, contiguousType(part.getType()),
                            options);
      if (failed(buffer))
        return failure();
      element.push_back(*buffer);
    }
    replaceOpWithNewBufferizedOp<list::InsertOp>(
        rewriter, op, insert.getType(), insert.getList(), insert.getPosition(),
        element, insert.getElementOwnerAttr());
    return success();
  }
};

/// What comes out of a list belongs to it, too: it is never written.
struct ListAtInterface : ReadingInterface<ListAtInterface, list::AtOp> {
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    auto at = cast<list::AtOp>(op);
    auto types = llvm::map_to_vector(at->getResultTypes(), bufferTypeOf);
    replaceOpWithNewBufferizedOp<list::AtOp>(rewriter, op, types, at.getList(),
                                             at.getPosition());
    return success();
  }
};

/// Its results are memory that nobody else has.
struct CustomInterface : ReadingInterface<CustomInterface, rt::CustomOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return true;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto custom = cast<rt::CustomOp>(op);
    SmallVector<Value> operands;
    if (failed(getContiguousBuffers(custom.getValues(), operands, rewriter,
                                    options, state)))
      return failure();
    auto types = llvm::map_to_vector(custom->getResultTypes(), bufferTypeOf);
    replaceOpWithNewBufferizedOp<rt::CustomOp>(
        rewriter, op, types, custom.getSymbol(), operands, custom.getInputs(),
        custom.getOutputs(), custom.getNodeAttributes(), custom.getWhere(),
        custom.getStateful());
    return success();
  }
};
} // namespace

void loopc::loop::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LoopDialect *) {
    LoopOp::attachInterface<LoopInterface>(*context);
    YieldOp::attachInterface<YieldInterface>(*context);
    ReserveOp::attachInterface<ReserveInterface>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, list::ListDialect *) {
    list::InsertOp::attachInterface<ListInsertInterface>(*context);
    list::AtOp::attachInterface<ListAtInterface>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, rt::RTDialect *) {
    rt::AddressOfOp::attachInterface<AddressOfInterface>(*context);
    rt::CustomOp::attachInterface<CustomInterface>(*context);
    rt::FourierOp::attachInterface<FourierInterface>(*context);
  });
}
