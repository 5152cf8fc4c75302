// RUN: loopc-opt %s --convert-loop-runtime-to-llvm --verify-diagnostics

// expected-error@+1 {{LC0604: function 'f' does not take the run}}
func.func @f(%n: index) -> i32 {
  %a = memref.alloc(%n) : memref<?xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}
