// Modules that are no lowered models.
// RUN: split-file %s %t
// RUN: not loopc %t/signature.mlir -o - 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not loopc %t/callee.mlir -o - 2>&1 | FileCheck %s --check-prefix=CALLEE
// RUN: not loopc %t/inputs.mlir -o - 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not loopc %t/port.mlir -o - 2>&1 | FileCheck %s --check-prefix=PORT
// RUN: not loopc %t/type.mlir -o - 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not loopc %t/dims.mlir -o - 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: not loopc %t/declared.mlir -o - 2>&1 | FileCheck %s --check-prefix=DECLARED
// RUN: not loopc %t/names.mlir -o - 2>&1 | FileCheck %s --check-prefix=DECLARED

// SIGNATURE: LC0604: the module has no function 'loopc_entry' that takes three pointers and returns i32
//--- signature.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// CALLEE: LC0604: the code calls 'print_tensor', which neither loopc_rt nor libc nor libm has
//--- callee.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = []} {
  llvm.func @print_tensor(!llvm.ptr)
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.call @print_tensor(%run) : (!llvm.ptr) -> ()
    llvm.return %ok : i32
  }
}

// INPUTS: LC0604: the module has no array 'loopc.inputs'
//--- inputs.mlir
module attributes {loopc.model = "m", loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// PORT: LC0604: an entry of 'loopc.outputs' is no dictionary with a string 'name' and a type 'type'
//--- port.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = ["y"]} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// TYPE: LC0604: 'loopc.inputs' has 'x' of type 'tensor<2xi37>', which no model can take or return
//--- type.mlir
module attributes {loopc.model = "m", loopc.inputs = [{name = "x", type = tensor<2xi37>}], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// DECLARED: LC0604: 'loopc.outputs' declares 'y' of type 'tensor<*xf32>' as 'tensor<2x?x{{.*}}>', of another kind or with other dimensions than their names
//--- declared.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = [{name = "y", type = tensor<*xf32>, declared = tensor<2x?xi64>}]} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

//--- names.mlir
module attributes {loopc.model = "m", loopc.inputs = [], loopc.outputs = [{name = "y", type = tensor<*xf32>, declared = tensor<2x?xf32>, declared_dims = ["N"]}]} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}

// DIMS: LC0604: the dims of 'x' in 'loopc.inputs' are not one string for each dimension of 'tensor<?x2xf32>'
//--- dims.mlir
module attributes {loopc.model = "m", loopc.inputs = [{name = "x", type = tensor<?x2xf32>, dims = ["N"]}], loopc.outputs = []} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }
}
