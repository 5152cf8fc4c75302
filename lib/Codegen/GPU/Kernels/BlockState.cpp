//===- BlockState.cpp - What a loop writes, in its block's memory ---------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockState.h"
#include "loopc/Conversion/ToLLVM/BufferBytes.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace loopc;

/// Bytes of shared memory that state may take, of the 48 KiB that a kernel can
/// have by itself: tiles and reductions have theirs there too.
static constexpr int64_t kMaxState = 24 << 10;
static constexpr int64_t kMaxShared = 48 << 10;
/// What a reduction of a block takes: a number of each warp.
static constexpr int64_t kReductionBytes = 256;
static constexpr int64_t kAlignment = 16;

namespace {
class BlockState : IndexEmitter {
public:
  BlockState(gpu::GPUFuncOp kernel, ValueRange given, Operation *region,
             const AliasClasses &classes)
      : IndexEmitter(kernel.getLoc(), kernel), kernel(kernel), given(given),
        region(region), classes(classes) {}

  int64_t run();

private:
  int64_t countRoom();
  bool canMove(size_t number);
  bool isOwn(size_t number);
  void move(size_t number, Value memory, int64_t offset);
  void copyAll(Value from, Value to);

  BlockArgument inside(size_t number) { return kernel.getArgument(1 + number); }
  int64_t bytesOf(size_t number) {
    auto type = cast<MemRefType>(given[number].getType());
    return static_cast<int64_t>(
        llvm::alignTo(type.getNumElements() * getElementBytes(type),
                      static_cast<uint64_t>(kAlignment)));
  }

  gpu::GPUFuncOp kernel;
  ValueRange given;
  Operation *region;
  const AliasClasses &classes;
};
} // namespace

int64_t BlockState::countRoom() {
  int64_t used = 0;
  for (Value memory : kernel.getWorkgroupAttributions())
    used += cast<MemRefType>(memory.getType()).getNumElements();
  kernel.walk([&](gpu::AllReduceOp) { used += kReductionBytes; });
  return std::min(kMaxState, kMaxShared - used);
}

/// True where nothing but loads and stores touches the buffer, some of them
/// stores, and nothing else in the kernel is the same memory.
bool BlockState::canMove(size_t number) {
  auto made = given[number].getDefiningOp<gpu::AllocOp>();
  if (!made || made.getHostShared() || !made.getType().hasStaticShape() ||
      !made.getType().getLayout().isIdentity() ||
      made.getType().getNumElements() == 0)
    return false;
  bool isWritten = false;
  for (Operation *user : inside(number).getUsers()) {
    if (!isa<memref::LoadOp, memref::StoreOp>(user))
      return false;
    isWritten |= isa<memref::StoreOp>(user);
  }
  const void *memory = classes.of(given[number]);
  for (auto [k, other] : llvm::enumerate(given))
    if (k != number && isa<MemRefType>(other.getType()) &&
        classes.of(other) == memory)
      return false;
  return isWritten;
}

/// True where what the buffer holds in front of the kernel and behind it is
/// nobody's business.
bool BlockState::isOwn(size_t number) {
  Operation *made = given[number].getDefiningOp();
  return made->getBlock() == region->getBlock() &&
         llvm::all_of(made->getUsers(), [&](Operation *user) {
           return isa<gpu::DeallocOp>(user) || region->isAncestor(user);
         });
}

/// Threads copy an element each, and again.
void BlockState::copyAll(Value from, Value to) {
  auto type = cast<MemRefType>(from.getType());
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value threads = gpu::BlockDimOp::create(b, gpu::Dimension::x);
  auto loop =
      scf::ForOp::create(b, thread, index(type.getNumElements()), threads);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  SmallVector<Value> place(type.getRank());
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    Value extent = index(type.getDimSize(axis));
    place[axis] = axis ? arith::RemUIOp::create(b, number, extent) : number;
    number = arith::DivUIOp::create(b, number, extent);
  }
  Value element = memref::LoadOp::create(b, from, place);
  memref::StoreOp::create(b, element, to, place);
}

/// Gives the buffer the bytes at `offset`.
void BlockState::move(size_t number, Value memory, int64_t offset) {
  Value outside = inside(number);
  auto type = cast<MemRefType>(outside.getType());
  Block &body = kernel.getBody().front();
  b.setInsertionPointToStart(&body);
  auto viewType = MemRefType::get(
      type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
      cast<MemRefType>(memory.getType()).getMemorySpace());
  Value moved =
      memref::ViewOp::create(b, viewType, memory, index(offset), ValueRange());
  outside.replaceAllUsesWith(moved);
  if (isOwn(number))
    return;
  copyAll(outside, moved);
  b.setInsertionPoint(body.getTerminator());
  copyAll(moved, outside);
}

int64_t BlockState::run() {
  int64_t room = countRoom(), bytes = 0;
  SmallVector<std::pair<size_t, int64_t>> places;
  for (size_t number = 0; number < given.size(); ++number) {
    if (!canMove(number) || bytes + bytesOf(number) > room)
      continue;
    places.push_back({number, bytes});
    bytes += bytesOf(number);
  }
  if (places.empty())
    return 0;
  // Between what is copied and the kernel's own work.
  Block &body = kernel.getBody().front();
  b.setInsertionPointToStart(&body);
  gpu::BarrierOp::create(b);
  b.setInsertionPoint(body.getTerminator());
  gpu::BarrierOp::create(b);
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  unsigned which = kernel.getNumWorkgroupAttributions();
  Value memory = kernel.addWorkgroupAttribution(
      MemRefType::get({bytes}, b.getI8Type(), MemRefLayoutAttrInterface(),
                      space),
      kernel.getLoc());
  kernel.setWorkgroupAttributionAttr(which, "llvm.align",
                                     b.getI64IntegerAttr(kAlignment));
  for (auto [number, offset] : places)
    move(number, memory, offset);
  return bytes;
}

int64_t loopc::keepInBlock(gpu::GPUFuncOp kernel, ValueRange given,
                           Operation *region, const AliasClasses &classes) {
  return BlockState(kernel, given, region, classes).run();
}
