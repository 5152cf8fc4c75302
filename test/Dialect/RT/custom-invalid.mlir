// RUN: loopc-opt %s --split-input-file --verify-diagnostics

func.func @symbol(%x: tensor<2xf32>) {
  // expected-error @+1 {{'symbol' must begin with "loopc_op_" but is "malloc"}}
  %a:2 = rt.custom "malloc"(%x) takes [tensor<2xf32>] gives [tensor<2xf32>] with {} at ""
      : (tensor<2xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

func.func @attribute(%x: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'k' is no integer (i64), float (f32), text or list of such}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [tensor<2xf32>] gives [tensor<2xf32>] with {k = 1.0} at ""
      : (tensor<2xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

func.func @rank(%x: tensor<2xf32>) {
  // expected-error @+1 {{input #0 of type 'tensor<2x1xf32>' must be one tensor or memref of that rank}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [tensor<2x1xf32>] gives [tensor<2xf32>] with {} at ""
      : (tensor<2xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

func.func @element(%x: tensor<2xf32>) {
  // expected-error @+1 {{output #0 of type 'tensor<2xui8>' must be its elements and its shape (i64), each of rank 1}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [tensor<2xf32>] gives [tensor<2xui8>] with {} at ""
      : (tensor<2xf32>) -> (tensor<?xui8>, tensor<?xi64>)
  return
}

// -----

func.func @missing_shape(%x: tensor<?xf32>) {
  // expected-error @+1 {{input #0 of type 'tensor<*xf32>' must be its elements and its shape (i64)}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [tensor<*xf32>] gives [tensor<2xf32>] with {} at ""
      : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

func.func @more(%x: tensor<2xf32>) {
  // expected-error @+1 {{has 1 more values than its inputs are}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [none] gives [tensor<2xf32>] with {} at ""
      : (tensor<2xf32>) -> (tensor<?xf32>, tensor<?xi64>)
  return
}

// -----

func.func @no_tensor(%x: i32) {
  // expected-error @+1 {{input #0 is a 'i32', expected a tensor or none}}
  %a:2 = rt.custom "loopc_op_f"(%x) takes [i32] gives [tensor<2xf32>] with {} at ""
      : (i32) -> (tensor<?xf32>, tensor<?xi64>)
  return
}
