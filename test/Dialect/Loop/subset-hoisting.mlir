// A pass of upstream's that makes a loop carry more through
// LoopLikeOpInterface::replaceWithAdditionalYields.

// RUN: loopc-opt %s -loop-invariant-subset-hoisting | FileCheck %s

// The slice is carried beside the tensor, before what is collected; everything
// else stays, the version too, since the new value is of its types.
// CHECK-LABEL: func @subset(
// CHECK-SAME: %[[M:[^ ]+]]: tensor<i64>, %[[T:[^ ]+]]: tensor<8xf32>, %[[V:[^ ]+]]: tensor<?xf32>)
// CHECK: %[[S:[^ ]+]] = tensor.extract_slice %[[T]][0] [4] [1]
// CHECK: %[[R:[^ ]+]]:3 = loop.loop
// CHECK-SAME: trips(%[[M]] : tensor<i64>)
// CHECK-SAME: carried(%[[X:[^ ]+]] = %[[T]] : tensor<8xf32>, %[[Y:[^ ]+]] = %[[S]] : tensor<4xf32>)
// CHECK-SAME: slices(%[[A:[^ ]+]] = %[[V]] : tensor<?xf32> axis 0 reverse -> tensor<f32>)
// CHECK-SAME: collect(tensor<?xf32> axis 0 reverse) since 11 attributes {name = "decode"} {
// CHECK: %[[Z:[^ ]+]] = math.exp %[[Y]] : tensor<4xf32>
// CHECK: loop.yield while(%{{[^ ]+}} : tensor<i1>) carried(%[[X]], %[[Z]] : tensor<8xf32>, tensor<4xf32>) collect(%[[A]] : tensor<f32>)
// CHECK: %[[I:[^ ]+]] = tensor.insert_slice %[[R]]#1 into %[[R]]#0[0] [4] [1]
// CHECK: return %[[I]], %[[R]]#2
func.func @subset(%m: tensor<i64>, %t: tensor<8xf32>, %v: tensor<?xf32>)
    -> (tensor<8xf32>, tensor<?xf32>) {
  %r:2 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %t : tensor<8xf32>)
      slices(%a = %v : tensor<?xf32> axis 0 reverse -> tensor<f32>)
      collect(tensor<?xf32> axis 0 reverse)
      since 11 attributes {name = "decode"} {
    %s = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %e = math.exp %s : tensor<4xf32>
    %y = tensor.insert_slice %e into %x[0] [4] [1]
        : tensor<4xf32> into tensor<8xf32>
    loop.yield while(%c : tensor<i1>) carried(%y : tensor<8xf32>)
        collect(%a : tensor<f32>)
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<?xf32>
}

// A value that ONNX has not ends the version (loop_types).
// CHECK-LABEL: func @subset_vector(
// CHECK: loop.loop {{.*}} carried(%{{[^ ]+}} = %{{[^ ]+}} : tensor<8xf32>, %{{[^ ]+}} = %{{[^ ]+}} : vector<4xf32>) {
func.func @subset_vector(%m: tensor<i64>, %t: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %r = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %t : tensor<8xf32>) since 11 {
    %s = vector.transfer_read %x[%zero], %pad {in_bounds = [true]}
        : tensor<8xf32>, vector<4xf32>
    %e = math.exp %s : vector<4xf32>
    %y = vector.transfer_write %e, %x[%zero] {in_bounds = [true]}
        : vector<4xf32>, tensor<8xf32>
    loop.yield while(%c : tensor<i1>) carried(%y : tensor<8xf32>)
  }
  return %r : tensor<8xf32>
}
