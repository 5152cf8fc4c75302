// The function of mask-moves.ll, in a model.
module attributes {loopc.inputs = [{dims = [""], name = "x", type = tensor<2xi32>}], loopc.model = "mask", loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %slot = llvm.load %inputs : !llvm.ptr -> !llvm.ptr
    %port = llvm.load %slot : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %data = llvm.extractvalue %port[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %x = llvm.load %data {alignment = 4 : i64} : !llvm.ptr -> vector<2xi32>
    %size = llvm.extractvalue %port[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %other = llvm.trunc %size : i64 to i1
    %both = llvm.call @mask(%x, %other) : (vector<2xi32>, i1) -> i1
    %status = llvm.zext %both : i1 to i32
    llvm.return %status : i32
  }
  llvm.func internal @mask(%x: vector<2xi32>, %other: i1) -> i1 attributes {no_inline} {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %zeros = llvm.mlir.constant(dense<0> : vector<2xi64>) : vector<2xi64>
    %none = llvm.mlir.constant(dense<false> : vector<8xi1>) : vector<8xi1>
    %no_bits = llvm.mlir.constant(0 : i8) : i8
    %wide = llvm.sext %x : vector<2xi32> to vector<2xi64>
    %negative = llvm.icmp "slt" %wide, %zeros : vector<2xi64>
    %first = llvm.extractelement %negative[%c0 : i64] : vector<2xi1>
    %number = llvm.extractelement %wide[%c0 : i64] : vector<2xi64>
    %inserted = llvm.insertelement %other, %none[%c0 : i64] : vector<8xi1>
    %bits = llvm.bitcast %inserted : vector<8xi1> to i8
    %is_none = llvm.icmp "eq" %bits, %no_bits : i8
    %chosen = llvm.select %first, %c0, %number : i1, i64
    %zero = llvm.icmp "ult" %chosen, %c1 : i64
    %both = llvm.and %is_none, %zero : i1
    llvm.return %both : i1
  }
}
