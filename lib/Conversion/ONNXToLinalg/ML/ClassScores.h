//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the models of ai.onnx.ml share: reading their attributes, rows of
// features, transformed scores, and the labels of classes.

#ifndef LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_CLASSSCORES_H
#define LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_CLASSSCORES_H

#include "Framework/ElementwiseUtils.h"
#include "Framework/ShapeUtils.h"
#include "Framework/StringUtils.h"

namespace loopc {

/// The numbers of a tensor of floats or integers; none where it is neither.
llvm::SmallVector<double> numbersOf(mlir::DenseElementsAttr tensor);
/// The numbers of attribute `name`, or of its form `name`_as_tensor; none where
/// neither is there.
llvm::SmallVector<double> numbersAttr(NodeLowering &l, llvm::StringRef name);
/// The strings of attribute `name`; none where it is not there.
llvm::SmallVector<llvm::StringRef> stringsAttr(NodeLowering &l,
                                               llvm::StringRef name);
/// A constant of rank 1 that has these bytes, one element at least, so that it
/// can be read.
mlir::Value tableOfBytes(NodeLowering &l, mlir::Type element,
                         llvm::ArrayRef<char> bytes);
template <typename T>
mlir::Value tableOf(NodeLowering &l, mlir::Type element,
                    llvm::ArrayRef<T> values) {
  return tableOfBytes(l, element,
                      {reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(T)});
}
/// Constants of floats of 16 bits or more, and of i32, likewise.
mlir::Value floatTable(NodeLowering &l, llvm::ArrayRef<double> values,
                       mlir::Type type);
mlir::Value integerTable(NodeLowering &l, llvm::ArrayRef<int64_t> values);

/// Input 0 as (rows, features); one of rank 1 is one row.
mlir::FailureOr<mlir::Value> featureRows(NodeLowering &l);

enum class ScoreTransform { None, Softmax, Logistic, SoftmaxZero, Probit };
/// Of attribute "post_transform", a string.
mlir::FailureOr<ScoreTransform> readTransform(NodeLowering &l);
/// `scores` (rows, targets) transformed.
mlir::Value transformScores(NodeLowering &l, mlir::Value scores,
                            ScoreTransform transform);
mlir::Value logistic(ScalarBuilder &s, mlir::Value x);

/// The labels of a classifier's classes.
class ClassLabels {
public:
  /// Fails after an error where neither or both kinds are given.
  mlir::LogicalResult read(NodeLowering &l, llvm::StringRef integers);
  int64_t size() const { return count; }
  /// Result 0: the labels of `classes`, a tensor of i64.
  void setLabels(NodeLowering &l, mlir::Value classes) const;

private:
  int64_t count = 0;
  llvm::SmallVector<int64_t> numbers;
  llvm::SmallVector<llvm::StringRef> texts;
};

/// Sets both results of a classifier with the one score (rows, 1) of its second
/// class: chosen where the score is more than `threshold`, scores `1 - s` or
/// `-s`, and `s`.
void setBinaryScores(NodeLowering &l, const ClassLabels &labels,
                     mlir::Value scores, double threshold, bool complement,
                     ScoreTransform transform);
/// Sets both results of a classifier: the class with the first highest score.
void setClassScores(NodeLowering &l, const ClassLabels &labels,
                    mlir::Value scores, ScoreTransform transform);

} // namespace loopc

#endif // LOOPC_LIB_CONVERSION_ONNXTOLINALG_ML_CLASSSCORES_H
