// RUN: loopc-opt %s --split-input-file --verify-diagnostics

func.func @no_list() {
  // expected-error@+1 {{'loop.seq_empty' op list has type 'tensor<2xf32>' but must be a sequence or an optional}}
  %s = loop.seq_empty : tensor<2xf32>
  return
}

// -----

func.func @element_type(%s: !onnx.seq<tensor<*xf32>>, %x: tensor<?xi32>,
                        %shape: tensor<?xi64>, %p: index) {
  // expected-error@+1 {{'loop.seq_insert' op element of '!onnx.seq<tensor<*xf32>>' must be its elements and its shape (i64), two tensors or memrefs of rank 1}}
  %t = loop.seq_insert %x, %shape into %s[%p]
      : tensor<?xi32>, tensor<?xi64> into !onnx.seq<tensor<*xf32>>
  return
}

// -----

func.func @element_rank(%s: !onnx.seq<tensor<*xf32>>, %p: index) {
  // expected-error@+1 {{'loop.seq_at' op element of '!onnx.seq<tensor<*xf32>>' must be its elements and its shape (i64), two tensors or memrefs of rank 1}}
  %x:2 = loop.seq_at %s[%p] : !onnx.seq<tensor<*xf32>> -> tensor<?x?xf32>, tensor<?xi64>
  return
}

// -----

func.func @list_in_list(%o: !onnx.optional<!onnx.seq<tensor<*xf32>>>, %p: index) {
  // expected-error@+1 {{'loop.seq_at' op element of '!onnx.optional<!onnx.seq<tensor<*xf32>>>' must be one value of type '!onnx.seq<tensor<*xf32>>'}}
  %x:2 = loop.seq_at %o[%p]
      : !onnx.optional<!onnx.seq<tensor<*xf32>>> -> tensor<?xf32>, tensor<?xi64>
  return
}

// -----

func.func @owner(%s: !onnx.seq<tensor<*xf32>>, %x: memref<?xf32>,
                 %shape: memref<?xi64>, %p: index) {
  // expected-error@+1 {{'loop.seq_insert' op 'element_owner' must be "copy", "move" or "share" but is "steal"}}
  %t = loop.seq_insert %x, %shape into %s[%p] {element_owner = "steal"}
      : memref<?xf32>, memref<?xi64> into !onnx.seq<tensor<*xf32>>
  return
}
