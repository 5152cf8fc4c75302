// RUN: loopc-opt %s --convert-loop-runtime-to-llvm | FileCheck %s

// Nodes by number: what each has in common with the one before it, at both ends,
// and what lies between.
// CHECK: llvm.mlir.global private constant @loopc_places("\00\00main/#0 Tile (opset 21)\00\06\0B1 Concat\00

// The bytes of [n, 4] floats, -1 where they wrap; a null pointer ends the run,
// whose error names the node.
// CHECK-LABEL: func @alloc(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr, %[[N:[^:]+]]: index
func.func @alloc(%run: !rt.run, %n: index) -> i32 {
  // CHECK: %[[SIGN:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
  // CHECK: %[[SOME:.*]] = llvm.icmp "sge" %[[SIGN]], %{{.*}}
  // CHECK: cf.cond_br %[[SOME]] weights({{.*}}), ^[[MAKE:.*]], ^[[NEGATIVE:.*]]
  // CHECK: ^[[MAKE]]:
  // CHECK: %[[ROWS:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
  // CHECK: %[[ROW:.*]] = llvm.mlir.constant(16 : i64)
  // CHECK: %[[BOTH:.*]] = "llvm.intr.umul.with.overflow"(%[[ROW]], %[[ROWS]])
  // CHECK: %[[PRODUCT:.*]] = llvm.extractvalue %[[BOTH]][0]
  // CHECK: %[[WRAPS:.*]] = llvm.extractvalue %[[BOTH]][1]
  // CHECK: %[[EMPTY:.*]] = llvm.icmp "eq" %[[ROWS]], %{{.*}}
  // CHECK: %[[CHECKED:.*]] = llvm.select %[[WRAPS]], %{{.*}}, %[[PRODUCT]]
  // CHECK: %[[BYTES:.*]] = llvm.select %[[EMPTY]], %{{.*}}, %[[CHECKED]]
  // CHECK: %[[MEMORY:.*]] = llvm.call @loopc_rt_alloc(%[[HANDLE]], %[[BYTES]])
  // CHECK: %[[OK:.*]] = llvm.icmp "ne" %[[MEMORY]], %{{.*}} : !llvm.ptr
  // CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: cf.cond_br %[[OK]] weights({{.*}}), ^[[GO:.*]], ^[[FAIL:.*]](%[[FIRST]] : i32)
  // CHECK: ^[[GO]]:
  // CHECK: %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: cf.cond_br %{{.*}} weights({{.*}}), ^{{.*}}, ^[[FAIL]](%[[SECOND]] : i32)
  // CHECK: ^[[NEGATIVE]]:
  // CHECK: %[[OWN:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.call @loopc_rt_fail_at(%[[HANDLE]], %{{.*}}, %[[OWN]],
  // CHECK: ^[[END:.*]]: // pred: ^[[FAIL]]
  // CHECK: %[[STATUS:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: return %[[STATUS]]
  // CHECK: ^[[FAIL]](%[[PLACE:.*]]: i32):
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @loopc_places
  // CHECK: llvm.call @loopc_rt_locate(%[[HANDLE]], %[[TABLE]], %[[PLACE]])
  // CHECK: cf.br ^[[END]]
  %a = memref.alloc(%n) : memref<?x4xf32> loc("main/#0 Tile (opset 21)")
  %b = memref.alloc() : memref<200x1000xf32> loc("main/#1 Concat (opset 21)")
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// Extents that cannot be negative are not checked; those that may are, together.
// CHECK-LABEL: func @extents(
// CHECK-SAME: %{{[^:]+}}: !llvm.ptr, %[[N:[^:]+]]: index, %[[M:[^:]+]]: index
func.func @extents(%run: !rt.run, %n: index, %m: index, %v: memref<?xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // CHECK-NOT: "sge"
  %d = memref.dim %v, %c0 : memref<?xf32>
  %twice = arith.muli %d, %c2 : index
  %atleast0 = arith.maxsi %n, %c0 : index
  %a = memref.alloc(%twice, %atleast0) : memref<?x?xf32>
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %[[N]] : index to i64
  // CHECK: %[[SECOND:.*]] = builtin.unrealized_conversion_cast %[[M]] : index to i64
  // CHECK: %[[SIGNS:.*]] = llvm.or %[[FIRST]], %[[SECOND]]
  // CHECK: llvm.icmp "sge" %[[SIGNS]]
  // CHECK-NOT: "sge"
  %b = memref.alloc(%n, %d, %m) : memref<?x?x?xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// What is freed here is no output; where it is small that does not matter.
// CHECK-LABEL: func @scratch(
func.func @scratch(%run: !rt.run, %n: index) -> i32 {
  // CHECK: llvm.call @loopc_rt_alloc_scratch(
  %a = memref.alloc(%n) : memref<?x4xf32>
  // CHECK: llvm.call @loopc_rt_alloc_scratch(
  %b = memref.alloc() : memref<200x1000xf32>
  // CHECK: llvm.call @loopc_rt_alloc(
  %c = memref.alloc() : memref<8xf32>
  memref.dealloc %a : memref<?x4xf32>
  memref.dealloc %b : memref<200x1000xf32>
  memref.dealloc %c : memref<8xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// CHECK-LABEL: func @dealloc(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @dealloc(%run: !rt.run, %a: memref<4xf32>) -> i32 {
  // CHECK: %[[MEMORY:.*]] = llvm.extractvalue %{{.*}}[0]
  // CHECK: llvm.call @loopc_rt_free(%[[HANDLE]], %[[MEMORY]])
  memref.dealloc %a : memref<4xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// CHECK-LABEL: func @check(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr, %[[OK:[^:]+]]: i1, %[[N:[^:]+]]: i64, %[[I:[^:]+]]: i64)
func.func @check(%run: !rt.run, %ok: i1, %n: i64, %i: i64) -> i32 {
  // CHECK: cf.cond_br %[[OK]] weights({{.*}}), ^{{.*}}, ^[[FAIL:.*]]
  // CHECK: ^[[FAIL]]:
  // CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @loopc_message_{{[0-9]+}}
  // CHECK: llvm.store %[[N]]
  // CHECK: %[[STATUS:.*]] = llvm.call @loopc_rt_fail(%[[HANDLE]], %[[TEXT]], %[[I]], %{{.*}}, %{{.*}})
  // CHECK: return %[[STATUS]]
  loop.check %ok, "{} is wrong"(%n : i64) iteration %i : i64
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// The node that a message begins with is a number, so that equal checks of two
// nodes differ in it alone; a message that begins otherwise is kept as it is.
// CHECK-LABEL: func @placed_checks(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @placed_checks(%run: !rt.run, %ok: i1, %n: i64) -> i32 {
  // CHECK: ^{{.*}}: // pred: ^bb0
  // CHECK: ^[[FIRST:.*]]: // pred: ^bb0
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @loopc_places
  // CHECK: %[[GATHER:.*]] = llvm.mlir.constant([[#NUMBER:]] : i32)
  // CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @[[MESSAGE:loopc_message_[0-9]+]]
  // CHECK: llvm.call @loopc_rt_fail_at(%[[HANDLE]], %[[TABLE]], %[[GATHER]], %[[TEXT]],
  loop.check %ok, "main/#2 Gather (opset 21): {} is wrong"(%n : i64) loc("main/#2 Gather (opset 21)")
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @loopc_places
  // CHECK: %[[NEXT:.*]] = llvm.mlir.constant([[#NUMBER+1]] : i32)
  // CHECK: %[[SAME:.*]] = llvm.mlir.addressof @[[MESSAGE]]
  // CHECK: llvm.call @loopc_rt_fail_at(%[[HANDLE]], %[[TABLE]], %[[NEXT]], %[[SAME]],
  loop.check %ok, "main/#3 Gather (opset 21): {} is wrong"(%n : i64) loc("main/#3 Gather (opset 21)")
  // CHECK: %[[OTHER:.*]] = llvm.mlir.addressof @loopc_message_
  // CHECK: llvm.call @loopc_rt_fail(%[[HANDLE]], %[[OTHER]],
  loop.check %ok, "main/#4 Gather: {} is wrong"(%n : i64) loc("main/#3 Gather (opset 21)")
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// CHECK-LABEL: func @poll(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @poll(%run: !rt.run) -> i32 {
  // CHECK: %[[STATUS:.*]] = llvm.call @loopc_rt_poll(%[[HANDLE]])
  // CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
  // CHECK: cf.cond_br %[[OK]]
  loop.poll
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// The axes in front are so many transforms; a status ends the run.
// CHECK-LABEL: func @fourier(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @fourier(%run: !rt.run, %b: memref<3x?x400x2xf64>) -> i32 {
  // CHECK: %[[ROWS:.*]] = llvm.extractvalue %{{.*}}[3, 1]
  // CHECK: %[[COUNT:.*]] = llvm.mul %{{.*}}, %[[ROWS]]
  // CHECK: %[[INVERSE:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[DATA:.*]] = llvm.extractvalue %{{.*}}[1]
  // CHECK: %[[LENGTH:.*]] = llvm.extractvalue %{{.*}}[3, 2]
  // CHECK: %[[STATUS:.*]] = llvm.call @loopc_rt_fourier(%[[HANDLE]], %[[DATA]], %[[COUNT]], %[[LENGTH]], %[[INVERSE]])
  // CHECK: %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]]
  // CHECK: cf.cond_br %[[OK]]
  rt.fourier %b inverse : memref<3x?x400x2xf64>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}

// LLVM does not inline what was outlined.
// CHECK-LABEL: func private @outlined(
// CHECK-SAME: loopc.outlined, passthrough = ["noinline"]
func.func private @outlined(%x: f32) -> f32 attributes {loopc.nest, loopc.outlined} {
  return %x : f32
}

// What becomes an output is asked for with its shape.
// CHECK-LABEL: func @output(
// CHECK-SAME: %[[HANDLE:[^:]+]]: !llvm.ptr
func.func @output(%run: !rt.run, %v: memref<?xf32>) -> i32 {
  // CHECK: %[[SHAPE:.*]] = llvm.alloca %{{.*}} x !llvm.array<3 x i64>
  // CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[SHAPE]][0, 0]
  // CHECK: llvm.store %[[N:.*]], %[[FIRST]] : i64
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[SHAPE]][0, 1]
  // CHECK: llvm.store %[[ONE]], %[[SECOND]] : i64
  // CHECK: %[[THIRD:.*]] = llvm.getelementptr %[[SHAPE]][0, 2]
  // CHECK: llvm.store %{{.*}}, %[[THIRD]] : i64
  // CHECK: %[[PORT:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: %[[RANK:.*]] = llvm.mlir.constant(3 : i64)
  // CHECK: llvm.call @loopc_rt_alloc_output(%[[HANDLE]], %{{.*}}, %[[PORT]], %[[SHAPE]], %[[RANK]])
  %c0 = arith.constant 0 : index
  %d = memref.dim %v, %c0 : memref<?xf32>
  %a = memref.alloc(%d) {loopc.output = [2, affine_map<(d0, d1) -> (d0, 1, d1)>]} : memref<?x4xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  return %z : i32
}
