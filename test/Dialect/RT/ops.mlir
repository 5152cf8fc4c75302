// RUN: loopc-opt %s --canonicalize --cse | loopc-opt | FileCheck %s

// CHECK-LABEL: func @parts_of_a_string(
// CHECK-SAME: %[[A:.*]]: i64, %[[N:.*]]: i64
func.func @parts_of_a_string(%a: i64, %n: i64) -> (i64, i64) {
  // CHECK-NOT: rt.string
  // CHECK: return %[[A]], %[[N]]
  %s = rt.string %a, %n
  %b, %m = rt.string_parts %s
  return %b, %m : i64, i64
}

// Calls with the same operands are one call; those that nobody asks are none.
// CHECK-LABEL: func @calls(
func.func @calls(%s: !rt.string) -> (!rt.string, !rt.string) {
  // CHECK-COUNT-1: rt.call "loopc_rt_string_lower"
  // CHECK-NOT: rt.call
  %a = rt.call "loopc_rt_string_lower"(%s) : (!rt.string) -> !rt.string
  %b = rt.call "loopc_rt_string_lower"(%s) : (!rt.string) -> !rt.string
  %c = rt.call "loopc_rt_string_to_float"(%s) where "n" : (!rt.string) -> f64
  return %a, %b : !rt.string, !rt.string
}

// Streams are not merged; one that nobody reads is dropped.
// CHECK-LABEL: func @streams(
func.func @streams() -> (i64, i64) {
  // CHECK: %[[A:.*]] = rt.random_stream seed 1
  // CHECK: %[[B:.*]] = rt.random_stream seed 1
  // CHECK-NOT: rt.random_stream
  // CHECK: return %[[A]], %[[B]]
  %a = rt.random_stream seed 1
  %b = rt.random_stream seed 1
  %c = rt.random_stream
  return %a, %b : i64, i64
}

// A transform of a tensor changes nothing; of a buffer it happens in place.
// CHECK-LABEL: func @transforms(
// CHECK-SAME: %[[T:.*]]: tensor<?x400x2xf64>, %[[B:.*]]: memref<8x2xf64>
func.func @transforms(%t: tensor<?x400x2xf64>, %b: memref<8x2xf64>)
    -> (tensor<?x400x2xf64>, tensor<?x400x2xf64>, index) {
  // CHECK: %[[Y:.*]] = rt.fourier %[[T]] inverse : tensor<?x400x2xf64>
  // CHECK-NOT: rt.fourier %[[T]]
  %x = rt.fourier %t : tensor<?x400x2xf64>
  %y = rt.fourier %t inverse : tensor<?x400x2xf64>
  %z = rt.fourier %t inverse : tensor<?x400x2xf64>
  // CHECK: rt.fourier %[[B]] : memref<8x2xf64>
  rt.fourier %b : memref<8x2xf64>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %y, %c0 : tensor<?x400x2xf64>
  // CHECK: %[[DIM:.*]] = tensor.dim %[[T]],
  // CHECK: return %[[Y]], %[[Y]], %[[DIM]]
  return %y, %z, %d : tensor<?x400x2xf64>, tensor<?x400x2xf64>, index
}
