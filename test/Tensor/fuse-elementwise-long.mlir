// RUN: loopc-opt %s --tensor-fuse-elementwise | FileCheck %s

// A body that grows without end takes more than linear time behind here.
// CHECK-LABEL: func @long_chain(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @long_chain(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32 %1 = math.tanh %0 : f32
    %2 = math.tanh %1 : f32 %3 = math.tanh %2 : f32
    %4 = math.tanh %3 : f32 %5 = math.tanh %4 : f32
    %6 = math.tanh %5 : f32 %7 = math.tanh %6 : f32
    %8 = math.tanh %7 : f32 %9 = math.tanh %8 : f32
    %10 = math.tanh %9 : f32 %11 = math.tanh %10 : f32
    %12 = math.tanh %11 : f32 %13 = math.tanh %12 : f32
    %14 = math.tanh %13 : f32 %15 = math.tanh %14 : f32
    %16 = math.tanh %15 : f32 %17 = math.tanh %16 : f32
    %18 = math.tanh %17 : f32 %19 = math.tanh %18 : f32
    %20 = math.tanh %19 : f32 %21 = math.tanh %20 : f32
    %22 = math.tanh %21 : f32 %23 = math.tanh %22 : f32
    %24 = math.tanh %23 : f32 %25 = math.tanh %24 : f32
    %26 = math.tanh %25 : f32 %27 = math.tanh %26 : f32
    %28 = math.tanh %27 : f32 %29 = math.tanh %28 : f32
    %30 = math.tanh %29 : f32 %31 = math.tanh %30 : f32
    %32 = math.tanh %31 : f32 %33 = math.tanh %32 : f32
    %34 = math.tanh %33 : f32 %35 = math.tanh %34 : f32
    %36 = math.tanh %35 : f32 %37 = math.tanh %36 : f32
    %38 = math.tanh %37 : f32 %39 = math.tanh %38 : f32
    linalg.yield %39 : f32
  } -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%r : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32 %1 = math.tanh %0 : f32
    %2 = math.tanh %1 : f32 %3 = math.tanh %2 : f32
    %4 = math.tanh %3 : f32 %5 = math.tanh %4 : f32
    %6 = math.tanh %5 : f32 %7 = math.tanh %6 : f32
    %8 = math.tanh %7 : f32 %9 = math.tanh %8 : f32
    %10 = math.tanh %9 : f32 %11 = math.tanh %10 : f32
    %12 = math.tanh %11 : f32 %13 = math.tanh %12 : f32
    %14 = math.tanh %13 : f32 %15 = math.tanh %14 : f32
    %16 = math.tanh %15 : f32 %17 = math.tanh %16 : f32
    %18 = math.tanh %17 : f32 %19 = math.tanh %18 : f32
    %20 = math.tanh %19 : f32 %21 = math.tanh %20 : f32
    %22 = math.tanh %21 : f32 %23 = math.tanh %22 : f32
    %24 = math.tanh %23 : f32 %25 = math.tanh %24 : f32
    %26 = math.tanh %25 : f32 %27 = math.tanh %26 : f32
    %28 = math.tanh %27 : f32 %29 = math.tanh %28 : f32
    %30 = math.tanh %29 : f32 %31 = math.tanh %30 : f32
    %32 = math.tanh %31 : f32 %33 = math.tanh %32 : f32
    %34 = math.tanh %33 : f32 %35 = math.tanh %34 : f32
    %36 = math.tanh %35 : f32 %37 = math.tanh %36 : f32
    %38 = math.tanh %37 : f32 %39 = math.tanh %38 : f32
    linalg.yield %39 : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// Nor does it grow by neighbours.
// CHECK-LABEL: func @long_neighbours(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @long_neighbours(%x: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32 %1 = math.tanh %0 : f32
    %2 = math.tanh %1 : f32 %3 = math.tanh %2 : f32
    %4 = math.tanh %3 : f32 %5 = math.tanh %4 : f32
    %6 = math.tanh %5 : f32 %7 = math.tanh %6 : f32
    %8 = math.tanh %7 : f32 %9 = math.tanh %8 : f32
    %10 = math.tanh %9 : f32 %11 = math.tanh %10 : f32
    %12 = math.tanh %11 : f32 %13 = math.tanh %12 : f32
    %14 = math.tanh %13 : f32 %15 = math.tanh %14 : f32
    %16 = math.tanh %15 : f32 %17 = math.tanh %16 : f32
    %18 = math.tanh %17 : f32 %19 = math.tanh %18 : f32
    %20 = math.tanh %19 : f32 %21 = math.tanh %20 : f32
    %22 = math.tanh %21 : f32 %23 = math.tanh %22 : f32
    %24 = math.tanh %23 : f32 %25 = math.tanh %24 : f32
    %26 = math.tanh %25 : f32 %27 = math.tanh %26 : f32
    %28 = math.tanh %27 : f32 %29 = math.tanh %28 : f32
    %30 = math.tanh %29 : f32 %31 = math.tanh %30 : f32
    %32 = math.tanh %31 : f32 %33 = math.tanh %32 : f32
    %34 = math.tanh %33 : f32 %35 = math.tanh %34 : f32
    %36 = math.tanh %35 : f32 %37 = math.tanh %36 : f32
    %38 = math.tanh %37 : f32 %39 = math.tanh %38 : f32
    linalg.yield %39 : f32
  } -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32 %1 = math.tanh %0 : f32
    %2 = math.tanh %1 : f32 %3 = math.tanh %2 : f32
    %4 = math.tanh %3 : f32 %5 = math.tanh %4 : f32
    %6 = math.tanh %5 : f32 %7 = math.tanh %6 : f32
    %8 = math.tanh %7 : f32 %9 = math.tanh %8 : f32
    %10 = math.tanh %9 : f32 %11 = math.tanh %10 : f32
    %12 = math.tanh %11 : f32 %13 = math.tanh %12 : f32
    %14 = math.tanh %13 : f32 %15 = math.tanh %14 : f32
    %16 = math.tanh %15 : f32 %17 = math.tanh %16 : f32
    %18 = math.tanh %17 : f32 %19 = math.tanh %18 : f32
    %20 = math.tanh %19 : f32 %21 = math.tanh %20 : f32
    %22 = math.tanh %21 : f32 %23 = math.tanh %22 : f32
    %24 = math.tanh %23 : f32 %25 = math.tanh %24 : f32
    %26 = math.tanh %25 : f32 %27 = math.tanh %26 : f32
    %28 = math.tanh %27 : f32 %29 = math.tanh %28 : f32
    %30 = math.tanh %29 : f32 %31 = math.tanh %30 : f32
    %32 = math.tanh %31 : f32 %33 = math.tanh %32 : f32
    %34 = math.tanh %33 : f32 %35 = math.tanh %34 : f32
    %36 = math.tanh %35 : f32 %37 = math.tanh %36 : f32
    %38 = math.tanh %37 : f32 %39 = math.tanh %38 : f32
    linalg.yield %39 : f32
  } -> tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}
