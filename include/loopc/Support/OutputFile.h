//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Files that are written whole or not at all.

#ifndef LOOPC_SUPPORT_OUTPUTFILE_H
#define LOOPC_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace loopc {

/// A file under another name until keep() is called: then it appears whole, or
/// replaces the old one. Without keep() nothing stays. "-" is standard output,
/// and what is no plain file (/dev/null) is written to; both at finish().
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(OutputFile &&other) { *this = std::move(other); }
  OutputFile &operator=(OutputFile &&other);
  ~OutputFile();

  /// With `removeOnSignal` a signal that ends the program takes the file with
  /// it, at the price of LLVM's handlers for signals: for programs of our own,
  /// not for a library in somebody else's.
  static llvm::Expected<OutputFile> create(llvm::StringRef path,
                                           bool removeOnSignal = false);

  llvm::raw_pwrite_stream &getStream() { return *stream; }

  /// The file that a program of its own may write, instead of the stream; ""
  /// where there is none.
  llvm::StringRef getTemporaryPath() const;

  /// Writes what is not written yet, under the other name: after this keep()
  /// has nothing left to do that a full disk would stop.
  llvm::Error finish();
  llvm::Error keep();

private:
  std::string path;
  /// Empty: there is no such file.
  std::string temporary;
  std::unique_ptr<llvm::SmallVector<char, 0>> memory;
  std::unique_ptr<llvm::raw_pwrite_stream> stream;
  bool isFinished = false;
};

/// A file that a program reads or writes, and what it is: {"output", "m.o"}.
struct NamedFile {
  llvm::StringRef what;
  std::string path;
};

/// "input and output are one file, 'm.onnx'" where one of `written` is among
/// `read`, or is written twice; else "". Files are one by any of their names.
/// An empty path is no file, "-" is two streams, and what is no plain file
/// holds nothing that could be lost.
std::string findSameFile(llvm::ArrayRef<NamedFile> read,
                         llvm::ArrayRef<NamedFile> written);

} // namespace loopc

#endif // LOOPC_SUPPORT_OUTPUTFILE_H
