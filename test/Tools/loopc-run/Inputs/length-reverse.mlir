func.func @main(%n: tensor<i64> {loopc.name = "n"}, %length: tensor<i64> {loopc.name = "length"},
                %x: tensor<?xf32> {loopc.name = "x"}) -> (tensor<?x?xf32> {loopc.name = "all"}) {
  %all = loop.loop (%i : i64, %c : i1) trips(%n : tensor<i64>) collect(tensor<?x?xf32> axis 0 reverse length(%length : tensor<i64>)) {
    loop.yield while(%c : i1) collect(%x : tensor<?xf32>)
  }
  return %all : tensor<?x?xf32>
}
