func.func @main(%n: tensor<i64> {loopc.name = "n"}, %length: tensor<i64> {loopc.name = "length"},
                %x0: tensor<f32> {loopc.name = "x"}) -> (tensor<?xf32> {loopc.name = "all"}) {
  %last, %all = loop.loop (%i : i64, %c : i1) trips(%n : tensor<i64>)
      carried(%x = %x0 : tensor<f32>) collect(tensor<?xf32> axis 0 length(%length : tensor<i64>)) {
    %y = onnx.node "Add"(%x, %x) since 14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    loop.yield while(%c : i1) carried(%y : tensor<f32>) collect(%x : tensor<f32>)
  }
  return %all : tensor<?xf32>
}
