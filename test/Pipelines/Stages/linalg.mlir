// RUN: loopc-opt %s --loopc-verify-stage=stage=linalg --verify-diagnostics --split-input-file

// What holds is nothing to say.
func.func @holds(%n: i64, %x: tensor<?xf32>, %s: !list.list<f32>) -> tensor<?xf32> {
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : tensor<?xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// -----

func.func @node(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{stage linalg: 'onnx.node' op is lowered here}}
  // expected-note @+1 {{this is a fault of the compiler: please report it, with the model}}
  %y = onnx.node "Relu"(%x) since 14 : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The first error alone asks for a report.
// expected-error @+2 {{stage linalg: 'func.func' op has 'tensor<*xf32>', whose rank is not known, as argument #1 of a block}}
// expected-note @+1 {{please report it}}
func.func @rank(%y: tensor<4xf32>, %x: tensor<*xf32>) {
  // expected-error @+1 {{stage linalg: 'tensor.cast' op has 'tensor<*xf32>', whose rank is not known, as result #0}}
  %0 = tensor.cast %y : tensor<4xf32> to tensor<*xf32>
  return
}

// -----

func.func @conversion(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @+2 {{stage linalg: 'builtin.unrealized_conversion_cast' op is left of a conversion}}
  // expected-note @+1 {{please report it}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @scan(%s0: tensor<2xf32>, %x: tensor<3x2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{stage linalg: 'loop.scan' op becomes loop.loop here}}
  // expected-note @+1 {{please report it}}
  %s, %y = loop.scan states(%a = %s0 : tensor<2xf32>)
      inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<2xf32>)
      outputs(tensor<3x2xf32> axis 0) {
    %c = arith.addf %a, %b : tensor<2xf32>
    loop.yield carried(%c : tensor<2xf32>) collect(%c : tensor<2xf32>)
  }
  return %s : tensor<2xf32>
}

// -----

func.func @trips(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{stage linalg: 'loop.loop' op has a trip count that is no scalar}}
  // expected-note @+1 {{please report it}}
  %r = loop.loop (%i : i64, %c : i1) trips(%n : tensor<i64>) carried(%a = %x : tensor<2xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<2xf32>)
  }
  return %r : tensor<2xf32>
}

// -----

func.func @condition(%n: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+2 {{stage linalg: 'loop.loop' op has a condition that is no scalar}}
  // expected-note @+1 {{please report it}}
  %r = loop.loop (%i : i64, %c : i1) while(%n : tensor<i1>) carried(%a = %x : tensor<2xf32>) {
    loop.yield while(%c : i1) carried(%a : tensor<2xf32>)
  }
  return %r : tensor<2xf32>
}

// -----

// expected-error @+2 {{stage linalg: 'func.func' op has '!onnx.seq<tensor<*xf32>>', a type of the model, as argument #0 of a block}}
// expected-note @+1 {{please report it}}
func.func @sequence(%s: !onnx.seq<tensor<*xf32>>) {
  return
}
