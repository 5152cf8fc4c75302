// A scalar counter: n + 1, and the same n as a bool (n is not 0). No weights,
// nothing allocated but the outputs.
module attributes {
  loopc.model = "count",
  loopc.inputs = [{name = "n", type = tensor<i64>, dims = []}],
  loopc.outputs = [{name = "next", type = tensor<i64>, dims = []},
                   {name = "any", type = tensor<i1>, dims = []}]
} {
  llvm.func @loopc_rt_alloc(!llvm.ptr, i64) -> !llvm.ptr

  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %c8 = llvm.mlir.constant(8 : i64) : i64
    %ok = llvm.mlir.constant(0 : i32) : i32
    %np = llvm.load %inputs : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %np : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64)>
    %data = llvm.extractvalue %n[1] : !llvm.struct<(ptr, ptr, i64)>
    %value = llvm.load %data : !llvm.ptr -> i64
    %next = llvm.add %value, %c1 : i64
    %bool = llvm.icmp "ne" %value, %c0 : i64
    %byte = llvm.zext %bool : i1 to i8
    %a = llvm.call @loopc_rt_alloc(%run, %c8) : (!llvm.ptr, i64) -> !llvm.ptr
    %b = llvm.call @loopc_rt_alloc(%run, %c1) : (!llvm.ptr, i64) -> !llvm.ptr
    llvm.store %next, %a : i64, !llvm.ptr
    llvm.store %byte, %b : i8, !llvm.ptr
    llvm.call @give(%outputs, %c0, %a) : (!llvm.ptr, i64, !llvm.ptr) -> ()
    llvm.call @give(%outputs, %c1, %b) : (!llvm.ptr, i64, !llvm.ptr) -> ()
    llvm.return %ok : i32
  }

  // A function with a name that every model may have.
  llvm.func @give(%outputs: !llvm.ptr, %k: i64, %data: !llvm.ptr) {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %slot = llvm.getelementptr %outputs[%k] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %out = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    %u = llvm.mlir.undef : !llvm.struct<(ptr, ptr, i64)>
    %u0 = llvm.insertvalue %data, %u[0] : !llvm.struct<(ptr, ptr, i64)>
    %u1 = llvm.insertvalue %data, %u0[1] : !llvm.struct<(ptr, ptr, i64)>
    %u2 = llvm.insertvalue %c0, %u1[2] : !llvm.struct<(ptr, ptr, i64)>
    llvm.store %u2, %out : !llvm.struct<(ptr, ptr, i64)>, !llvm.ptr
    llvm.return
  }
}
