// Inputs and outputs of every kind, of a model whose name is no C identifier;
// it only returns an error.
module attributes {
  loopc.model = "ports?/ \22of\22 every \0A kind",
  loopc.inputs = [
    {name = "x", type = tensor<?x3x?xf32>, dims = ["N", "", ""]},
    {name = "any rank", type = tensor<*xui8>},
    {name = "words", type = tensor<2x!onnx.string>},
    {name = "list", type = !onnx.seq<tensor<*xi64>>},
    {name = "maybe", type = !onnx.optional<!onnx.seq<tensor<4xi1>>>}],
  loopc.outputs = [{name = "scalar", type = tensor<f4E2M1FN>}]
} {
  llvm.func @loopc_entry(%run: !llvm.ptr, %inputs: !llvm.ptr, %outputs: !llvm.ptr) -> i32 {
    %error = llvm.mlir.constant(3 : i32) : i32
    llvm.return %error : i32
  }
}
