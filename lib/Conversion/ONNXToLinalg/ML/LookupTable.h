//===- LookupTable.h - Search of constant keys ------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Tables whose keys are known when a model is compiled: integers, or strings.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_LOOKUPTABLE_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_LOOKUPTABLE_H

#include "Framework/ElementwiseUtils.h"
#include "Framework/StringUtils.h"

namespace loopc {

/// Different keys, each with a place in ascending order.
class LookupTable {
public:
  /// Keys of the last kind given: integers or strings.
  LookupTable(NodeLowering &l, llvm::ArrayRef<int64_t> keys);
  LookupTable(NodeLowering &l, llvm::ArrayRef<llvm::StringRef> keys);

  int64_t size() const { return numKeys; }
  /// For each place the number of the last key, as given, that is there.
  llvm::ArrayRef<int64_t> numbers() const { return given; }
  /// The place of `keys[k]`.
  int64_t placeOf(int64_t k) const { return places[k]; }

  /// The place (i64) of a key, an i64 or a string; size() where it is not
  /// there. Can stand in the body of a linalg.generic.
  mlir::Value find(ScalarBuilder &s, mlir::Value key) const;

private:
  template <typename Key>
  llvm::SmallVector<Key> sortKeys(llvm::ArrayRef<Key> keys);

  int64_t numKeys = 0;
  llvm::SmallVector<int64_t> given, places;
  mlir::Value sorted;                         ///< of integers
  llvm::SmallVector<mlir::Value> stringTable; ///< of strings
};

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_LOOKUPTABLE_H
