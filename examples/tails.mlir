// Sums of each element and all that follow it, and the elements from the last one
// on, with zeros behind them up to a length. docs/CompilerTutorial.md shows the syntax.
module {
  func.func @main(%x: tensor<?xf32> {loopc.name = "x", loopc.dims = ["N"]},
                  %room: tensor<i64> {loopc.name = "room"})
      -> (tensor<?xf32> {loopc.name = "tails", loopc.dims = ["N"]},
          tensor<?xf32> {loopc.name = "padded", loopc.dims = ["R"]}) {
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %x, %c0 : tensor<?xf32>
    %n = arith.index_cast %dim : index to i64
    %sum, %tails, %padded = loop.loop (%i : i64, %c : i1) trips(%n : i64)
        carried(%s = %zero : f32)
        slices(%e = %x : tensor<?xf32> axis 0 reverse -> f32)
        collect(tensor<?xf32> axis 0 reverse,
                tensor<?xf32> axis 0 length(%room : tensor<i64>)) {
      %t = arith.addf %s, %e : f32
      loop.yield while(%true : i1) carried(%t : f32) collect(%t, %e : f32, f32)
    }
    return %tails, %padded : tensor<?xf32>, tensor<?xf32>
  }
}
