//===- Passes.td - Passes that write code for a CPU -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LOOPC_CODEGEN_CPU_PASSES_TD
#define LOOPC_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def CpuCutSections : Pass<"cpu-cut-sections", "::mlir::ModuleOp"> {
  let summary = "outline sections of a large block, for passes in parallel";
  let description = [{
    A large block of a function, or of a branch, becomes calls of functions,
    each with a section of it (`loopc.section`), until `cpu-join-sections` puts
    them back: passes work on functions side by side. A section has copies of
    what makes the values that it is handed, as far as that only allocates or
    has no effect, and returns these: so it knows of them what is known outside,
    and nobody takes a buffer for its own that others use. Sections end between
    products, so that passes which join neighbours find these. Layers that look
    alike are sections. Those that are equal but for labels (locations, names of
    constants, messages of checks) are one function; calls name their labels.

    ```mlir
    %a = memref.alloc() : memref<8x8xf32>
    linalg.matmul ins(%x, %y) outs(%a)
    linalg.matmul ins(%a, %z) outs(%b)
    // becomes
    %r:3 = loopc.call_section @main_side(%x, %y) // the last result is %a
    loopc.call_section @main_side_0(%r#2, %z, %b)
    func.func private @main_side_0(...) -> (...) attributes {loopc.section} {
      %a = memref.alloc() : memref<8x8xf32>
      linalg.matmul ins(%a, %z) outs(%b)
      return %a, %z, %b
    ```
  }];
  let options = [Option<"minOps", "min-section-ops", "unsigned", "8000",
                        "operations of a section, as far as can be guessed">,
                 Option<"anywhere", "anywhere", "bool", "false",
                        "no pass joins neighbours: sections may end anywhere">,
                 Option<"reportWork", "report-work", "bool", "false",
                        "say how many uses of buffers were looked at">];
  let statistics = [Statistic<"numSections", "sections", "sections">,
                    Statistic<"numShared", "shared", "of them equal to others">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::loopc::LoopcDialect"];
}

def CpuFuseReductions : Pass<"cpu-fuse-reductions", "::mlir::func::FuncOp"> {
  let summary = "reduce rows while they are computed";
  let description = [{
    A reduction of the last axes and what computes its operand element by
    element, or another operation that reads the same rows, become one
    `linalg.generic` with the elements and the rows' reductions as results.

    ```mlir
    %e = linalg.generic ... ins(%x, %m) { math.exp ... } -> tensor<8x?xf32>
    %s = linalg.generic ... ins(%e) outs(%zero) { arith.addf ... } -> tensor<8xf32>
    // becomes
    %e, %s = linalg.generic ... ins(%x, %m) { math.exp ... arith.addf ... }
    ```
  }];
  let statistics = [Statistic<"numMerged", "merged",
                              "operations merged into others">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def CpuInterchangeBatches
    : Pass<"cpu-interchange-batches", "::mlir::func::FuncOp"> {
  let summary = "interchange a loop with its batch axis";
  let description = [{
    A loop that carries matrices of several heads or batches, none of which
    depends on another's in any iteration, becomes a loop over them with the
    iterations inside, if one head's matrices fit into a cache that those of all
    do not fit into. The loop over heads is parallel. The axes are followed
    through all operations of the body (AxisClasses.h). The loop must have a trip
    count and no condition; products of all heads with one matrix, and parts
    whose elements do not lie together, stay as they are.

    Where single parts are too small, or their elements do not lie together,
    the parts are blocks of neighbours, as many as the run has threads: each
    thread runs all iterations of a block, so that threads do not meet in each
    iteration. A block of a known extent is known, too.

    What iterations read and write in slices alone, rows that are collected or a
    buffer with room, is carried as a whole and sliced at the part.

    ```mlir
    %r:2 = loop.loop (%t ...) trips(%n : i64)
        carried(%s = %s0 : tensor<4x64x64xf32>, %y = %e : tensor<?x4x64xf32>) {
      %k = tensor.extract_slice %ks[%t, 0, 0] [1, 4, 64] [1, 1, 1]
    // becomes
    %r:2 = scf.for %h = %c0 to %c4 step %c1 iter_args(%ss = %s0, %ys = %e) {
      %part = tensor.extract_slice %ss[%h, 0, 0] [1, 64, 64] [1, 1, 1]
      loop.loop (%t ...) trips(%n : i64)
          carried(%s = %part : tensor<1x64x64xf32>, %y = %ys : tensor<?x4x64xf32>) {
        %k = tensor.extract_slice %ks[%t, %h, 0] [1, 1, 64] [1, 1, 1]
    ```
  }];
  let statistics = [
    Statistic<"numInterchanged", "interchanged", "loops that were interchanged">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::loopc::rt::RTDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CpuInterchangeElements
    : Pass<"cpu-interchange-elements", "::mlir::func::FuncOp"> {
  let summary = "interchange a loop with tiles of elements in registers";
  let description = [{
    A loop whose body computes each element of what it carries from the same
    element of the iteration before becomes loops over tiles of elements, and
    the iterations the loop inside: the tile, a few vectors, stays in registers.
    The loop must have a trip count and no condition, and what it computes must
    not be able to fail. A rest that is no whole tile is read and written under
    a mask. Where iterations read or write rows of an open number of elements,
    there are versions for rows of one vector and of 256 bytes at most.

    ```mlir
    %r = loop.loop ... trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
      %y = linalg.generic ... ins(%x, %c : tensor<?xf32>, tensor<?xf32>)
    // becomes
    %r = scf.for %at = %c0 to %size step %c64 iter_args(%o = %empty) {
      %v0 = vector.transfer_read %x0[%at] : tensor<?xf32>, vector<64xf32>
      %w = vector.transfer_read %c[%at] : tensor<?xf32>, vector<64xf32>
      %v1 = loop.loop ... trips(%n : i64) carried(%v = %v0 : vector<64xf32>) {
      vector.transfer_write %v1, %o[%at] : vector<64xf32>, tensor<?xf32>
    ```

    Where iterations read or write successive columns (a scan over the last
    axis), a tile is of as many rows and iterations as a vector has elements:
    it is read row by row and transposed in registers, its iterations run on
    vectors of one element a row, and what they give is transposed back. Any
    direction, any number of operands; what lies along rows is read where it
    lies.

    ```mlir
    %r = loop.loop (%t ...) trips(%n : i64)
        carried(%s = %s0 : tensor<?xf32>, %acc = %e : tensor<?x?xf32>) {
      %x = tensor.extract_slice %xs[0, %t] [%rows, 1] [1, 1]
      %y = linalg.generic ... ins(%s, %x : tensor<?xf32>, tensor<?xf32>)
      %a = tensor.insert_slice %y into %acc[0, %t] [%rows, 1] [1, 1]
    // becomes
    scf.for %row = %c0 to %rows step %c16 {
      loop.loop ... carried(%s = ... : vector<16xf32>, %acc = ...) {
        vector.transfer_read %xs[%row, %t], ... %xs[%row + 15, %t]
        vector.shuffle ...
        scf.for %step = %c0 to %c16 step %c1 iter_args(%v = %s) { ... }
        vector.shuffle ..., vector.transfer_write ...
    ```
  }];
  let statistics = [
    Statistic<"numInterchanged", "interchanged", "loops that were interchanged">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def CpuJoinSections : Pass<"cpu-join-sections", "::mlir::ModuleOp"> {
  let summary = "inline the sections of cpu-cut-sections again";
  let description = [{
    What `cpu-cut-sections` has made functions of takes the place of the calls,
    which get the values that they were handed, and their labels. Constants go
    to the front, and of equal operations without an effect one is left.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def CpuKeepInRegisters
    : Pass<"cpu-keep-in-registers", "::mlir::func::FuncOp"> {
  let summary = "keep small carried tensors in vector registers";
  let description = [{
    Elementwise operations and reductions of a loop's body whose tensors have
    few elements, all known here, become operations on vectors; broadcasts and
    transposes are shuffles. A carried value that only they read and write is
    carried as a vector, and a slice that is inserted is one store.

    ```mlir
    loop.loop ... carried(%x = %x0 : tensor<8xf32>, %acc = %e : tensor<?x8xf32>) {
      %y = linalg.generic ... ins(%x, %a : tensor<8xf32>, tensor<8xf32>)
      %z = tensor.insert_slice %y into %acc[%i, 0] [1, 8] [1, 1]
    // becomes
    loop.loop ... carried(%x = %v0 : vector<8xf32>, %acc = %e : tensor<?x8xf32>) {
      %y = arith.mulf %x, %v : vector<8xf32>
      %z = vector.transfer_write %y, %acc[%i, %c0]
    ```
  }];
  let statistics = [
    Statistic<"numVectorized", "vectorized", "operations in registers">,
    Statistic<"numCarried", "carried", "carried values in registers">];
  let dependentDialects = ["::loopc::loop::LoopDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def CpuPackContractions
    : Pass<"cpu-pack-contractions", "::mlir::ModuleOp"> {
  let summary = "pack operands of contractions into panels, once";
  let description = [{
    The operand whose rows become vectors (the weights, most often) is copied
    into panels as wide as the registers that sum it up, behind one another as
    they are read: constants by the compiler, what a loop does not change before
    the loop, and large ones in front of their product. A product that reads
    panels is a `linalg.generic` as before, with `n floordiv W` and `n mod W` in
    its map. Small integers of which an instruction sums up G products at once
    (`dot_bits` of `#loopc.target`) lie in groups of G along the sum, with `k floordiv G` and
    `k mod G` in the map; zeros pad the last one.
  }];
  let statistics = [
    Statistic<"numConstants", "constants", "constants packed by the compiler">,
    Statistic<"numPacked", "packed", "operands packed at run time">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuReduceColumns
    : Pass<"cpu-reduce-columns", "::mlir::func::FuncOp"> {
  let summary = "transpose short rows that are only reduced";
  let description = [{
    A tensor of many short rows (64 and more, of 32 elements at most) that a
    sum computes and that is only reduced, each row to numbers, is computed with its last
    two axes the other way around. Rows are then reduced in the lanes of vectors: nothing
    is put together across lanes, and no part of a vector is empty. No operand
    of the sum may vary along both axes: it would be read across its rows. Rows stay if an operand's
    last axis is the columns and none's the rows. If only the run knows the extents both are made.

    ```mlir
    %far = linalg.generic ... ins(%x, %c) {
      // (n, k, d): add the square of x[n, d] - c[k, d]
    } -> tensor<4096x8xf32>
    %near = linalg.generic ... ins(%far) { arith.minimumf ... } -> tensor<4096xf32>
    // becomes
    %far = linalg.generic ... ins(%x, %c) { ... } -> tensor<8x4096xf32>
    %near = linalg.generic ... ins(%far) { arith.minimumf ... } -> tensor<4096xf32>
    ```
  }];
  let statistics = [Statistic<"numTurned", "turned", "tensors of such rows">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect"];
}

def CpuTileChains
    : Pass<"cpu-tile-chains", "::mlir::func::FuncOp"> {
  let summary = "tile chains of contractions and row reductions by rows";
  let description = [{
    A product, reductions of its rows and a product that sums the rows up (the
    scores of attention, softmax, the product with the values) become one nest
    over batches and tiles of rows, if each operation between computes a row
    from the same row. What lies between the products is then as large as one
    tile: it stays in a cache, and no iteration needs another's.

    ```mlir
    %s = memref.alloc() : memref<8x1024x1024xf32>
    linalg.generic ... ins(%q, %k) outs(%s)      // a product
    linalg.generic ... ins(%s) outs(%m)          // maxima of rows, and so on
    linalg.generic ... ins(%s, %v) outs(%o)      // a product
    // becomes
    scf.for %h = %c0 to %c8 step %c1 {
      scf.for %row = %c0 to %c1024 step %c64 {
        %t = memref.alloc() : memref<1x64x1024xf32>
        %qt = memref.subview %q[%h, %row, 0] [1, 64, 64] [1, 1, 1]
        linalg.generic ... ins(%qt, %kt) outs(%t)
        ...
    ```
  }];
  let statistics = [Statistic<"numTiled", "tiled", "chains of operations">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CpuVectorizeContractions
    : Pass<"cpu-vectorize-contractions", "::mlir::func::FuncOp"> {
  let summary = "vectorize contractions and their epilogues";
  let description = [{
    After bufferization: sums of products become loops over tiles whose sums
    stay in vector registers for all of the summation. Where neighbours of the
    result are neighbours in memory, vectors run along the result and every sum
    keeps its order; where only the summed elements are neighbours, vectors run
    along the sum. Remainders are masked, or done by narrower vectors where the
    target has no masks. Small integers in panels of groups are multiplied and
    summed up a group at a time (`dot_bits` of `#loopc.target`); copies into such
    panels interleave rows in registers. What is neither is left alone.

    Windows of poolings over a copy that was padded with what changes no result
    read what was copied: rows of padding are left out, columns of it are lanes
    that a mask leaves out, and the padded copy is not made. Sums of products
    leave out what all rows of a tile read of zeros around an image.

    `compact` wants little code: one kind of tile, with masks, and nothing that
    is brought together or done in blocks; `in-order` where no bit changes.
  }];
  let options = [Option<"compact", "compact", "bool", "false",
                        "one kind of tile for each product">,
                 Option<"inOrder", "in-order", "bool", "false",
                        "the same where no bit of a result changes">];
  let statistics = [Statistic<"numVectorized", "vectorized",
                              "operations that were vectorized">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PrintPlans : Pass<"loopc-print-plans", "::mlir::ModuleOp"> {
  let summary = "print how contractions, rows and copies will be vectorized";
  let description = [{
    Prints a line for each sum of products on buffers that
    cpu-vectorize-contractions computes by tiles of vectors, for windows whose
    padding it leaves out, for each copy into panels, each transpose and each
    border that is filled, and for what cpu-vectorize-rows computes by rows or
    columns, and changes nothing.
    `loopc --emit=memref` shows the buffers.

    ```mlir
    // loopc-opt --loopc-set-target="vector-bits=512 registers=32 mask-bits=8" --loopc-print-plans
    func.func @product(%x: memref<?x256xf32>, %w: memref<256x64xf32>, %y: memref<?x64xf32>) {
      linalg.matmul ins(%x, %w : memref<?x256xf32>, memref<256x64xf32>) outs(%y : memref<?x64xf32>)
      return
    }
    // product: contraction loops=?x64x256 vectors=16 along=d1 rows=d0 sum=d2
    //   packs=%1x256 | rows<3: tile=1x4 | else: tile=8x2 row-block=256 strip
    //   (on one line)
    ```

    | part | meaning |
    |---|---|
    | `loops` | extents of the loops; `?` only the run knows |
    | `vectors=L along=dN`, `along-sum=dN` | vectors of L lanes run along that loop of the result, or of the sum |
    | `rows`, `columns`, `sum`, `outer` | the loops of rows and columns of a tile, summed over, and around tiles |
    | `dot=G`, `dot=G blocks` | an instruction adds G products; of each block along the innermost loop, in integers that are then added up as floats |
    | `packs=%K x R`, `transposes=%K x R` | operand K is brought together, R elements of the sum at a time, if there turn out to be many rows; `widened`, `widened:N`: what the body makes of it, of each element N numbers |
    | `padded` | loops over the sum that leave out what no row of a tile reads but padding |
    | `columns-outside` | all positions are done for some columns before the next columns |
    | `sum-written-out` | the last loop over the sum is no loop |
    | `pairs` | weights of bf16 are widened for two vectors at a time |
    | `start=filled`, `start=copied` | what the result is filled with, or copied from, is what the sums begin with |
    | `epilogue`, `epilogue=turned` | what follows is computed on the sums; its result has the rows last |
    | `tile=RxV` | R rows of V vectors |
    | `sum-block=N` | N elements of the sum are done for all tiles before the rest of it |
    | `matrix-rows=N` | N rows of a matrix are read to their ends |
    | `row-block=N` | all columns of N rows are done before the next rows |
    | `strip` | columns are read from what was brought together |
    | `rest` | columns behind the last tile: `masked:V` one tile of V vectors, `narrow:V` tiles of V vectors, `all-masked` there is one kind of tile, `halves` shorter and shorter vectors |
    | `rows<N: ... else: ...` | two versions, of which the run chooses |
    | `panels=dN x W`, `groups=dN x G` | of a copy: the source's axes of panels W wide, and of groups |
    | `rows=N of=dK`, `reduces=OP into=#M` | rows along the last axis: N of axis K are reduced at once, by OP, into output M |
    | `sums=N` | N vectors of a row that is reduced alone have sums of their own |
    | `strip=N reduced=dK,...` | columns: N vectors of the result stay in registers while all along these axes goes by |
    | `stores=#N` | output N is computed element by element beside the columns |
    | `rows=dN columns=dM tile=LxL` | of a transpose: squares of L vectors, along dM in the result and along dN in what is read |
    | `short=dN:C vectors=L` | of a transpose: that axis has C numbers, of which vectors of L along the other axis are put together; before `else`: if it turns out to have |
    | `copied-first` | of a transpose: what is computed on it is left to an operation of its own |
    | `of=TYPE dN=begin`, `=end`, `=both` | of a border: the buffer, and where along which axes it is filled |
    | `transposed`, `masks-columns`, `masks-rows`, `writes-padding` | of a copy: rows become columns; the last panel, square or group may be cut off; what fills the panels in front is not needed |
  }];
}

def CpuVectorizeRows
    : Pass<"cpu-vectorize-rows", "::mlir::func::FuncOp"> {
  let summary = "vectorize elementwise operations with broadcasts, with masks";
  let description = [{
    After bufferization: an operation over several axes that reads some
    operands with fewer of them, or reduces the last one, becomes a loop over
    rows of vectors. The rest of a row is one masked vector. Sums along a row
    are put together in a vector where their order may change. Axes that are
    reduced, short or open, and lie one after the other, are one row. What is
    reduced along other axes than the last, windows of poolings among them, is
    held in registers, some vectors of the result at once, while all of it goes
    by.

    Where rows are shorter than a vector, or may turn out to be, as many rows as
    a vector has lanes are done at once, which are whole vectors. What all rows
    share is read from a table that has it as often.

    Operations over the same rows that follow one another (of a Softmax) are one
    loop over rows, if each writes to buffers that
    nobody knows by another name, the part of its row: some rows go through all
    of them before the next ones.

    ```mlir
    linalg.generic (max) ins(%x : memref<?x?xf32>) outs(%m : memref<?xf32>)
    linalg.generic (sub) ins(%x, %m) outs(%y)
    // becomes
    scf.for %i = ... step %c4 { // %m[%i .. %i + 3] from %x, then %y of it
    } {loopc.parallel}
    ```
  }];
  let statistics = [Statistic<"numVectorized", "vectorized",
                              "operations that were vectorized">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // LOOPC_CODEGEN_CPU_PASSES_TD
