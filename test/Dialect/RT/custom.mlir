// RUN: loopc-opt %s --canonicalize --cse | loopc-opt | FileCheck %s

// Calls with the same operands are one call; those that nobody asks are none.
// CHECK-LABEL: func @calls(
func.func @calls(%x: tensor<2x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[Y:.*]]:2 = rt.custom "loopc_op_f"(%{{.*}}) takes [tensor<2x?xf32>] gives [tensor<*xf32>] with {k = 1 : i64} at "f"
  // CHECK-NOT: rt.custom
  // CHECK: return %[[Y]]#0, %[[Y]]#0
  %a, %as = rt.custom "loopc_op_f"(%x) takes [tensor<2x?xf32>] gives [tensor<*xf32>]
      with {k = 1 : i64} at "f" : (tensor<2x?xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  %b, %bs = rt.custom "loopc_op_f"(%x) takes [tensor<2x?xf32>] gives [tensor<*xf32>]
      with {k = 1 : i64} at "f" : (tensor<2x?xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  %c, %cs = rt.custom "loopc_op_f"(%x) takes [tensor<2x?xf32>] gives [tensor<*xf32>]
      with {k = 2 : i64} at "f" : (tensor<2x?xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// Operators that have a state are called as often as the program says.
// CHECK-LABEL: func @stateful(
func.func @stateful() {
  // CHECK-COUNT-2: rt.custom "loopc_op_f"() stateful
  %a:2 = rt.custom "loopc_op_f"() stateful takes [] gives [tensor<i64>]
      with {} at "f" : () -> (tensor<?xi64>, tensor<?xi64>)
  %b:2 = rt.custom "loopc_op_f"() stateful takes [] gives [tensor<i64>]
      with {} at "f" : () -> (tensor<?xi64>, tensor<?xi64>)
  return
}

// Inputs of unknown rank, of integers with a sign, and such that are left out.
// CHECK-LABEL: func @forms(
func.func @forms(%x: tensor<?xi8>, %shape: tensor<?xi64>, %s: memref<4x!rt.string>)
    -> memref<?xi64> {
  %a:2 = rt.custom "loopc_op_f"(%x, %shape) takes [none, tensor<*xui8>] gives [tensor<ui8>, none]
      with {a = array<i64: 1>, b = ["x"], c = 1.0 : f32, d = array<f32>} at "f"
      : (tensor<?xi8>, tensor<?xi64>) -> (tensor<?xi8>, tensor<?xi64>)
  %b:2 = rt.custom "loopc_op_f"(%s) takes [tensor<4x!rt.string>] gives [tensor<?xi64>]
      with {} at "f" : (memref<4x!rt.string>) -> (memref<?xi64>, memref<?xi64>)
  return %b#0 : memref<?xi64>
}
