// What masks of AVX-512 are made of: a conjunction of comparisons, as the checks
// of a gather had it. Written by loopc --emit=scf --cpu=znver4.
module attributes {loopc.ir_version = 10 : i64, loopc.model = "primitives.nnx.flip_sequences__flip_sequences_time_major_with_lengths_f64", loopc.producer = "jax2onnx 0.17.1", loopc.target = #loopc.target<vector_bits = 512, registers = 32, mask_bits = 8, dot_bits = 8, scales = true>} {
  func.func @main(%arg0: memref<5x2x3xf64> {loopc.dims = ["", "", ""], loopc.name = "in_0", loopc.type = tensor<5x2x3xf64>}, %arg1: memref<2xi32> {loopc.dims = [""], loopc.name = "in_1", loopc.type = tensor<2xi32>}) -> (memref<5x2x3xf64> {loopc.dims = ["", "", ""], loopc.name = "transpose_gather_data_1", loopc.type = tensor<5x2x3xf64>}) {
    %c3 = arith.constant 3 : index
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %c3_i64 = arith.constant 3 : i64
    %c4_i64 = arith.constant 4 : i64
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c5_i64 = arith.constant 5 : i64
    %true = arith.constant true
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %expand_shape = memref.expand_shape %arg1 [[0, 1]] output_shape [1, 2] : memref<2xi32> into memref<1x2xi32>
    %0 = memref.load %expand_shape[%c0, %c0] : memref<1x2xi32>
    %1 = arith.extsi %0 : i32 to i64
    %2 = memref.load %expand_shape[%c0, %c1] : memref<1x2xi32>
    %3 = arith.extsi %2 : i32 to i64
    %4 = arith.addi %1, %c4_i64 : i64
    %5 = arith.addi %3, %c4_i64 : i64
    %6 = arith.addi %1, %c3_i64 : i64
    %7 = arith.addi %3, %c3_i64 : i64
    %8 = arith.addi %1, %c2_i64 : i64
    %9 = arith.addi %3, %c2_i64 : i64
    %10 = arith.addi %1, %c1_i64 : i64
    %11 = arith.addi %3, %c1_i64 : i64
    %12 = arith.divsi %4, %c5_i64 : i64
    %13 = arith.divsi %5, %c5_i64 : i64
    %14 = arith.divsi %6, %c5_i64 : i64
    %15 = arith.divsi %7, %c5_i64 : i64
    %16 = arith.divsi %8, %c5_i64 : i64
    %17 = arith.divsi %9, %c5_i64 : i64
    %18 = arith.divsi %10, %c5_i64 : i64
    %19 = arith.divsi %11, %c5_i64 : i64
    %20 = arith.divsi %1, %c5_i64 : i64
    %21 = arith.divsi %3, %c5_i64 : i64
    %22 = arith.muli %12, %c5_i64 : i64
    %23 = arith.muli %13, %c5_i64 : i64
    %24 = arith.muli %14, %c5_i64 : i64
    %25 = arith.muli %15, %c5_i64 : i64
    %26 = arith.muli %16, %c5_i64 : i64
    %27 = arith.muli %17, %c5_i64 : i64
    %28 = arith.muli %18, %c5_i64 : i64
    %29 = arith.muli %19, %c5_i64 : i64
    %30 = arith.muli %20, %c5_i64 : i64
    %31 = arith.muli %21, %c5_i64 : i64
    %32 = arith.subi %4, %22 : i64
    %33 = arith.subi %5, %23 : i64
    %34 = arith.subi %6, %24 : i64
    %35 = arith.subi %7, %25 : i64
    %36 = arith.subi %8, %26 : i64
    %37 = arith.subi %9, %27 : i64
    %38 = arith.subi %10, %28 : i64
    %39 = arith.subi %11, %29 : i64
    %40 = arith.subi %1, %30 : i64
    %41 = arith.subi %3, %31 : i64
    %42 = arith.cmpi ne, %32, %c0_i64 : i64
    %43 = arith.cmpi ne, %33, %c0_i64 : i64
    %44 = arith.cmpi ne, %34, %c0_i64 : i64
    %45 = arith.cmpi ne, %35, %c0_i64 : i64
    %46 = arith.cmpi ne, %36, %c0_i64 : i64
    %47 = arith.cmpi ne, %37, %c0_i64 : i64
    %48 = arith.cmpi ne, %38, %c0_i64 : i64
    %49 = arith.cmpi ne, %39, %c0_i64 : i64
    %50 = arith.cmpi ne, %40, %c0_i64 : i64
    %51 = arith.cmpi ne, %41, %c0_i64 : i64
    %52 = arith.cmpi slt, %32, %c0_i64 : i64
    %53 = arith.cmpi slt, %33, %c0_i64 : i64
    %54 = arith.cmpi slt, %34, %c0_i64 : i64
    %55 = arith.cmpi slt, %35, %c0_i64 : i64
    %56 = arith.cmpi slt, %36, %c0_i64 : i64
    %57 = arith.cmpi slt, %37, %c0_i64 : i64
    %58 = arith.cmpi slt, %38, %c0_i64 : i64
    %59 = arith.cmpi slt, %39, %c0_i64 : i64
    %60 = arith.cmpi slt, %40, %c0_i64 : i64
    %61 = arith.cmpi slt, %41, %c0_i64 : i64
    %62 = arith.andi %52, %42 : i1
    %63 = arith.andi %53, %43 : i1
    %64 = arith.andi %54, %44 : i1
    %65 = arith.andi %55, %45 : i1
    %66 = arith.andi %56, %46 : i1
    %67 = arith.andi %57, %47 : i1
    %68 = arith.andi %58, %48 : i1
    %69 = arith.andi %59, %49 : i1
    %70 = arith.andi %60, %50 : i1
    %71 = arith.andi %61, %51 : i1
    %72 = arith.addi %32, %c5_i64 : i64
    %73 = arith.addi %33, %c5_i64 : i64
    %74 = arith.addi %34, %c5_i64 : i64
    %75 = arith.addi %35, %c5_i64 : i64
    %76 = arith.addi %36, %c5_i64 : i64
    %77 = arith.addi %37, %c5_i64 : i64
    %78 = arith.addi %38, %c5_i64 : i64
    %79 = arith.addi %39, %c5_i64 : i64
    %80 = arith.addi %40, %c5_i64 : i64
    %81 = arith.addi %41, %c5_i64 : i64
    %82 = arith.select %62, %72, %32 : i64
    %83 = arith.select %63, %73, %33 : i64
    %84 = arith.select %64, %74, %34 : i64
    %85 = arith.select %65, %75, %35 : i64
    %86 = arith.select %66, %76, %36 : i64
    %87 = arith.select %67, %77, %37 : i64
    %88 = arith.select %68, %78, %38 : i64
    %89 = arith.select %69, %79, %39 : i64
    %90 = arith.select %70, %80, %40 : i64
    %91 = arith.select %71, %81, %41 : i64
    %92 = arith.trunci %82 : i64 to i32
    %93 = arith.trunci %83 : i64 to i32
    %94 = arith.trunci %84 : i64 to i32
    %95 = arith.trunci %85 : i64 to i32
    %96 = arith.trunci %86 : i64 to i32
    %97 = arith.trunci %87 : i64 to i32
    %98 = arith.trunci %88 : i64 to i32
    %99 = arith.trunci %89 : i64 to i32
    %100 = arith.trunci %90 : i64 to i32
    %101 = arith.trunci %91 : i64 to i32
    %102 = arith.cmpi slt, %92, %c0_i32 : i32
    %103 = arith.cmpi slt, %93, %c0_i32 : i32
    %104 = arith.cmpi slt, %94, %c0_i32 : i32
    %105 = arith.cmpi slt, %95, %c0_i32 : i32
    %106 = arith.cmpi slt, %96, %c0_i32 : i32
    %107 = arith.cmpi slt, %97, %c0_i32 : i32
    %108 = arith.cmpi slt, %98, %c0_i32 : i32
    %109 = arith.cmpi slt, %99, %c0_i32 : i32
    %110 = arith.cmpi slt, %100, %c0_i32 : i32
    %111 = arith.cmpi slt, %101, %c0_i32 : i32
    %112 = arith.addi %92, %c5_i32 : i32
    %113 = arith.addi %93, %c5_i32 : i32
    %114 = arith.addi %94, %c5_i32 : i32
    %115 = arith.addi %95, %c5_i32 : i32
    %116 = arith.addi %96, %c5_i32 : i32
    %117 = arith.addi %97, %c5_i32 : i32
    %118 = arith.addi %98, %c5_i32 : i32
    %119 = arith.addi %99, %c5_i32 : i32
    %120 = arith.addi %100, %c5_i32 : i32
    %121 = arith.addi %101, %c5_i32 : i32
    %122 = arith.select %102, %112, %92 : i32
    %123 = arith.select %103, %113, %93 : i32
    %124 = arith.select %104, %114, %94 : i32
    %125 = arith.select %105, %115, %95 : i32
    %126 = arith.select %106, %116, %96 : i32
    %127 = arith.select %107, %117, %97 : i32
    %128 = arith.select %108, %118, %98 : i32
    %129 = arith.select %109, %119, %99 : i32
    %130 = arith.select %110, %120, %100 : i32
    %131 = arith.select %111, %121, %101 : i32
    %132 = arith.extsi %122 : i32 to i64
    %133 = arith.extsi %124 : i32 to i64
    %134 = arith.extsi %126 : i32 to i64
    %135 = arith.extsi %128 : i32 to i64
    %136 = arith.extsi %130 : i32 to i64
    %137 = arith.extsi %123 : i32 to i64
    %138 = arith.extsi %125 : i32 to i64
    %139 = arith.extsi %127 : i32 to i64
    %140 = arith.extsi %129 : i32 to i64
    %141 = arith.extsi %131 : i32 to i64
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<2x5x1xi64>
    memref.store %132, %alloc[%c0, %c0, %c0] : memref<2x5x1xi64>
    memref.store %133, %alloc[%c0, %c1, %c0] : memref<2x5x1xi64>
    memref.store %134, %alloc[%c0, %c2, %c0] : memref<2x5x1xi64>
    memref.store %135, %alloc[%c0, %c3, %c0] : memref<2x5x1xi64>
    memref.store %136, %alloc[%c0, %c4, %c0] : memref<2x5x1xi64>
    memref.store %137, %alloc[%c1, %c0, %c0] : memref<2x5x1xi64>
    memref.store %138, %alloc[%c1, %c1, %c0] : memref<2x5x1xi64>
    memref.store %139, %alloc[%c1, %c2, %c0] : memref<2x5x1xi64>
    memref.store %140, %alloc[%c1, %c3, %c0] : memref<2x5x1xi64>
    memref.store %141, %alloc[%c1, %c4, %c0] : memref<2x5x1xi64>
    %142 = scf.for %arg2 = %c0 to %c2 step %c1 iter_args(%arg3 = %true) -> (i1) {
      %143 = scf.for %arg4 = %c0 to %c5 step %c1 iter_args(%arg5 = %arg3) -> (i1) {
        %144 = memref.load %alloc[%arg2, %arg4, %c0] : memref<2x5x1xi64>
        %145 = arith.index_cast %144 : i64 to index
        %146 = arith.cmpi slt, %145, %c0 : index
        %147 = arith.addi %145, %c5 : index
        %148 = arith.select %146, %147, %145 : index
        %149 = arith.cmpi ult, %148, %c5 : index
        %150 = arith.andi %arg5, %149 : i1
        scf.yield %150 : i1
      }
      scf.yield %143 : i1
    }
    loop.check %142, "an index is out of range for an axis of extent {}"(%c5 : index)
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<5x2x3xf64>
    scf.for %arg2 = %c0 to %c5 step %c1 {
      scf.for %arg3 = %c0 to %c2 step %c1 {
        scf.for %arg4 = %c0 to %c3 step %c1 {
          %143 = memref.load %alloc[%arg3, %arg2, %c0] : memref<2x5x1xi64>
          %144 = arith.index_cast %143 : i64 to index
          %145 = arith.cmpi slt, %144, %c0 : index
          %146 = arith.addi %144, %c5 : index
          %147 = arith.select %145, %146, %144 : index
          %148 = arith.minui %147, %c4 : index
          %149 = memref.load %arg0[%148, %arg3, %arg4] : memref<5x2x3xf64>
          memref.store %149, %alloc_0[%arg2, %arg3, %arg4] : memref<5x2x3xf64>
        } {loopc.parallel}
      } {loopc.parallel}
    } {loopc.parallel}
    memref.dealloc %alloc : memref<2x5x1xi64>
    return %alloc_0 : memref<5x2x3xf64>
  }
}

