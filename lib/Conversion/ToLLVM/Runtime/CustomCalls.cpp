//===- CustomCalls.cpp - Calls of custom operators ------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"
#include "FlatMemRef.h"
#include "loopc-rt/custom.h"
#include "loopc/Dialect/RT/RuntimeFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace loopc;

/// DLPack's name of an element type of the model, as it lies in memory.
static int32_t getDataType(Type element) {
  unsigned code, bits;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    code = integer.getWidth() == 1 ? kDLBool
           : integer.isUnsigned()  ? kDLUInt
                                   : kDLInt;
    bits = std::max(8u, integer.getWidth());
  } else if (auto complex = dyn_cast<ComplexType>(element)) {
    code = kDLComplex;
    bits = 2 * complex.getElementType().getIntOrFloatBitWidth();
  } else if (isa<rt::StringType>(element)) {
    code = LOOPC_CUSTOM_TEXT_CODE;
    bits = LOOPC_CUSTOM_TEXT_BITS;
  } else {
    code = element.isBF16() ? kDLBfloat : kDLFloat;
    bits = element.getIntOrFloatBitWidth();
  }
  return static_cast<int32_t>(code | bits << 8 | 1u << 16);
}

namespace {
/// The fields of a loopc_custom_tensor.
enum Field { Data, Shape, Rank, Count, DType, IsGiven };

class CustomCallBuilder {
public:
  CustomCallBuilder(rt::CustomOp custom, func::FuncOp function, ModuleOp module,
                    const LLVMTypeConverter &converter, unsigned &numGlobals)
      : custom(custom), b(custom.getLoc(), custom),
        entry(ImplicitLocOpBuilder::atBlockBegin(custom.getLoc(),
                                                 &function.getBody().front())),
        module(module), converter(converter), numGlobals(numGlobals),
        pointer(LLVM::LLVMPointerType::get(b.getContext())),
        i64(b.getI64Type()), i32(b.getI32Type()),
        tensorType(LLVM::LLVMStructType::getLiteral(
            b.getContext(), {pointer, pointer, i64, i64, i32, i32})) {}

  Value build(Value run);

private:
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(b, i64, value);
  }

  /// Memory of the function's frame, made once where the call is in a loop.
  Value makeSlots(Type type, int64_t count) {
    Value n = LLVM::ConstantOp::create(entry, i64, count);
    return LLVM::AllocaOp::create(entry, pointer, type, n);
  }
  Value fieldOf(Value tensors, int64_t k, Field field) {
    return LLVM::GEPOp::create(
        b, pointer, tensorType, tensors,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(k),
                               static_cast<int32_t>(field)});
  }
  void store(Value value, Value tensors, int64_t k, Field field) {
    LLVM::StoreOp::create(b, value, fieldOf(tensors, k, field));
  }
  MemRefDescriptor descriptorOf(Value buffer) {
    Type type = converter.convertType(buffer.getType());
    return MemRefDescriptor(
        UnrealizedConversionCastOp::create(b, type, buffer).getResult(0));
  }
  Value addressOf(Value buffer) {
    return descriptorOf(buffer).bufferPtr(b, b.getLoc(), converter,
                                          cast<MemRefType>(buffer.getType()));
  }

  Value storeInputs();
  Value storeOutputs(Value &ranks);
  void storeType(Type declared, Value tensors, int64_t k);
  void replaceResults(Value outputs);
  Value makeFlat(MemRefType type, Value data, Value size);

  LLVM::GlobalOp makeGlobal(Type type, Attribute value);
  LLVM::GlobalOp makeStructs(Type element,
                             ArrayRef<SmallVector<Attribute>> rows);
  LLVM::GlobalOp makeText(StringRef text);
  LLVM::GlobalOp makeNumbers(DenseElementsAttr values);
  LLVM::GlobalOp makeTexts(ArrayRef<StringRef> texts);
  Value makeAttributes();
  SmallVector<Attribute> makeAttribute(NamedAttribute attribute);

  rt::CustomOp custom;
  ImplicitLocOpBuilder b, entry;
  ModuleOp module;
  const LLVMTypeConverter &converter;
  unsigned &numGlobals;
  Type pointer, i64, i32;
  LLVM::LLVMStructType tensorType;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

LLVM::GlobalOp CustomCallBuilder::makeGlobal(Type type, Attribute value) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::GlobalOp::create(
      b, type, /*isConstant=*/true, LLVM::Linkage::Private,
      ("loopc_custom_" + Twine(numGlobals++)).str(), value);
}

LLVM::GlobalOp CustomCallBuilder::makeText(StringRef text) {
  std::string bytes = text.str();
  bytes.push_back('\0');
  return makeGlobal(LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                    b.getStringAttr(bytes));
}

LLVM::GlobalOp CustomCallBuilder::makeNumbers(DenseElementsAttr values) {
  return makeGlobal(
      LLVM::LLVMArrayType::get(values.getElementType(), values.size()), values);
}

/// A table of structs of the type `element`, whose fields are integers or
/// addresses of globals.
LLVM::GlobalOp
CustomCallBuilder::makeStructs(Type element,
                               ArrayRef<SmallVector<Attribute>> rows) {
  auto type = LLVM::LLVMArrayType::get(element, rows.size());
  LLVM::GlobalOp global = makeGlobal(type, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  Value table = LLVM::PoisonOp::create(b, type);
  for (auto [k, row] : llvm::enumerate(rows))
    for (auto [field, value] : llvm::enumerate(row)) {
      Value made;
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value))
        made = LLVM::AddressOfOp::create(b, pointer, symbol);
      else
        made = LLVM::ConstantOp::create(b, cast<IntegerAttr>(value));
      table = LLVM::InsertValueOp::create(
          b, table, made,
          ArrayRef<int64_t>{static_cast<int64_t>(k),
                            static_cast<int64_t>(field)});
    }
  LLVM::ReturnOp::create(b, table);
  return global;
}

LLVM::GlobalOp CustomCallBuilder::makeTexts(ArrayRef<StringRef> texts) {
  SmallVector<SmallVector<Attribute>> rows;
  for (StringRef text : texts)
    rows.push_back({FlatSymbolRefAttr::get(makeText(text)),
                    b.getI64IntegerAttr(text.size())});
  return makeStructs(
      LLVM::LLVMStructType::getLiteral(b.getContext(), {pointer, i64}), rows);
}

/// The fields of a loopc_custom_attribute.
SmallVector<Attribute>
CustomCallBuilder::makeAttribute(NamedAttribute attribute) {
  Attribute value = attribute.getValue();
  auto numbers = [&](Type type, auto values) {
    // LLVM's dialect has no constant of an array without elements.
    auto all = llvm::to_vector(values);
    all.resize(std::max<size_t>(all.size(), 1));
    auto shape =
        RankedTensorType::get({static_cast<int64_t>(all.size())}, type);
    return makeNumbers(DenseElementsAttr::get(shape, ArrayRef(all)));
  };
  LLVM::GlobalOp values;
  int64_t kind, count = 1;
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    kind = LOOPC_CUSTOM_INT;
    values = numbers(i64, ArrayRef<int64_t>(integer.getInt()));
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    kind = LOOPC_CUSTOM_FLOAT;
    values = numbers(b.getF32Type(),
                     ArrayRef<float>(real.getValue().convertToFloat()));
  } else if (auto text = dyn_cast<StringAttr>(value)) {
    kind = LOOPC_CUSTOM_STRING;
    values = makeTexts(text.getValue());
  } else if (auto integers = dyn_cast<DenseI64ArrayAttr>(value)) {
    kind = LOOPC_CUSTOM_INTS;
    count = integers.size();
    values = numbers(i64, integers.asArrayRef());
  } else if (auto reals = dyn_cast<DenseF32ArrayAttr>(value)) {
    kind = LOOPC_CUSTOM_FLOATS;
    count = reals.size();
    values = numbers(b.getF32Type(), reals.asArrayRef());
  } else {
    kind = LOOPC_CUSTOM_STRINGS;
    SmallVector<StringRef> texts;
    for (Attribute one : cast<ArrayAttr>(value))
      texts.push_back(cast<StringAttr>(one).getValue());
    count = texts.size();
    values = makeTexts(texts);
  }
  return {FlatSymbolRefAttr::get(makeText(attribute.getName())),
          b.getI64IntegerAttr(kind), b.getI64IntegerAttr(count),
          FlatSymbolRefAttr::get(values)};
}

Value CustomCallBuilder::makeAttributes() {
  if (custom.getNodeAttributes().empty())
    return LLVM::ZeroOp::create(b, pointer);
  SmallVector<SmallVector<Attribute>> rows;
  for (NamedAttribute attribute : custom.getNodeAttributes())
    rows.push_back(makeAttribute(attribute));
  auto row = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              {pointer, i64, i64, pointer});
  return LLVM::AddressOfOp::create(b, makeStructs(row, rows));
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

void CustomCallBuilder::storeType(Type declared, Value tensors, int64_t k) {
  bool isGiven = !isa<NoneType>(declared);
  int32_t type = isGiven ? getDataType(getElementTypeOrSelf(declared)) : 0;
  store(LLVM::ConstantOp::create(b, i32, type), tensors, k, DType);
  store(LLVM::ConstantOp::create(b, i32, int32_t(isGiven)), tensors, k,
        IsGiven);
}

/// The table of inputs; a shape that is in a descriptor is put into memory.
Value CustomCallBuilder::storeInputs() {
  ArrayAttr inputs = custom.getInputs();
  Value table = makeSlots(tensorType, inputs.size());
  Value null = LLVM::ZeroOp::create(b, pointer);
  auto values = custom.getValues();
  unsigned next = 0;
  for (auto [k, attribute] : llvm::enumerate(inputs)) {
    Type declared = cast<TypeAttr>(attribute).getValue();
    storeType(declared, table, k);
    Value data = null, shape = null, rank = number(0);
    if (auto type = dyn_cast<RankedTensorType>(declared)) {
      Value buffer = values[next++];
      MemRefDescriptor descriptor = descriptorOf(buffer);
      data = addressOf(buffer);
      shape = makeSlots(i64, std::max<int64_t>(type.getRank(), 1));
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        LLVM::StoreOp::create(
            b, descriptor.size(b, b.getLoc(), axis),
            LLVM::GEPOp::create(
                b, pointer, i64, shape,
                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)}));
      rank = number(type.getRank());
    } else if (isa<TensorType>(declared)) {
      data = addressOf(values[next]);
      shape = addressOf(values[next + 1]);
      rank = descriptorOf(values[next + 1]).size(b, b.getLoc(), 0);
      next += 2;
    }
    store(data, table, k, Data);
    store(shape, table, k, Shape);
    store(rank, table, k, Rank);
  }
  return table;
}

/// The table of outputs, which the call fills, and the ranks that they must
/// have.
Value CustomCallBuilder::storeOutputs(Value &ranks) {
  ArrayAttr outputs = custom.getOutputs();
  Value table = makeSlots(tensorType, outputs.size());
  Value null = LLVM::ZeroOp::create(b, pointer);
  SmallVector<int64_t> expected;
  for (auto [k, attribute] : llvm::enumerate(outputs)) {
    Type declared = cast<TypeAttr>(attribute).getValue();
    auto ranked = dyn_cast<RankedTensorType>(declared);
    expected.push_back(ranked ? ranked.getRank() : -1);
    storeType(declared, table, k);
    store(null, table, k, Data);
    store(null, table, k, Shape);
    store(number(0), table, k, Rank);
    store(number(0), table, k, Count);
  }
  ranks =
      LLVM::AddressOfOp::create(b, makeNumbers(b.getI64TensorAttr(expected)));
  return table;
}

Value CustomCallBuilder::makeFlat(MemRefType type, Value data, Value size) {
  Value flat = makeFlatMemRef(b, b.getLoc(), converter, type, data, data, size);
  return UnrealizedConversionCastOp::create(b, type, flat).getResult(0);
}

void CustomCallBuilder::replaceResults(Value outputs) {
  auto load = [&](Type type, int64_t k, Field field) -> Value {
    return LLVM::LoadOp::create(b, type, fieldOf(outputs, k, field));
  };
  unsigned next = 0;
  for (auto [k, attribute] : llvm::enumerate(custom.getOutputs())) {
    if (isa<NoneType>(cast<TypeAttr>(attribute).getValue()))
      continue;
    Value elements = custom.getParts()[next++],
          shape = custom.getParts()[next++];
    shape.replaceAllUsesWith(makeFlat(cast<MemRefType>(shape.getType()),
                                      load(pointer, k, Shape),
                                      load(i64, k, Rank)));
    elements.replaceAllUsesWith(makeFlat(cast<MemRefType>(elements.getType()),
                                         load(pointer, k, Data),
                                         load(i64, k, Count)));
  }
}

Value CustomCallBuilder::build(Value run) {
  Value inputs = storeInputs();
  Value ranks;
  Value outputs = storeOutputs(ranks);
  Value attributes = makeAttributes();
  Value where = LLVM::AddressOfOp::create(b, makeText(custom.getWhere()));
  Value op = LLVM::AddressOfOp::create(b, pointer, custom.getSymbol());
  Value status =
      LLVM::CallOp::create(
          b, declareRuntimeFunction(module, "loopc_rt_custom"),
          ValueRange{run, op, attributes,
                     number(custom.getNodeAttributes().size()), inputs,
                     number(custom.getInputs().size()), outputs,
                     number(custom.getOutputs().size()), ranks, where})
          .getResult();
  replaceResults(outputs);
  return status;
}

Value loopc::lowerCustomCall(rt::CustomOp custom, Value run,
                             func::FuncOp function, ModuleOp module,
                             const LLVMTypeConverter &converter,
                             unsigned &numGlobals) {
  if (!module.lookupSymbol(custom.getSymbol())) {
    // As long as a loopc_custom_op, so that whoever links it knows.
    OpBuilder builder(module.getBodyRegion());
    LLVM::GlobalOp::create(
        builder, custom.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI8Type(), sizeof(loopc_custom_op)),
        /*isConstant=*/false, LLVM::Linkage::External, custom.getSymbol(),
        Attribute(), /*alignment=*/alignof(loopc_custom_op));
  }
  return CustomCallBuilder(custom, function, module, converter, numGlobals)
      .build(run);
}
