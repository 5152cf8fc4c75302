//===- ShareNests.cpp - One function for nests of several sizes -----------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// loopc-share-nests: outlined nests that differ in numbers alone become one
// function, which gets the numbers as arguments.
//
// A network repeats its layers with other sizes. The layers' code is the same
// but for bounds of loops, distances in memory and factors (of a normalisation,
// of an activation, of quantised numbers), and most of compile time is LLVM's
// work on it. What makes code fast stays a constant: the bounds of short loops,
// which are unrolled, and the distances in innermost loops, where each would
// take a register.
//
// Functions are visited in the order of the call graph, callees before callers.
// Sharing a function changes the operands of its calls and the names in them;
// all of these calls are in functions that come later, and a function is
// compared with others when nothing in it will change any more. Functions of
// one level of the graph are compared in the order of their names, so that the
// result depends neither on where they stand in the module nor on addresses.
// What has become unused is erased in the end.

#include "Contexts.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Nest/Transforms/Passes.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace loopc {
#define GEN_PASS_DEF_SHARENESTS
#include "loopc/Dialect/Nest/Transforms/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// Bounds below this stay constants: such loops are worth unrolling.
static constexpr int64_t kShortLoop = 16;
/// Operations of an innermost loop, comparisons apart, whose numbers may become
/// arguments.
static constexpr unsigned kMaxInLoop = 4;
/// Arguments that a nest may get.
static constexpr size_t kMaxArguments = 16;

namespace {
/// A place of a number: an operand that is a constant.
struct Place {
  OpOperand *operand;
  /// The header of the innermost loop that it is in, if that has no loop in it.
  Block *loop;
};

/// A nest, and what it is but for its numbers: equal texts, equal code.
struct Nest {
  LLVM::LLVMFuncOp function;
  SmallVector<uintptr_t> text;
  SmallVector<Place> places;
  SmallVector<TypedAttr> numbers; ///< what is at the places: of a vector whose
                                  ///< elements are one number, that number
  bool hasLoops = false;          ///< places know their loops
};

/// The numbers that nests have at one place.
using Column = SmallVector<TypedAttr>;

/// Nests that one function can stand for.
struct Cluster {
  SmallVector<Nest *> members;
  llvm::BitVector differs; ///< places whose numbers are not all the same
  /// Of a place that differs: which of the different sequences of numbers it
  /// has (`refine`).
  SmallVector<unsigned> columns;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a nest is
//===----------------------------------------------------------------------===//

/// The number that `value` is known to be, or that each of its elements is.
static TypedAttr numberOf(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  if (!constant)
    return {};
  Attribute number = constant.getValue();
  if (auto vector = dyn_cast<DenseElementsAttr>(number);
      vector && vector.isSplat())
    number = vector.getSplatValue<Attribute>();
  Type type = getElementTypeOrSelf(value);
  // Of an i64 the attribute may be an index.
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return isa<IntegerType>(type)
               ? IntegerAttr::get(type, integer.getValue().sextOrTrunc(
                                            type.getIntOrFloatBitWidth()))
               : IntegerAttr();
  auto real = dyn_cast<FloatAttr>(number);
  return real && real.getType() == type ? real : FloatAttr();
}

static bool isTimesZero(OpOperand &operand) {
  auto product = dyn_cast<LLVM::MulOp>(operand.getOwner());
  TypedAttr other = product && operand.getOperandNumber() == 1
                        ? numberOf(product.getLhs())
                        : TypedAttr();
  return other && cast<IntegerAttr>(other).getValue().isZero();
}

/// For each block of an innermost loop that loop's header.
static llvm::DenseMap<Block *, Block *>
findInnermostLoops(LLVM::LLVMFuncOp function) {
  llvm::DenseMap<Block *, Block *> found;
  if (function.getBody().hasOneBlock())
    return found;
  DominanceInfo dominance(function);
  CFGLoopInfo loops(dominance.getDomTree(&function.getBody()));
  for (Block &block : function.getBody())
    if (CFGLoop *loop = loops.getLoopFor(&block); loop && loop->isInnermost())
      found[&block] = loop->getHeader();
  return found;
}

/// Lets places know their loops, which takes longer than all of the text: what
/// is compared with no other nest needs none.
static void findLoops(Nest &nest) {
  if (std::exchange(nest.hasLoops, true))
    return;
  auto loops = findInnermostLoops(nest.function);
  for (Place &place : nest.places)
    place.loop = loops.lookup(place.operand->getOwner()->getBlock());
}

/// In a text: any number, and one that does not matter.
static constexpr uintptr_t kNumber = UINTPTR_MAX, kNothing = UINTPTR_MAX - 1;

/// At an argument whose memory is reached through no other one: functions that
/// differ in it are one where nobody counts on it.
static constexpr StringLiteral kNoAlias = "llvm.noalias";

static void describe(Nest &nest) {
  auto put = [&](const void *pointer) {
    nest.text.push_back(reinterpret_cast<uintptr_t>(pointer));
  };
  auto putAttr = [&](NamedAttribute attr) {
    put(attr.getName().getAsOpaquePointer());
    put(attr.getValue().getAsOpaquePointer());
  };
  for (NamedAttribute attr : nest.function->getAttrs())
    if (attr.getName() != SymbolTable::getSymbolAttrName() &&
        attr.getName() != nest.function.getArgAttrsAttrName())
      putAttr(attr);
  for (unsigned k : llvm::seq(nest.function.getNumArguments()))
    for (NamedAttribute attr :
         function_interface_impl::getArgAttrs(nest.function, k))
      if (attr.getName() != kNoAlias) {
        nest.text.push_back(k);
        putAttr(attr);
      }
  llvm::DenseMap<Value, uintptr_t> values;
  llvm::DenseMap<Block *, uintptr_t> blocks;
  for (Block &block : nest.function.getBody()) {
    blocks[&block] = blocks.size();
    for (BlockArgument arg : block.getArguments())
      values[arg] = values.size();
    for (Operation &op : block)
      for (Value result : op.getResults())
        if (!isa<LLVM::ConstantOp>(op))
          values[result] = values.size();
  }
  for (Block &block : nest.function.getBody()) {
    nest.text.push_back(block.getNumArguments());
    for (Type type : block.getArgumentTypes())
      put(type.getAsOpaquePointer());
    for (Operation &op : block) {
      if (isa<LLVM::ConstantOp>(op))
        continue;
      put(op.getName().getAsOpaquePointer());
      put(op.getAttrDictionary().getAsOpaquePointer());
      nest.text.append({op.getNumResults(), op.getNumOperands()});
      for (Type type : op.getResultTypes())
        put(type.getAsOpaquePointer());
      for (OpOperand &operand : op.getOpOperands()) {
        if (TypedAttr number = numberOf(operand.get())) {
          put(operand.get().getType().getAsOpaquePointer());
          // What 0 is multiplied with does not matter.
          if (isTimesZero(operand)) {
            nest.text.push_back(kNothing);
            continue;
          }
          nest.places.push_back({&operand, nullptr});
          nest.numbers.push_back(number);
          nest.text.push_back(kNumber);
        } else if (auto constant =
                       operand.get().getDefiningOp<LLVM::ConstantOp>()) {
          put(operand.get().getType().getAsOpaquePointer());
          put(constant.getValue().getAsOpaquePointer());
        } else {
          nest.text.push_back(values.lookup(operand.get()));
        }
      }
      for (Block *successor : op.getSuccessors())
        nest.text.push_back(blocks.lookup(successor));
    }
  }
}

//===----------------------------------------------------------------------===//
// What may be shared
//===----------------------------------------------------------------------===//

/// True if `place` holds a bound, a distance, or another number of addresses.
static bool isOfAddresses(const Place &place) {
  return place.operand->get().getType().isInteger(64);
}

/// True if `place` may hold an argument where two nests have `a` and `b`.
static bool mayDiffer(const Place &place, TypedAttr a, TypedAttr b) {
  Operation *user = place.operand->getOwner();
  if (isa<FloatAttr>(a))
    return true;
  // Truth decides which code there is.
  if (a.getType().isInteger(1))
    return false;
  if (isa<LLVM::ICmpOp>(user))
    return !isOfAddresses(place) ||
           std::min(cast<IntegerAttr>(a).getInt(),
                    cast<IntegerAttr>(b).getInt()) >= kShortLoop;
  // Dividing by a constant is several times faster.
  if (isa<LLVM::UDivOp, LLVM::URemOp, LLVM::SDivOp, LLVM::SRemOp>(user))
    return !place.loop;
  return isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::GEPOp, LLVM::SMinOp,
             LLVM::SMaxOp, LLVM::UMinOp, LLVM::UMaxOp, LLVM::SelectOp,
             LLVM::CallOp, LLVM::StoreOp, BranchOpInterface>(user);
}

/// True for numbers that may be the sum of an argument and a constant: not
/// those of addresses, which are used in loops.
static bool mayCountOn(TypedAttr number) {
  Type type = number.getType();
  return type.isInteger() && !type.isInteger(64) && !type.isInteger(1);
}

/// `number` for a comparison with the numbers of other nests at its place: the
/// distance from `first`, the first one's, if it may count on from another
/// place.
static TypedAttr fromFirst(TypedAttr number, TypedAttr first) {
  if (!mayCountOn(number))
    return number;
  return IntegerAttr::get(number.getType(),
                          cast<IntegerAttr>(number).getValue() -
                              cast<IntegerAttr>(first).getValue());
}

/// The different sequences of numbers at the places of `differs`, and for each
/// such place which of them it is, or counts on from: numbers of nodes in the
/// table of their paths are other ones in each layer, all by the same distance.
static std::pair<SmallVector<Column>, SmallVector<unsigned>>
columnsOf(ArrayRef<Nest *> members, const llvm::BitVector &differs) {
  SmallVector<Column> columns;
  SmallVector<unsigned> which;
  // Attributes are equal where their pointers are; nothing depends on the
  // pointers' order.
  std::map<SmallVector<const void *>, unsigned> known;
  for (unsigned place : differs.set_bits()) {
    Column column;
    SmallVector<const void *> key;
    for (Nest *nest : members) {
      column.push_back(nest->numbers[place]);
      key.push_back(
          fromFirst(column.back(), column.front()).getAsOpaquePointer());
    }
    // Of which type, too.
    key.push_back(column.front().getType().getAsOpaquePointer());
    auto [it, isNew] = known.try_emplace(key, columns.size());
    if (isNew)
      columns.push_back(column);
    which.push_back(it->second);
  }
  return {columns, which};
}

/// For each place of `differs` which of the different sequences of numbers it
/// has in the members of `cluster` and in `nest`, as `columnsOf` would say, but
/// from what is known of the members; nothing where they are too many.
static std::optional<SmallVector<unsigned>>
refine(const Cluster &cluster, const Nest &nest,
       const llvm::BitVector &differs) {
  const Nest &first = *cluster.members.front();
  SmallVector<unsigned> columns(first.places.size());
  // By the members' column, or the number that all of them have, and the nest's
  // number, or how far they count on.
  std::map<std::tuple<unsigned, const void *, const void *>, unsigned> known;
  for (unsigned k : differs.set_bits()) {
    bool differed = cluster.differs.test(k);
    TypedAttr number = first.numbers[k];
    const void *all = fromFirst(number, number).getAsOpaquePointer();
    auto [it, isNew] = known.try_emplace(
        {differed ? cluster.columns[k] + 1 : 0, differed ? nullptr : all,
         fromFirst(nest.numbers[k], number).getAsOpaquePointer()},
        known.size());
    if (known.size() > kMaxArguments)
      return std::nullopt;
    columns[k] = it->second;
  }
  return columns;
}

/// Adds `nest` to `cluster`, if the function for all is as good as theirs.
static bool join(Cluster &cluster, Nest &nest) {
  Nest &first = *cluster.members.front();
  findLoops(first);
  llvm::BitVector differs = cluster.differs;
  llvm::DenseMap<Block *, llvm::SmallPtrSet<Operation *, 8>> inLoops;
  for (auto [k, place] : llvm::enumerate(first.places)) {
    if (first.numbers[k] != nest.numbers[k]) {
      if (!mayDiffer(place, first.numbers[k], nest.numbers[k]))
        return false;
      differs.set(k);
    }
    Operation *user = place.operand->getOwner();
    if (!differs.test(k) || !place.loop || isa<LLVM::ICmpOp>(user) ||
        !isOfAddresses(place))
      continue;
    auto &users = inLoops[place.loop];
    users.insert(user);
    if (users.size() > kMaxInLoop)
      return false;
  }
  auto columns = refine(cluster, nest, differs);
  if (!columns)
    return false;
  cluster.members.push_back(&nest);
  cluster.differs = std::move(differs);
  cluster.columns = std::move(*columns);
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Takes the arguments away that `function` does not read: most of what
/// describes a buffer of fixed shape.
static unsigned dropUnusedArguments(LLVM::LLVMFuncOp function,
                                    ArrayRef<LLVM::CallOp> calls) {
  Builder b(function.getContext());
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument arg : function.getArguments())
    if (arg.use_empty())
      unused.set(arg.getArgNumber());
  if (unused.none())
    return 0;
  // Not eraseArguments(): it does not know functions without result.
  SmallVector<Type> params;
  SmallVector<DictionaryAttr> attrs, kept;
  function.getAllArgAttrs(attrs);
  for (auto [k, type] : llvm::enumerate(function.getFunctionType().getParams()))
    if (!unused.test(k)) {
      params.push_back(type);
      kept.push_back(attrs.empty() ? b.getDictionaryAttr({}) : attrs[k]);
    }
  function.getBody().front().eraseArguments(unused);
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      function.getFunctionType().getReturnType(), params));
  function.setAllArgAttrs(kept);
  SmallVector<Value> dead;
  for (LLVM::CallOp call : calls) {
    MutableOperandRange operands = call.getCalleeOperandsMutable();
    for (unsigned k = unused.size(); k-- > 0;)
      if (unused.test(k)) {
        dead.push_back(operands[k].get());
        operands.erase(k);
      }
  }
  eraseDead(std::move(dead));
  return unused.count();
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

/// Gives `function` an argument more for each of `columns`; returns them.
static SmallVector<Value> addArguments(LLVM::LLVMFuncOp function,
                                       ArrayRef<Column> columns) {
  auto type = function.getFunctionType();
  SmallVector<Type> params(type.getParams());
  SmallVector<DictionaryAttr> attrs;
  function.getAllArgAttrs(attrs);
  SmallVector<Value> arguments;
  for (const Column &column : columns) {
    params.push_back(column.front().getType());
    attrs.push_back(DictionaryAttr::get(function.getContext()));
    arguments.push_back(
        function.getBody().addArgument(params.back(), function.getLoc()));
  }
  function.setFunctionType(
      LLVM::LLVMFunctionType::get(type.getReturnType(), params));
  function.setAllArgAttrs(attrs);
  return arguments;
}

/// `argument` as all elements of a `type`, if that is a vector: made where the
/// function begins.
static Value broadcast(Value argument, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return argument;
  for (Operation *user : argument.getUsers())
    if (auto insert = dyn_cast<LLVM::InsertElementOp>(user))
      for (Operation *made : insert->getUsers())
        if (isa<LLVM::ShuffleVectorOp>(made) &&
            made->getResult(0).getType() == type)
          return made->getResult(0);
  Location loc = argument.getLoc();
  OpBuilder b(argument.getContext());
  b.setInsertionPointAfterValue(argument);
  Value none = LLVM::PoisonOp::create(b, loc, type);
  Value zero =
      LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  Value first =
      LLVM::InsertElementOp::create(b, loc, type, none, argument, zero);
  SmallVector<int32_t> lanes(vector.getNumElements(), 0);
  return LLVM::ShuffleVectorOp::create(b, loc, first, none, lanes);
}

/// The number at a place of the first of the nests, which it has as `number`,
/// where `argument` stands for `counted`.
static Value countOn(Value argument, TypedAttr counted, TypedAttr number) {
  if (counted == number)
    return argument;
  OpBuilder b(argument.getContext());
  b.setInsertionPointAfterValue(argument);
  Location loc = argument.getLoc();
  Value distance = LLVM::ConstantOp::create(b, loc, number.getType(),
                                            fromFirst(number, counted));
  return LLVM::AddOp::create(b, loc, argument, distance);
}

namespace {
/// A function that may change, since all that uses it is known.
struct Callee {
  LLVM::LLVMFuncOp function;
  /// What calls it directly, with each of its arguments.
  SmallVector<LLVM::CallOp> calls;
  /// The calls of loopc_rt_parallel_for that share it out.
  SmallVector<LLVM::CallOp> sharedOut;
};
} // namespace

/// What one of `members` may not count on no function for all may.
static void keepCommonNoAlias(ArrayRef<Nest *> members) {
  LLVM::LLVMFuncOp function = members.front()->function;
  for (unsigned k : llvm::seq(function.getNumArguments()))
    if (llvm::any_of(members, [&](Nest *nest) {
          return !nest->function.getArgAttr(k, kNoAlias);
        }))
      function.removeArgAttr(k, kNoAlias);
}

/// The functions of `cluster` become the first of them.
static void share(const Cluster &cluster, llvm::StringMap<Callee> &callees) {
  auto [columns, which] = columnsOf(cluster.members, cluster.differs);
  LLVM::LLVMFuncOp function = cluster.members.front()->function;
  keepCommonNoAlias(cluster.members);
  SmallVector<Value> arguments = addArguments(function, columns);
  for (auto [place, column] :
       llvm::zip_equal(cluster.differs.set_bits(), which)) {
    Nest &first = *cluster.members.front();
    OpOperand *operand = first.places[place].operand;
    Value number = countOn(arguments[column], columns[column].front(),
                           first.numbers[place]);
    operand->set(broadcast(number, operand->get().getType()));
  }
  for (auto [k, nest] : llvm::enumerate(cluster.members))
    for (LLVM::CallOp call : callees[nest->function.getSymName()].calls) {
      OpBuilder b(call);
      for (const Column &column : columns)
        call.getCalleeOperandsMutable().append(
            LLVM::ConstantOp::create(b, call.getLoc(), column[k].getType(),
                                     column[k])
                .getResult());
      call.setCallee(function.getSymName());
    }
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// What shares a nest out.
static bool isParallelFor(LLVM::CallOp call) {
  return call.getCallee() && getRuntimeEffects(*call.getCallee()).sharesWork;
}

/// Adds `nest` to `cluster`, if numbers that it hands on are all that differs.
static bool joinPiece(Cluster &cluster, Nest &nest) {
  Nest &first = *cluster.members.front();
  llvm::BitVector differs = cluster.differs;
  for (auto [k, place] : llvm::enumerate(first.places)) {
    if (first.numbers[k] == nest.numbers[k])
      continue;
    if (!isa<LLVM::CallOp>(place.operand->getOwner()) ||
        isa<VectorType>(place.operand->get().getType()))
      return false;
    differs.set(k);
  }
  cluster.members.push_back(&nest);
  cluster.differs = std::move(differs);
  return true;
}

/// The pieces of `cluster` become one, which finds what differs in its context.
static void sharePiece(const Cluster &cluster,
                       llvm::StringMap<Callee> &callees) {
  auto [columns, which] = columnsOf(cluster.members, cluster.differs);
  Nest &first = *cluster.members.front();
  SmallVector<Type> types;
  for (const Column &column : columns)
    types.push_back(column.front().getType());
  SmallVector<Value> read =
      readMore(first.function,
               callees[first.function.getSymName()].sharedOut.front(), types);
  for (auto [place, column] :
       llvm::zip_equal(cluster.differs.set_bits(), which))
    first.places[place].operand->set(
        countOn(read[column], columns[column].front(), first.numbers[place]));
  for (auto [k, piece] : llvm::enumerate(cluster.members)) {
    SmallVector<TypedAttr> numbers;
    for (const Column &column : columns)
      numbers.push_back(column[k]);
    for (LLVM::CallOp call : callees[piece->function.getSymName()].sharedOut)
      handMore(call, first.function, numbers);
  }
}

//===----------------------------------------------------------------------===//
// Which functions there are
//===----------------------------------------------------------------------===//

/// True for a function whose signature and body this pass understands, if all
/// users are known, too.
static bool canChange(LLVM::LLVMFuncOp function) {
  if (function.isExternal() || function.isVarArg() ||
      function.getLinkage() != LLVM::Linkage::Internal)
    return false;
  // What a description does not tell of: regions.
  return llvm::all_of(function.getBody(), [](Block &block) {
    return llvm::all_of(block,
                        [](Operation &op) { return op.getNumRegions() == 0; });
  });
}

/// True if `call` is nothing but a call with arguments: operands may be taken
/// away and added.
static bool isPlainCall(LLVM::CallOp call) {
  return !call.getArgAttrsAttr() && !call.getVarCalleeType() &&
         call.getOpBundleOperands().empty() &&
         call.getTailCallKind() != LLVM::tailcallkind::TailCallKind::MustTail;
}

/// True if each user of `address` is a call of loopc_rt_parallel_for that
/// shares the function out; these are added to `calls`.
static bool isOnlySharedOut(LLVM::AddressOfOp address,
                            SmallVectorImpl<LLVM::CallOp> &calls) {
  if (address.use_empty())
    return false;
  for (OpOperand &use : address->getUses()) {
    auto call = dyn_cast<LLVM::CallOp>(use.getOwner());
    if (!call || !isParallelFor(call) || !isPlainCall(call) ||
        use.getOperandNumber() != 3)
      return false;
    calls.push_back(call);
  }
  return true;
}

/// Calls `visit` with each reference to a symbol in `region`. MLIR's
/// SymbolTable::getSymbolUses makes a dictionary of the attributes of every
/// operation; of LLVM's dialect these have symbols.
static void
forEachSymbol(Region &region,
              llvm::function_ref<void(Operation *, SymbolRefAttr)> visit) {
  region.walk([&](Operation *op) {
    if (isa<LLVM::LLVMDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
        !isa<SymbolUserOpInterface, CallOpInterface>(op))
      return;
    op->getAttrDictionary().walk<WalkOrder::PreOrder>(
        [&](SymbolRefAttr symbol) {
          visit(op, symbol);
          return WalkResult::skip();
        });
  });
}

/// The functions of `module` that may change, with all that uses them.
static llvm::StringMap<Callee> collectCallees(ModuleOp module) {
  llvm::StringMap<Callee> callees;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (canChange(function))
      callees[function.getSymName()].function = function;
  forEachSymbol(
      module.getBodyRegion(), [&](Operation *user, SymbolRefAttr symbol) {
        auto it = callees.find(symbol.getRootReference());
        if (it == callees.end())
          return;
        auto call = dyn_cast<LLVM::CallOp>(user);
        auto address = dyn_cast<LLVM::AddressOfOp>(user);
        if (call && isPlainCall(call) && call.getCalleeAttr() == symbol)
          it->second.calls.push_back(call);
        else if (!address || !isOnlySharedOut(address, it->second.sharedOut))
          callees.erase(it);
      });
  return callees;
}

/// The functions of `module` in levels: all that a function refers to is in
/// levels before its own. Functions of one level are in the order of their
/// names, shorter ones first. Recursive functions, and what refers to them,
/// are in none.
static SmallVector<SmallVector<LLVM::LLVMFuncOp>> findLevels(ModuleOp module) {
  llvm::StringMap<LLVM::LLVMFuncOp> functions;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    functions[function.getSymName()] = function;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> users;
  llvm::DenseMap<Operation *, unsigned> open;
  SmallVector<LLVM::LLVMFuncOp> level;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    unsigned &count = open[function];
    llvm::SmallPtrSet<Operation *, 8> seen;
    forEachSymbol(function.getBody(), [&](Operation *, SymbolRefAttr symbol) {
      Operation *used = functions.lookup(symbol.getRootReference());
      if (!used || !seen.insert(used).second)
        return;
      users[used].push_back(function);
      ++count;
    });
    if (count == 0)
      level.push_back(function);
  }
  SmallVector<SmallVector<LLVM::LLVMFuncOp>> levels;
  while (!level.empty()) {
    llvm::sort(level, [](LLVM::LLVMFuncOp one, LLVM::LLVMFuncOp other) {
      StringRef a = one.getSymName(), b = other.getSymName();
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    SmallVector<LLVM::LLVMFuncOp> next;
    for (LLVM::LLVMFuncOp function : level)
      for (Operation *user : users[function])
        if (--open[user] == 0)
          next.push_back(cast<LLVM::LLVMFuncOp>(user));
    levels.push_back(std::move(level));
    level = std::move(next);
  }
  return levels;
}

/// Nests of which one function can stand for several, as `join` decides, in the
/// order of the first of each.
static SmallVector<Cluster>
findClusters(MutableArrayRef<Nest> nests,
             llvm::function_ref<bool(Cluster &, Nest &)> join) {
  std::map<SmallVector<uintptr_t>, SmallVector<size_t>> groups;
  SmallVector<Cluster> found;
  if (!nests.empty())
    parallelForEach(nests.front().function.getContext(), nests, describe);
  for (Nest &nest : nests) {
    SmallVector<size_t> &group = groups[nest.text];
    if (llvm::any_of(group, [&](size_t k) { return join(found[k], nest); }))
      continue;
    group.push_back(found.size());
    found.push_back({{&nest}, llvm::BitVector(nest.places.size()), {}});
  }
  llvm::erase_if(found, [](const Cluster &cluster) {
    return cluster.members.size() == 1;
  });
  return found;
}

namespace {
struct ShareNests : loopc::impl::ShareNestsBase<ShareNests> {
  using ShareNestsBase::ShareNestsBase;

  void runOnOperation() override {
    llvm::StringMap<Callee> callees = collectCallees(getOperation());
    SmallVector<LLVM::LLVMFuncOp> dead;
    for (ArrayRef<LLVM::LLVMFuncOp> level : findLevels(getOperation()))
      runOnLevel(level, callees, dead);
    for (LLVM::LLVMFuncOp function : dead)
      function.erase();
  }

private:
  /// Shares functions of which none refers to another, and whose callees have
  /// been visited. Those that are not needed any more go to `dead`.
  void runOnLevel(ArrayRef<LLVM::LLVMFuncOp> level,
                  llvm::StringMap<Callee> &callees,
                  SmallVectorImpl<LLVM::LLVMFuncOp> &dead) {
    SmallVector<Nest> nests, pieces;
    for (LLVM::LLVMFuncOp function : level) {
      auto it = callees.find(function.getSymName());
      if (it == callees.end())
        continue;
      Callee &callee = it->second;
      if (callee.sharedOut.empty()) {
        if (!function->hasAttr(kOutlinedAttrName))
          continue;
        numDropped += dropUnusedArguments(function, callee.calls);
        nests.push_back({function, {}, {}, {}, false});
      } else if (callee.calls.empty()) {
        dropUnreadFields(callee.sharedOut);
        if (canHandMore(function, callee.sharedOut))
          pieces.push_back({function, {}, {}, {}, false});
      }
    }
    auto finish = [&](const Cluster &cluster) {
      numShared += cluster.members.size() - 1;
      for (Nest *member : llvm::drop_begin(cluster.members))
        dead.push_back(member->function);
    };
    for (const Cluster &cluster : findClusters(nests, join)) {
      share(cluster, callees);
      finish(cluster);
    }
    for (const Cluster &cluster : findClusters(pieces, joinPiece)) {
      sharePiece(cluster, callees);
      finish(cluster);
    }
  }
};
} // namespace
