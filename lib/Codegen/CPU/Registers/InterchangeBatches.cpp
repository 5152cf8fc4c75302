//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// cpu-interchange-batches: a loop that carries matrices of several heads, none
// of which reads another's, becomes a loop over heads with the iterations
// inside: the state of one head stays in the cache for all of them, that of all
// heads would be read from the next cache in each.

#include "AxisClasses.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_CPUINTERCHANGEBATCHES
#include "loopc/Codegen/CPU/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;
using namespace loopc::loop;

/// Bytes of a part from which on the loops around its operations are the least
/// of the work: 16 of the longest vectors.
static constexpr int64_t kLeastPart = 1 << 10;

static RankedTensorType rankedType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

namespace {
/// A loop, and a class of axes that it may be taken apart along.
class BatchInterchange {
public:
  BatchInterchange(IRRewriter &rewriter, LoopOp loop)
      : rewriter(rewriter), b(loop.getLoc(), rewriter), loop(loop),
        axes((b.setInsertionPoint(loop), b), loop) {}

  /// Why the loop stays as it is; "" where it can be interchanged.
  std::string match();
  LoopOp rewrite();

private:
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  std::string matchBody();
  std::string matchClass(unsigned number);
  std::string matchGeneric(linalg::GenericOp op, unsigned number);
  bool isRowsOfLast(Value tensor, unsigned number);
  bool isWorth(ArrayRef<unsigned> numbers);
  std::optional<int64_t> bytesOf(Value tensor, ArrayRef<unsigned> numbers);
  tensor::InsertSliceOp findCollecting(unsigned port);

  std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
  placeOfPart(Value tensor);
  Value sliceOfOutside(Value tensor);
  RankedTensorType typeOfSlice(Value tensor);
  LoopOp makeIterations(ValueRange outs);
  SmallVector<Value> putBack(LoopOp inner, ValueRange outs);
  void cloneOp(Operation &op, IRMapping &mapping);
  void cloneGeneric(linalg::GenericOp op, IRMapping &mapping);
  void cloneSlice(tensor::ExtractSliceOp op, IRMapping &mapping);
  void cloneInsertion(tensor::InsertSliceOp op, IRMapping &mapping);
  Value lookup(Value value, IRMapping &mapping);
  SmallVector<OpFoldResult> withOne(ArrayRef<OpFoldResult> sizes, Value tensor);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  AxisClasses axes;
  unsigned chosen = 0;
  /// The number along the chosen class.
  Value at;
  /// The parts of tensors from outside.
  DenseMap<Value, Value> slices;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be interchanged
//===----------------------------------------------------------------------===//

/// The insertion of rows into carried value `port`, where that is all that is
/// done with it; null where it is something else.
tensor::InsertSliceOp BatchInterchange::findCollecting(unsigned port) {
  Value arg = loop.getCarriedArgs()[port];
  auto made =
      loop.getYield().getCarried()[port].getDefiningOp<tensor::InsertSliceOp>();
  bool isOnlyUse = llvm::all_of(arg.getUsers(), [&](Operation *user) {
    return user == made || isa<tensor::DimOp>(user);
  });
  return made && made.getDest() == arg && made.getSource() != arg &&
                 isOnlyUse && made->hasOneUse()
             ? made
             : tensor::InsertSliceOp();
}

std::string BatchInterchange::matchBody() {
  if (loop.getCondition() || !loop.getTripCount() ||
      isa<TensorType>(loop.getTripCount().getType()))
    return "a condition may end it between any two iterations";
  if (loop.getNumCollected() || !loop.getSlices().empty())
    return "it collects or slices values";
  for (Operation &op : loop.getLoopBody()->without_terminator())
    if (!isMemoryEffectFree(&op) ||
        (op.getNumRegions() && !isa<linalg::LinalgOp>(op)))
      return ("'" + op.getName().getStringRef() +
              "' is not done for each part of its operands")
          .str();
  for (auto [arg, result] :
       llvm::zip(loop.getCarriedArgs(), loop.getCarriedResults()))
    if (!isa<TensorType>(arg.getType()) && !result.use_empty())
      return "a scalar that it carries is read behind it";
  return "";
}

std::string BatchInterchange::match() {
  if (std::string why = matchBody(); !why.empty())
    return why;
  std::string first;
  SmallVector<std::pair<unsigned, unsigned>> found;
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value arg = loop.getCarriedArgs()[port];
    if (!rankedType(arg) || findCollecting(port))
      continue;
    for (unsigned axis = 0; axis < rankedType(arg).getRank(); ++axis) {
      std::optional<unsigned> number = axes.find(arg, axis);
      if (!number || rankedType(arg).getDimSize(axis) == 1)
        continue;
      std::string why = matchClass(*number);
      if (why.empty())
        found.push_back({axis, *number});
      else if (first.empty())
        first = why;
    }
    break;
  }
  if (found.empty())
    return first.empty() ? "no axis of what it carries stands alone" : first;
  // As few axes, from the outermost on, as make parts that a cache holds.
  SmallVector<unsigned> numbers;
  for (auto [axis, number] : found) {
    numbers.push_back(number);
    if (isWorth(numbers)) {
      chosen = numbers.front();
      return "";
    }
  }
  return "what it carries is no larger than a cache, or all of its parts are";
}

/// True if neighbours of `tensor` in memory belong to the same part.
bool BatchInterchange::isRowsOfLast(Value tensor, unsigned number) {
  std::optional<unsigned> axis = axes.axisIn(tensor, number);
  if (!axis)
    return true;
  ArrayRef<int64_t> shape = rankedType(tensor).getShape();
  auto isSeveral = [](int64_t extent) { return extent != 1; };
  return llvm::any_of(shape.drop_front(*axis + 1), isSeveral) ||
         llvm::none_of(shape.take_front(*axis), isSeveral);
}

std::string BatchInterchange::matchClass(unsigned number) {
  if (!axes.isOneAxisOfEach(number))
    return "an operation of its body reads two axes as one";
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value arg = loop.getCarriedArgs()[port], init = loop.getInits()[port];
    if (!isa<TensorType>(arg.getType()))
      continue;
    std::optional<unsigned> axis = axes.axisIn(arg, number);
    if (!axis)
      return "a value that it carries has no such axis";
    // By induction: of what has the extents that the loop begins with each
    // iteration makes what has them, too. The parts of a value are put together
    // in one of these extents, whether or not an iteration reads it.
    Value next = loop.getYield().getCarried()[port];
    for (unsigned k = 0; k < rankedType(arg).getRank(); ++k)
      if (!isEqualConstantIntOrValue(axes.extentOf(init, k),
                                     axes.extentOf(next, k)))
        return "a value that it carries may change its shape";
  }
  for (Value tensor : axes.getTensors())
    if (!isOutside(tensor) && !isRowsOfLast(tensor, number))
      return "what belongs together does not lie together";
  for (auto op : loop.getLoopBody()->getOps<linalg::GenericOp>())
    if (std::string why = matchGeneric(op, number); !why.empty())
      return why;
  return "";
}

std::string BatchInterchange::matchGeneric(linalg::GenericOp op,
                                           unsigned number) {
  if (!axes.loopIn(op, number))
    return "an operation of its body is one for all parts";
  if (op.getNumReductionLoops() == 0)
    return "";
  // Rows of a product that share a matrix are better done together.
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto type = rankedType(input->get());
        type && !axes.axisIn(input->get(), number) &&
        llvm::count_if(type.getShape(),
                       [](int64_t extent) { return extent != 1; }) > 1)
      return "all parts are multiplied with one matrix";
  return "";
}

/// Bytes of `tensor` where its axes of `numbers` have one element; none where
/// only the run knows.
std::optional<int64_t> BatchInterchange::bytesOf(Value tensor,
                                                 ArrayRef<unsigned> numbers) {
  RankedTensorType type = rankedType(tensor);
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  int64_t bits = type.getElementTypeBitWidth();
  for (auto [k, extent] : llvm::enumerate(type.getShape())) {
    std::optional<unsigned> own = axes.find(tensor, k);
    if (own && llvm::is_contained(numbers, *own))
      continue;
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    bits *= extent;
  }
  return llvm::divideCeil(bits, 8);
}

/// True where one part of what the loop carries fits into a cache that all of
/// it does not fit into. Matrices of an unknown size may be such.
bool BatchInterchange::isWorth(ArrayRef<unsigned> numbers) {
  std::optional<int64_t> all = 0, part = 0;
  bool areMatrices = false;
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value arg = loop.getCarriedArgs()[port];
    if (!rankedType(arg) || findCollecting(port))
      continue;
    auto add = [](std::optional<int64_t> &sum, std::optional<int64_t> bytes) {
      sum = sum && bytes ? std::optional(*sum + *bytes) : std::nullopt;
    };
    add(all, bytesOf(arg, {}));
    add(part, bytesOf(arg, numbers));
    ArrayRef<int64_t> shape = rankedType(arg).getShape();
    unsigned axesOfPart = 0;
    for (auto [k, extent] : llvm::enumerate(shape)) {
      std::optional<unsigned> own = axes.find(arg, k);
      axesOfPart += extent != 1 && !(own && llvm::is_contained(numbers, *own));
    }
    areMatrices |= axesOfPart > 1;
  }
  if (!areMatrices || (part && *part < kLeastPart))
    return false;
  return llvm::any_of(ArrayRef{CpuModel::kFirstCache, CpuModel::kSecondCache},
                      [&](int64_t cache) {
                        return (!part || *part <= cache) &&
                               (!all || *all > cache);
                      });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The type of one part of `tensor`.
RankedTensorType BatchInterchange::typeOfSlice(Value tensor) {
  RankedTensorType type = rankedType(tensor);
  SmallVector<int64_t> shape(type.getShape());
  if (std::optional<unsigned> axis = axes.axisIn(tensor, chosen))
    shape[*axis] = 1;
  return type.clone(shape);
}

/// Offsets and sizes of the part in a tensor with the extents of `tensor`.
std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
BatchInterchange::placeOfPart(Value tensor) {
  SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), tensor),
                            offsets(sizes.size(), b.getIndexAttr(0));
  offsets[*axes.axisIn(tensor, chosen)] = at;
  return {offsets, withOne(sizes, tensor)};
}

SmallVector<OpFoldResult>
BatchInterchange::withOne(ArrayRef<OpFoldResult> sizes, Value tensor) {
  SmallVector<OpFoldResult> made(sizes);
  if (std::optional<unsigned> axis = axes.axisIn(tensor, chosen))
    made[*axis] = b.getIndexAttr(1);
  return made;
}

/// The part of a tensor from outside of the loop. What holds one number, or
/// nothing yet, is made anew rather than cut: those who read it see what it is.
Value BatchInterchange::sliceOfOutside(Value tensor) {
  if (!axes.axisIn(tensor, chosen))
    return tensor;
  Value &slice = slices[tensor];
  if (slice)
    return slice;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(at);
  auto makeEmpty = [&](Value like) {
    return tensor::EmptyOp::create(
        b, withOne(resolveDims(b, b.getLoc(), like), like),
        rankedType(like).getElementType());
  };
  if (tensor.getDefiningOp<tensor::EmptyOp>()) {
    slice = makeEmpty(tensor);
  } else if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    slice = linalg::FillOp::create(b, fill.getInputs()[0],
                                   ValueRange{makeEmpty(tensor)})
                .getResult(0);
  } else {
    auto [offsets, sizes] = placeOfPart(tensor);
    slice = extractSlice(b, b.getLoc(), tensor, offsets, sizes);
  }
  return slice;
}

Value BatchInterchange::lookup(Value value, IRMapping &mapping) {
  if (Value made = mapping.lookupOrNull(value))
    return made;
  return rankedType(value) ? sliceOfOutside(value) : value;
}

//===----------------------------------------------------------------------===//
// Operations on parts
//===----------------------------------------------------------------------===//

void BatchInterchange::cloneGeneric(linalg::GenericOp op, IRMapping &mapping) {
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value value) { return lookup(value, mapping); });
  SmallVector<Type> types = llvm::map_to_vector(
      llvm::seq(op.getNumDpsInits()), [&](int64_t k) -> Type {
        return operands[op.getNumDpsInputs() + k].getType();
      });
  Operation *made = mlir::clone(b, op.getOperation(), types, operands);
  // What bodies know of the loop.
  made->getRegion(0).walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      operand.set(mapping.lookupOrDefault(operand.get()));
  });
  mapping.map(op->getResults(), made->getResults());
}

/// Numbers of a slice in the body that is being made.
static SmallVector<OpFoldResult> inBody(const IRMapping &mapping,
                                        ArrayRef<OpFoldResult> numbers) {
  return llvm::map_to_vector(numbers, [&](OpFoldResult number) {
    auto value = dyn_cast<Value>(number);
    return value ? OpFoldResult(mapping.lookupOrDefault(value)) : number;
  });
}

void BatchInterchange::cloneSlice(tensor::ExtractSliceOp op,
                                  IRMapping &mapping) {
  Value source = op.getSource();
  SmallVector<OpFoldResult> offsets = inBody(mapping, op.getMixedOffsets()),
                            sizes = withOne(inBody(mapping, op.getMixedSizes()),
                                            source);
  // A row of a tensor from outside is read where it is.
  if (Value own = mapping.lookupOrNull(source))
    source = own;
  else if (std::optional<unsigned> axis = axes.axisIn(source, chosen))
    offsets[*axis] = at;
  Value made = tensor::ExtractSliceOp::create(
      b, typeOfSlice(op.getResult()), source, offsets, sizes,
      inBody(mapping, op.getMixedStrides()));
  mapping.map(op.getResult(), made);
}

void BatchInterchange::cloneInsertion(tensor::InsertSliceOp op,
                                      IRMapping &mapping) {
  Value dest = lookup(op.getDest(), mapping);
  SmallVector<OpFoldResult> offsets = inBody(mapping, op.getMixedOffsets());
  // All parts' rows are collected in one tensor.
  if (dest.getType() == op.getDest().getType())
    if (std::optional<unsigned> axis = axes.axisIn(op.getDest(), chosen))
      offsets[*axis] = at;
  Value made = tensor::InsertSliceOp::create(
      b, lookup(op.getSource(), mapping), dest, offsets,
      withOne(inBody(mapping, op.getMixedSizes()), op.getDest()),
      inBody(mapping, op.getMixedStrides()));
  mapping.map(op.getResult(), made);
}

void BatchInterchange::cloneOp(Operation &op, IRMapping &mapping) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](linalg::GenericOp generic) { cloneGeneric(generic, mapping); })
      .Case([&](linalg::FillOp fill) {
        Value made = linalg::FillOp::create(
                         b, mapping.lookupOrDefault(fill.getInputs()[0]),
                         ValueRange{lookup(fill.getOutputs()[0], mapping)})
                         .getResult(0);
        mapping.map(fill.getResult(0), made);
      })
      .Case([&](tensor::EmptyOp empty) {
        SmallVector<OpFoldResult> sizes =
            withOne(empty.getMixedSizes(), empty.getResult());
        sizes = inBody(mapping, sizes);
        Value made =
            tensor::EmptyOp::create(b, sizes, empty.getType().getElementType());
        mapping.map(empty.getResult(), made);
      })
      .Case([&](tensor::CastOp cast) {
        Value made = tensor::CastOp::create(b, typeOfSlice(cast.getDest()),
                                            lookup(cast.getSource(), mapping));
        mapping.map(cast.getDest(), made);
      })
      .Case([&](tensor::ExpandShapeOp view) {
        SmallVector<OpFoldResult> sizes =
            withOne(getMixedValues(view.getStaticOutputShape(),
                                   view.getOutputShape(), b),
                    view.getResult());
        sizes = inBody(mapping, sizes);
        Value made = tensor::ExpandShapeOp::create(
            b, typeOfSlice(view.getResult()), lookup(view.getSrc(), mapping),
            view.getReassociationIndices(), sizes);
        mapping.map(view.getResult(), made);
      })
      .Case([&](tensor::CollapseShapeOp view) {
        Value made = tensor::CollapseShapeOp::create(
            b, typeOfSlice(view.getResult()), lookup(view.getSrc(), mapping),
            view.getReassociationIndices());
        mapping.map(view.getResult(), made);
      })
      .Case([&](tensor::ExtractSliceOp slice) { cloneSlice(slice, mapping); })
      .Case(
          [&](tensor::InsertSliceOp slice) { cloneInsertion(slice, mapping); })
      .Default([&](Operation *other) { b.clone(*other, mapping); });
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

/// All iterations of the part `at`. What rows are collected in is carried as a
/// whole, of other values the part is.
LoopOp BatchInterchange::makeIterations(ValueRange outs) {
  SmallVector<Value> inits;
  unsigned next = 0;
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value init = loop.getInits()[port];
    if (!rankedType(init)) {
      inits.push_back(init);
      continue;
    }
    Value out = outs[next++];
    if (findCollecting(port)) {
      inits.push_back(out);
      continue;
    }
    auto [offsets, sizes] = placeOfPart(init);
    Value part = extractSlice(b, b.getLoc(), out, offsets, sizes);
    inits.push_back(b.createOrFold<tensor::CastOp>(typeOfSlice(init), part));
  }
  SmallVector<Type> arguments{loop.getCounter().getType(),
                              loop.getConditionArg().getType()};
  llvm::append_range(arguments, ValueRange(inits).getTypes());
  auto inner = LoopOp::create(b, ValueRange(inits).getTypes(), arguments,
                              loop.getTripCount(), Value(), inits, ValueRange(),
                              ValueRange(), LoopPorts());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(inner.getLoopBody());
  IRMapping mapping;
  mapping.map(loop.getLoopBody()->getArguments(),
              inner.getLoopBody()->getArguments());
  for (Operation &op : loop.getLoopBody()->without_terminator())
    cloneOp(op, mapping);
  SmallVector<Value> yielded;
  for (auto [value, init] : llvm::zip(loop.getYield().getCarried(), inits)) {
    Value made = lookup(value, mapping);
    yielded.push_back(
        made.getType() == init.getType()
            ? made
            : tensor::CastOp::create(b, init.getType(), made).getResult());
  }
  YieldOp::create(b, mapping.lookupOrDefault(loop.getYield().getCondition()),
                  yielded, ValueRange());
  return inner;
}

/// `outs` with the part that `inner` results in.
SmallVector<Value> BatchInterchange::putBack(LoopOp inner, ValueRange outs) {
  SmallVector<Value> made;
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value init = loop.getInits()[port];
    if (!rankedType(init))
      continue;
    Value part = inner.getResult(port), out = outs[made.size()];
    if (findCollecting(port)) {
      made.push_back(part);
      continue;
    }
    auto [offsets, sizes] = placeOfPart(init);
    made.push_back(insertSlice(b, b.getLoc(), part, out, offsets, sizes));
  }
  return made;
}

LoopOp BatchInterchange::rewrite() {
  b.setInsertionPoint(loop);
  SmallVector<Value> tensors;
  SmallVector<unsigned> ports;
  for (auto [port, init] : llvm::enumerate(loop.getInits()))
    if (rankedType(init)) {
      tensors.push_back(init);
      ports.push_back(port);
    }
  Value extent = getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      resolveDim(b, b.getLoc(), tensors.front(),
                 *axes.axisIn(tensors.front(), chosen)));
  auto parts =
      scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0), extent,
                         arith::ConstantIndexOp::create(b, 1), tensors);
  markParallel(parts);
  if (!parts.getBody()->empty())
    rewriter.eraseOp(parts.getBody()->getTerminator());
  b.setInsertionPointToEnd(parts.getBody());
  at = parts.getInductionVar();
  LoopOp inner = makeIterations(parts.getRegionIterArgs());
  b.setInsertionPointToEnd(parts.getBody());
  scf::YieldOp::create(b, putBack(inner, parts.getRegionIterArgs()));
  for (auto [port, result] : llvm::zip(ports, parts.getResults()))
    rewriter.replaceAllUsesWith(loop.getResult(port), result);
  rewriter.eraseOp(loop);
  return inner;
}

namespace {
struct CpuInterchangeBatches
    : loopc::impl::CpuInterchangeBatchesBase<CpuInterchangeBatches> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (LoopOp loop : collectLoops(getOperation()))
      run(rewriter, loop);
  }

  void run(IRRewriter &rewriter, LoopOp loop) {
    if (isCold(loop))
      return;
    // The parts may have parts themselves: batches of heads.
    for (bool isFirst = true;; isFirst = false) {
      eraseDeadOps(rewriter, *loop.getLoopBody());
      BatchInterchange interchange(rewriter, loop);
      std::string why = interchange.match();
      if (!why.empty()) {
        if (isFirst)
          remarkMissed(loop.getLoc(), "InterchangeBatches",
                       "iterations run outside, parts of what it carries "
                       "inside: " +
                           why);
        return;
      }
      remarkDone(loop.getLoc(), "InterchangeBatches",
                 "all iterations of a part of what it carries run one after "
                 "the other, while a cache holds it");
      loop = interchange.rewrite();
      ++numInterchanged;
    }
  }
};
} // namespace
