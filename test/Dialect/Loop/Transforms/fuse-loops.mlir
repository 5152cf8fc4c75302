// RUN: loopc-opt %s --split-input-file --loop-fuse-loops | FileCheck %s
// RUN: loopc-opt %s --split-input-file --loop-fuse-loops \
// RUN:   --remark-format=emitRemark --remarks-filter=loop 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The second loop reads the row that the first one computes in the same
// iteration, and carries a value of its own.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[ALL:.*]]:3 = loop.loop (%[[I:[^ ]+]] : i64, {{.*}}) trips(%{{.*}} : i64)
// CHECK-SAME: carried(%[[A:[^ ]+]] = %{{.*}}, %[[B:[^ ]+]] = %{{.*}} : tensor<4xf32>)
// CHECK: %[[C:.*]] = arith.addf %[[A]], %{{.*}} : tensor<4xf32>
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[D:.*]] = arith.maximumf %[[B]], %[[C]] : tensor<4xf32>
// CHECK: loop.yield {{.*}} carried(%[[C]], %[[D]] : tensor<4xf32>, tensor<4xf32>) collect(%[[C]] : tensor<4xf32>)
// CHECK-NOT: loop.loop
// CHECK: return %[[ALL]]#1
// REMARK: remark: {{.*}}it runs in the loop whose rows it reads
func.func @rows(%n: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  %true = arith.constant true
  %m = arith.index_cast %n : index to i64
  %k = arith.index_cast %n : index to i64
  %last, %y = loop.loop (%i : i64, %c : i1) trips(%m : i64)
      carried(%a = %x : tensor<4xf32>) collect(tensor<?x4xf32> axis 0) {
    %next = arith.addf %a, %x : tensor<4xf32>
    loop.yield while(%true : i1) carried(%next : tensor<4xf32>)
        collect(%next : tensor<4xf32>)
  }
  %z = loop.loop (%i : i64, %c : i1) trips(%k : i64)
      carried(%b = %x : tensor<4xf32>) {
    %at = arith.index_cast %i : i64 to index
    %row = tensor.extract_slice %y[%at, 0] [1, 4] [1, 1]
        : tensor<?x4xf32> to tensor<4xf32>
    %next = arith.maximumf %b, %row : tensor<4xf32>
    loop.yield while(%true : i1) carried(%next : tensor<4xf32>)
  }
  return %z : tensor<4xf32>
}

// -----

// Scalars, collected along the only axis; the first loop can fail.
// CHECK-LABEL: func.func @scalars(
// CHECK: loop.loop
// CHECK: loop.check
// CHECK-NOT: tensor.extract
// CHECK-NOT: loop.loop
// REMARK: remark: {{.*}}it runs in the loop whose rows it reads
func.func @scalars(%n: i64, %x: f32) -> (tensor<?xf32>, f32) {
  %true = arith.constant true
  %zero = arith.constant 0 : i64
  %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0) {
    %fine = arith.cmpi ne, %n, %zero : i64
    loop.check %fine, "no"
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : f32) {
    %at = arith.index_cast %i : i64 to index
    %v = tensor.extract %y[%at] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  return %y, %z : tensor<?xf32>, f32
}

// -----

// The row of another iteration.
// CHECK-LABEL: func.func @neighbour(
// CHECK-COUNT-2: loop.loop
// REMARK: remark: {{.*}}not fused {{.*}}reads more of the first than the row of its iteration
func.func @neighbour(%n: i64, %x: f32) -> f32 {
  %true = arith.constant true
  %zero = arith.constant 0 : index
  %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0) {
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : f32) {
    %v = tensor.extract %y[%zero] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  return %z : f32
}

// -----

// What the first loop carries is known after its last iteration only.
// CHECK-LABEL: func.func @last(
// CHECK-COUNT-2: loop.loop
func.func @last(%n: i64, %x: f32) -> f32 {
  %true = arith.constant true
  %l, %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : f32)
      collect(tensor<?xf32> axis 0) {
    %s = arith.addf %a, %x : f32
    loop.yield while(%true : i1) carried(%s : f32) collect(%s : f32)
  }
  %z = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %l : f32) {
    %at = arith.index_cast %i : i64 to index
    %v = tensor.extract %y[%at] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  return %z : f32
}

// -----

// A reversed value stands elsewhere; other counts; both can fail (loop_order).
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-6: loop.loop
// REMARK-DAG: remark: {{.*}}not fused {{.*}}they do not run equally often
// REMARK-DAG: remark: {{.*}}not fused {{.*}}both can fail
func.func @others(%n: i64, %m: i64, %x: f32, %p: i1) -> (f32, f32, f32) {
  %true = arith.constant true
  %y0 = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0 reverse) {
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z0 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : f32) {
    %at = arith.index_cast %i : i64 to index
    %v = tensor.extract %y0[%at] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  %y1 = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0) {
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z1 = loop.loop (%i : i64, %c : i1) trips(%m : i64) carried(%b = %x : f32) {
    %at = arith.index_cast %i : i64 to index
    %v = tensor.extract %y1[%at] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  %y2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xf32> axis 0) {
    loop.check %p, "first"
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : f32) {
    loop.check %p, "second"
    %at = arith.index_cast %i : i64 to index
    %v = tensor.extract %y2[%at] : tensor<?xf32>
    %s = arith.addf %b, %v : f32
    loop.yield while(%true : i1) carried(%s : f32)
  }
  return %z0, %z1, %z2 : f32, f32, f32
}

// -----

// The constants of the functions of both would not fit into a CPU's registers.
// CHECK-LABEL: func.func @functions(
// CHECK-COUNT-2: loop.loop
// CHECK-NOT: loop.loop
// REMARK: remark: {{.*}}not fused {{.*}}better done one behind the other
module {
  func.func @functions(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
    %true = arith.constant true
    %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
      %t = math.tanh %x : tensor<4xf32>
      loop.yield while(%true : i1) collect(%t : tensor<4xf32>)
    }
    %z = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : tensor<4xf32>) {
      %at = arith.index_cast %i : i64 to index
      %row = tensor.extract_slice %y[%at, 0] [1, 4] [1, 1]
          : tensor<?x4xf32> to tensor<4xf32>
      %e = math.exp %row : tensor<4xf32>
      %s = arith.addf %b, %e : tensor<4xf32>
      loop.yield while(%true : i1) carried(%s : tensor<4xf32>)
    }
    return %z : tensor<4xf32>
  }
}

// -----

// A GPU has more of them, and waits in each iteration.
// CHECK-LABEL: func.func @functions_on_gpu(
// CHECK-COUNT-1: loop.loop
// CHECK-NOT: loop.loop
module attributes {loopc.target = #loopc.target<vector_bits = 256, registers = 16, chip = "sm_90">} {
  func.func @functions_on_gpu(%n: i64, %x: tensor<4xf32>) -> tensor<4xf32> {
    %true = arith.constant true
    %y = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?x4xf32> axis 0) {
      %t = math.tanh %x : tensor<4xf32>
      loop.yield while(%true : i1) collect(%t : tensor<4xf32>)
    }
    %z = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%b = %x : tensor<4xf32>) {
      %at = arith.index_cast %i : i64 to index
      %row = tensor.extract_slice %y[%at, 0] [1, 4] [1, 1]
          : tensor<?x4xf32> to tensor<4xf32>
      %e = math.exp %row : tensor<4xf32>
      %s = arith.addf %b, %e : tensor<4xf32>
      loop.yield while(%true : i1) carried(%s : tensor<4xf32>)
    }
    return %z : tensor<4xf32>
  }
}

// -----

// The second loop divides by numbers that the first one has checked all of.
// CHECK-LABEL: func.func @guarded(
// CHECK: loop.loop
// CHECK: loop.check
// CHECK: loop.loop
// CHECK: arith.divsi
// REMARK: remark: {{.*}}the second one may count on what the first one checks
func.func @guarded(%n: i64, %d: tensor<64xi32>, %last: index, %x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xi32> axis 0) {
    %k = arith.index_cast %i : i64 to index
    %v = tensor.extract %d[%k] : tensor<64xi32>
    %ok = arith.cmpi ne, %v, %zero : i32
    loop.check %ok, "zero"
    loop.yield while(%true : i1) collect(%v : i32)
  }
  %s = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : i32) {
    %k = arith.index_cast %i : i64 to index
    %back = arith.subi %last, %k : index
    %divisor = tensor.extract %d[%back] : tensor<64xi32>
    %v = tensor.extract %r[%k] : tensor<?xi32>
    %q = arith.divsi %v, %divisor : i32
    %t = arith.addi %a, %q : i32
    loop.yield while(%true : i1) carried(%t : i32)
  }
  return %s : i32
}

// -----

// What stands between the loops may be what the first one's checks allow.
// CHECK-LABEL: func.func @guardedBetween(
// CHECK: loop.loop
// CHECK: loop.check
// CHECK: arith.divsi
// CHECK: loop.loop
// REMARK: remark: {{.*}}what is between them may count on what the first one checks
func.func @guardedBetween(%d: i32, %v: tensor<8xi32>, %x: i32) -> (i32, i32) {
  %n = arith.constant 8 : i64
  %zero = arith.constant 0 : i32
  %true = arith.constant true
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) collect(tensor<?xi32> axis 0) {
    %k = arith.index_cast %i : i64 to index
    %e = tensor.extract %v[%k] : tensor<8xi32>
    %both = arith.muli %e, %d : i32
    %ok = arith.cmpi ne, %both, %zero : i32
    loop.check %ok, "zero"
    loop.yield while(%true : i1) collect(%e : i32)
  }
  %q = arith.divsi %x, %d : i32
  %s = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%a = %x : i32) {
    %k = arith.index_cast %i : i64 to index
    %e = tensor.extract %r[%k] : tensor<?xi32>
    %t = arith.addi %a, %e : i32
    loop.yield while(%true : i1) carried(%t : i32)
  }
  return %q, %s : i32, i32
}

// -----

// 258 trips are 2 in eight bits.
// CHECK-LABEL: func.func @fewerBits(
// CHECK-COUNT-2: loop.loop
// REMARK: remark: {{.*}}they do not run equally often
func.func @fewerBits(%n: index, %x: f32) -> (tensor<?xf32>, f32) {
  %true = arith.constant true
  %byte = arith.index_cast %n : index to i8
  %m = arith.index_cast %byte : i8 to index
  %y = loop.loop (%i : index, %c : i1) trips(%n : index) collect(tensor<?xf32> axis 0) {
    loop.yield while(%true : i1) collect(%x : f32)
  }
  %z = loop.loop (%i : index, %c : i1) trips(%m : index) carried(%s = %x : f32) {
    %e = tensor.extract %y[%i] : tensor<?xf32>
    %t = arith.addf %s, %e : f32
    loop.yield while(%true : i1) carried(%t : f32)
  }
  return %y, %z : tensor<?xf32>, f32
}
