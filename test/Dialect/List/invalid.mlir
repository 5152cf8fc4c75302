// RUN: loopc-opt %s --split-input-file --verify-diagnostics

func.func @no_list() {
  // expected-error@+1 {{'list.empty' op result #0 must be a list of tensors or of lists, but got 'tensor<2xf32>'}}
  %s = list.empty : tensor<2xf32>
  return
}

// -----

func.func @element_type(%s: !list.list<f32>, %x: tensor<?xi32>,
                        %shape: tensor<?xi64>, %p: index) {
  // expected-error@+1 {{'list.insert' op element of '!list.list<f32>' must be its elements and its shape (i64), two tensors or memrefs of rank 1}}
  %t = list.insert %x, %shape into %s[%p]
      : tensor<?xi32>, tensor<?xi64> into !list.list<f32>
  return
}

// -----

func.func @element_rank(%s: !list.list<f32>, %p: index) {
  // expected-error@+1 {{'list.at' op element of '!list.list<f32>' must be its elements and its shape (i64), two tensors or memrefs of rank 1}}
  %x:2 = list.at %s[%p] : !list.list<f32> -> tensor<?x?xf32>, tensor<?xi64>
  return
}

// -----

func.func @list_in_list(%o: !list.list<!list.list<f32>>, %p: index) {
  // expected-error@+1 {{'list.at' op element of '!list.list<!list.list<f32>>' must be one value of type '!list.list<f32>'}}
  %x:2 = list.at %o[%p]
      : !list.list<!list.list<f32>> -> tensor<?xf32>, tensor<?xi64>
  return
}

// -----

func.func @owner(%s: !list.list<f32>, %x: memref<?xf32>,
                 %shape: memref<?xi64>, %p: index) {
  // expected-error@+1 {{'list.insert' op 'element_owner' must be "copy", "move" or "share" but is "steal"}}
  %t = list.insert %x, %shape into %s[%p] {element_owner = "steal"}
      : memref<?xf32>, memref<?xi64> into !list.list<f32>
  return
}

// -----

// expected-error@+1 {{a list has elements of type 'tensor<2xf32>', expected a list or what tensors hold}}
func.func @of_tensors(%s: !list.list<tensor<2xf32>>)
