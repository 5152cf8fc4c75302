func.func @main(%x: tensor<4x2xf32>) -> tensor<3xf32> {
  %a = tensor.extract_slice %x[0, 0] [32, 1] [1, 1] : tensor<4x2xf32> to tensor<3xf32>
  return %a : tensor<3xf32>
}
