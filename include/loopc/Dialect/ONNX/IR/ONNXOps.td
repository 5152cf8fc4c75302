//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_DIALECT_ONNX_IR_ONNXOPS_TD
#define LOOPC_DIALECT_ONNX_IR_ONNXOPS_TD

include "loopc/Dialect/Loop/IR/VersionedTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ONNX_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::loopc::onnx";
  let summary = "Nodes of ONNX models, of every operator and version";
  let description = [{
    One operation, `onnx.node`, stands for every operator of every version of
    every domain: it keeps the operator's name, domain and the version that it
    was resolved to. What it may hold is asked of the onnx library's schemas.
    Loop and Scan are operations of the `loop` dialect, If is `scf.if`.

    Tensors are MLIR's; unsigned integers are `ui8` and so on, signed ones
    signless (`i8`), bool is `i1`, strings are `!onnx.string`. Collections are
    `!onnx.seq<T>` and `!onnx.optional<T>`. Values are immutable.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class ONNX_Type<string name, string mnem>
    : TypeDef<ONNX_Dialect, name,
              [DeclareTypeInterfaceMethods<Loop_VersionedTypeInterface>]> {
  let mnemonic = mnem;
}

def ONNX_SeqType : ONNX_Type<"Seq", "seq"> {
  let summary = "a sequence of tensors";
  let description = [{
    An ordered list of values of one element type; tensors in it may differ in
    shape, as far as the element type leaves it open.
    `!onnx.seq<tensor<?x2xf32>>`, `!onnx.seq<tensor<*xi64>>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType),
      [{ return $_get(elementType.getContext(), elementType); }]>];
  let assemblyFormat = "`<` $elementType `>`";
}

def ONNX_OptionalType : ONNX_Type<"Optional", "optional"> {
  let summary = "nothing, or a tensor or a sequence";
  let description = "`!onnx.optional<tensor<2xf32>>`, `!onnx.optional<!onnx.seq<tensor<*xf32>>>`.";
  let parameters = (ins "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType),
      [{ return $_get(elementType.getContext(), elementType); }]>];
  let assemblyFormat = "`<` $elementType `>`";
}

def ONNX_StringType : ONNX_Type<"String", "string"> {
  let summary = "an element of a tensor of strings";
  let description = "UTF-8; `tensor<3x!onnx.string>`.";
}

class ONNX_Op<string mnemonic, list<Trait> traits = []>
    : Op<ONNX_Dialect, mnemonic, traits>;

def ONNX_NodeOp : ONNX_Op<"node", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a node of an ONNX graph";
  let description = [{
    Operator `op_type` of `domain` ("" is ai.onnx) as of `since_version`, the
    version of the schema that the model's opset import resolved to. An optional
    input that is left out in the middle is an `onnx.none`; those at the end are
    simply missing; an output that is left out has type `none`.
    `node_attributes` are the node's own; defaults come from the schema.

    The verifier holds a node to the schema of exactly this version: numbers of
    inputs and outputs, attributes known, required and of the right kind (INT
    `i64`, FLOAT `f32`, STRING, INTS `array<i64>`, FLOATS `array<f32>`, STRINGS
    an array, TENSOR elements, TYPE_PROTO a type), and the types that each input
    and output takes, equal where the schema says so. Nodes of domains that have
    no schemas are taken as they are.

    ```mlir
    func.func @softmax(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
      %y = onnx.node "Softmax"(%x) since 13 {axis = 1 : i64}
          : (tensor<2x?xf32>) -> tensor<2x?xf32>
      return %y : tensor<2x?xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$op_type,
                       DefaultValuedStrAttr<StrAttr, "">:$domain,
                       I64Attr:$since_version,
                       Variadic<AnyType>:$inputs,
                       DictionaryAttr:$node_attributes);
  let results = (outs Variadic<AnyType>:$outputs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Input `i`, or null where it is left out.
    ::mlir::Value getInputOrNull(unsigned i);
    /// True if output `i` is there and not of type none.
    bool hasOutput(unsigned i);
    /// The node's own attribute, or null; not the schema's default.
    ::mlir::Attribute getNodeAttr(::llvm::StringRef name) {
      return getNodeAttributes().get(name);
    }
  }];
}

def ONNX_ConstantOp : ONNX_Op<"constant",
    [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant tensor";
  let description = [{
    A weight or a constant. Large values are resources, stored once however many
    operations name them.

    ```mlir
    func.func @c() -> tensor<3xui8> {
      %c = onnx.constant dense<[1, 2, 255]> : tensor<3xui8>
      return %c : tensor<3xui8>
    }
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
}

def ONNX_NoneOp : ONNX_Op<"none", [Pure, ConstantLike]> {
  let summary = "an optional input that is left out";
  let description = [{
    ```mlir
    func.func @clip(%x: tensor<4xf32>, %max: tensor<f32>) -> tensor<4xf32> {
      %none = onnx.none
      %y = onnx.node "Clip"(%x, %none, %max) since 13
          : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins);
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict";
  let hasFolder = 1;
}

def ONNX_CastOp : ONNX_Op<"cast",
    [Pure, DeclareOpInterfaceMethods<CastOpInterface>]> {
  let summary = "a collection seen with more or less known of its elements";
  let description = [{
    What `tensor.cast` is to tensors, for sequences and optionals: the value is
    the same, the shapes that its type says are weaker or stronger.

    ```mlir
    func.func @cast(%s: !onnx.seq<tensor<2xf32>>) -> !onnx.seq<tensor<?xf32>> {
      %t = onnx.cast %s : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<?xf32>>
      return %t : !onnx.seq<tensor<?xf32>>
    }
    ```
  }];
  let arguments = (ins AnyType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
}

#endif // LOOPC_DIALECT_ONNX_IR_ONNXOPS_TD
