//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ONNX's protobuf messages to MLIR's types and attributes and back. For code
// that links ONNX::onnx; the functions throw nothing themselves.

#ifndef LOOPC_DIALECT_ONNX_IR_PROTOCONVERSION_H
#define LOOPC_DIALECT_ONNX_IR_PROTOCONVERSION_H

#include "loopc/Dialect/ONNX/IR/ElementTypes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"

namespace loopc::onnx {

/// The MLIR type of `proto`: a tensor without shape is unranked, a dimension
/// without value (or a negative one) is dynamic; names of dimensions are
/// dropped. Null for maps, sparse and opaque types, and where the element type
/// is missing.
mlir::Type importType(mlir::MLIRContext *context,
                      const ::onnx::TypeProto &proto);

/// Writes `type` (tensor, !onnx.seq, !onnx.optional) to `proto`; false where
/// ONNX has no such type.
bool exportType(mlir::Type type, ::onnx::TypeProto &proto);

/// Number of elements of a tensor of these dimensions; nothing where one is
/// negative or the product does not fit.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Writes `elements` (dense, dense strings, or a resource) to `proto`, data as
/// raw_data; false where the values are not at hand or have no ONNX type.
bool exportTensor(mlir::ElementsAttr elements, ::onnx::TensorProto &proto);

/// Turns a TensorProto into an attribute. Null for failure.
using TensorImporter =
    llvm::function_ref<mlir::ElementsAttr(const ::onnx::TensorProto &)>;

/// The value of `proto`: INT i64, FLOAT f32, STRING StringAttr, INTS
/// DenseI64ArrayAttr, FLOATS DenseF32ArrayAttr, STRINGS, TENSORS and
/// TYPE_PROTOS ArrayAttr, TENSOR ElementsAttr, TYPE_PROTO TypeAttr. Null for
/// graphs, sparse tensors and what cannot be converted; for tensors, too,
/// without `tensors`: defaults of schemas are none.
mlir::Attribute importAttribute(mlir::MLIRContext *context,
                                const ::onnx::AttributeProto &proto,
                                TensorImporter tensors = nullptr);

/// The AttributeProto.AttributeType that `attribute` is written as; UNDEFINED
/// (0) for none. An empty ArrayAttr may stand for any list: it takes
/// `expected` where that is one.
int32_t getAttributeKind(mlir::Attribute attribute, int32_t expected = 0);

/// Writes `attribute` to `proto` under `name`; false where it is of no kind.
/// `expected`: as in getAttributeKind.
bool exportAttribute(llvm::StringRef name, mlir::Attribute attribute,
                     ::onnx::AttributeProto &proto, int32_t expected = 0);

} // namespace loopc::onnx

#endif // LOOPC_DIALECT_ONNX_IR_PROTOCONVERSION_H
