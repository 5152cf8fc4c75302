// What the parser and the verifier of loop.loop and loop.check refuse; one fault
// a split.

// RUN: loopc-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

func.func @no_arguments(%m: i64) {
  // expected-error@+1 {{expected '('}}
  loop.loop trips(%m : i64) {
    loop.yield
  }
  return
}

// -----

func.func @argument_without_type(%m: i64) {
  // expected-error@+1 {{expected ':'}}
  loop.loop (%i, %c : i1) trips(%m : i64) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @axis_missing(%m: i64, %v: tensor<3xf32>) {
  // expected-error@+1 {{expected 'axis'}}
  loop.loop (%i : i64, %c : i1) slices(%a = %v : tensor<3xf32> -> f32) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @version_is_a_number(%m: i64) {
  // expected-error@+1 {{expected integer value}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) since "1" {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @version_too_large(%m: i64) {
  // expected-error@+1 {{integer value too large}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) since 99999999999999999999 {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @empty_body(%m: i64) {
  // expected-error@+1 {{expects a non-empty block}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
  }
  return
}

// -----

func.func @two_blocks(%m: i64) {
  // expected-error@+1 {{expects region #0 to have 0 or 1 blocks}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    loop.yield while(%c : i1)
  ^bb1:
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @no_region(%m: i64) {
  // expected-error@+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
  }) : (i64) -> ()
  return
}

// -----

func.func @segments(%m: i64) {
  // expected-error@+1 {{operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1)
  }) : (i64) -> ()
  return
}

// -----

func.func @yield_outside(%c: i1) {
  // expected-error@+1 {{'loop.yield' op expects parent op to be one of 'loop.loop, loop.scan'}}
  loop.yield while(%c : i1)
}

// -----

//===----------------------------------------------------------------------===//
// loop_m, loop_cond
//===----------------------------------------------------------------------===//

func.func @loop_m_float(%m: f32) {
  // expected-error@+1 {{'loop.loop' op trip count has type 'f32' but must be an integer scalar, or have one element}}
  loop.loop (%i : i64, %c : i1) trips(%m : f32) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_m_two_elements(%m: tensor<2xi64>) {
  // expected-error@+1 {{trip count has type 'tensor<2xi64>' but must be an integer scalar, or have one element}}
  loop.loop (%i : i64, %c : i1) trips(%m : tensor<2xi64>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_m_boolean(%m: tensor<i1>) {
  // expected-error@+1 {{trip count has type 'tensor<i1>' but must be an integer scalar}}
  loop.loop (%i : i64, %c : i1) trips(%m : tensor<i1>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_m_sequence(%m: !onnx.seq<tensor<i64>>) {
  // expected-error@+1 {{trip count has type '!onnx.seq<tensor<i64>>' but must be an integer scalar}}
  loop.loop (%i : i64, %c : i1) trips(%m : !onnx.seq<tensor<i64>>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_m_vector(%m: vector<1xi64>) {
  // expected-error@+1 {{trip count has type 'vector<1xi64>' but must be an integer scalar}}
  loop.loop (%i : i64, %c : i1) trips(%m : vector<1xi64>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_cond_integer(%c0: tensor<i8>) {
  // expected-error@+1 {{'loop.loop' op condition has type 'tensor<i8>' but must be a boolean scalar, or have one element}}
  loop.loop (%i : i64, %c : i1) while(%c0 : tensor<i8>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_cond_two_elements(%c0: tensor<2xi1>) {
  // expected-error@+1 {{condition has type 'tensor<2xi1>' but must be a boolean scalar, or have one element}}
  loop.loop (%i : i64, %c : i1) while(%c0 : tensor<2xi1>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_args
//===----------------------------------------------------------------------===//

func.func @loop_args_none(%m: i64) {
  // expected-error@+1 {{'loop.loop' op body has 0 arguments, expected 2: the iteration number, the condition, 0 carried values and 0 slices}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> ({
    %true = arith.constant true
    loop.yield while(%true : i1)
  }) : (i64) -> ()
  return
}

// -----

func.func @loop_args_too_many(%m: i64, %x0: f32) -> f32 {
  // expected-error@+1 {{body has 4 arguments, expected 3: the iteration number, the condition, 1 carried values and 0 slices}}
  %r = "loop.loop"(%m, %x0) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1, %x: f32, %y: f32):
    loop.yield while(%c : i1) carried(%x : f32)
  }) : (i64, f32) -> f32
  return %r : f32
}

// -----

func.func @loop_args_number(%m: i64) {
  // expected-error@+1 {{body argument #0, the iteration number, has type 'f32' but must be an integer scalar, or have one element}}
  loop.loop (%i : f32, %c : i1) trips(%m : i64) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_args_condition(%m: i64) {
  // expected-error@+1 {{body argument #1, the condition, has type 'i64' but must be a boolean scalar, or have one element}}
  loop.loop (%i : i64, %c : i64) trips(%m : i64) {
    %true = arith.constant true
    loop.yield while(%true : i1)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_results, attributes
//===----------------------------------------------------------------------===//

func.func @loop_results_too_few(%m: i64, %x0: f32) {
  // expected-error@+1 {{'loop.loop' op has 0 results but carries 1 values}}
  "loop.loop"(%m, %x0) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1, %x: f32):
    loop.yield while(%c : i1) carried(%x : f32)
  }) : (i64, f32) -> ()
  return
}

// -----

func.func @collect_axes_too_few(%m: i64, %x0: f32) {
  // expected-error@+1 {{'collect_axes' has 0 elements but there are 1 collected values}}
  "loop.loop"(%m, %x0) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1, %x: f32):
    loop.yield while(%c : i1) carried(%x : f32) collect(%x : f32)
  }) : (i64, f32) -> (f32, tensor<?xf32>)
  return
}

// -----

func.func @collect_reverse_too_many(%m: i64, %x: f32) {
  // expected-error@+1 {{'collect_reverse' has 2 elements but there are 1 collected values}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>,
      collect_axes = array<i64: 0>, collect_reverse = array<i1: true, false>,
      collect_has_length = array<i1: false>}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1) collect(%x : f32)
  }) : (i64) -> tensor<?xf32>
  return
}

// -----

func.func @collect_has_length_missing(%m: i64, %x: f32) {
  // expected-error@+1 {{'collect_has_length' has 0 elements but there are 1 collected values}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>,
      collect_axes = array<i64: 0>, collect_reverse = array<i1: true>}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1) collect(%x : f32)
  }) : (i64) -> tensor<?xf32>
  return
}

// -----

func.func @slice_axes_too_few(%m: i64, %v: tensor<4xf32>) {
  // expected-error@+1 {{'slice_axes' has 0 elements but there are 1 slices}}
  "loop.loop"(%m, %v) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>}> ({
  ^bb0(%i: i64, %c: i1, %a: f32):
    loop.yield while(%c : i1)
  }) : (i64, tensor<4xf32>) -> ()
  return
}

// -----

func.func @slice_reverse_too_many(%m: i64) {
  // expected-error@+1 {{'slice_reverse' has 1 elements but there are 0 slices}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>,
                    slice_reverse = array<i1: true>}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1)
  }) : (i64) -> ()
  return
}

// -----

func.func @wrong_attribute_kind(%m: i64) {
  // expected-error@+1 {{Invalid attribute `slice_axes` in property conversion}}
  "loop.loop"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>,
                    slice_axes = [0]}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1)
  }) : (i64) -> ()
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_collect_length
//===----------------------------------------------------------------------===//

func.func @loop_collect_length_count(%m: i64, %x: f32) {
  // expected-error@+1 {{has 1 lengths but 'collect_has_length' names 0}}
  %r = "loop.loop"(%m, %m) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 1>,
      collect_axes = array<i64: 0>, collect_reverse = array<i1: false>,
      collect_has_length = array<i1: false>}> ({
  ^bb0(%i: i64, %c: i1):
    loop.yield while(%c : i1) collect(%x : f32)
  }) : (i64, i64) -> tensor<?xf32>
  return
}

// -----

func.func @loop_collect_length_type(%m: i64, %x: f32) {
  // expected-error@+1 {{length #0 has type 'f32' but must be an integer scalar, or have one element}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xf32> axis 0 length(%x : f32)) {
    loop.yield while(%c : i1) collect(%x : f32)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_carried
//===----------------------------------------------------------------------===//

func.func @loop_carried_argument(%m: i64, %x0: tensor<2xf32>) {
  // expected-error@+1 {{'loop.loop' op carried value #0: init has type 'tensor<2xf32>' but body argument #2 has type 'tensor<?xf32>'}}
  "loop.loop"(%m, %x0) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1, %x: tensor<?xf32>):
    loop.yield while(%c : i1) carried(%x : tensor<?xf32>)
  }) : (i64, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_carried_result(%m: i64, %x0: tensor<2xf32>) {
  // expected-error@+1 {{carried value #0: init has type 'tensor<2xf32>' but result #0 has type 'tensor<?xf32>'}}
  "loop.loop"(%m, %x0) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> ({
  ^bb0(%i: i64, %c: i1, %x: tensor<2xf32>):
    loop.yield while(%c : i1) carried(%x : tensor<2xf32>)
  }) : (i64, tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @loop_carried_yield(%m: i64, %a0: f32, %x0: tensor<2xf32>,
                              %z: tensor<2xi32>) {
  // expected-error@+1 {{carried value #1: body argument has type 'tensor<2xf32>' but 'loop.yield' operand #2 has type 'tensor<2xi32>'}}
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32, %x = %x0 : tensor<2xf32>) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) carried(%a, %z : f32, tensor<2xi32>)
  }
  return
}

// -----

func.func @loop_carried_yield_sequence(%m: i64,
                                       %s0: !onnx.optional<!onnx.seq<tensor<f32>>>,
                                       %s: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{carried value #0: body argument has type '!onnx.optional<!onnx.seq<tensor<f32>>>' but 'loop.yield' operand #1 has type '!onnx.seq<tensor<f32>>'}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %s0 : !onnx.optional<!onnx.seq<tensor<f32>>>) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) carried(%s : !onnx.seq<tensor<f32>>)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_slice
//===----------------------------------------------------------------------===//

func.func @loop_slice_axis(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{'loop.loop' op slice #0: axis 2 is out of range for type 'tensor<4x3xf32>'}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis 2 -> tensor<4xf32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

// Of what has no rank yet it may count from the end: lower-scan.mlir.
func.func @loop_slice_axis_negative(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #0: axis -1 is out of range for type 'tensor<4x3xf32>'}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis -1 -> tensor<4xf32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_rank_0(%m: i64, %v: tensor<f32>) {
  // expected-error@+1 {{slice #0: axis 0 is out of range for type 'tensor<f32>'}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<f32> axis 0 -> tensor<f32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_of_scalar(%m: i64, %v: f32) {
  // expected-error@+1 {{slice #0: has type 'f32' but must be a tensor or a memref}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : f32 axis 0 -> f32) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_of_sequence(%m: i64, %v: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{slice #0: has type '!onnx.seq<tensor<f32>>' but must be a tensor or a memref}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : !onnx.seq<tensor<f32>> axis 0 -> tensor<f32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_shape(%m: i64, %w: tensor<?xf32>, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #1: body argument #3 has type 'tensor<4xf32>' but an iteration's part is 'tensor<4x3xf32>' without axis 0}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%b = %w : tensor<?xf32> axis 0 -> f32,
             %a = %v : tensor<4x3xf32> axis 0 -> tensor<4xf32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_keeps_axis(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #0: body argument #2 has type 'tensor<1x3xf32>' but an iteration's part is 'tensor<4x3xf32>' without axis 0}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis 0 -> tensor<1x3xf32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_element(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #0: body argument #2 has type 'tensor<3xf64>' but an iteration's part is 'tensor<4x3xf32>' without axis 0}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis 0 -> tensor<3xf64>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_scalar_of_matrix(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #0: body argument #2 has type 'f32' but an iteration's part is 'tensor<4x3xf32>' without axis 0}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis 0 -> f32) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_slice_memref_of_tensor(%m: i64, %v: tensor<4x3xf32>) {
  // expected-error@+1 {{slice #0: body argument #2 has type 'memref<3xf32>' but an iteration's part is 'tensor<4x3xf32>' without axis 0}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64)
      slices(%a = %v : tensor<4x3xf32> axis 0 -> memref<3xf32>) {
    loop.yield while(%c : i1)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_collect
//===----------------------------------------------------------------------===//

func.func @loop_collect_axis(%m: i64, %x: tensor<4xf32>) {
  // expected-error@+1 {{'loop.loop' op collected value #0: axis 2 is out of range for type 'tensor<?x4xf32>'}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?x4xf32> axis 2) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return
}

// -----

func.func @loop_collect_axis_negative(%m: i64, %x: tensor<4xf32>) {
  // expected-error@+1 {{collected value #0: axis -1 is out of range for type 'tensor<4x?xf32>'}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<4x?xf32> axis -1) {
    loop.yield while(%c : i1) collect(%x : tensor<4xf32>)
  }
  return
}

// -----

func.func @loop_collect_sequence(%m: i64, %s: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{collected value #0: has type '!onnx.seq<tensor<f32>>' but must be a tensor or a memref}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(!onnx.seq<tensor<f32>> axis 0) {
    loop.yield while(%c : i1) collect(%s : !onnx.seq<tensor<f32>>)
  }
  return
}

// -----

func.func @loop_collect_yields_sequence(%m: i64, %s: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{collected value #0: 'loop.yield' operand #1 has type '!onnx.seq<tensor<f32>>' but an iteration's part is 'tensor<?xf32>' without axis 0}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) collect(%s : !onnx.seq<tensor<f32>>)
  }
  return
}

// -----

func.func @loop_collect_shape_of_type(%m: i64, %a0: f32, %x: tensor<3xf32>) {
  // expected-error@+1 {{collected value #0: 'loop.yield' operand #2 has type 'tensor<3xf32>' but an iteration's part is 'tensor<?x4xf32>' without axis 0}}
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %a0 : f32) collect(tensor<?x4xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) carried(%a : f32) collect(%x : tensor<3xf32>)
  }
  return
}

// -----

func.func @loop_collect_stacks(%m: i64, %x: tensor<2x3xf32>) {
  // expected-error@+1 {{collected value #0: 'loop.yield' operand #1 has type 'tensor<2x3xf32>' but an iteration's part is 'tensor<?x3xf32>' without axis 0}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?x3xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) collect(%x : tensor<2x3xf32>)
  }
  return
}

// -----

func.func @loop_collect_element(%m: i64, %x: f64) {
  // expected-error@+1 {{collected value #0: 'loop.yield' operand #1 has type 'f64' but an iteration's part is 'tensor<?xf32>' without axis 0}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) collect(%x : f64)
  }
  return
}

// -----

func.func @loop_collect_vector(%m: i64, %x: vector<4xf32>) {
  // expected-error@+1 {{collected value #0: 'loop.yield' operand #1 has type 'vector<4xf32>' but an iteration's part is 'tensor<?x4xf32>' without axis 0}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      collect(tensor<?x4xf32> axis 0) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) collect(%x : vector<4xf32>)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_yield
//===----------------------------------------------------------------------===//

func.func @loop_yield_other_end(%m: i64) {
  // expected-error@+1 {{'loop.loop' op body must end in 'loop.yield' but ends in 'func.return'}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    // expected-note@+1 {{ends here}}
    func.return
  }
  return
}

// -----

func.func @loop_yield_no_end(%m: i64) {
  // expected-error@+1 {{body must end in 'loop.yield' but ends in 'arith.constant'}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    // expected-note@+1 {{ends here}}
    %x = arith.constant true
  }
  return
}

// -----

func.func @loop_yield_no_condition(%m: i64) {
  // expected-error@+1 {{'loop.loop' op 'loop.yield' gives no condition}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    // expected-note@+1 {{yielded here; a loop without 'while' ignores it: the body may yield its argument #1}}
    loop.yield
  }
  return
}

// -----

func.func @loop_yield_no_condition_of_a_while(%c: i1) {
  // expected-error@+1 {{'loop.loop' op 'loop.yield' gives no condition}}
  loop.loop (%i : i64, %d : i1) while(%c : i1) {
    // expected-note@+1 {{yielded here}}
    loop.yield
  }
  return
}

// -----

func.func @loop_clauses_in_another_order(%m: i64, %x: f32) {
  // expected-error@+1 {{'trips' is not expected here; the clauses are trips, while, carried, slices, collect, since, attributes, in this order}}
  %y = loop.loop (%i : i64, %c : i1) carried(%a = %x : f32) trips(%m : i64) {
    loop.yield while(%c : i1) carried(%a : f32)
  }
  return
}

// -----

func.func @loop_yield_condition(%m: i64) {
  // expected-error@+1 {{condition of 'loop.yield' has type 'i64' but must be a boolean scalar, or have one element}}
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    loop.yield while(%i : i64)
  }
  return
}

// -----

func.func @loop_yield_carried(%m: i64, %x0: f32) {
  // expected-error@+1 {{'loop.yield' gives 0 carried values but the loop has 1}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1)
  }
  return
}

// -----

func.func @loop_yield_collected(%m: i64, %x0: f32) {
  // expected-error@+1 {{'loop.yield' gives 1 collected values but the loop has 0}}
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32) {
    // expected-note@+1 {{yielded here}}
    loop.yield while(%c : i1) carried(%x : f32) collect(%x : f32)
  }
  return
}

// -----

func.func @loop_yield_segments(%m: i64, %x0: f32) {
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32) {
    // expected-error@+1 {{operand count (2) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
    "loop.yield"(%c, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, f32) -> ()
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop_types; all versions and types are in type-lists.test.
//===----------------------------------------------------------------------===//

func.func @loop_types_version(%m: tensor<i64>) {
  // expected-error@+1 {{'loop.loop' op 'since_version' is 12 but the versions are 1, 11, 13, 16, 19, 21, 23, 24, 25}}
  loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>) since 12 {
    loop.yield while(%c : tensor<i1>)
  }
  return
}

// -----

func.func @loop_types_sequence(%m: tensor<i64>, %s: !onnx.seq<tensor<f32>>) {
  // expected-error@+1 {{carried value #0: type '!onnx.seq<tensor<f32>>' needs version 13 but the operation is of version 11}}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %s : !onnx.seq<tensor<f32>>) since 11 {
    loop.yield while(%c : tensor<i1>) carried(%x : !onnx.seq<tensor<f32>>)
  }
  return
}

// -----

func.func @loop_types_collected(%m: tensor<i64>, %x: tensor<bf16>) {
  // expected-error@+1 {{collected value #0: type 'tensor<?xbf16>' needs version 16 but the operation is of version 13}}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      collect(tensor<?xbf16> axis 0) since 13 {
    loop.yield while(%c : tensor<i1>) collect(%x : tensor<bf16>)
  }
  return
}

// -----

func.func @loop_types_never(%m: tensor<i64>, %x0: tensor<i37>) {
  // expected-error@+1 {{carried value #0: type 'tensor<i37>' is in the type list of no version}}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %x0 : tensor<i37>) since 25 {
    loop.yield while(%c : tensor<i1>) carried(%x : tensor<i37>)
  }
  return
}

// -----

func.func @loop_types_nested(%m: tensor<i64>,
                             %x0: !onnx.optional<!onnx.optional<tensor<f32>>>) {
  // expected-error@+1 {{carried value #0: type '!onnx.optional<!onnx.optional<tensor<f32>>>' is in the type list of no version}}
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %x0 : !onnx.optional<!onnx.optional<tensor<f32>>>) since 25 {
    loop.yield while(%c : tensor<i1>)
        carried(%x : !onnx.optional<!onnx.optional<tensor<f32>>>)
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// loop.check
//===----------------------------------------------------------------------===//

func.func @check_holes(%same: i1, %a: index) {
  // expected-error@+1 {{'loop.check' op message has 2 '{}' but there are 1 values}}
  loop.check %same, "{} and {}" (%a : index)
  return
}

// -----

func.func @check_shape(%same: i1, %a: index) {
  // expected-error@+1 {{'loop.check' op message has 0 '{}' and 1 '{*}' but there are 1 values}}
  loop.check %same, "shape {*}" (%a : index)
  return
}

// -----

// loop.reserve
func.func @reserve_axis(%b: tensor<8x?xf32>, %n: index) {
  // expected-error@+1 {{'loop.reserve' op axis 2 is not one of the 2 dimensions of 'tensor<8x?xf32>'}}
  %r, %at = loop.reserve %b at %n used %n front %n back %n axis 2 : tensor<8x?xf32>
  return
}

// -----

func.func @reserve_fixed(%b: tensor<8x?xf32>, %n: index) {
  // expected-error@+1 {{'loop.reserve' op dimension 0 of 'tensor<8x?xf32>' has a fixed size}}
  %r, %at = loop.reserve %b at %n used %n front %n back %n axis 0 : tensor<8x?xf32>
  return
}
