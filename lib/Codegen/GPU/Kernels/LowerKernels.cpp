//===- LowerKernels.cpp - Checks, polls and barriers of kernels -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-lower-kernels: after scf-to-cf, what kernels say to the host, and how
// their threads wait for one another.

#include "KernelBody.h"
#include "LoopGraphs.h"
#include "Meetings.h"
#include "loopc-rt/cuda.h"
#include "loopc/Codegen/GPU/Kernels/DeviceProgram.h"
#include "loopc/Codegen/GPU/Kernels/Passes.h"
#include "loopc/Dialect/Device/IR/Conditions.h"
#include "loopc/Dialect/Device/IR/Device.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstddef>

namespace loopc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "loopc/Codegen/GPU/Kernels/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// One block waits by its own barrier. Several count their arrivals: each waits
/// for the end of the round that its own arrival belongs to. What a block wrote
/// before is fenced by its first thread, behind the block's barrier. {2} is
/// what comes before.
static constexpr const char kBarrierText[] = R"(
llvm.func internal @{0}(%control: !llvm.ptr)
    attributes {{convergent, passthrough = ["alwaysinline"]} {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %unit = llvm.mlir.constant(1 : i64) : i64
  %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
  {2}
  nvvm.barrier0
  %alone = llvm.icmp "eq" %blocks, %one : i32
  llvm.cond_br %alone, ^done, ^grid
^grid:
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %first = llvm.icmp "eq" %thread, %zero : i32
  llvm.cond_br %first, ^arrive, ^meet
^arrive:
  %arrived = llvm.getelementptr %control[{1}] : (!llvm.ptr) -> !llvm.ptr, i8
  %all = llvm.zext %blocks : i32 to i64
  llvm.fence syncscope("device") seq_cst
  %ticket = llvm.atomicrmw add %arrived, %unit syncscope("device") acq_rel
      : !llvm.ptr, i64
  %round = llvm.udiv %ticket, %all : i64
  %next = llvm.add %round, %unit : i64
  %goal = llvm.mul %next, %all : i64
  llvm.br ^spin
^spin:
  %now = llvm.load %arrived atomic syncscope("device") acquire
      {{alignment = 8 : i64} : !llvm.ptr -> i64
  %reached = llvm.icmp "uge" %now, %goal : i64
  llvm.cond_br %reached, ^fence, ^spin
^fence:
  llvm.fence syncscope("device") seq_cst
  llvm.br ^meet
^meet:
  nvvm.barrier0
  llvm.br ^done
^done:
  llvm.return
}
)";

/// Several blocks that are one cluster wait by its barrier, which lets each see
/// what the others wrote, in device memory too. One block is a cluster of its
/// own.
static constexpr const char kClusterText[] = R"(
  %size = nvvm.read.ptx.sreg.cluster.nctaid.x : i32
  %several = llvm.icmp "ne" %blocks, %one : i32
  %whole = llvm.icmp "eq" %blocks, %size : i32
  %cluster = llvm.and %several, %whole : i1
  llvm.cond_br %cluster, ^cluster, ^block
^cluster:
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  llvm.br ^done
^block:
)";

namespace {
class KernelLowering {
public:
  KernelLowering(gpu::GPUModuleOp kernels, gpu::GPUFuncOp kernel,
                 LLVM::LLVMFuncOp barrier,
                 llvm::MapVector<Attribute, int32_t> &messages)
      : kernel(kernel), barrier(barrier), messages(messages),
        rewriter(kernels.getContext()), b(kernel.getLoc(), rewriter),
        pointer(LLVM::LLVMPointerType::get(kernels.getContext())),
        i32(b.getI32Type()), i64(b.getI64Type()),
        control(kernel.getArgument(0)) {}

  void run();
  /// Ends the kernel at its beginning where the run has failed.
  void addEntryTest();

private:
  /// Makes the body a part of the kernel, with a poll behind it.
  void inlinePart(device::PartOp part);
  void lower(loop::CheckOp check);
  void lower(loop::PollOp poll);
  void lower(device::PollOp poll);
  void pollInGrid(device::PollOp poll);
  void pollInBlock(device::PollOp poll);
  /// Goes on at `target` where the run is over, else behind `poll`.
  void leaveAt(Operation *poll, Block *target);
  /// Where a thread goes on for which `op` ends what it does.
  Block *targetOf(Operation *op);
  Block *returnBlock();
  /// Ends the block before `op`; the rest is returned.
  Block *splitBefore(Operation *op);
  void callBarrier() { LLVM::CallOp::create(b, barrier, ValueRange{control}); }
  Value field(size_t offset) {
    return LLVM::GEPOp::create(
        b, pointer, b.getI8Type(), control,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }
  Value load(Type type, Value place) {
    return LLVM::LoadOp::create(b, type, place, /*alignment=*/0,
                                /*isVolatile=*/true);
  }
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, value);
  }
  Value toI64(Value value);
  Value isOver(Operation *poll);
  void clearConditions();
  void record(loop::CheckOp check);

  gpu::GPUFuncOp kernel;
  LLVM::LLVMFuncOp barrier;
  llvm::MapVector<Attribute, int32_t> &messages;
  IRRewriter rewriter;
  ImplicitLocOpBuilder b;
  Type pointer, i32, i64;
  Value control;
  Block *ending = nullptr;
  /// Where checks and polls in parts that are not the last go on.
  DenseMap<Operation *, Block *> behindParts;
  /// The poll that the kernel begins with; null: none.
  Operation *entryPoll = nullptr;
};
} // namespace

Value KernelLowering::toI64(Value value) {
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, i64, value);
  if (value.getType() == i64)
    return value;
  return arith::ExtSIOp::create(b, i64, value);
}

Block *KernelLowering::returnBlock() {
  if (ending)
    return ending;
  OpBuilder::InsertionGuard guard(b);
  ending = b.createBlock(&kernel.getBody(), kernel.getBody().end());
  gpu::ReturnOp::create(b);
  clearConditions();
  return ending;
}

/// Who ends before its time, in a graph, lets no more iterations begin.
void KernelLowering::clearConditions() {
  auto handles =
      kernel->getAttrOfType<DenseI32ArrayAttr>(device::kConditionsAttrName);
  if (!handles || handles.empty())
    return;
  // Calls of several threads at a time are undefined. There is one block.
  Block *clearing = b.createBlock(&kernel.getBody(), kernel.getBody().end());
  Block *rest = rewriter.splitBlock(ending, ending->begin());
  b.setInsertionPointToEnd(ending);
  Value isFirst =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                           NVVM::ThreadIdXOp::create(b, i32), constant(i32, 0));
  cf::CondBranchOp::create(b, isFirst, clearing, rest);
  b.setInsertionPointToEnd(clearing);
  cf::BranchOp::create(b, rest);
  b.setInsertionPointToStart(clearing);
  Value state = kernel.getArgument(1);
  for (int32_t handle : handles.asArrayRef()) {
    Value place = LLVM::GEPOp::create(b, pointer, i64, state,
                                      ArrayRef<LLVM::GEPArg>{handle});
    LLVM::CallOp::create(
        b, TypeRange(), kSetConditionName,
        ValueRange{LLVM::LoadOp::create(b, i64, place), constant(i32, 0)});
  }
}

Block *KernelLowering::splitBefore(Operation *op) {
  return rewriter.splitBlock(op->getBlock(), Block::iterator(op));
}

Block *KernelLowering::targetOf(Operation *op) {
  Block *behind = behindParts.lookup(op);
  return behind ? behind : returnBlock();
}

void KernelLowering::inlinePart(device::PartOp part) {
  Block *before = part->getBlock();
  Block *rest = splitBefore(part->getNextNode());
  if (!part.getLast()) {
    part.getBody().walk([&](Operation *op) {
      if (isa<loop::CheckOp, loop::PollOp>(op))
        behindParts[op] = rest;
    });
    b.setInsertionPointToStart(rest);
    device::PollOp::create(b, part.getInBlock());
  }
  Block *entry = &part.getBody().front();
  for (Block &block : part.getBody())
    if (auto yield = dyn_cast<device::YieldOp>(block.getTerminator())) {
      b.setInsertionPoint(yield);
      cf::BranchOp::create(b, rest);
      rewriter.eraseOp(yield);
    }
  rewriter.inlineRegionBefore(part.getBody(), rest);
  rewriter.eraseOp(part);
  rewriter.mergeBlocks(entry, before);
}

/// Writes what the check has to say.
void KernelLowering::record(loop::CheckOp check) {
  int32_t next = static_cast<int32_t>(messages.size());
  int32_t number =
      messages.insert({check.getMessageAttr(), next}).first->second;
  auto store = [&](Value value, size_t offset) {
    LLVM::StoreOp::create(b, value, field(offset));
  };
  store(constant(i32, number), offsetof(loopc_cuda_control, message));
  Value iteration =
      check.getIteration() ? toI64(check.getIteration()) : constant(i64, -1);
  store(iteration, offsetof(loopc_cuda_control, iteration));
  store(constant(i64, check.getValues().size()),
        offsetof(loopc_cuda_control, num_values));
  for (auto [k, value] : llvm::enumerate(check.getValues()))
    store(toI64(value),
          offsetof(loopc_cuda_control, values) + k * sizeof(int64_t));
}

void KernelLowering::lower(loop::CheckOp check) {
  b.setLoc(check.getLoc());
  Block *target = targetOf(check);
  Block *before = check->getBlock();
  Block *rest = splitBefore(check);
  Block *failing = b.createBlock(rest);
  Value exchanged = LLVM::AtomicCmpXchgOp::create(
      b, field(offsetof(loopc_cuda_control, failed)), constant(i32, 0),
      constant(i32, 1), LLVM::AtomicOrdering::acq_rel,
      LLVM::AtomicOrdering::monotonic);
  Value isFirst =
      LLVM::ExtractValueOp::create(b, exchanged, ArrayRef<int64_t>{1});
  Block *recording = b.createBlock(rest);
  b.setInsertionPointToEnd(failing);
  cf::CondBranchOp::create(b, isFirst, recording, target);
  b.setInsertionPointToEnd(recording);
  record(check);
  cf::BranchOp::create(b, target);
  b.setInsertionPointToEnd(before);
  cf::CondBranchOp::create(b, check.getCondition(), rest, failing);
  rewriter.eraseOp(check);
}

/// Not 0 where the run failed or shall end. Kernels of a graph do not begin by
/// looking at the host's word: who ends an iteration does that now and then,
/// and leaves what it found for the others.
Value KernelLowering::isOver(Operation *poll) {
  Value failed = load(i32, field(offsetof(loopc_cuda_control, failed)));
  if (poll == entryPoll && kernel->hasAttr(device::kConditionsAttrName)) {
    Value word = load(i32, field(offsetof(loopc_cuda_control, word)));
    return LLVM::OrOp::create(b, failed, word);
  }
  Value cancel = load(pointer, field(offsetof(loopc_cuda_control, cancel)));
  return LLVM::OrOp::create(b, failed, load(i32, cancel));
}

void KernelLowering::leaveAt(Operation *poll, Block *target) {
  Block *before = poll->getBlock();
  Block *rest = splitBefore(poll);
  b.setInsertionPointToEnd(before);
  Value zero = constant(i32, 0);
  Value goesOn =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, isOver(poll), zero);
  cf::CondBranchOp::create(b, goesOn, rest, target);
  rewriter.eraseOp(poll);
}

void KernelLowering::lower(loop::PollOp poll) {
  b.setLoc(poll.getLoc());
  leaveAt(poll, targetOf(poll));
}

void KernelLowering::lower(device::PollOp poll) {
  b.setLoc(poll.getLoc());
  if (poll.getInBlock())
    pollInBlock(poll);
  else
    pollInGrid(poll);
}

/// The first thread looks, so that all see the same.
void KernelLowering::pollInGrid(device::PollOp poll) {
  Block *before = poll->getBlock();
  Block *rest = splitBefore(poll);
  Block *looking = b.createBlock(rest);
  Value word = field(offsetof(loopc_cuda_control, word));
  LLVM::StoreOp::create(b, isOver(poll), word);
  Block *meeting = b.createBlock(rest);
  b.setInsertionPointToEnd(looking);
  cf::BranchOp::create(b, meeting);
  b.setInsertionPointToEnd(before);
  callBarrier();
  Value zero = constant(i32, 0);
  Value thread = NVVM::ThreadIdXOp::create(b, i32);
  Value block = NVVM::BlockIdXOp::create(b, i32);
  Value both = LLVM::OrOp::create(b, thread, block);
  Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, both, zero);
  cf::CondBranchOp::create(b, isFirst, looking, meeting);
  b.setInsertionPointToEnd(meeting);
  callBarrier();
  Value seen = load(i32, field(offsetof(loopc_cuda_control, word)));
  Value goesOn =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, seen, constant(i32, 0));
  cf::CondBranchOp::create(b, goesOn, rest, returnBlock());
  rewriter.eraseOp(poll);
}

/// The block's first thread looks, and says to the others what it found while
/// they wait for one another.
void KernelLowering::pollInBlock(device::PollOp poll) {
  Block *before = poll->getBlock();
  Block *rest = splitBefore(poll);
  Block *looking = b.createBlock(rest);
  Value found = isOver(poll);
  Block *meeting = b.createBlock(rest, TypeRange(i32), poll.getLoc());
  b.setInsertionPointToEnd(looking);
  cf::BranchOp::create(b, meeting, found);
  b.setInsertionPointToEnd(before);
  Value zero = constant(i32, 0);
  Value thread = NVVM::ThreadIdXOp::create(b, i32);
  Value isFirst =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, thread, zero);
  cf::CondBranchOp::create(b, isFirst, looking, ValueRange(), meeting, zero);
  b.setInsertionPointToEnd(meeting);
  Value any =
      NVVM::BarrierOp::create(b, TypeRange(i32), Value(), Value(),
                              NVVM::BarrierReductionAttr::get(
                                  b.getContext(), NVVM::BarrierReduction::OR),
                              meeting->getArgument(0))
          .getRes();
  Value goesOn =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, any, constant(i32, 0));
  cf::CondBranchOp::create(b, goesOn, rest, returnBlock());
  rewriter.eraseOp(poll);
}

void KernelLowering::addEntryTest() {
  Meetings meetings = findMeetings(kernel);
  b.setInsertionPointToStart(&kernel.getBody().front());
  // Who waits for others begins together with them.
  if (meetings.ofGrid || meetings.ofBlock)
    entryPoll = device::PollOp::create(b, /*in_block=*/!meetings.ofGrid);
  else
    entryPoll = loop::PollOp::create(b);
}

void KernelLowering::run() {
  SmallVector<device::PartOp> parts = collectOps<device::PartOp>(kernel);
  llvm::for_each(parts, [&](device::PartOp part) { inlinePart(part); });
  auto ops = collectOps(kernel, [&](Operation *op) {
    return isa<loop::CheckOp, loop::PollOp, device::PollOp, device::BarrierOp>(
        op);
  });
  for (Operation *op : ops) {
    if (auto check = dyn_cast<loop::CheckOp>(op)) {
      lower(check);
    } else if (auto own = dyn_cast<loop::PollOp>(op)) {
      lower(own);
    } else if (auto poll = dyn_cast<device::PollOp>(op)) {
      lower(poll);
    } else {
      b.setInsertionPoint(op);
      callBarrier();
      rewriter.eraseOp(op);
    }
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// Threads hand 32 bits to one another: 64 go in two parts.
struct SplitShuffle : OpRewritePattern<gpu::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(gpu::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getValue().getType();
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != 64)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    Value bits = op.getValue();
    if (type != i64)
      bits = arith::BitcastOp::create(b, i64, bits);
    Value half = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value whole, isValid;
    for (Value part :
         {bits, arith::ShRUIOp::create(b, bits, half).getResult()}) {
      Value word = arith::TruncIOp::create(b, i32, part);
      auto got = gpu::ShuffleOp::create(b, word, op.getOffset(), op.getWidth(),
                                        op.getMode());
      Value wide = arith::ExtUIOp::create(b, i64, got.getShuffleResult());
      isValid = got.getValid();
      whole = whole ? arith::OrIOp::create(b, whole,
                                           arith::ShLIOp::create(b, wide, half))
                          .getResult()
                    : wide;
    }
    if (type != i64)
      whole = arith::BitcastOp::create(b, type, whole);
    rewriter.replaceOp(op, {whole, isValid});
    return success();
  }
};
} // namespace

/// Reductions of a kernel come one after the other, with a barrier between, and
/// each has got a buffer of its own: lets those behind the first `own` be one
/// for each type. Shared memory that the code asks for is 48 KiB at most.
static void shareBuffers(gpu::GPUFuncOp kernel, unsigned own) {
  DenseMap<Type, Value> firsts;
  for (BlockArgument buffer :
       kernel.getWorkgroupAttributions().drop_front(own)) {
    auto [first, isNew] = firsts.try_emplace(buffer.getType(), buffer);
    if (!isNew)
      buffer.replaceAllUsesWith(first->second);
  }
}

static LogicalResult lowerReductions(gpu::GPUModuleOp kernels) {
  SmallVector<std::pair<gpu::GPUFuncOp, unsigned>> functions;
  for (auto kernel : kernels.getOps<gpu::GPUFuncOp>())
    functions.push_back({kernel, kernel.getNumWorkgroupAttributions()});
  RewritePatternSet patterns(kernels.getContext());
  populateGpuAllReducePatterns(patterns);
  populateGpuLowerSubgroupReduceToShufflePatterns(
      patterns, /*subgroupSize=*/32, /*shuffleBitwidth=*/32, /*benefit=*/2);
  populateGpuLowerSubgroupReduceToShufflePatterns(
      patterns, /*subgroupSize=*/32, /*shuffleBitwidth=*/64, /*benefit=*/1);
  patterns.add<SplitShuffle>(kernels.getContext());
  if (failed(applyPatternsGreedily(kernels, std::move(patterns))))
    return failure();
  for (auto [kernel, own] : functions)
    shareBuffers(kernel, own);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What ends a kernel stands in its blocks, or in those of its parts: branches
/// and loops around it have been lowered.
static LogicalResult checkBlocks(gpu::GPUFuncOp kernel) {
  return success(
      !kernel
           .walk([&](Operation *op) {
             if (!isa<loop::CheckOp, loop::PollOp, device::PollOp,
                      device::BarrierOp>(op) ||
                 isa<gpu::GPUFuncOp, device::PartOp>(op->getParentOp()))
               return WalkResult::advance();
             op->emitOpError() << "stands in '" << op->getParentOp()->getName()
                               << "', which has to be lowered before";
             return WalkResult::interrupt();
           })
           .wasInterrupted());
}

/// Who sets conditions of a graph says which: it clears them where it ends
/// before its time.
static LogicalResult checkConditions(gpu::GPUFuncOp kernel) {
  size_t numCalls = 0;
  kernel.walk([&](LLVM::CallOp call) {
    numCalls += call.getCallee() == StringRef(kSetConditionName);
  });
  auto handles =
      kernel->getAttrOfType<DenseI32ArrayAttr>(device::kConditionsAttrName);
  size_t numNamed = handles ? static_cast<size_t>(handles.size()) : 0;
  if (numCalls == numNamed)
    return success();
  return kernel.emitOpError()
         << "sets " << numCalls << " conditions, and attribute '"
         << device::kConditionsAttrName << "' names " << numNamed;
}

namespace {
struct LowerKernels : loopc::impl::LowerKernelsBase<LowerKernels> {
  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    auto barrier = makeBarrier(kernels);
    llvm::MapVector<Attribute, int32_t> messages;
    SmallVector<gpu::GPUFuncOp> functions(kernels.getOps<gpu::GPUFuncOp>());
    bool canFail = holdsOp<loop::CheckOp>(kernels);
    for (gpu::GPUFuncOp kernel : functions) {
      if (failed(checkBlocks(kernel)) || failed(checkConditions(kernel)))
        return signalPassFailure();
      KernelLowering lowering(kernels, kernel, barrier, messages);
      if (canFail)
        lowering.addEntryTest();
      lowering.run();
    }
    if (failed(lowerReductions(kernels)))
      return signalPassFailure();
    if (barrier.symbolKnownUseEmpty(kernels))
      barrier.erase();
    SmallVector<Attribute> texts;
    for (auto &[text, number] : messages)
      texts.push_back(text);
    Builder b(&getContext());
    kernels->setAttr("loopc.messages", b.getArrayAttr(texts));
  }

  LLVM::LLVMFuncOp makeBarrier(gpu::GPUModuleOp kernels) {
    bool hasClusters = kernels->hasAttr(kClustersAttrName);
    std::string text = llvm::formatv(kBarrierText, kBarrierName,
                                     offsetof(loopc_cuda_control, arrived),
                                     hasClusters ? kClusterText : "")
                           .str();
    OwningOpRef<ModuleOp> parsed =
        parseSourceString<ModuleOp>(text, ParserConfig(&getContext()));
    auto made = *parsed->getOps<LLVM::LLVMFuncOp>().begin();
    made->remove();
    kernels.getBody()->push_back(made);
    return made;
  }
};
} // namespace
