// Printing, parsing and building of loop.loop, loop.scan, loop.yield and
// loop.check: each function is parsed, printed, and parsed and printed again,
// from the custom and from the generic form.

// RUN: loopc-opt %s | loopc-opt | FileCheck %s
// RUN: loopc-opt %s -mlir-print-op-generic | loopc-opt | FileCheck %s

// loop_args, loop_results: nothing but the number and the condition.
// CHECK-LABEL: func @bare
func.func @bare(%m: i64) {
  // CHECK: loop.loop (%[[I:[^ ]+]] : i64, %[[C:[^ ]+]] : i1) trips(%{{.*}} : i64) {
  // CHECK-NEXT: func.call @use(%[[I]])
  // CHECK-NEXT: loop.yield while(%[[C]] : i1)
  loop.loop (%i : i64, %c : i1) trips(%m : i64) {
    func.call @use(%i) : (i64) -> ()
    loop.yield while(%c : i1)
  }
  return
}
func.func private @use(i64)

// All clauses at once.
// CHECK-LABEL: func @everything
func.func @everything(%m: tensor<i64>, %c0: tensor<i1>, %x0: tensor<?xf32>,
                      %v: tensor<5x?xf32>, %w: tensor<?xi32>, %n: i32)
    -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?xi32>) {
  // CHECK: %[[R:[^ ]+]]:3 = loop.loop (%{{.*}} : tensor<1xi64>, %[[C:[^ ]+]] : tensor<i1>)
  // CHECK-SAME: trips(%{{.*}} : tensor<i64>) while(%{{.*}} : tensor<i1>)
  // CHECK-SAME: carried(%[[X:[^ ]+]] = %{{.*}} : tensor<?xf32>)
  // CHECK-SAME: slices(%[[A:[^ ]+]] = %{{.*}} : tensor<5x?xf32> axis 1 reverse -> tensor<5xf32>,
  // CHECK-SAME: %[[B:[^ ]+]] = %{{.*}} : tensor<?xi32> axis 0 -> tensor<i32>)
  // CHECK-SAME: collect(tensor<?x?xf32> axis 1 reverse, tensor<?xi32> axis 0 length(%{{.*}} : i32))
  // CHECK-SAME: since 16 attributes {name = "decode"} {
  %r:3 = loop.loop (%i : tensor<1xi64>, %c : tensor<i1>)
      trips(%m : tensor<i64>) while(%c0 : tensor<i1>)
      carried(%x = %x0 : tensor<?xf32>)
      slices(%a = %v : tensor<5x?xf32> axis 1 reverse -> tensor<5xf32>,
             %b = %w : tensor<?xi32> axis 0 -> tensor<i32>)
      collect(tensor<?x?xf32> axis 1 reverse,
              tensor<?xi32> axis 0 length(%n : i32))
      since 16 attributes {name = "decode"} {
    // CHECK: loop.yield while(%[[C]] : tensor<i1>) carried(%[[X]] : tensor<?xf32>)
    // CHECK-SAME: collect(%[[A]], %[[B]] : tensor<5xf32>, tensor<i32>)
    loop.yield while(%c : tensor<i1>) carried(%x : tensor<?xf32>)
        collect(%a, %b : tensor<5xf32>, tensor<i32>)
  }
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?x?xf32>, tensor<?xi32>
}

// loop_carried: sequences, optionals, strings and unranked tensors.
// CHECK-LABEL: func @collections
func.func @collections(%s0: !onnx.seq<tensor<?xf32>>,
                       %o0: !onnx.optional<!onnx.seq<tensor<*xi64>>>,
                       %t0: tensor<2x!onnx.string>, %u0: tensor<*xf32>)
    -> !onnx.seq<tensor<?xf32>> {
  // CHECK: loop.loop
  // CHECK-SAME: carried(%{{.*}} = %{{.*}} : !onnx.seq<tensor<?xf32>>,
  // CHECK-SAME: %{{.*}} = %{{.*}} : !onnx.optional<!onnx.seq<tensor<*xi64>>>,
  // CHECK-SAME: %{{.*}} = %{{.*}} : tensor<2x!onnx.string>, %{{.*}} = %{{.*}} : tensor<*xf32>)
  // CHECK-SAME: since 16
  %r:4 = loop.loop (%i : tensor<i64>, %c : tensor<i1>)
      carried(%s = %s0 : !onnx.seq<tensor<?xf32>>,
              %o = %o0 : !onnx.optional<!onnx.seq<tensor<*xi64>>>,
              %t = %t0 : tensor<2x!onnx.string>, %u = %u0 : tensor<*xf32>)
      since 16 {
    loop.yield while(%c : tensor<i1>)
        carried(%s, %o, %t, %u : !onnx.seq<tensor<?xf32>>,
                !onnx.optional<!onnx.seq<tensor<*xi64>>>,
                tensor<2x!onnx.string>, tensor<*xf32>)
  }
  return %r#0 : !onnx.seq<tensor<?xf32>>
}

// loop_collect, loop_slice: a scalar stands for a tensor of rank 0.
// CHECK-LABEL: func @scalars
func.func @scalars(%m: index, %x0: f32, %v: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: loop.loop (%{{.*}} : index, %{{.*}} : i1) trips(%{{.*}} : index)
  // CHECK-SAME: slices(%{{.*}} = %{{.*}} : tensor<?xf32> axis 0 -> f32)
  // CHECK-SAME: collect(tensor<?xf32> axis 0)
  %r, %all = loop.loop (%i : index, %c : i1) trips(%m : index)
      carried(%x = %x0 : f32) slices(%a = %v : tensor<?xf32> axis 0 -> f32)
      collect(tensor<?xf32> axis 0) {
    %y = arith.addf %x, %a : f32
    loop.yield while(%c : i1) carried(%y : f32) collect(%x : f32)
  }
  return %all : tensor<?xf32>
}

// loop_collect, loop_slice, loop_carried on memrefs, as after bufferization.
// CHECK-LABEL: func @memrefs
func.func @memrefs(%m: i64, %x0: memref<4xf32>, %v: memref<?x4xf32>)
    -> memref<?x4xf32> {
  // CHECK: slices(%{{.*}} = %{{.*}} : memref<?x4xf32> axis 0 -> memref<4xf32, strided<[1], offset: ?>>)
  // CHECK-SAME: collect(memref<?x4xf32> axis 0)
  %r, %all = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%x = %x0 : memref<4xf32>)
      slices(%a = %v : memref<?x4xf32> axis 0
             -> memref<4xf32, strided<[1], offset: ?>>)
      collect(memref<?x4xf32> axis 0) {
    memref.copy %a, %x : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    loop.yield while(%c : i1) carried(%x : memref<4xf32>)
        collect(%x : memref<4xf32>)
  }
  return %all : memref<?x4xf32>
}

// loop_capture, and a loop in a loop.
// CHECK-LABEL: func @nested
func.func @nested(%m: i64, %x0: f32, %k: f32) -> f32 {
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK: loop.yield while
  // CHECK: loop.yield while
  %r = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%x = %x0 : f32) {
    %s = loop.loop (%j : i64, %d : i1) trips(%i : i64) carried(%y = %x : f32) {
      %z = arith.mulf %y, %k : f32
      loop.yield while(%c : i1) carried(%z : f32)
    }
    loop.yield while(%c : i1) carried(%s : f32)
  }
  return %r : f32
}

// scan_args, scan_yield, scan_axes.
// CHECK-LABEL: func @scan
func.func @scan(%s0: tensor<?xf32>, %x: tensor<3x?xf32>, %y: tensor<*xf32>)
    -> (tensor<?xf32>, tensor<?x?xf32>) {
  // CHECK: loop.scan states(%[[A:[^ ]+]] = %{{.*}} : tensor<?xf32>)
  // CHECK-SAME: inputs(%[[B:[^ ]+]] = %{{.*}} : tensor<3x?xf32> axis -1 reverse -> tensor<3xf32>,
  // CHECK-SAME: %{{.*}} = %{{.*}} : tensor<*xf32> axis -2 -> tensor<*xf32>)
  // CHECK-SAME: outputs(tensor<?x?xf32> axis -1 reverse) since 11 {
  %s, %o = loop.scan states(%a = %s0 : tensor<?xf32>)
      inputs(%b = %x : tensor<3x?xf32> axis -1 reverse -> tensor<3xf32>,
             %d = %y : tensor<*xf32> axis -2 -> tensor<*xf32>)
      outputs(tensor<?x?xf32> axis -1 reverse) since 11 {
    // CHECK: loop.yield carried(%[[A]] : tensor<?xf32>) collect(%[[B]] : tensor<3xf32>)
    loop.yield carried(%a : tensor<?xf32>) collect(%b : tensor<3xf32>)
  }
  return %s, %o : tensor<?xf32>, tensor<?x?xf32>
}

// A scan without states or without outputs.
// CHECK-LABEL: func @scan_parts
func.func @scan_parts(%x: tensor<3xf32>) {
  // CHECK: loop.scan inputs(%{{.*}} = %{{.*}} : tensor<3xf32> axis 0 -> tensor<f32>) {
  // CHECK-NEXT: loop.yield{{$}}
  loop.scan inputs(%b = %x : tensor<3xf32> axis 0 -> tensor<f32>) {
    loop.yield
  }
  return
}

// scan8_batch, scan8_lengths.
// CHECK-LABEL: func @scan8
func.func @scan8(%s0: tensor<2x4xf32>, %x: tensor<2x3x4xf32>,
                 %lens: tensor<2xi64>)
    -> (tensor<2x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: loop.scan batched states(%{{.*}} = %{{.*}} : tensor<2x4xf32>)
  // CHECK-SAME: inputs(%{{.*}} = %{{.*}} : tensor<2x3x4xf32> axis 1 reverse -> tensor<4xf32>)
  // CHECK-SAME: lengths(%{{.*}} : tensor<2xi64>)
  // CHECK-SAME: outputs(tensor<2x3x4xf32> axis 1) since 8 {
  %s, %o = loop.scan batched states(%a = %s0 : tensor<2x4xf32>)
      inputs(%b = %x : tensor<2x3x4xf32> axis 1 reverse -> tensor<4xf32>)
      lengths(%lens : tensor<2xi64>)
      outputs(tensor<2x3x4xf32> axis 1) since 8 {
    // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4xf32>
    %c = arith.addf %a, %b : tensor<4xf32>
    loop.yield carried(%c : tensor<4xf32>) collect(%c : tensor<4xf32>)
  }
  return %s, %o : tensor<2x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func @check
func.func @check(%same: i1, %a: index, %i: i64) {
  // CHECK: loop.check %{{.*}}, "{} and {}"(%{{.*}}, %{{.*}} : index, i64) iteration %{{.*}} : i64
  loop.check %same, "{} and {}" (%a, %i : index, i64) iteration %i : i64
  // CHECK: loop.check %{{.*}}, "no"
  loop.check %same, "no"
  // CHECK: loop.poll
  loop.poll
  return
}
