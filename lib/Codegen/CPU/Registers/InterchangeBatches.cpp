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
// heads would be read from the next cache in each. Where single parts are too
// small for that, blocks of them are for the threads of the run: each runs all
// iterations of a block, and nobody waits for another in each iteration.

#include "AxisClasses.h"
#include "loopc/Codegen/CPU/Passes.h"
#include "loopc/Dialect/Loop/Transforms/Utils.h"
#include "loopc/Dialect/Nest/IR/Parallel.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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
static constexpr int64_t kMinPart = 1 << 10;

/// Bytes of a block from which on a step of it takes much longer than to begin
/// it; of what is carried, which is the least that a step reads and writes.
static constexpr int64_t kMinBlock = 8 << 10;
/// Bytes of an element of a block that only the run knows.
static constexpr int64_t kGuessedBytes = 64;
/// Blocks of a known extent at most.
static constexpr int64_t kMaxBlocks = 8;
/// Blocks begin at multiples of so many elements, so that the same ones are
/// computed in vectors whatever the number of threads.
static constexpr int64_t kBlockGrain = 64;

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
  /// True where parts are blocks of elements for threads.
  bool isForThreads() const { return areBlocks; }

private:
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }
  std::string matchBody();
  bool matchBlocks();
  std::string matchClass(unsigned number, bool areBlocks = false);
  std::string matchGeneric(linalg::GenericOp op, unsigned number);
  bool isRowsOfLast(Value tensor, unsigned number);
  bool fitsCacheInParts(ArrayRef<unsigned> numbers);
  std::optional<int64_t> bytesOf(Value tensor, ArrayRef<unsigned> numbers);
  tensor::InsertSliceOp findCollecting(unsigned port);
  llvm::SetVector<Value> findVersions(unsigned port);
  int64_t chooseBlock(int64_t extent, int64_t bytes) const;
  Value blockOf(Value extent, Value bytes);
  Value bytesOfElement();
  void openParts(ValueRange tensors, scf::ForOp &parts);

  std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
  placeOfPart(Value tensor);
  void setBehindPart();
  Value sliceOfOutside(Value tensor);
  RankedTensorType typeOfSlice(Value tensor);
  LoopOp makeIterations(ValueRange outs);
  LoopOp makeBody(ValueRange inits);
  SmallVector<Value> putBack(LoopOp inner, ValueRange outs);
  void cloneOp(Operation &op, IRMapping &mapping);
  void cloneGeneric(linalg::GenericOp op, IRMapping &mapping);
  void cloneSlice(tensor::ExtractSliceOp op, IRMapping &mapping);
  void cloneInsertion(tensor::InsertSliceOp op, IRMapping &mapping);
  Value lookup(Value value, IRMapping &mapping);
  SmallVector<OpFoldResult> ofPart(ArrayRef<OpFoldResult> sizes, Value tensor);

  IRRewriter &rewriter;
  ImplicitLocOpBuilder b;
  LoopOp loop;
  AxisClasses axes;
  unsigned chosen = 0;
  /// The extent of a part along the chosen class: 1, or that of a block, which
  /// may be known to the run only.
  int64_t extent = 1;
  bool areBlocks = false;
  /// Where the part begins along the chosen class, and its extent.
  Value at;
  OpFoldResult length;
  /// What of all parts is in one tensor, in the body as it was.
  llvm::SetVector<Value> wholes;
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

/// True if all that reads `version`, or views of it, stands before `insertion`,
/// which writes over it: else it would be copied.
static bool isReadBefore(Value version, tensor::InsertSliceOp insertion) {
  SmallVector<Value> open{version};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::DimOp>(user) || use == insertion.getDestMutable())
        continue;
      // A body may read an element of it.
      Operation *reader = insertion->getBlock()->findAncestorOpInBlock(*user);
      if (!reader || !reader->isBeforeInBlock(insertion))
        return false;
      if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
              tensor::CollapseShapeOp, tensor::CastOp>(user))
        open.push_back(user->getResult(0));
    }
  }
  return true;
}

/// What the carried value of `port` is in an iteration, version by version,
/// where it is a buffer that is only read and written in slices, in place: all
/// parts are in one, as a part that is carried would be copied. Else nothing.
llvm::SetVector<Value> BatchInterchange::findVersions(unsigned port) {
  Value next = loop.getYield().getCarried()[port];
  llvm::SetVector<Value> versions;
  versions.insert(loop.getCarriedArgs()[port]);
  for (size_t k = 0; k < versions.size(); ++k) {
    Value value = versions[k];
    for (Operation *user : value.getUsers()) {
      auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
      if (insertion && isReadBefore(value, insertion))
        versions.insert(insertion.getResult());
      else if (!isa<tensor::DimOp, tensor::ExtractSliceOp>(user) &&
               !(isa<YieldOp>(user) && value == next))
        return {};
    }
  }
  bool isBuffer = versions.size() > 1 && versions.contains(next) &&
                  llvm::count(loop.getYield()->getOperands(), next) == 1;
  return isBuffer ? versions : llvm::SetVector<Value>();
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
  // As few axes, from the outermost on, as make parts that a cache holds.
  SmallVector<unsigned> numbers;
  for (auto [axis, number] : found) {
    numbers.push_back(number);
    if (fitsCacheInParts(numbers)) {
      chosen = numbers.front();
      return "";
    }
  }
  if (matchBlocks())
    return "";
  if (found.empty())
    return first.empty() ? "no axis of what it carries stands alone" : first;
  return "what it carries is no larger than a cache, or all of its parts are";
}

/// Elements of a block of a known extent, of `bytes` bytes each; 0 where all of
/// it is one block.
int64_t BatchInterchange::chooseBlock(int64_t extent, int64_t bytes) const {
  for (int64_t count = std::min(kMaxBlocks, extent * bytes / kMinBlock);
       count > 1; --count)
    if (extent % (count * kBlockGrain) == 0)
      return extent / count;
  return 0;
}

/// Looks for an axis whose elements are as many parts, of which threads take
/// blocks. A loop in another such loop is done by one thread.
bool BatchInterchange::matchBlocks() {
  if (loop->getParentOfType<scf::ForOp>() || loop->getParentOfType<LoopOp>())
    return false;
  for (unsigned port = 0; port < loop.getNumCarried(); ++port) {
    Value arg = loop.getCarriedArgs()[port];
    RankedTensorType type = rankedType(arg);
    if (!type || findCollecting(port) || !type.getElementType().isIntOrFloat())
      continue;
    // A step of a vector takes little longer than to begin it.
    if (llvm::count_if(type.getShape(),
                       [](int64_t extent) { return extent != 1; }) < 2)
      return false;
    for (unsigned axis = 0; axis < type.getRank(); ++axis) {
      std::optional<unsigned> number = axes.find(arg, axis);
      int64_t size = type.getDimSize(axis);
      if (!number || size == 1)
        continue;
      int64_t bytes = bytesOf(arg, *number).value_or(kGuessedBytes);
      int64_t block =
          ShapedType::isDynamic(size) ? size : chooseBlock(size, bytes);
      if (block == 0 || !matchClass(*number, /*areBlocks=*/true).empty())
        continue;
      chosen = *number;
      extent = block;
      return areBlocks = true;
    }
    return false;
  }
  return false;
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

std::string BatchInterchange::matchClass(unsigned number, bool areBlocks) {
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
    if (!areBlocks && !isOutside(tensor) && !isRowsOfLast(tensor, number))
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
bool BatchInterchange::fitsCacheInParts(ArrayRef<unsigned> numbers) {
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
  if (!areMatrices || (part && *part < kMinPart))
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
    shape[*axis] = extent;
  return type.clone(shape);
}

/// Where what a part needs from outside is made: behind its place.
void BatchInterchange::setBehindPart() {
  auto size = dyn_cast<Value>(length);
  b.setInsertionPointAfterValue(size ? size : at);
}

/// Offsets and sizes of the part in a tensor with the extents of `tensor`.
std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>
BatchInterchange::placeOfPart(Value tensor) {
  SmallVector<OpFoldResult> sizes = resolveDims(b, b.getLoc(), tensor),
                            offsets(sizes.size(), b.getIndexAttr(0));
  offsets[*axes.axisIn(tensor, chosen)] = at;
  return {offsets, ofPart(sizes, tensor)};
}

SmallVector<OpFoldResult> BatchInterchange::ofPart(ArrayRef<OpFoldResult> sizes,
                                                   Value tensor) {
  SmallVector<OpFoldResult> made(sizes);
  if (std::optional<unsigned> axis = axes.axisIn(tensor, chosen))
    made[*axis] = length;
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
  setBehindPart();
  auto makeEmpty = [&](Value like) {
    return tensor::EmptyOp::create(
        b, ofPart(resolveDims(b, b.getLoc(), like), like),
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
                            sizes = ofPart(inBody(mapping, op.getMixedSizes()),
                                           source);
  // A row of a tensor from outside is read where it is.
  bool isPart = mapping.contains(source) && !wholes.contains(source);
  if (std::optional<unsigned> axis = axes.axisIn(source, chosen);
      axis && !isPart)
    offsets[*axis] = at;
  source = mapping.lookupOrDefault(source);
  Value made = tensor::ExtractSliceOp::create(
      b, typeOfSlice(op.getResult()), source, offsets, sizes,
      inBody(mapping, op.getMixedStrides()));
  mapping.map(op.getResult(), made);
}

void BatchInterchange::cloneInsertion(tensor::InsertSliceOp op,
                                      IRMapping &mapping) {
  Value dest = lookup(op.getDest(), mapping);
  SmallVector<OpFoldResult> offsets = inBody(mapping, op.getMixedOffsets());
  // All parts' rows are in one tensor.
  if (wholes.contains(op.getDest()))
    if (std::optional<unsigned> axis = axes.axisIn(op.getDest(), chosen))
      offsets[*axis] = at;
  Value made = tensor::InsertSliceOp::create(
      b, lookup(op.getSource(), mapping), dest, offsets,
      ofPart(inBody(mapping, op.getMixedSizes()), op.getDest()),
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
            ofPart(empty.getMixedSizes(), empty.getResult());
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
            ofPart(getMixedValues(view.getStaticOutputShape(),
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
    llvm::SetVector<Value> versions = findVersions(port);
    if (!versions.empty()) {
      wholes.insert(versions.begin(), versions.end());
      inits.push_back(out);
      continue;
    }
    auto [offsets, sizes] = placeOfPart(init);
    Value part = extractSlice(b, b.getLoc(), out, offsets, sizes);
    inits.push_back(b.createOrFold<tensor::CastOp>(typeOfSlice(init), part));
  }
  return makeBody(inits);
}

/// The loop of the iterations of a part, which carries `inits`.
LoopOp BatchInterchange::makeBody(ValueRange inits) {
  auto inner = LoopOp::create(b, loop.getCounter().getType(),
                              loop.getConditionArg().getType(),
                              loop.getTripCount(), Value(), inits);
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
    if (wholes.contains(loop.getCarriedArgs()[port])) {
      made.push_back(part);
      continue;
    }
    auto [offsets, sizes] = placeOfPart(init);
    made.push_back(insertSlice(b, b.getLoc(), part, out, offsets, sizes));
  }
  return made;
}

/// Bytes of what the loop carries for one element along the chosen class; of
/// the first value of several that has it.
Value BatchInterchange::bytesOfElement() {
  for (auto [port, init] : llvm::enumerate(loop.getInits())) {
    std::optional<unsigned> own =
        rankedType(init) ? axes.axisIn(init, chosen) : std::nullopt;
    if (!own || findCollecting(port))
      continue;
    Value bytes = arith::ConstantIndexOp::create(
        b, llvm::divideCeil(rankedType(init).getElementTypeBitWidth(), 8));
    for (auto [axis, size] : llvm::enumerate(resolveDims(b, b.getLoc(), init)))
      if (axis != *own)
        bytes = b.createOrFold<arith::MulIOp>(
            bytes, getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
    return bytes;
  }
  llvm_unreachable("the class was found in what the loop carries");
}

/// The extent of a block: as many as there are threads, but none too small.
Value BatchInterchange::blockOf(Value all, Value bytes) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value number = rt::CallOp::create(b, b.getI32Type(), "loopc_rt_num_threads",
                                    ValueRange(), StringAttr());
  Value threads = arith::IndexCastOp::create(b, b.getIndexType(), number);
  Value share = arith::CeilDivUIOp::create(b, all, threads);
  bytes = arith::MaxUIOp::create(b, bytes, constant(1));
  Value least = arith::CeilDivUIOp::create(b, constant(kMinBlock), bytes);
  Value block = arith::MaxUIOp::create(b, share, least);
  Value grain = constant(kBlockGrain);
  block = arith::CeilDivUIOp::create(b, block, grain);
  return arith::MulIOp::create(b, block, grain);
}

/// The loop over parts, which carries `tensors`: `at` is where one begins.
void BatchInterchange::openParts(ValueRange tensors, scf::ForOp &parts) {
  Value first = tensors.front();
  Value all = getValueOrCreateConstantIndexOp(
      b, b.getLoc(),
      resolveDim(b, b.getLoc(), first, *axes.axisIn(first, chosen)));
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1), block = one, count = all;
  if (areBlocks) {
    block = ShapedType::isDynamic(extent)
                ? blockOf(all, bytesOfElement())
                : arith::ConstantIndexOp::create(b, extent).getResult();
    count = b.createOrFold<arith::CeilDivUIOp>(all, block);
  }
  parts = scf::ForOp::create(b, zero, count, one, tensors);
  markParallel(parts);
  if (!parts.getBody()->empty())
    rewriter.eraseOp(parts.getBody()->getTerminator());
  b.setInsertionPointToEnd(parts.getBody());
  at = parts.getInductionVar();
  length = b.getIndexAttr(extent);
  if (!areBlocks)
    return;
  at = arith::MulIOp::create(b, at, block);
  if (ShapedType::isDynamic(extent)) {
    Value rest = arith::SubIOp::create(b, all, at);
    length = arith::MinSIOp::create(b, block, rest).getResult();
  }
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
  scf::ForOp parts;
  openParts(tensors, parts);
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

private:
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
      bool isForThreads = interchange.isForThreads();
      remarkDone(loop.getLoc(), "InterchangeBatches",
                 isForThreads
                     ? "threads take blocks of what it carries, each for all "
                       "iterations"
                     : "all iterations of a part of what it carries run one "
                       "after the other, while a cache holds it");
      loop = interchange.rewrite();
      ++numInterchanged;
      if (isForThreads)
        return;
    }
  }
};
} // namespace
