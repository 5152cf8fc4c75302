// What the parser and the verifier of loop.scan refuse; one fault a split.

// RUN: loopc-opt %s -split-input-file -verify-diagnostics

func.func @no_inputs(%s0: tensor<f32>) {
  // expected-error@+1 {{'loop.scan' op has no inputs to scan}}
  %s = loop.scan states(%a = %s0 : tensor<f32>) {
    loop.yield carried(%a : tensor<f32>)
  }
  return
}

// -----

func.func @results_too_few(%s0: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error@+1 {{has 0 results but 1 states}}
  "loop.scan"(%s0, %x) <{operandSegmentSizes = array<i32: 1, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1: false>,
      output_axes = array<i64>, output_reverse = array<i1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    loop.yield carried(%a : tensor<f32>)
  }) : (tensor<f32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @attribute_missing(%x: tensor<3xf32>) {
  // expected-error@+1 {{'loop.scan' op requires attribute 'input_axes'}}
  "loop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%b: tensor<f32>):
    loop.yield
  }) : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @input_reverse_too_few(%x: tensor<3xf32>) {
  // expected-error@+1 {{'input_reverse' has 0 elements but there are 1 inputs}}
  "loop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1>,
      output_axes = array<i64>, output_reverse = array<i1>}> ({
  ^bb0(%b: tensor<f32>):
    loop.yield
  }) : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @output_axes_too_many(%x: tensor<3xf32>) {
  // expected-error@+1 {{'output_axes' has 1 elements but there are 0 outputs}}
  "loop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1: false>,
      output_axes = array<i64: 0>, output_reverse = array<i1>}> ({
  ^bb0(%b: tensor<f32>):
    loop.yield
  }) : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @scan_args_none(%x: tensor<3xf32>) {
  // expected-error@+1 {{body has 0 arguments, expected 1: 0 states and 1 slices}}
  "loop.scan"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1: false>,
      output_axes = array<i64>, output_reverse = array<i1>}> ({
    loop.yield
  }) : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @scan_args_other_end(%x: tensor<3xf32>) {
  // expected-error@+1 {{body must end in 'loop.yield' but ends in 'func.return'}}
  loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) {
    // expected-note@+1 {{ends here}}
    func.return
  }
  return
}

// -----

func.func @scan_args_state(%s0: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error@+1 {{state #0: body argument #0 has type 'tensor<?xf32>', expected 'tensor<f32>'}}
  %s = "loop.scan"(%s0, %x) <{operandSegmentSizes = array<i32: 1, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1: false>,
      output_axes = array<i64>, output_reverse = array<i1>}> ({
  ^bb0(%a: tensor<?xf32>, %b: tensor<f32>):
    loop.yield carried(%a : tensor<?xf32>)
  }) : (tensor<f32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @state_result(%s0: tensor<2xf32>, %x: tensor<3xf32>) {
  // expected-error@+1 {{state #0: init has type 'tensor<2xf32>' but result #0 has type 'tensor<?xf32>'}}
  %s = "loop.scan"(%s0, %x) <{operandSegmentSizes = array<i32: 1, 1, 0>,
      input_axes = array<i64: 0>, input_reverse = array<i1: false>,
      output_axes = array<i64>, output_reverse = array<i1>}> ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<f32>):
    loop.yield carried(%a : tensor<2xf32>)
  }) : (tensor<2xf32>, tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @state_sequence(%s0: !onnx.seq<tensor<f32>>, %x: tensor<3xf32>) {
  // expected-error@+1 {{state #0: has type '!onnx.seq<tensor<f32>>' but must be a tensor}}
  %s = loop.scan states(%a = %s0 : !onnx.seq<tensor<f32>>)
      inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) {
    loop.yield carried(%a : !onnx.seq<tensor<f32>>)
  }
  return
}

// -----

func.func @input_sequence(%x: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{input #0: has type '!onnx.seq<tensor<f32>>' but must be a tensor}}
  loop.scan inputs(%b = %x : !onnx.seq<tensor<f32>> axis 0 -> tensor<f32>) {
    loop.yield
  }
  return
}

// -----

func.func @output_memref(%x: tensor<3xf32>, %y: memref<f32>) {
  // expected-error@+1 {{output #0: has type 'memref<?xf32>' but must be a tensor}}
  %o = loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>)
      outputs(memref<?xf32> axis 0) {
    loop.yield collect(%y : memref<f32>)
  }
  return
}

// -----

func.func @scan_state_shape(%s0: tensor<2xf32>, %x: tensor<3x3xf32>) {
  // expected-error@+1 {{state #0: body argument has type 'tensor<2xf32>' but 'loop.yield' operand #0 has type 'tensor<3xf32>'}}
  %s = loop.scan states(%a = %s0 : tensor<2xf32>)
      inputs(%b = %x : tensor<3x3xf32> axis 0 -> tensor<3xf32>) {
    // expected-note@+1 {{yielded here}}
    loop.yield carried(%b : tensor<3xf32>)
  }
  return
}

// -----

func.func @scan_yield_condition(%x: tensor<3xf32>, %c: i1) {
  // expected-error@+1 {{'loop.scan' op 'loop.yield' gives a condition, which a scan has not}}
  loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @scan_yield_states(%s0: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error@+1 {{'loop.yield' gives 2 states but the loop has 1}}
  %s = loop.scan states(%a = %s0 : tensor<f32>)
      inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) {
    // expected-note@+1 {{yielded here}}
    loop.yield carried(%a, %b : tensor<f32>, tensor<f32>)
  }
  return
}

// -----

func.func @scan_yield_outputs(%x: tensor<3xf32>) {
  // expected-error@+1 {{'loop.yield' gives 0 collected values but the loop has 1}}
  %o = loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>)
      outputs(tensor<3xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield
  }
  return
}

// -----

func.func @scan_axes_input(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{input #0: axis -3 is out of range for type 'tensor<3x2xf32>'}}
  loop.scan inputs(%b = %x : tensor<3x2xf32> axis -3 -> tensor<2xf32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan_axes_input_rank_0(%x: tensor<f32>) {
  // expected-error@+1 {{input #0: axis 0 is out of range for type 'tensor<f32>'}}
  loop.scan inputs(%b = %x : tensor<f32> axis 0 -> tensor<f32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan_axes_input_part(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{input #0: body argument #0 has type 'tensor<2xf32>' but an iteration's part is 'tensor<3x2xf32>' without axis -1}}
  loop.scan inputs(%b = %x : tensor<3x2xf32> axis -1 -> tensor<2xf32>) {
    loop.yield
  }
  return
}

// -----

// An axis of the output counts in the output's rank.
func.func @scan_axes_output(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{output #0: axis 2 is out of range for type 'tensor<2x3xf32>'}}
  %o = loop.scan inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<2xf32>)
      outputs(tensor<2x3xf32> axis 2) {
    loop.yield collect(%b : tensor<2xf32>)
  }
  return
}

// -----

func.func @scan_axes_output_part(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{output #0: 'loop.yield' operand #0 has type 'tensor<2xf32>' but an iteration's part is 'tensor<2x3xf32>' without axis 0}}
  %o = loop.scan inputs(%b = %x : tensor<3x2xf32> axis 0 -> tensor<2xf32>)
      outputs(tensor<2x3xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield collect(%b : tensor<2xf32>)
  }
  return
}

// -----

func.func @scan_types_version(%x: tensor<3xf32>) {
  // expected-error@+1 {{'since_version' is 13 but the versions are 8, 9, 11, 16, 19, 21, 23, 24, 25}}
  loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) since 13 {
    loop.yield
  }
  return
}

// -----

func.func @scan_types_input(%x: tensor<3xbf16>) {
  // expected-error@+1 {{input #0: type 'tensor<3xbf16>' needs version 16 but the operation is of version 11}}
  loop.scan inputs(%b = %x : tensor<3xbf16> axis 0 -> tensor<bf16>) since 11 {
    loop.yield
  }
  return
}

// -----

func.func @scan_types_output(%x: tensor<3xf32>, %y: tensor<i4>) {
  // expected-error@+1 {{output #0: type 'tensor<?xi4>' needs version 21 but the operation is of version 19}}
  %o = loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>)
      outputs(tensor<?xi4> axis 0) since 19 {
    loop.yield collect(%y : tensor<i4>)
  }
  return
}

// -----

func.func @scan8_batch_version(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{is batched but is of version 9}}
  loop.scan batched inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<f32>) since 9 {
    loop.yield
  }
  return
}

// -----

func.func @scan8_batch_missing(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{is not batched but is of version 8}}
  loop.scan inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<2xf32>) since 8 {
    loop.yield
  }
  return
}

// -----

func.func @scan8_batch_axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{input #0: axis 0 but a batched scan's is 1}}
  loop.scan batched inputs(%b = %x : tensor<2x3xf32> axis 0 -> tensor<f32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan8_batch_input_rank(%x: tensor<3xf32>) {
  // expected-error@+1 {{input #0: axis 1 is out of range for type 'tensor<3xf32>'}}
  loop.scan batched inputs(%b = %x : tensor<3xf32> axis 1 -> tensor<f32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan8_batch_input_part(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{input #0: body argument #0 has type 'tensor<2xf32>' but an iteration's part is 'tensor<2x3xf32>' without axes 0 and 1}}
  loop.scan batched inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<2xf32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan8_batch_state(%s0: tensor<f32>, %x: tensor<2x3xf32>) {
  // expected-error@+1 {{state #0: type 'tensor<f32>' has no axis for the batch}}
  %s = loop.scan batched states(%a = %s0 : tensor<f32>)
      inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<f32>) {
    loop.yield carried(%b : tensor<f32>)
  }
  return
}

// -----

func.func @scan8_batch_reverse(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{output #0: a batched scan has no reversed outputs}}
  %o = loop.scan batched inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<f32>)
      outputs(tensor<2x3xf32> axis 1 reverse) {
    loop.yield collect(%b : tensor<f32>)
  }
  return
}

// -----

func.func @scan8_lengths_type(%x: tensor<2x3xf32>, %l: tensor<2xf32>) {
  // expected-error@+1 {{sequence lengths have type 'tensor<2xf32>' but must be a tensor of integers of rank 1}}
  loop.scan batched inputs(%b = %x : tensor<2x3xf32> axis 1 -> tensor<f32>)
      lengths(%l : tensor<2xf32>) {
    loop.yield
  }
  return
}

// -----

func.func @scan8_lengths_not_batched(%x: tensor<3xf32>, %l: tensor<2xi64>) {
  // expected-error@+1 {{has sequence lengths but is not batched}}
  loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>)
      lengths(%l : tensor<2xi64>) {
    loop.yield
  }
  return
}
