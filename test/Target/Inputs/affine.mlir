// y[i, j] = exp(x[i, j] * scale[j]) + offset[j], where scale and offset are
// weights: what the compiler's passes would make of it, by hand.
module attributes {
  loopc.model = "affine",
  loopc.inputs = [{name = "x", type = tensor<?x3xf32>, dims = ["N", ""]}],
  loopc.outputs = [{name = "y", type = tensor<?x3xf32>, dims = ["N", ""]}]
} {
  llvm.mlir.global external @scale() {loopc.weight = dense_resource<scale> : tensor<3xf32>} : !llvm.array<12 x i8>
  llvm.mlir.global external @offset() {loopc.weight = dense<0.5> : tensor<3xf32>} : !llvm.array<12 x i8>
  llvm.func @expf(f32) -> f32
  llvm.func @loopc_rt_alloc(!llvm.ptr, i64) -> !llvm.ptr

  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %c3 = llvm.mlir.constant(3 : i64) : i64
    %c12 = llvm.mlir.constant(12 : i64) : i64
    %ok = llvm.mlir.constant(0 : i32) : i32
    %memory = llvm.mlir.constant(4 : i32) : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %scale = llvm.mlir.addressof @scale : !llvm.ptr
    %offset = llvm.mlir.addressof @offset : !llvm.ptr

    %xp = llvm.load %inputs : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %xp : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %base = llvm.extractvalue %x[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %start = llvm.extractvalue %x[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %n = llvm.extractvalue %x[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %src = llvm.getelementptr %base[%start] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %bytes = llvm.mul %n, %c12 : i64
    %dst = llvm.call @loopc_rt_alloc(%run, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
    %failed = llvm.icmp "eq" %dst, %null : !llvm.ptr
    llvm.cond_br %failed, ^failed, ^rows(%c0 : i64)

  ^failed:
    llvm.return %memory : i32

  ^rows(%i: i64):
    %more = llvm.icmp "slt" %i, %n : i64
    llvm.cond_br %more, ^columns(%c0 : i64), ^done

  ^columns(%j: i64):
    %row = llvm.mul %i, %c3 : i64
    %k = llvm.add %row, %j : i64
    %px = llvm.getelementptr %src[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %ps = llvm.getelementptr %scale[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %po = llvm.getelementptr %offset[%j] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %py = llvm.getelementptr %dst[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %vx = llvm.load %px : !llvm.ptr -> f32
    %vs = llvm.load %ps : !llvm.ptr -> f32
    %vo = llvm.load %po : !llvm.ptr -> f32
    %0 = llvm.fmul %vx, %vs : f32
    %1 = llvm.call @expf(%0) : (f32) -> f32
    %2 = llvm.fadd %1, %vo : f32
    llvm.store %2, %py : f32, !llvm.ptr
    %j1 = llvm.add %j, %c1 : i64
    %inside = llvm.icmp "slt" %j1, %c3 : i64
    llvm.cond_br %inside, ^columns(%j1 : i64), ^next

  ^next:
    %i1 = llvm.add %i, %c1 : i64
    llvm.br ^rows(%i1 : i64)

  ^done:
    %u = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u0 = llvm.insertvalue %dst, %u[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u1 = llvm.insertvalue %dst, %u0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u2 = llvm.insertvalue %c0, %u1[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u3 = llvm.insertvalue %n, %u2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u4 = llvm.insertvalue %c3, %u3[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u5 = llvm.insertvalue %c3, %u4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %u6 = llvm.insertvalue %c1, %u5[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %yp = llvm.load %outputs : !llvm.ptr -> !llvm.ptr
    llvm.store %u6, %yp : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>, !llvm.ptr
    llvm.return %ok : i32
  }
}

{-#
  dialect_resources: {
    builtin: {
      // 4 bytes of alignment, then 0.0, 1.0, -1.0.
      scale: "0x04000000000000000000803F000080BF"
    }
  }
#-}
