// Halves x until it is below 1; returns the last value, and all values on the
// way there. Written by hand in the loop dialect; docs/CompilerTutorial.md takes it
// through the compiler stage by stage.
//
//   loopc-opt examples/halve.mlir --loopc-to-scf
//   loopc-run examples/halve.mlir --input x=10
module attributes {loopc.model = "halve"} {
  func.func @main(%x0: tensor<f32> {loopc.name = "x"})
      -> (tensor<f32> {loopc.name = "last"},
          tensor<?xf32> {loopc.name = "all", loopc.dims = ["T"]}) {
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %start = tensor.extract %x0[] : tensor<f32>
    %large = arith.cmpf oge, %start, %one : f32
    %last, %all = loop.loop (%i : i64, %going : i1) while(%large : i1)
        carried(%x = %start : f32) collect(tensor<?xf32> axis 0) {
      %y = arith.mulf %x, %half : f32
      %more = arith.cmpf oge, %y, %one : f32
      loop.yield while(%more : i1) carried(%y : f32) collect(%x : f32)
    }
    %result = tensor.from_elements %last : tensor<f32>
    return %result, %all : tensor<f32>, tensor<?xf32>
  }
}
