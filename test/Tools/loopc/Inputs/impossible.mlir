func.func @main(%n: tensor<i64> {loopc.name = "n"}, %x: tensor<2xf32> {loopc.name = "x"})
    -> (tensor<f32> {loopc.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %three = arith.constant 3 : index
  %y = loop.loop (%i : tensor<i64>, %c : tensor<i1>) trips(%n : tensor<i64>) carried(%a = %zero : tensor<f32>) {
    %d = tensor.cast %x : tensor<2xf32> to tensor<4xf32>
    %e = tensor.extract %d[%three] : tensor<4xf32>
    %s = tensor.from_elements %e : tensor<f32>
    loop.yield while(%c : tensor<i1>) carried(%s : tensor<f32>)
  }
  return %y : tensor<f32>
}
