//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// convert-loop-runtime-to-llvm: what the runtime does for a model. Allocation
// and release of buffers, lists, checks, polls and large constants, in
// functions that are given the run (`!rt.run`) and whose result is a status.

#include "CustomCalls.h"
#include "FlatMemRef.h"
#include "loopc/Conversion/ToLLVM/BufferBytes.h"
#include "loopc/Conversion/ToLLVM/Passes.h"
#include "loopc/Dialect/List/IR/List.h"
#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Dialect/Loopc/IR/Loopc.h"
#include "loopc/Dialect/Loopc/IR/Outputs.h"
#include "loopc/Dialect/Nest/Analysis/Bounds.h"
#include "loopc/Dialect/Nest/Transforms/Outlining.h"
#include "loopc/Dialect/RT/IR/RT.h"
#include "loopc/Dialect/RT/IR/TypeConversion.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "loopc/Support/Diagnostics.h"
#include "loopc/Support/Messages.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace loopc {
#define GEN_PASS_DEF_CONVERTLOOPRUNTIMETOLLVM
#include "loopc/Conversion/ToLLVM/Passes.h.inc"
} // namespace loopc

using namespace mlir;
using namespace loopc;

/// True for a buffer that is freed in the run: it is not handed out. Other
/// memory may be an output.
static bool isScratch(memref::AllocOp alloc) {
  if (!namesPlace(alloc))
    return false;
  return alloc->hasAttr(kScratchAttrName) ||
         llvm::any_of(alloc->getUsers(), llvm::IsaPred<memref::DeallocOp>);
}

/// Of a path in a message; a message has a kilobyte in all.
static constexpr size_t kLongestPath = 500;

namespace {
/// Paths of nodes by number, in the format of loopc_rt_locate(): of each only
/// what it has not in common with the one before it.
class PlaceTable {
public:
  int32_t getNumber(Location loc) {
    // What follows a zero would be read as the next path, and the message needs
    // room.
    std::string whole = locationPath(loc);
    std::string path = elideMiddle(whole.c_str(), kLongestPath);
    auto [it, isNew] = numbers.try_emplace(path, numbers.size());
    if (isNew) {
      auto count = [](StringRef a, StringRef b) {
        size_t common = 0;
        while (common < std::min<size_t>({a.size(), b.size(), UINT8_MAX}) &&
               a[common] == b[common])
          ++common;
        return common;
      };
      size_t begin = count(path, last);
      StringRef rest = StringRef(path).drop_front(begin);
      std::string reversed(rest.rbegin(), rest.rend());
      size_t end = count(reversed, std::string(last.rbegin(), last.rend()));
      bytes.push_back(static_cast<char>(begin));
      bytes.push_back(static_cast<char>(end));
      bytes += rest.drop_back(end);
      bytes.push_back('\0');
      last = path;
    }
    return it->second;
  }

  /// Address of the table, of which finish() makes the contents.
  Value getAddress(ImplicitLocOpBuilder &b, ModuleOp module) {
    if (!table) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      table = LLVM::GlobalOp::create(
          b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/true,
          LLVM::Linkage::Private, "loopc_places", b.getStringAttr(""));
    }
    return LLVM::AddressOfOp::create(b, table);
  }

  void finish() {
    if (!table)
      return;
    Builder b(table.getContext());
    table.setGlobalType(LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()));
    table.setValueAttr(b.getStringAttr(bytes));
  }

private:
  llvm::StringMap<int32_t> numbers;
  std::string bytes, last;
  LLVM::GlobalOp table;
};

/// What is a pointer here, and had a type of its own before.
static bool isHandle(Type type) {
  return isa<list::ListType>(type) || isa<rt::RunType>(type);
}

class RuntimeLowering {
public:
  RuntimeLowering(ModuleOp module, MLIRContext *context)
      : module(module), rewriter(context), converter(context),
        pointer(LLVM::LLVMPointerType::get(context)),
        i64(rewriter.getI64Type()), i32(rewriter.getI32Type()) {}

  LogicalResult run(func::FuncOp lowered) {
    function = lowered;
    run_ = rt::findRun(function);
    if (!run_)
      return loopc::emitError(function.getLoc(), Diag::BadModule)
             << "function '" << function.getName() << "' does not take the run";
    failure_ = placedFailure_ = nullptr;
    status_ = view_ = nullptr;
    makeHandles(function);
    makeHandlesOfType();
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      auto done =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case([&](rt::CallOp call) { return lower(call); })
              .Case<memref::AllocOp, memref::DeallocOp, loop::CheckOp,
                    loop::PollOp, list::EmptyOp, list::InsertOp, list::EraseOp,
                    list::LengthOp, list::AtOp, list::RetainOp, list::ReleaseOp,
                    rt::StringOp, rt::StringPartsOp, rt::RandomStreamOp,
                    rt::FourierOp, rt::CustomOp>([&](auto other) {
                lower(other);
                return success();
              })
              .Default(success());
      if (failed(done))
        return failure();
    }
    return success();
  }

  /// Lists and the run are pointers.
  void makeHandles(FunctionOpInterface function) {
    auto retype = [&](Value value) {
      if (isHandle(value.getType()))
        value.setType(pointer);
    };
    SmallVector<UnrealizedConversionCastOp> casts;
    function.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), retype);
      if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
        casts.push_back(cast);
    });
    for (Block &block : function.getFunctionBody())
      llvm::for_each(block.getArguments(), retype);
    for (UnrealizedConversionCastOp cast : casts)
      if (cast.getNumOperands() == 1 && cast.getNumResults() == 1 &&
          cast.getOperand(0).getType() == cast.getResult(0).getType()) {
        cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
        cast.erase();
      }
  }

  /// To be called behind the last function.
  void finish() { places.finish(); }

private:
  LLVM::LLVMFuncOp declare(StringRef name) {
    // To look a symbol up is to go through the module.
    LLVM::LLVMFuncOp &declared = runtime[name];
    if (!declared)
      declared = declareRuntimeFunction(module, name);
    return declared;
  }

  /// The block that returns a non-zero status; the error is recorded already.
  Block *failureBlock() {
    if (failure_)
      return failure_;
    OpBuilder::InsertionGuard guard(rewriter);
    failure_ =
        rewriter.createBlock(&function.getBody(), function.getBody().end());
    ImplicitLocOpBuilder b(function.getLoc(), rewriter);
    SmallVector<Value> results{LLVM::ConstantOp::create(b, i32, 1)};
    // Who called ends, too, and reads nothing else.
    for (Type type : function.getResultTypes().drop_front()) {
      Type converted = converter.convertType(type);
      Value none = LLVM::PoisonOp::create(b, converted);
      if (converted != type)
        none = UnrealizedConversionCastOp::create(b, type, none).getResult(0);
      results.push_back(none);
    }
    func::ReturnOp::create(b, results);
    return failure_;
  }

  /// The block that says where memory ran out, by the number of the place in
  /// the module's table, and ends the run.
  Block *placedFailureBlock() {
    if (placedFailure_)
      return placedFailure_;
    OpBuilder::InsertionGuard guard(rewriter);
    Block *ending = failureBlock();
    placedFailure_ =
        rewriter.createBlock(&function.getBody(), function.getBody().end(),
                             {i32}, {function.getLoc()});
    ImplicitLocOpBuilder b(function.getLoc(), rewriter);
    LLVM::CallOp::create(b, declare("loopc_rt_locate"),
                         ValueRange{run_, places.getAddress(b, module),
                                    placedFailure_->getArgument(0)});
    cf::BranchOp::create(b, ending);
    return placedFailure_;
  }

  Value isZero(ImplicitLocOpBuilder &b, Value status) {
    Value zero = LLVM::ConstantOp::create(b, i32, 0);
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, status, zero);
  }

  /// Ends the block before `op`: goes on at `op` where `ok`, else to `target`.
  void branchUnless(Value ok, Operation *op, Block *target,
                    ValueRange arguments = {}) {
    Block *block = op->getBlock();
    Block *rest = rewriter.splitBlock(block, Block::iterator(op));
    rewriter.setInsertionPointToEnd(block);
    auto branch = cf::CondBranchOp::create(rewriter, op->getLoc(), ok, rest,
                                           ValueRange(), target, arguments);
    branch.setWeights(ArrayRef<int32_t>{2000, 1});
    rewriter.setInsertionPoint(op);
  }

  /// The same for what fails where there is no memory.
  void branchUnlessObtained(Value ok, Operation *op) {
    Value place = LLVM::ConstantOp::create(rewriter, op->getLoc(), i32,
                                           places.getNumber(op->getLoc()));
    branchUnless(ok, op, placedFailureBlock(), place);
  }

  Value toI64(Location loc, Value value) {
    Type type = value.getType();
    if (type.isIndex())
      return UnrealizedConversionCastOp::create(rewriter, loc, i64, value)
          .getResult(0);
    if (type == i64)
      return value;
    return LLVM::SExtOp::create(rewriter, loc, i64, value);
  }

  /// Ends the run where an extent of `alloc` is negative. The node that makes
  /// it so checks it, too; but a buffer that was moved in front of a loop
  /// stands before the checks of the loop's body.
  void checkExtents(memref::AllocOp alloc) {
    ImplicitLocOpBuilder b(alloc.getLoc(), rewriter);
    Value signs;
    for (Value size : alloc.getDynamicSizes())
      if (!isNonNegative(size)) {
        Value bits = toI64(alloc.getLoc(), size);
        signs = signs ? Value(LLVM::OrOp::create(b, signs, bits)) : bits;
      }
    if (!signs)
      return;
    std::string shape;
    for (int64_t extent : alloc.getType().getShape())
      shape += (shape.empty() ? "" : ", ") + (ShapedType::isDynamic(extent)
                                                  ? std::string("{}")
                                                  : std::to_string(extent));
    Value zero = LLVM::ConstantOp::create(b, i64, 0);
    Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, signs, zero);
    auto check = loop::CheckOp::create(
        b, ok,
        b.getStringAttr(locationPath(alloc.getLoc()) +
                        ": an extent is less than 0 in the shape [" + shape +
                        "]"),
        alloc.getDynamicSizes(), Value());
    lower(check);
    rewriter.setInsertionPoint(alloc);
  }

  /// Memory for `alloc`, of these extents and `bytes` bytes, or null.
  Value obtainMemory(ImplicitLocOpBuilder &b, memref::AllocOp alloc,
                     ArrayRef<Value> sizes, Value bytes) {
    auto output = alloc->getAttrOfType<ArrayAttr>(kOutputAttrName);
    if (!output)
      return call(
          b, isScratch(alloc) ? "loopc_rt_alloc_scratch" : "loopc_rt_alloc",
          {run_, bytes});
    AffineMap map = cast<AffineMapAttr>(output[1]).getValue();
    auto type = LLVM::LLVMArrayType::get(i64, map.getNumResults());
    Value shape;
    slotFor(shape, type);
    for (auto [k, extent] : llvm::enumerate(map.getResults())) {
      Value value;
      if (auto constant = dyn_cast<AffineConstantExpr>(extent))
        value = LLVM::ConstantOp::create(b, i64, constant.getValue());
      else
        value = sizes[cast<AffineDimExpr>(extent).getPosition()];
      Value place = LLVM::GEPOp::create(b, pointer, type, shape,
                                        ArrayRef<LLVM::GEPArg>{0, int32_t(k)});
      LLVM::StoreOp::create(b, value, place);
    }
    Value number =
        LLVM::ConstantOp::create(b, i64, cast<IntegerAttr>(output[0]).getInt());
    Value rank = LLVM::ConstantOp::create(b, i64, map.getNumResults());
    return call(b, "loopc_rt_alloc_output", {run_, bytes, number, shape, rank});
  }

  void lower(memref::AllocOp alloc) {
    checkExtents(alloc);
    ImplicitLocOpBuilder b(alloc.getLoc(), rewriter);
    MemRefType type = alloc.getType();
    // Sizes and, from the last axis on, strides; then the bytes.
    SmallVector<Value> sizes, strides(type.getRank());
    unsigned dynamic = 0;
    for (int64_t extent : type.getShape())
      sizes.push_back(
          ShapedType::isDynamic(extent)
              ? toI64(alloc.getLoc(), alloc.getDynamicSizes()[dynamic++])
              : Value(LLVM::ConstantOp::create(b, i64, extent)));
    Value stride = LLVM::ConstantOp::create(b, i64, 1);
    for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
      strides[axis] = stride;
      stride = axis == type.getRank() - 1
                   ? sizes[axis]
                   : Value(LLVM::MulOp::create(b, stride, sizes[axis]));
    }
    Value bytes = countBufferBytes(b, type, sizes);
    Value memory = obtainMemory(b, alloc, sizes, bytes);
    Value null = LLVM::ZeroOp::create(b, pointer);
    Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, memory, null);
    // Where a small buffer finds no memory it is not to blame.
    if (!namesPlace(alloc))
      branchUnless(ok, alloc, failureBlock());
    else
      branchUnlessObtained(ok, alloc);
    b.setInsertionPoint(alloc);
    auto descriptor = MemRefDescriptor::poison(b, alloc.getLoc(),
                                               converter.convertType(type));
    descriptor.setAllocatedPtr(b, alloc.getLoc(), memory);
    descriptor.setAlignedPtr(b, alloc.getLoc(), memory);
    descriptor.setConstantOffset(b, alloc.getLoc(), 0);
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      descriptor.setSize(b, alloc.getLoc(), axis, sizes[axis]);
      descriptor.setStride(b, alloc.getLoc(), axis, strides[axis]);
    }
    rewriter.replaceOp(
        alloc, UnrealizedConversionCastOp::create(b, type, Value(descriptor))
                   .getResults());
  }

  void lower(memref::DeallocOp dealloc) {
    ImplicitLocOpBuilder b(dealloc.getLoc(), rewriter);
    Type type = converter.convertType(dealloc.getMemref().getType());
    Value cast =
        UnrealizedConversionCastOp::create(b, type, dealloc.getMemref())
            .getResult(0);
    Value memory = MemRefDescriptor(cast).allocatedPtr(b, dealloc.getLoc());
    LLVM::LLVMFuncOp fn = declare("loopc_rt_free");
    LLVM::CallOp::create(b, fn, ValueRange{run_, memory});
    rewriter.eraseOp(dealloc);
  }

  /// Address of a constant string, terminated.
  Value stringAddress(ImplicitLocOpBuilder &b, StringRef text) {
    auto [it, isNew] = strings.try_emplace(text, LLVM::GlobalOp());
    if (isNew) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      std::string bytes = text.str();
      bytes.push_back('\0');
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
      it->second = LLVM::GlobalOp::create(
          b, type, /*isConstant=*/true, LLVM::Linkage::Private,
          ("loopc_message_" + Twine(strings.size() - 1)).str(),
          b.getStringAttr(bytes));
    }
    return LLVM::AddressOfOp::create(b, it->second);
  }

  /// Ends the run where a condition does not hold: a lowering's, or one that a
  /// front end left to the run (if_cond, loop_m, loop_cond).
  void lower(loop::CheckOp check) {
    Location loc = check.getLoc();
    OpBuilder::InsertionGuard guard(rewriter);
    Block *failing =
        rewriter.createBlock(&function.getBody(), function.getBody().end());
    ImplicitLocOpBuilder b(loc, rewriter);
    // The path of the node that checks goes by its number: the code of layers
    // that are equal otherwise differs in numbers alone.
    StringRef text = check.getMessage();
    std::string path = locationPath(loc);
    bool isPlaced = path.size() <= kLongestPath && text.consume_front(path) &&
                    text.consume_front(": ");
    SmallVector<Value> arguments{run_};
    if (isPlaced)
      arguments.append(
          {places.getAddress(b, module),
           LLVM::ConstantOp::create(b, i32, places.getNumber(loc))});
    else
      text = check.getMessage();
    arguments.push_back(stringAddress(b, text));
    Value iteration =
        check.getIteration()
            ? toI64(loc, check.getIteration())
            : Value(LLVM::ConstantOp::create(b, i64, int64_t(-1)));
    Value count =
        LLVM::ConstantOp::create(b, i64, int64_t(check.getValues().size()));
    Value values = LLVM::ZeroOp::create(b, pointer);
    if (!check.getValues().empty())
      values = LLVM::AllocaOp::create(b, pointer, i64, count);
    for (auto [k, value] : llvm::enumerate(check.getValues())) {
      Value slot = LLVM::GEPOp::create(b, pointer, i64, values,
                                       ArrayRef<LLVM::GEPArg>{int32_t(k)});
      LLVM::StoreOp::create(b, toI64(loc, value), slot);
    }
    arguments.append({iteration, values, count});
    Value status =
        LLVM::CallOp::create(
            b, declare(isPlaced ? "loopc_rt_fail_at" : "loopc_rt_fail"),
            arguments)
            .getResult();
    if (function.getNumResults() == 1)
      func::ReturnOp::create(b, status);
    else
      cf::BranchOp::create(b, failureBlock());
    branchUnless(check.getCondition(), check, failing);
    rewriter.eraseOp(check);
  }

  /// `value` as the LLVM type of the same meaning.
  Value toLLVM(ImplicitLocOpBuilder &b, Value value) {
    Type type = converter.convertType(value.getType());
    if (type == value.getType())
      return value;
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  }

  void replace(ImplicitLocOpBuilder &b, Value old, Value value) {
    if (value.getType() != old.getType())
      value = UnrealizedConversionCastOp::create(b, old.getType(), value)
                  .getResult(0);
    old.replaceAllUsesWith(value);
  }

  void lower(rt::StringOp string) {
    ImplicitLocOpBuilder b(string.getLoc(), rewriter);
    Value pair =
        LLVM::PoisonOp::create(b, converter.convertType(string.getType()));
    pair = LLVM::InsertValueOp::create(b, pair, string.getAddress(),
                                       ArrayRef<int64_t>{0});
    pair = LLVM::InsertValueOp::create(b, pair, string.getBytes(),
                                       ArrayRef<int64_t>{1});
    replace(b, string, pair);
    rewriter.eraseOp(string);
  }

  void lower(rt::StringPartsOp parts) {
    ImplicitLocOpBuilder b(parts.getLoc(), rewriter);
    Value pair = toLLVM(b, parts.getString());
    for (auto [k, part] : llvm::enumerate(parts.getResults()))
      part.replaceAllUsesWith(LLVM::ExtractValueOp::create(
          b, pair, ArrayRef<int64_t>{static_cast<int64_t>(k)}));
    rewriter.eraseOp(parts);
  }

  /// A string goes as two arguments and comes back as the pair of registers
  /// that C returns a struct of two words in.
  LogicalResult lower(rt::CallOp call) {
    ImplicitLocOpBuilder b(call.getLoc(), rewriter);
    SmallVector<Value> arguments = {run_};
    for (Value operand : call.getArguments()) {
      Value value = toLLVM(b, operand);
      if (!isa<rt::StringType>(operand.getType())) {
        arguments.push_back(value);
        continue;
      }
      Value address =
          LLVM::ExtractValueOp::create(b, value, ArrayRef<int64_t>{0});
      arguments.push_back(LLVM::IntToPtrOp::create(b, pointer, address));
      arguments.push_back(
          LLVM::ExtractValueOp::create(b, value, ArrayRef<int64_t>{1}));
    }
    if (std::optional<StringRef> where = call.getWhere())
      arguments.push_back(stringAddress(b, *where));
    auto wanted = LLVM::LLVMFunctionType::get(
        converter.convertType(call.getType()),
        llvm::map_to_vector(arguments,
                            [](Value value) { return value.getType(); }));
    auto known = getRuntimeFunctionType(b.getContext(), call.getCallee());
    if (known != wanted)
      return loopc::emitError(call.getLoc(), Diag::BadModule)
             << "the runtime has no function '" << call.getCallee() << "'"
             << (known ? " of these operands and result" : "");
    LLVM::LLVMFuncOp fn = declare(call.getCallee());
    Value value = LLVM::CallOp::create(b, fn, arguments).getResult();
    replace(b, call, value);
    rewriter.eraseOp(call);
    return success();
  }

  void lower(rt::RandomStreamOp stream) {
    ImplicitLocOpBuilder b(stream.getLoc(), rewriter);
    std::optional<int64_t> seed = stream.getSeed();
    Value hasSeed = LLVM::ConstantOp::create(b, i32, int32_t(seed ? 1 : 0));
    Value value = LLVM::ConstantOp::create(b, i64, seed.value_or(0));
    LLVM::LLVMFuncOp fn = declare("loopc_rt_random_stream");
    Value number = LLVM::CallOp::create(b, fn, ValueRange{run_, hasSeed, value})
                       .getResult();
    stream.replaceAllUsesWith(number);
    rewriter.eraseOp(stream);
  }

  void lower(rt::FourierOp transform) {
    Location loc = transform.getLoc();
    ImplicitLocOpBuilder b(loc, rewriter);
    Value data = transform.getData();
    MemRefDescriptor descriptor(
        UnrealizedConversionCastOp::create(
            b, converter.convertType(data.getType()), data)
            .getResult(0));
    int64_t rank = cast<MemRefType>(data.getType()).getRank();
    Value count = LLVM::ConstantOp::create(b, i64, int64_t(1));
    for (int64_t axis = 0; axis < rank - 2; ++axis)
      count = LLVM::MulOp::create(b, count, descriptor.size(b, loc, axis));
    Value inverse =
        LLVM::ConstantOp::create(b, i32, int32_t(transform.getInverse()));
    LLVM::LLVMFuncOp fn = declare("loopc_rt_fourier");
    Value status = LLVM::CallOp::create(
                       b, fn,
                       ValueRange{run_, descriptor.alignedPtr(b, loc), count,
                                  descriptor.size(b, loc, rank - 2), inverse})
                       .getResult();
    branchUnlessObtained(isZero(b, status), transform);
    rewriter.eraseOp(transform);
  }

  void lower(rt::CustomOp custom) {
    Value status = lowerCustomCall(custom, run_, function, module, converter,
                                   numCustomGlobals);
    ImplicitLocOpBuilder b(custom.getLoc(), rewriter);
    branchUnless(isZero(b, status), custom, failureBlock());
    rewriter.eraseOp(custom);
  }

  //===--------------------------------------------------------------------===//
  // Lists
  //===--------------------------------------------------------------------===//

  /// The same of the types that the function has.
  void makeHandlesOfType() {
    SmallVector<Type> results(function.getResultTypes());
    for (Type &type : results)
      if (isHandle(type))
        type = pointer;
    function.setType(FunctionType::get(
        function.getContext(), function.front().getArgumentTypes(), results));
  }

  /// Calls `name` with these arguments; null where it returns nothing.
  Value call(ImplicitLocOpBuilder &b, StringRef name, ValueRange arguments) {
    auto made = LLVM::CallOp::create(b, declare(name), arguments);
    return made.getNumResults() ? made.getResult() : Value();
  }

  /// Memory for what a call returns beside its result, made once in a function:
  /// its first block runs once.
  Value slotFor(Value &slot, Type type) {
    if (slot)
      return slot;
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    Value one = LLVM::ConstantOp::create(b, i64, 1);
    return slot = LLVM::AllocaOp::create(b, pointer, type, one);
  }

  /// Address of the first element of a memref.
  Value address(ImplicitLocOpBuilder &b, Value memref) {
    MemRefDescriptor descriptor(toLLVM(b, memref));
    return descriptor.bufferPtr(b, b.getLoc(), converter,
                                cast<MemRefType>(memref.getType()));
  }

  void lower(list::EmptyOp empty) {
    rewriter.replaceOpWithNewOp<LLVM::ZeroOp>(empty, pointer);
  }

  void lower(list::InsertOp insert) {
    ImplicitLocOpBuilder b(insert.getLoc(), rewriter);
    Value position = toI64(b.getLoc(), insert.getPosition());
    Value element = insert.getElement().front();
    Value made;
    if (element.getType() == pointer) {
      made = call(b, "loopc_rt_list_insert_list",
                  {run_, insert.getList(), position, element});
    } else {
      Value shape = insert.getElement().back();
      auto type = cast<MemRefType>(element.getType());
      MemRefDescriptor descriptor(toLLVM(b, element));
      Value owner = LLVM::ZeroOp::create(b, pointer);
      StringRef how = insert.getElementOwner().value_or("copy");
      if (how != "copy")
        owner = descriptor.allocatedPtr(b, b.getLoc());
      if (how == "share")
        call(b, "loopc_rt_retain", {run_, owner});
      Value bytes = LLVM::MulOp::create(
          b, descriptor.size(b, b.getLoc(), 0),
          LLVM::ConstantOp::create(b, i64, getElementBytes(type)));
      Value rank = MemRefDescriptor(toLLVM(b, shape)).size(b, b.getLoc(), 0);
      made = call(b, "loopc_rt_list_insert",
                  {run_, insert.getList(), position, owner, address(b, element),
                   bytes, address(b, shape), rank});
    }
    Value null = LLVM::ZeroOp::create(b, pointer);
    Value ok = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, made, null);
    branchUnlessObtained(ok, insert);
    rewriter.replaceOp(insert, made);
  }

  void lower(list::EraseOp erase) {
    ImplicitLocOpBuilder b(erase.getLoc(), rewriter);
    Value slot = slotFor(status_, i32);
    Value position = toI64(b.getLoc(), erase.getPosition());
    Value made =
        call(b, "loopc_rt_list_erase", {run_, erase.getList(), position, slot});
    Value status = LLVM::LoadOp::create(b, i32, slot);
    branchUnlessObtained(isZero(b, status), erase);
    rewriter.replaceOp(erase, made);
  }

  void lower(list::LengthOp length) {
    ImplicitLocOpBuilder b(length.getLoc(), rewriter);
    replace(b, length, call(b, "loopc_rt_list_length", length.getList()));
    rewriter.eraseOp(length);
  }

  /// The fields of a loopc_rt_element_view.
  enum ViewField { Owner, Data, Bytes, Rank, ShapeOwner, Shape };

  void lower(list::AtOp at) {
    ImplicitLocOpBuilder b(at.getLoc(), rewriter);
    Value position = toI64(b.getLoc(), at.getPosition());
    if (at.getNumResults() == 1) {
      Value inner =
          call(b, "loopc_rt_list_at_list", {run_, at.getList(), position});
      rewriter.replaceOp(at, inner);
      return;
    }
    auto viewType = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {pointer, pointer, i64, i64, pointer, pointer});
    Value view = slotFor(view_, viewType);
    call(b, "loopc_rt_list_at", {run_, at.getList(), position, view});
    auto field = [&](ViewField k) -> Value {
      Value place = LLVM::GEPOp::create(b, pointer, viewType, view,
                                        ArrayRef<LLVM::GEPArg>{0, int32_t(k)});
      return LLVM::LoadOp::create(b, viewType.getBody()[k], place);
    };
    auto type = cast<MemRefType>(at.getResult(0).getType());
    Value size = LLVM::ConstantOp::create(b, i64, getElementBytes(type));
    Value count = LLVM::UDivOp::create(b, field(Bytes), size);
    replace(b, at.getResult(0),
            makeFlatMemRef(b, b.getLoc(), converter, type, field(Owner),
                           field(Data), count));
    replace(b, at.getResult(1),
            makeFlatMemRef(b, b.getLoc(), converter,
                           cast<MemRefType>(at.getResult(1).getType()),
                           field(ShapeOwner), field(Shape), field(Rank)));
    rewriter.eraseOp(at);
  }

  void lower(list::RetainOp retain) {
    ImplicitLocOpBuilder b(retain.getLoc(), rewriter);
    rewriter.replaceOp(
        retain, call(b, "loopc_rt_list_retain", {run_, retain.getList()}));
  }

  void lower(list::ReleaseOp release) {
    ImplicitLocOpBuilder b(release.getLoc(), rewriter);
    call(b, "loopc_rt_list_release", {run_, release.getList()});
    rewriter.eraseOp(release);
  }

  void lower(loop::PollOp poll) {
    ImplicitLocOpBuilder b(poll.getLoc(), rewriter);
    LLVM::LLVMFuncOp fn = declare("loopc_rt_poll");
    Value status = LLVM::CallOp::create(b, fn, ValueRange{run_}).getResult();
    branchUnless(isZero(b, status), poll, failureBlock());
    rewriter.eraseOp(poll);
  }

  ModuleOp module;
  func::FuncOp function; ///< that is lowered
  IRRewriter rewriter;
  rt::TypeConverter converter;
  LLVM::LLVMPointerType pointer;
  Type i64, i32;
  Value run_;
  Block *failure_ = nullptr, *placedFailure_ = nullptr;
  Value status_, view_;
  llvm::StringMap<LLVM::LLVMFuncOp> runtime;
  llvm::StringMap<LLVM::GlobalOp> strings;
  PlaceTable places;
  unsigned numCustomGlobals = 0;
};

struct ConvertLoopRuntimeToLLVM
    : loopc::impl::ConvertLoopRuntimeToLLVMBase<ConvertLoopRuntimeToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    RuntimeLowering lowering(module, &getContext());
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      // LLVM's way to say so.
      if (function->hasAttr(kOutlinedAttrName))
        function->setAttr("passthrough",
                          Builder(&getContext()).getStrArrayAttr({"noinline"}));
      if (!function.isExternal() && !function->hasAttr(kNestAttrName) &&
          failed(lowering.run(function)))
        return signalPassFailure();
    }
    // Threads begin in functions of LLVM's dialect, which hand the run on.
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      lowering.makeHandles(function);
    lowering.finish();
  }
};
} // namespace
