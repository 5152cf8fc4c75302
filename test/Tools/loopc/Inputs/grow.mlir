func.func @main(%m: tensor<i64> {loopc.name = "M"}, %x: tensor<*xf32> {loopc.name = "x"})
    -> (tensor<*xf32> {loopc.name = "last"}, tensor<*xf32> {loopc.name = "ys"}) {
  %0:2 = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%m : tensor<i64>)
      carried(%v = %x : tensor<*xf32>) collect(tensor<*xf32> axis 0) since 21 {
    %w = onnx.node "Concat"(%v, %v) since 13 {axis = -1 : i64} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    loop.yield while(%c : tensor<i1>) carried(%w : tensor<*xf32>) collect(%v : tensor<*xf32>)
  }
  return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}
