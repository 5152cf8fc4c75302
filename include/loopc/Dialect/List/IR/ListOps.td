//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Lists: what sequences and optionals are below the onnx dialect.

#ifndef LOOPC_DIALECT_LIST_IR_LISTOPS_TD
#define LOOPC_DIALECT_LIST_IR_LISTOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def List_Dialect : Dialect {
  let name = "list";
  let cppNamespace = "::loopc::list";
  let summary = "Lists: what sequences and optionals are once nodes are lowered";
  let description = [{
    `convert-onnx-to-linalg` makes lists of sequences and optionals, the latter
    of no elements or of one; `convert-loop-runtime-to-llvm` makes them handles
    of the runtime. Lists are values: no operation changes an operand, until
    `buffer-place-deallocations` has settled who owns each and lets changes
    happen in place.
  }];
  // A length that is known is folded to a constant.
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
}

def List_ListType : TypeDef<List_Dialect, "List"> {
  let mnemonic = "list";
  let summary = "a list of tensors or of lists";
  let description = [{
    Tensors in it have elements of type `element`, and any shape: lists of one
    element type are of one type. Where `element` is a list, the list's elements
    are such lists (an optional sequence).

    ```mlir
    func.func @same(%texts: !list.list<!rt.string>,
                    %rows: !list.list<!list.list<f32>>)
        -> !list.list<!rt.string> {
      return %texts : !list.list<!rt.string>
    }
    ```
  }];
  let parameters = (ins "::mlir::Type":$element);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$element),
      [{ return $_get(element.getContext(), element); }]>];
  let assemblyFormat = "`<` $element `>`";
  let genVerifyDecl = 1;
}

/// Element tensors come as two tensors (memrefs) of rank 1: the elements in C
/// order and the shape.
class List_Op<string mnemonic, list<Trait> traits = []>
    : Op<List_Dialect, mnemonic, traits>;

def List_EmptyOp : List_Op<"empty", [Pure]> {
  let summary = "a list without elements";
  let description = [{
    An empty sequence, or an optional that holds nothing.

    ```mlir
    func.func @none() -> !list.list<f32> {
      %none = list.empty : !list.list<f32>
      return %none : !list.list<f32>
    }
    ```
  }];
  let arguments = (ins);
  let results = (outs List_ListType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def List_InsertOp : List_Op<"insert", [
    AllTypesMatch<["list", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a list with one more element";
  let description = [{
    The list `list` with an element in front of its element `position`, or
    behind the last one where that is the length: 0 <= position <= length, which
    the caller has checked (`seq_index`). The operand is not changed
    (`seq_value`). The element is a tensor, given by its elements in C order and
    its shape, or a list (an optional's sequence).

    Behind buffer-place-deallocations the operand `list` is consumed: the change
    happens in place where nobody else has the list, so that appending is
    amortised O(1) (`seq_append`). `element_owner` says then what becomes of the
    element's buffer: `copy` (the default) leaves it alone, `move` gives it to
    the list, `share` makes the list one more owner.

    ```mlir
    func.func @append(%s: !list.list<f32>, %x: tensor<?xf32>,
                      %shape: tensor<?xi64>) -> !list.list<f32> {
      %n = list.length %s : !list.list<f32>
      %t = list.insert %x, %shape into %s[%n]
          : tensor<?xf32>, tensor<?xi64> into !list.list<f32>
      return %t : !list.list<f32>
    }
    ```
  }];
  let arguments = (ins List_ListType:$list, Index:$position,
                       Variadic<AnyType>:$element,
                       OptionalAttr<StrAttr>:$element_owner);
  let results = (outs List_ListType:$result);
  let assemblyFormat = [{
    $element `into` $list `[` $position `]` attr-dict
    `:` type($element) `into` qualified(type($list))
  }];
  let hasVerifier = 1;
}

def List_EraseOp : List_Op<"erase", [
    AllTypesMatch<["list", "result"]>, NoMemoryEffect]> {
  let summary = "a list with one element less";
  let description = [{
    The list without its element `position`: 0 <= position < length, which the
    caller has checked (`seq_index`). Behind buffer-place-deallocations the
    operand is consumed.

    ```mlir
    func.func @drop(%s: !list.list<f32>) -> !list.list<f32> {
      %first = arith.constant 0 : index
      %t = list.erase %s[%first] : !list.list<f32>
      return %t : !list.list<f32>
    }
    ```
  }];
  let arguments = (ins List_ListType:$list, Index:$position);
  let results = (outs List_ListType:$result);
  let assemblyFormat = "$list `[` $position `]` attr-dict `:` qualified(type($list))";
}

def List_LengthOp : List_Op<"length", [Pure]> {
  let summary = "the number of elements of a list";
  let description = [{
    Of an optional 0 or 1.

    ```mlir
    func.func @has(%o: !list.list<f32>) -> i1 {
      %zero = arith.constant 0 : index
      %n = list.length %o : !list.list<f32>
      %has = arith.cmpi ne, %n, %zero : index
      return %has : i1
    }
    ```
  }];
  let arguments = (ins List_ListType:$list);
  let results = (outs Index:$result);
  let assemblyFormat = "$list attr-dict `:` qualified(type($list))";
  let hasFolder = 1;
}

def List_AtOp : List_Op<"at", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "an element of a list";
  let description = [{
    Element `position` of the list: 0 <= position < length, which the caller has
    checked (`seq_index`). A tensor comes as its elements in C order and its
    shape; a list as itself. What comes out belongs to the list as well: it is
    never written.

    ```mlir
    func.func @first(%s: !list.list<f32>)
        -> (tensor<?xf32>, tensor<?xi64>) {
      %zero = arith.constant 0 : index
      %x, %shape = list.at %s[%zero]
          : !list.list<f32> -> tensor<?xf32>, tensor<?xi64>
      return %x, %shape : tensor<?xf32>, tensor<?xi64>
    }
    ```
  }];
  let arguments = (ins List_ListType:$list, Index:$position);
  let results = (outs Variadic<AnyType>:$element);
  let assemblyFormat = [{
    $list `[` $position `]` attr-dict `:` qualified(type($list)) `->` type($element)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def List_RetainOp : List_Op<"retain", [
    AllTypesMatch<["list", "result"]>, MemoryEffects<[MemWrite]>]> {
  let summary = "one more handle of a list";
  let description = [{
    Made by buffer-place-deallocations where a list is wanted that is still needed
    elsewhere: the same list, held once more.

    ```mlir
    func.func @keep(%s: !list.list<f32>) -> !list.list<f32> {
      %t = list.retain %s : !list.list<f32>
      return %t : !list.list<f32>
    }
    ```
  }];
  let arguments = (ins List_ListType:$list);
  let results = (outs List_ListType:$result);
  let assemblyFormat = "$list attr-dict `:` qualified(type($list))";
}

def List_ReleaseOp : List_Op<"release", [MemoryEffects<[MemWrite]>]> {
  let summary = "the end of a handle of a list";
  let description = [{
    Made by buffer-place-deallocations behind the last use of a list. The last
    handle takes the list with it.

    ```mlir
    func.func @end(%s: !list.list<f32>) {
      list.release %s : !list.list<f32>
      return
    }
    ```
  }];
  let arguments = (ins List_ListType:$list);
  let assemblyFormat = "$list attr-dict `:` qualified(type($list))";
}

#endif // LOOPC_DIALECT_LIST_IR_LISTOPS_TD
