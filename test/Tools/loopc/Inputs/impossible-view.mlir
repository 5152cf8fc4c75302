// A version of a loop for rows of one element, in which a row has two: no run
// reaches it.
func.func @main(%x: memref<?xf32> {loopc.name = "x", loopc.type = tensor<?xf32>}) -> (memref<f32> {loopc.name = "y", loopc.type = tensor<f32>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %dim = memref.dim %x, %c0 : memref<?xf32>
  %one = arith.cmpi eq, %dim, %c1 : index
  %two = arith.cmpi eq, %dim, %c2 : index
  %both = arith.andi %one, %two : i1
  %y = memref.alloc() {alignment = 64 : i64} : memref<f32>
  memref.store %zero, %y[] : memref<f32>
  scf.if %both {
    %row = memref.cast %x : memref<?xf32> to memref<2xf32>
    %view = memref.expand_shape %row [[0, 1, 2]] output_shape [1, 1, 1] : memref<2xf32> into memref<1x1x1xf32>
    %e = memref.load %view[%c0, %c0, %c0] : memref<1x1x1xf32>
    memref.store %e, %y[] : memref<f32>
  }
  return %y : memref<f32>
}
