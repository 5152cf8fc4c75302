//===- Weights.h - The bytes of a model's weights ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_LIB_TARGET_WEIGHTS_H
#define LOOPC_LIB_TARGET_WEIGHTS_H

#include "loopc/Target/ModelInfo.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <vector>

namespace loopc {

/// Every weight begins at a multiple of this many bytes; compiled code relies
/// on it.
inline constexpr uint64_t kWeightAlignment = 64;

/// Weights of a module by symbol. The bytes belong to the module's context
/// until takeOver() is called.
class WeightSet {
public:
  struct Weight {
    std::string symbol;
    mlir::Attribute attr; ///< null after takeOver()
    const char *data;
    uint64_t size;
  };

  /// Finds the globals of `module` that carry weights, names them
  /// `SYMBOL.weight0`, ... and takes the attributes from them; then the
  /// defaults of the model's inputs.
  static mlir::FailureOr<WeightSet> extract(mlir::ModuleOp module,
                                            const ModelInfo &info);

  llvm::ArrayRef<Weight> getWeights() const { return weights; }

  /// The symbol of the default of input `number`; "" where it has none among
  /// the weights.
  llvm::StringRef getDefault(size_t number) const { return defaults[number]; }

  /// Drops the weights whose symbol `isUsed` does not know.
  void keepOnly(llvm::function_ref<bool(llvm::StringRef symbol)> isUsed);

  /// Bytes of all weights, with the gaps between them.
  uint64_t getTotalSize() const;

  /// True where x86-64's 32-bit displacements may not reach everything: the
  /// weights are addressed by 64 bits and lie in a section for large data.
  bool isLarge(const llvm::Triple &triple) const {
    return triple.isX86_64() && getTotalSize() > uint64_t{1} << 30;
  }

  /// Writes the bytes one weight behind the other, each at a multiple of
  /// kWeightAlignment.
  void write(llvm::raw_ostream &os) const;

  /// Makes this object the owner of the bytes, aligned as promised, so that
  /// the context may go. Resources are moved out of the context.
  void takeOver();

private:
  struct Free {
    void operator()(char *pointer) const;
  };
  using Buffer = std::unique_ptr<char, Free>;
  static Buffer allocate(uint64_t size);

  mlir::LogicalResult add(mlir::ElementsAttr attr, std::string symbol,
                          uint64_t size, mlir::Location loc);

  std::vector<Weight> weights;
  std::vector<std::string> defaults; ///< symbols, one for each input
  std::vector<Buffer> buffers;
  std::vector<mlir::AsmResourceBlob> blobs;
};

} // namespace loopc

#endif // LOOPC_LIB_TARGET_WEIGHTS_H
