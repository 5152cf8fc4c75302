// RUN: loopc-opt %s -split-input-file --tensor-expand-fourier | FileCheck %s

// A length with small factors: one pass for each, 4 rather than 2.
// CHECK-LABEL: func.func @known
// CHECK-SAME: %[[X:.+]]: tensor<?x12x2xf64>
// CHECK: %[[ROOTS:.+]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<12xcomplex<f64>>)
// CHECK: %[[FIRST:.+]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x12xcomplex<f64>>)
// CHECK-COUNT-8: tensor.extract %[[X]]
// CHECK-NOT: tensor.extract %[[X]]
// CHECK: %[[SECOND:.+]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x12xcomplex<f64>>)
// CHECK-COUNT-3: tensor.extract %[[FIRST]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x12x2xf64>)
// CHECK: tensor.extract %[[SECOND]]
// CHECK-NOT: rt.fourier
func.func @known(%x: tensor<?x12x2xf64>) -> tensor<?x12x2xf64> {
  %y = rt.fourier %x : tensor<?x12x2xf64>
  return %y : tensor<?x12x2xf64>
}

// -----

// Between two conjugations.
// CHECK-LABEL: func.func @inverse
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xcomplex<f64>>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2xcomplex<f64>>)
// CHECK: %[[RE:.+]] = tensor.extract %arg0[%{{.*}}, %c0
// CHECK: %[[IM:.+]] = tensor.extract %arg0[%{{.*}}, %c1
// CHECK: arith.negf %[[IM]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x2xf64>)
// CHECK: %[[PART:.+]] = complex.im
// CHECK: arith.negf %[[PART]]
func.func @inverse(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %y = rt.fourier %x inverse : tensor<2x2xf64>
  return %y : tensor<2x2xf64>
}

// -----

// A sum of many terms is a loop.
// CHECK-LABEL: func.func @prime
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c61
func.func @prime(%x: tensor<61x2xf64>) -> tensor<61x2xf64> {
  %y = rt.fourier %x : tensor<61x2xf64>
  return %y : tensor<61x2xf64>
}

// -----

// A large prime: transforms of 256 numbers convolve.
// CHECK-LABEL: func.func @large_prime
// CHECK: outs(%{{.*}} : tensor<67xcomplex<f64>>)
// CHECK: outs(%{{.*}} : tensor<256xcomplex<f64>>)
// CHECK: outs(%{{.*}} : tensor<5x256xcomplex<f64>>)
// CHECK: outs(%{{.*}} : tensor<5x67xcomplex<f64>>)
// CHECK: outs(%{{.*}} : tensor<5x67x2xf64>)
func.func @large_prime(%x: tensor<5x67x2xf64>) -> tensor<5x67x2xf64> {
  %y = rt.fourier %x : tensor<5x67x2xf64>
  return %y : tensor<5x67x2xf64>
}

// -----

// Passes are a loop where the run tells how many there are.
// CHECK-LABEL: func.func @unknown
// CHECK: %[[LEFT:.+]] = scf.while
// CHECK: scf.while
// CHECK: %[[SMALL:.+]] = arith.cmpi ule, %[[LEFT]], %c1
// CHECK: scf.if %[[SMALL]] -> (tensor<?xcomplex<f64>>)
// CHECK: loop.loop
// CHECK-SAME: while(
// CHECK: scf.while
// CHECK: linalg.generic
// CHECK: loop.yield
// CHECK: } else {
// CHECK-COUNT-3: loop.loop
// CHECK-NOT: loop.loop
func.func @unknown(%x: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %y = rt.fourier %x : tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}
