func.func @main(%i: index, %x: tensor<2xf32>) -> (f32, f32) {
  %d = tensor.cast %x : tensor<2xf32> to tensor<4xf32>
  %e = tensor.extract %d[%i, %i] : tensor<4xf32>
  %f = tensor.extract %d[] : tensor<4xf32>
  return %e, %f : f32, f32
}
