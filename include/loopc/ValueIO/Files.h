//===- Files.h - Values in files --------------------------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_VALUEIO_FILES_H
#define LOOPC_VALUEIO_FILES_H

#include "loopc/ValueIO/HostValue.h"

#include "llvm/Support/raw_ostream.h"

#include <utility>

namespace loopc::io {

/// Reads NumPy's .npy format, versions 1 to 3: numbers of either byte order,
/// complex, bool, 'S' and 'U' strings, and 'V' as kRawCode. Objects (pickles)
/// and structures are errors.
llvm::Expected<HostValue> readNpy(llvm::StringRef bytes);

/// Writes a tensor or strings as .npy. Types that NumPy lacks are written as
/// numpy.save does for those of ml_dtypes: raw, one element in a byte where it
/// is shorter. Sequences and optionals are errors.
llvm::Error writeNpy(const HostValue &value, llvm::raw_ostream &os);

using NamedValue = std::pair<std::string, HostValue>;

/// Reads NumPy's .npz format: a ZIP archive of .npy files, stored or deflated.
/// Names come without ".npy".
llvm::Expected<std::vector<NamedValue>> readNpz(llvm::StringRef bytes);

/// Writes an .npz, not compressed, as numpy.savez does.
llvm::Error writeNpz(llvm::ArrayRef<NamedValue> values, llvm::raw_ostream &os);

/// Reads a serialised TensorProto, SequenceProto or OptionalProto of ONNX,
/// whichever `type` asks for.
llvm::Expected<HostValue> readOnnxValue(llvm::StringRef bytes,
                                        const loopc_type &type);

/// The value as TensorProto, SequenceProto or OptionalProto, serialised.
std::string writeOnnxValue(const HostValue &value, llvm::StringRef name);

} // namespace loopc::io

#endif // LOOPC_VALUEIO_FILES_H
