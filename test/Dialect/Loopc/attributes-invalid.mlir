// Attributes of the namespace 'loopc' that nobody reads are typing errors.
// RUN: loopc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'func.func' op has the unknown attribute 'loopc.nam' at argument #1, known are 'loopc.name', 'loopc.type', 'loopc.dims', 'loopc.declared'}}
func.func @argument(%x: f32, %y: tensor<2xf32> {loopc.nam = "y"}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has the unknown attribute 'loopc.dim' at result #0}}
func.func @result(%x: tensor<?xf32>) -> (tensor<?xf32> {loopc.dim = ["N"]}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.name' at argument #0 must be a string}}
func.func @name(%x: f32 {loopc.name = 3}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.type' at argument #0 must be a type}}
func.func @type(%x: f32 {loopc.type = "f32"}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.dims' at argument #0 must be an array of strings}}
func.func @dims(%x: tensor<?xf32> {loopc.dims = [1]}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.dims' at result #0 has 2 names for a value of rank 1}}
func.func @rank(%x: tensor<?xf32>) -> (tensor<?xf32> {loopc.dims = ["N", "M"]}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.declared' at result #0 must be a type}}
func.func @declared(%x: tensor<*xf32>) -> (tensor<*xf32> {loopc.declared = [2]}) {
  return %x : tensor<*xf32>
}

// -----

// expected-error @+2 {{'memref.alloc' op attribute 'loopc.output' must be the number of an output and a map from the 1 extents of the buffer to some of them and to constants}}
func.func @output(%n: index) {
  %m = memref.alloc(%n) {loopc.output = [0, affine_map<(d0, d1) -> (d0)>]} : memref<?xf32>
  return
}

// -----

// expected-error @+2 {{'memref.alloc' op attribute 'loopc.output' must be the number of an output}}
func.func @output(%n: index) {
  %m = memref.alloc(%n) {loopc.output = [0, affine_map<(d0) -> (d0 + 1)>]} : memref<?xf32>
  return
}

// -----

// One name is one extent.
// expected-error @+1 {{'func.func' op attribute 'loopc.dims' at argument #1 calls an extent of 3 'N', and at argument #0 one of 2}}
func.func @contradict(%x: tensor<2xf32> {loopc.dims = ["N"]}, %y: tensor<?x3xf32> {loopc.dims = ["M", "N"]}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.declared_dims' at result #0 must be an array of strings}}
func.func @declared_dims(%x: tensor<*xf32>) -> (tensor<*xf32> {loopc.declared_dims = [2]}) {
  return %x : tensor<*xf32>
}

// -----

// expected-error-re @+1 {{'builtin.module' op has the unknown attribute 'loopc.modle', known are {{.*}}'loopc.model'}}
module attributes {loopc.modle = "m"} {
}

// -----

func.func @operation(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has the unknown attribute 'loopc.paralel'}}
  scf.for %i = %c0 to %n step %c1 {
  } {loopc.paralel}
  return
}

// -----

// A mark of another operation, and one with a value where none is read.
func.func @marks(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op attribute 'loopc.parallel' must be without a value}}
  scf.for %i = %c0 to %n step %c1 {
  } {loopc.parallel = 1}
  return
}

// -----

func.func @place(%n: index) {
  // expected-error @+1 {{'arith.addi' op has the attribute 'loopc.parallel', which may stand at scf.for only}}
  %m = arith.addi %n, %n {loopc.parallel} : index
  return
}

// -----

func.func @stored(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.exp' op has the attribute 'loopc.stored', which may stand at linalg.transpose only}}
  %y = linalg.exp {loopc.stored} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @may_skip(%x: f64) -> f32 {
  // expected-error @+1 {{'arith.truncf' op attribute 'loopc.may_skip' is of roundings from f32 to 16 bits, and this one is from 'f64' to 'f32'}}
  %y = arith.truncf %x {loopc.may_skip} : f64 to f32
  return %y : f32
}

// -----

func.func @may_skip_8(%x: vector<4xf32>) -> vector<4xf8E5M2> {
  // expected-error @+1 {{'arith.truncf' op attribute 'loopc.may_skip' is of roundings from f32 to 16 bits, and this one is from 'f32' to 'f8E5M2'}}
  %y = arith.truncf %x {loopc.may_skip} : vector<4xf32> to vector<4xf8E5M2>
  return %y : vector<4xf8E5M2>
}

// -----

// The type of a port is what its value holds.
// expected-error @+1 {{'func.func' op attribute 'loopc.type' at argument #0 is 'tensor<4xi32>', which is not held by a value of type 'memref<4xi64>'}}
func.func @element(%x: memref<4xi64> {loopc.type = tensor<4xi32>}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op attribute 'loopc.type' at result #0 is 'tensor<?x2xf32>', which is not held by a value of type 'tensor<?xf32>'}}
func.func @other_rank(%x: tensor<?xf32>) -> (tensor<?xf32> {loopc.type = tensor<?x2xf32>}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{is 'tensor<3xf32>', which is not held by a value of type 'tensor<4xf32>'}}
func.func @extent(%x: tensor<4xf32> {loopc.type = tensor<3xf32>}) {
  return
}

// -----

// Without a rank, and the next port is no shape.
// expected-error @+1 {{is 'tensor<*xf32>', which is not held by a value of type 'tensor<?xf32>'}}
func.func @no_shape(%x: tensor<?xf32> {loopc.type = tensor<*xf32>}, %s: tensor<?xi64>) {
  return
}

// -----

// expected-error @+1 {{is 'tensor<?xf32>', which is not held by a value of type 'tensor<?xf32>'}}
func.func @flat(%x: tensor<?xf32> {loopc.type = tensor<?xf32>}, %s: tensor<?xi64> {loopc.shape_of}) {
  return
}

// -----

// expected-error @+1 {{is 'tensor<2x!onnx.string>', which is not held by a value of type 'tensor<2xi64>'}}
func.func @strings(%x: tensor<2xi64> {loopc.type = tensor<2x!onnx.string>}) {
  return
}

// -----

// expected-error @+1 {{is 'tensor<?xf32>', which is not held by a value of type '!list.list<f32>'}}
func.func @list(%x: !list.list<f32> {loopc.type = tensor<?xf32>}) {
  return
}

// -----

// expected-error @+1 {{is '!onnx.optional<!onnx.seq<tensor<?xf64>>>', which is not held by a value of type '!list.list<!list.list<f32>>'}}
func.func @nested(%x: !list.list<!list.list<f32>> {loopc.type = !onnx.optional<!onnx.seq<tensor<?xf64>>>}) {
  return
}
// -----

// A branch that makes room gives a buffer that was there, or another one.

func.func @grows_number(%p: i1, %a: index) -> index {
  // expected-error @below {{attribute 'loopc.grows' needs a buffer as result #0}}
  %r = scf.if %p -> index {
    scf.yield %a : index
  } else {
    scf.yield %a : index
  } {loopc.grows}
  return %r : index
}

// -----

func.func @grows_new(%p: i1, %n: index) -> memref<?xf32> {
  // expected-error @below {{attribute 'loopc.grows' needs a buffer that was there before in the else branch}}
  %r = scf.if %p -> memref<?xf32> {
    %y = memref.alloc(%n) : memref<?xf32>
    scf.yield %y : memref<?xf32>
  } else {
    %x = memref.alloc(%n) : memref<?xf32>
    scf.yield %x : memref<?xf32>
  } {loopc.grows}
  return %r : memref<?xf32>
}

// -----

func.func @grows_never(%p: i1, %x: memref<?xf32>) -> memref<?xf32> {
  // expected-error @below {{attribute 'loopc.grows' needs another buffer in the then branch}}
  %r = scf.if %p -> memref<?xf32> {
    scf.yield %x : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  } {loopc.grows}
  return %r : memref<?xf32>
}

// -----

// A section gives back what it is handed.

// expected-error @below {{attribute 'loopc.section' needs the types of all arguments as those of the first results}}
func.func private @section(%x: memref<?xf32>, %n: index) -> memref<?xf32> attributes {loopc.section} {
  return %x : memref<?xf32>
}

// -----

// What cuBLAS may compute is computed by a kernel of the module otherwise.

func.func private @loopc_cuda_product_3(index) -> i32
func.func @product(%n: index) -> i32 {
  // expected-error @below {{attribute 'loopc.product' names "nest_1", and the module has no such kernel}}
  %s = func.call @loopc_cuda_product_3(%n) {loopc.product = "nest_1"} : (index) -> i32
  return %s : i32
}
gpu.module @kernels {
  gpu.func @nest_0() kernel {
    gpu.return
  }
}

// -----

// expected-error @below {{attribute 'loopc.messages' must be an array of strings}}
gpu.module @kernels attributes {loopc.messages = [1]} {
}

// -----

// Labels of a section are pairs of the same kind.
func.func private @section(%n: index) -> index attributes {loopc.section} {
  return %n : index
}
func.func @labels(%n: index) -> index {
  // expected-error @below {{needs labels that are pairs of locations, of symbols or of strings}}
  %r = loopc.call_section @section(%n) with [@a, "b"] : (index) -> index
  return %r : index
}

// -----

// A section that has lost its mark would stay a function, with the labels of
// another one.
func.func private @section(%n: index) -> index {
  return %n : index
}
func.func @labels(%n: index) -> index {
  // expected-error @below {{calls @section, which is no function that is marked 'loopc.section'}}
  %r = loopc.call_section @section(%n) with ["a", "b"] : (index) -> index
  return %r : index
}

// -----

func.func private @section(%n: index) -> index attributes {loopc.section} {
  return %n : index
}
func.func @operands(%n: i64) -> i64 {
  // expected-error @below {{needs the operands and results of @section}}
  %r = loopc.call_section @section(%n) : (i64) -> i64
  return %r : i64
}
