// RUN: loopc-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%x: tensor<2xf32>) {
  // expected-error @below {{'onnx.node' op 'Softmix' is no operator of domain 'ai.onnx'}}
  %y = onnx.node "Softmix"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unnamed(%x: tensor<2xf32>) {
  // expected-error @below {{expects an operator name}}
  %y = onnx.node ""(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @version(%x: tensor<2xf32>) {
  // expected-error @below {{'Softmax' has no version 12; opset 12 has version 11}}
  %y = onnx.node "Softmax"(%x) since 12 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @too_old(%x: tensor<2xf32>) {
  // expected-error @below {{'Erf' has no version 5}}
  %y = onnx.node "Erf"(%x) since 5 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @withdrawn(%x: tensor<1x1x2x2xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'Upsample' was withdrawn in version 10 of domain 'ai.onnx'}}
  %y = onnx.node "Upsample"(%x, %s) since 10 : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @few_inputs(%x: tensor<2xf32>) {
  // expected-error @below {{'Add' has 1 input, expected 2}}
  %y = onnx.node "Add"(%x) since 14 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @many_inputs(%x: tensor<2xf32>) {
  // expected-error @below {{'Clip' has 4 inputs, expected 1 to 3}}
  %y = onnx.node "Clip"(%x, %x, %x, %x) since 13 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @outputs(%x: tensor<2xf32>) {
  // expected-error @below {{'Abs' has 2 outputs, expected 1}}
  %y:2 = onnx.node "Abs"(%x) since 13 : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// BatchNormalization-9 has 1 or 5 outputs, nothing in between.
func.func @numbers(%x: tensor<1x2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{'BatchNormalization' does not exist with 5 inputs and 3 outputs in version 9}}
  %y:3 = onnx.node "BatchNormalization"(%x, %s, %s, %s, %s) since 9
      : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @required_input(%x: tensor<2xf32>) {
  %none = onnx.none
  // expected-error @below {{'Add' input #0 'A' is left out but required}}
  %y = onnx.node "Add"(%none, %x) since 14 : (none, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unknown_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'Abs' has no attribute 'axis' in version 13}}
  %y = onnx.node "Abs"(%x) since 13 {axis = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_kind(%x: tensor<2xf32>) {
  // expected-error @below {{'Softmax' attribute 'axis' is 0.000000e+00 : f32, expected INT (i64)}}
  %y = onnx.node "Softmax"(%x) since 13 {axis = 0.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_width(%x: tensor<2xf32>) {
  // expected-error @below {{'Softmax' attribute 'axis' is 0 : i32, expected INT (i64)}}
  %y = onnx.node "Softmax"(%x) since 13 {axis = 0 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @required_attribute(%x: tensor<2xf32>) {
  // expected-error @below {{'Concat' lacks the required attribute 'axis'}}
  %y = onnx.node "Concat"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @input_type(%x: tensor<2xi32>) {
  // expected-error @below {{'Tanh' input #0 'input' has type 'tensor<2xi32>', expected one of tensor(bfloat16), tensor(double), tensor(float), tensor(float16)}}
  %y = onnx.node "Tanh"(%x) since 13 : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @no_onnx_type(%x: i32) {
  // expected-error @below {{'Neg' input #0 'X' has type 'i32', which is no ONNX type}}
  %y = onnx.node "Neg"(%x) since 13 : (i32) -> tensor<i32>
  return
}

// -----

func.func @same_input_types(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @below {{'Add' input #1 'B' has type 'tensor<2xf64>', expected tensor(float) as input #0}}
  %z = onnx.node "Add"(%x, %y) since 14 : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @output_type(%x: tensor<2xf32>) {
  // expected-error @below {{'Abs' output #0 'Y' has type 'tensor<2xf64>', expected tensor(float) as input #0}}
  %z = onnx.node "Abs"(%x) since 13 : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

// bfloat16 came with version 13.
func.func @type_of_version(%x: tensor<2xbf16>) {
  // expected-error @below {{'Abs' input #0 'X' has type 'tensor<2xbf16>', expected one of tensor(double), tensor(float), tensor(float16), tensor(int16), tensor(int32), tensor(int64), ...}}
  %z = onnx.node "Abs"(%x) since 6 : (tensor<2xbf16>) -> tensor<2xbf16>
  return
}

// -----

func.func @cast_tensor(%x: tensor<2xf32>) {
  // expected-error @below {{operand type 'tensor<2xf32>' and result type 'tensor<?xf32>' are cast incompatible}}
  %z = onnx.cast %x : tensor<2xf32> to tensor<?xf32>
  return
}

// -----

func.func @cast_element(%x: !onnx.seq<tensor<2xf32>>) {
  // expected-error @below {{are cast incompatible}}
  %z = onnx.cast %x : !onnx.seq<tensor<2xf32>> to !onnx.seq<tensor<2xf64>>
  return
}

// -----

func.func @constant_type() {
  // expected-error @below {{'onnx.constant' op}}
  %z = "onnx.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}
