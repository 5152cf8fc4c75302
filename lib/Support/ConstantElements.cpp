//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "loopc/Support/ConstantElements.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

ArrayRef<char> loopc::getRawBytes(Attribute elements) {
  if (auto dense = dyn_cast_if_present<DenseElementsAttr>(elements))
    return isa<DenseIntOrFPElementsAttr>(dense) ? dense.getRawData()
                                                : ArrayRef<char>();
  auto resource = dyn_cast_if_present<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

DenseElementsAttr loopc::getDenseElements(Attribute elements) {
  if (auto dense = dyn_cast_if_present<DenseElementsAttr>(elements))
    return dense;
  auto resource = dyn_cast_if_present<DenseResourceElementsAttr>(elements);
  if (!resource || !resource.getRawHandle().getBlob() ||
      resource.getElementType().isInteger(1))
    return {};
  ArrayRef<char> bytes = getRawBytes(resource);
  bool isSplat;
  return DenseElementsAttr::isValidRawBuffer(resource.getType(), bytes, isSplat)
             ? DenseElementsAttr::getFromRawBuffer(resource.getType(), bytes)
             : DenseElementsAttr();
}
