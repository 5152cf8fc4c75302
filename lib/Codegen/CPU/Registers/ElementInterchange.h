//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A loop that cpu-interchange-elements turns inside out: what it is found to
// be, and what is made of it.

#ifndef LOOPC_LIB_CODEGEN_CPU_REGISTERS_ELEMENTINTERCHANGE_H
#define LOOPC_LIB_CODEGEN_CPU_REGISTERS_ELEMENTINTERCHANGE_H

#include "loopc/Dialect/Loop/IR/Loop.h"
#include "loopc/Support/CpuModel.h"
#include "loopc/Support/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace loopc::loop {

/// How the elements of an iteration lie in a tensor from outside.
enum class Layout {
  Same,   ///< one for all elements of a row of the space
  Rows,   ///< neighbours of the last axis are neighbours
  Columns ///< neighbours are what successive iterations read or write
};

/// The part of a tensor that an iteration reads or writes, or a number that all
/// elements read.
struct Part {
  Layout layout;
  mlir::Value tensor;
  /// For each axis of the tensor: where the part begins, and which axis of the
  /// space runs along it, if any.
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<std::optional<unsigned>> axes;
  bool backwards = false; ///< columns: later iterations come before

  /// For Columns: memory for one tile, an iteration's elements in each row.
  mlir::Value scratch = {};
  /// The carried value that is written; none for what is read.
  std::optional<unsigned> port = {};
  /// What is written.
  mlir::Value source = {};
};

/// True for what holds one number, in a tensor for an operation to read.
bool isScalarTensor(mlir::Operation *op);

/// What is known of the number of elements.
enum class Elements {
  Any,
  Vector, ///< one vector at most
  Row     ///< a short row
};

/// Turns one loop inside out.
class ElementInterchange : IndexEmitter {
public:
  ElementInterchange(mlir::IRRewriter &rewriter, LoopOp loop, CpuModel cpu,
                     Elements elements = Elements::Any)
      : IndexEmitter(loop.getLoc(), rewriter), rewriter(rewriter), loop(loop),
        cpu(cpu), elements(elements) {}

  /// Why the loop stays as it is; "" where it can be interchanged.
  std::string match();
  bool hasColumns() const { return columns; }
  /// True where only versions for few elements are turned inside out.
  bool needsFewElements() const {
    return rows && !columns && elements == Elements::Any;
  }
  LoopOp makeVersion(Elements few);
  bool readsUnchecked();
  void guard();
  void rewrite();

private:
  using Key = std::pair<mlir::Value, mlir::AffineMap>;
  /// What a tile's or an iteration's code is made for.
  struct Tile {
    llvm::SmallVector<mlir::Value> at; ///< its first element
    bool whole;                        ///< all its rows are there
    mlir::Value rows;                  ///< number of rows where they are not
  };
  /// Iterations that run at once.
  struct Steps {
    mlir::Value first; ///< number of the first, index
    mlir::Value count; ///< index
    bool whole;        ///< as many as a tile has
  };

  bool isOutside(mlir::Value value) {
    return loop.isDefinedOutsideOfLoop(value);
  }
  std::string matchBody();
  std::string matchGeneric(mlir::linalg::GenericOp op);
  std::string matchOperand(mlir::linalg::GenericOp op,
                           mlir::OpOperand &operand);
  std::string matchCarried();
  bool matchAccumulator(unsigned port);
  bool isElementValue(mlir::Value value);
  std::optional<Part> partOf(mlir::Value tensor,
                             llvm::ArrayRef<mlir::OpFoldResult> offsets,
                             llvm::ArrayRef<std::optional<unsigned>> axes);
  bool readSlice(mlir::tensor::ExtractSliceOp slice, mlir::AffineMap map);
  void findLayouts();
  bool mayHaveVersions();
  void planTile();
  int64_t lanesOf(Elements few) const;
  int64_t mostOf(Elements few) const;
  std::optional<int64_t> slope(mlir::Value value);
  mlir::Value evaluate(mlir::Value value, mlir::IRMapping &mapping);

  mlir::VectorType vectorOf(mlir::Type element) {
    return mlir::VectorType::get({lanes}, mlir::getElementTypeOrSelf(element));
  }
  mlir::Value zero(mlir::Type element) {
    return mlir::arith::ConstantOp::create(b, b.getZeroAttr(element));
  }
  mlir::scf::ForOp openLoop(mlir::Value begin, mlir::Value end,
                            mlir::Value step, mlir::ValueRange inits);
  mlir::Value makeScratch(mlir::Type element);

  mlir::Value flat(mlir::Value tensor);
  mlir::Value unflatten(mlir::Value tensor, mlir::RankedTensorType type);
  mlir::Value withElements(mlir::Value tensor, mlir::Type element);
  void readAsBytes(mlir::Value tensor);
  mlir::Value makeOut(unsigned port);
  mlir::Value readInit(unsigned port, const Tile &tile);
  llvm::SmallVector<mlir::Value> placeOf(const Part &part, const Tile &tile,
                                         mlir::IRMapping &mapping);
  mlir::Value readPart(const Part &part, const Tile &tile,
                       mlir::IRMapping &mapping);
  mlir::Value columnOf(const Part &part, const Steps &steps, mlir::Value step);
  llvm::SmallVector<mlir::Value> rowPlace(const Part &part, const Tile &tile,
                                          const Steps &steps, int64_t row);
  void loadTile(Part &part, const Tile &tile, const Steps &steps);
  mlir::Value storeTile(Part &part, const Tile &tile, const Steps &steps,
                        mlir::Value out);
  llvm::SmallVector<mlir::Value> transpose(llvm::SmallVector<mlir::Value> rows);

  llvm::SmallVector<mlir::Value> makeStep(const Tile &tile, const Steps &steps,
                                          mlir::Value step,
                                          mlir::IRMapping &mapping);
  void cloneGeneric(
      mlir::linalg::GenericOp op, mlir::IRMapping &mapping,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::AffineMap)> read);
  mlir::Value writeRow(const Part &part, const Tile &tile, mlir::Value vector,
                       mlir::Value out, mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> makeSteps(const Tile &tile, const Steps &steps,
                                           mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> makeIterations(const Tile &tile,
                                                mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value>
  makeTransposed(const Tile &tile, llvm::SmallVector<mlir::Value> carried);
  llvm::SmallVector<mlir::Value> makeBlocks(const Tile &tile, mlir::Value count,
                                            mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> makeTile(const Tile &tile,
                                          mlir::ValueRange outs);
  llvm::SmallVector<mlir::Value> makeTiles(llvm::SmallVector<mlir::Value> outs);

  mlir::IRRewriter &rewriter;
  LoopOp loop;
  CpuModel cpu;
  Elements elements;
  int64_t lanes = 0;
  unsigned vectors = 1;   ///< of a tile that is not transposed
  unsigned bits = 8;      ///< of the widest element
  bool rows = false;      ///< an iteration reads or writes a row of a tensor
  bool columns = false;   ///< some part lies in columns
  bool flattened = false; ///< all elements are one row
  llvm::SmallVector<mlir::OpFoldResult> dims;
  /// What `slope` said of numbers of the body.
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> slopes;
  /// What is read: slices and outer values, by how an operation reads them.
  llvm::MapVector<Key, Part> reads;
  /// What is written, by the insertion.
  llvm::MapVector<mlir::Operation *, Part> writes;
  /// Tensors of truth values, as bytes.
  llvm::DenseMap<mlir::Value, mlir::Value> bytes;
  /// Ports of the carried values that are elements, and whose results somebody
  /// reads.
  llvm::SmallVector<unsigned> live;
  llvm::SmallVector<unsigned> outPorts; ///< ports that are written in the steps
  /// What a tile reads once.
  llvm::DenseMap<Key, mlir::Value> invariants;
};
} // namespace loopc::loop

#endif // LOOPC_LIB_CODEGEN_CPU_REGISTERS_ELEMENTINTERCHANGE_H
