func.func @halve(%m: tensor<i64>, %x0: tensor<f32>) -> (tensor<f32>, tensor<?xf32>) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %true = arith.constant dense<true> : tensor<i1>
  %last, %all = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%x = %x0 : tensor<f32>) collect(tensor<?xf32> axis 0) {
    %y = arith.mulf %x, %half : tensor<f32>
    loop.yield while(%true : tensor<i1>) carried(%y : tensor<f32>) collect(%y : tensor<f32>)
  }
  return %last, %all : tensor<f32>, tensor<?xf32>
}
