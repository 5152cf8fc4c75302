// RUN: loopc-opt %s -split-input-file -onnx-infer-types -verify-diagnostics

func.func @broadcast(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{'Add' is given operands that do not fit: incompatible dimensions ('tensor<2xf32>', 'tensor<3xf32>')}}
  %z = onnx.node "Add"(%x, %y) since 14 : (tensor<2xf32>, tensor<3xf32>) -> tensor<*xf32>
  return
}

// -----

// What is known of the dimensions suffices.
func.func @known_part(%x: tensor<2x?xf32>, %y: tensor<3x?xf32>) {
  // expected-error @below {{'Add' is given operands that do not fit: incompatible dimensions}}
  %z = onnx.node "Add"(%x, %y) since 14 : (tensor<2x?xf32>, tensor<3x?xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @reshape(%x: tensor<5xf32>) {
  %s = onnx.constant dense<[2, -1]> : tensor<2xi64>
  // expected-error @below {{'Reshape' is given operands that do not fit: dimension could not be inferred: incompatible shapes}}
  %z = onnx.node "Reshape"(%x, %s) since 14 : (tensor<5xf32>, tensor<2xi64>) -> tensor<*xf32>
  return
}

// -----

func.func @cast_to_nothing(%x: tensor<5xf32>) {
  // expected-error @below {{'Cast' is given operands that do not fit: attribute to does not specify a valid type}}
  %z = onnx.node "Cast"(%x) since 13 {to = 99 : i64} : (tensor<5xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @cast_not_yet(%x: tensor<5xf32>) {
  // expected-error @below {{'Cast' cannot have the types it asks for: output has unsupported type tensor(int4)}}
  %z = onnx.node "Cast"(%x) since 13 {to = 22 : i64} : (tensor<5xf32>) -> tensor<*xf32>
  return
}

// -----

// In a loop that has a first iteration its types are facts.
func.func @in_loop(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  %m = onnx.constant dense<3> : tensor<i64>
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>) carried(%a = %x : tensor<2xf32>) {
    // expected-error @below {{'Add' is given operands that do not fit: incompatible dimensions}}
    %b = onnx.node "Add"(%a, %y) since 14 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
    loop.yield while(%d : tensor<i1>) carried(%b : tensor<2xf32>)
  }
  return
}

// -----

func.func @carried_element(%m: tensor<i64>, %x: tensor<2xf32>) {
  // expected-error @below {{carried value #0 is 'tensor<2xf32>' but an iteration yields 'tensor<2xf64>'}}
  %r = loop.loop (%i : tensor<i64>, %d : tensor<i1>) trips(%m : tensor<i64>) carried(%a = %x : tensor<2xf32>) {
    %b = onnx.node "Cast"(%a) since 13 {to = 11 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    loop.yield while(%d : tensor<i1>) carried(%b : tensor<2xf32>)
  }
  return
}

// -----

func.func @branch_element(%c: i1, %x: tensor<2xf32>) {
  // expected-error @below {{result #0 is 'tensor<2xf64>' in one branch but 'tensor<2xf32>' in the other}}
  %r = scf.if %c -> (tensor<2xf32>) {
    %b = onnx.node "Cast"(%x) since 13 {to = 11 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %b : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return
}

// -----

// What another dialect's operation was given cannot be that.
func.func @others(%x: tensor<2xf32>) {
  %0 = onnx.node "Neg"(%x) since 13 : (tensor<2xf32>) -> tensor<3xf32>
  // expected-error @below {{operand #0 has type 'tensor<3xf32>' but is inferred to be 'tensor<2xf32>'}}
  %1 = arith.negf %0 : tensor<3xf32>
  return
}
