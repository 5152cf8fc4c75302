// RUN: loopc-opt %s --loop-hoist-dims --loop-version-shapes --canonicalize --cse | FileCheck %s

// What is added may have to be repeated along the axis, for all that is known:
// in the version for equal extents there is no branch, and the extent is the
// init's.
// CHECK-LABEL: func @broadcast(
// CHECK-SAME: %{{[^:]+}}: i64, %[[INIT:[^:]+]]: tensor<?xf32>, %[[Y:[^:]+]]: tensor<?xf32>)
func.func @broadcast(%n: i64, %x0: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-DAG: %[[D:.*]] = tensor.dim %[[INIT]]
  // CHECK-DAG: %[[E:.*]] = tensor.dim %[[Y]]
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[E]], %[[D]]
  // CHECK: %[[R:.*]] = scf.if %[[SAME]]
  // CHECK: loop.loop
  // CHECK-NOT: scf.if
  // CHECK-NOT: loop.check
  // CHECK: tensor.empty(%[[D]])
  // CHECK: } else {
  // CHECK: loop.loop {{.*}}loopc.cold
  // CHECK: loop.check
  // CHECK: scf.if
  // CHECK: return %[[R]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %one = arith.cmpi eq, %e, %c1 : index
    %size = arith.select %one, %d, %e : index
    %same = arith.cmpi eq, %d, %size : index
    %wide = arith.cmpi eq, %d, %c1 : index
    %ok = arith.ori %same, %wide : i1
    loop.check %ok, "dimensions {} and {} do not broadcast"(%d, %size : index, index)
    %left = scf.if %same -> (tensor<?xf32>) {
      scf.yield %x : tensor<?xf32>
    } else {
      %place = tensor.empty(%size) : tensor<?xf32>
      %first = tensor.extract %x[%c0] : tensor<?xf32>
      %filled = linalg.fill ins(%first : f32) outs(%place : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %filled : tensor<?xf32>
    }
    %place = tensor.empty(%size) : tensor<?xf32>
    %sum = linalg.add ins(%left, %y : tensor<?xf32>, tensor<?xf32>) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%sum : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// The extent of what an iteration yields is computed from the init's before the
// loop: a window of 3 with a padding of 1 keeps it.
// CHECK-LABEL: func @computed(
func.func @computed(%n: i64, %x0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[D:.*]] = tensor.dim
  // CHECK: %[[MAX:.*]] = arith.maxsi
  // CHECK: %[[NEXT:.*]] = arith.addi %[[MAX]]
  // CHECK: %[[KEPT:.*]] = arith.cmpi eq, %[[NEXT]], %[[D]]
  // CHECK: scf.if %[[KEPT]]
  // CHECK: loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: tensor.empty(%[[D]])
  // CHECK: } else {
  // CHECK: loop.loop {{.*}} carried(%[[X:[^ ]+]] =
  // CHECK: tensor.dim %[[X]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %less = arith.subi %d, %c1 : index
    %max = arith.maxsi %less, %c0 : index
    %size = arith.addi %max, %c1 : index
    %e = tensor.empty(%size) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%e : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// An extent that has to be 64 is 64.
// CHECK-LABEL: func @constant(
func.func @constant(%n: i64, %x0: tensor<?xf32>, %place: tensor<64xf32>) -> tensor<?xf32> {
  // CHECK: scf.if
  // CHECK: loop.loop {{.*}} carried({{.*}} : tensor<64xf32>)
  // CHECK: } else {
  // CHECK: loop.loop {{.*}} carried({{.*}} : tensor<?xf32>)
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %ok = arith.cmpi eq, %d, %c64 : index
    loop.check %ok, "the extent is {}"(%d : index)
    %static = tensor.cast %x : tensor<?xf32> to tensor<64xf32>
    %y = linalg.exp ins(%static : tensor<64xf32>) outs(%place : tensor<64xf32>) -> tensor<64xf32>
    %next = tensor.cast %y : tensor<64xf32> to tensor<?xf32>
    loop.yield while(%c : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// What grows has no version: its extent is never that of the init.
// CHECK-LABEL: func @grows(
func.func @grows(%n: i64, %x0: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: scf.if
  %c0 = arith.constant 0 : index
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %size = arith.addi %d, %e : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%empty : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Nor has what data decide.
// CHECK-LABEL: func @data(
func.func @data(%n: i64, %x0: tensor<?xf32>, %sizes: tensor<?xindex>) -> tensor<?xf32> {
  // CHECK-NOT: scf.if
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %at = arith.index_cast %i : i64 to index
    %size = tensor.extract %sizes[%at] : tensor<?xindex>
    %empty = tensor.empty(%size) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%empty : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Loops in loops are decided before the outer one.
// CHECK-LABEL: func @nested(
func.func @nested(%n: i64, %x0: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[SAME:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[SAME]]
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: } else {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %inner = loop.loop (%j : i64, %cj : i1) trips(%n : i64) carried(%z = %x : tensor<?xf32>) {
      %d = tensor.dim %z, %c0 : tensor<?xf32>
      %one = arith.cmpi eq, %e, %c1 : index
      %size = arith.select %one, %d, %e : index
      %empty = tensor.empty(%size) : tensor<?xf32>
      loop.yield while(%cj : i1) carried(%empty : tensor<?xf32>)
    }
    %d = tensor.dim %inner, %c0 : tensor<?xf32>
    %place = tensor.empty(%d) : tensor<?xf32>
    %s = linalg.exp ins(%inner : tensor<?xf32>) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    loop.yield while(%c : i1) carried(%s : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Of what the inner loop carries only the extent is read, and it grows: once
// the extent is taken for the init's nothing reads the value any more, and yet
// the version has to find that this is wrong.
// CHECK-LABEL: func @inner_grows(
func.func @inner_grows(%n: i64, %x0: tensor<?xf32>, %seed: tensor<2xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xindex>) {
  // CHECK: %[[SAME:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[SAME]]
  // CHECK: loop.loop
  // CHECK: loop.loop {{.*}} carried(%[[Z:[^ ]+]] =
  // CHECK: %[[D:.*]] = tensor.dim %[[Z]]
  // CHECK: arith.addi %[[D]]
  // CHECK: loop.yield {{.*}} collect(%[[D]]
  // CHECK: } else {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %init = tensor.cast %seed : tensor<2xf32> to tensor<?xf32>
  %none = tensor.empty(%c0) : tensor<?xindex>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>, %last = %none : tensor<?xindex>) {
    %inner:2 = loop.loop (%j : i64, %cj : i1) trips(%n : i64) carried(%z = %init : tensor<?xf32>) collect(tensor<?xindex> axis 0) {
      %d = tensor.dim %z, %c0 : tensor<?xf32>
      %more = arith.addi %d, %c1 : index
      %empty = tensor.empty(%more) : tensor<?xf32>
      loop.yield while(%cj : i1) carried(%empty : tensor<?xf32>) collect(%d : index)
    }
    %dx = tensor.dim %x, %c0 : tensor<?xf32>
    %one = arith.cmpi eq, %e, %c1 : index
    %size = arith.select %one, %dx, %e : index
    %empty = tensor.empty(%size) : tensor<?xf32>
    loop.yield while(%c : i1) carried(%empty, %inner#1 : tensor<?xf32>, tensor<?xindex>)
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xindex>
}

// The extents of two values prove one another, also where a loop is between.
// CHECK-LABEL: func @together(
func.func @together(%n: i64, %x0: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[SAME:.*]] = arith.cmpi eq
  // CHECK: scf.if %[[SAME]]
  // CHECK: loop.loop
  // CHECK: loop.loop
  // CHECK-NOT: tensor.dim
  // CHECK: } else {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>, %w = %y : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %one = arith.cmpi eq, %e, %c1 : index
    %size = arith.select %one, %d, %e : index
    %place = tensor.empty(%size) : tensor<?xf32>
    %inner:2 = loop.loop (%j : i64, %cj : i1) trips(%n : i64) carried(%z = %x : tensor<?xf32>, %v = %place : tensor<?xf32>) {
      %dv = tensor.dim %v, %c0 : tensor<?xf32>
      %empty = tensor.empty(%dv) : tensor<?xf32>
      loop.yield while(%cj : i1) carried(%empty, %z : tensor<?xf32>, tensor<?xf32>)
    }
    loop.yield while(%c : i1) carried(%inner#0, %inner#1 : tensor<?xf32>, tensor<?xf32>)
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// The history of a state: what is known of the init's first extent, 1, is no
// type of a value that grows along that axis.
// CHECK-LABEL: func @history(
func.func @history(%n: i64, %x0: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  // CHECK: scf.if
  // CHECK: loop.loop {{.*}} carried(%{{.*}} = %{{.*}} : tensor<?xf32>, %{{.*}} = %{{.*}} : tensor<?x?xf32>)
  // CHECK-NOT: tensor<1x?xf32> to tensor
  // CHECK: } else {
  // CHECK: loop.loop {{.*}}loopc.cold
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x0, %c0 : tensor<?xf32>
  %e = tensor.dim %y, %c0 : tensor<?xf32>
  %first = tensor.expand_shape %x0 [[0, 1]] output_shape [1, %d0] : tensor<?xf32> into tensor<1x?xf32>
  %h0 = tensor.cast %first : tensor<1x?xf32> to tensor<?x?xf32>
  %r:2 = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>, %h = %h0 : tensor<?x?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %one = arith.cmpi eq, %e, %c1 : index
    %size = arith.select %one, %d, %e : index
    %same = arith.cmpi eq, %d, %size : index
    loop.check %same, "dimensions {} and {} do not broadcast"(%d, %size : index, index)
    %place = tensor.empty(%size) : tensor<?xf32>
    %sum = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    %rows = tensor.dim %h, %c0 : tensor<?x?xf32>
    %columns = tensor.dim %h, %c1 : tensor<?x?xf32>
    %fits = arith.cmpi eq, %columns, %size : index
    loop.check %fits, "{} and {} differ"(%columns, %size : index, index)
    %more = arith.addi %rows, %c1 : index
    %all = tensor.empty(%more, %size) : tensor<?x?xf32>
    %row = tensor.expand_shape %sum [[0, 1]] output_shape [1, %size] : tensor<?xf32> into tensor<1x?xf32>
    %one_more = tensor.insert_slice %row into %all[0, 0] [1, %size] [1, 1] : tensor<1x?xf32> into tensor<?x?xf32>
    %next = tensor.insert_slice %h into %one_more[1, 0] [%rows, %size] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    loop.yield while(%c : i1) carried(%sum, %next : tensor<?xf32>, tensor<?x?xf32>)
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?x?xf32>
}

// A stencil: the extents of the two windows, and that of what is padded around
// their sum, are computed in the loop from the extent that it keeps. The version
// for windows that are equally long has no branch.
// CHECK-LABEL: func @stencil(
func.func @stencil(%n: i64, %x0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: scf.if
  // CHECK: loop.loop
  // CHECK-NOT: scf.if
  // CHECK-NOT: loop.check
  // CHECK: tensor.insert_slice
  // CHECK: } else {
  // CHECK: loop.loop {{.*}}loopc.cold
  // CHECK: loop.check
  // CHECK: scf.if
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %less = arith.subi %d, %c2 : index
    %left = arith.maxsi %less, %c0 : index
    %begin = arith.minsi %d, %c2 : index
    %behind = arith.subi %d, %begin : index
    %right = arith.maxsi %behind, %c0 : index
    %a = tensor.extract_slice %x[0] [%left] [1] : tensor<?xf32> to tensor<?xf32>
    %b = tensor.extract_slice %x[%begin] [%right] [1] : tensor<?xf32> to tensor<?xf32>
    %one = arith.cmpi eq, %left, %c1 : index
    %size = arith.select %one, %right, %left : index
    %same = arith.cmpi eq, %left, %size : index
    %ok = arith.ori %same, %one : i1
    loop.check %ok, "dimensions {} and {} do not broadcast"(%left, %size : index, index)
    %wide = scf.if %same -> (tensor<?xf32>) {
      scf.yield %a : tensor<?xf32>
    } else {
      %place = tensor.empty(%size) : tensor<?xf32>
      %first = tensor.extract %a[%c0] : tensor<?xf32>
      %filled = linalg.fill ins(%first : f32) outs(%place : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %filled : tensor<?xf32>
    }
    %place = tensor.empty(%size) : tensor<?xf32>
    %sum = linalg.add ins(%wide, %b : tensor<?xf32>, tensor<?xf32>) outs(%place : tensor<?xf32>) -> tensor<?xf32>
    %all = arith.addi %size, %c2 : index
    %empty = tensor.empty(%all) : tensor<?xf32>
    %frame = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %next = tensor.insert_slice %sum into %frame[1] [%size] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// Both branches of %r are what an extent decides. That 2 * d is 4 and d is 3 is
// never so: no version assumes both, in which a slice would reach beyond its
// tensor.
// CHECK-LABEL: func @contradiction(
// CHECK-NOT: tensor<4xf32>
// CHECK: return
func.func @contradiction(%n: i64, %x0: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %x0, %c0 : tensor<?xf32>
  %sum = arith.addi %d, %d : index
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %place = tensor.empty(%sum) : tensor<?xf32>
    %first = tensor.insert_slice %x0 into %place[0] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    %both = tensor.insert_slice %x0 into %first[%d] [%d] [1] : tensor<?xf32> into tensor<?xf32>
    %is4 = arith.cmpi eq, %sum, %c4 : index
    %chosen = scf.if %is4 -> (tensor<?xf32>) {
      scf.yield %both : tensor<?xf32>
    } else {
      scf.yield %x : tensor<?xf32>
    }
    %e = tensor.dim %chosen, %c0 : tensor<?xf32>
    %size = arith.minsi %e, %c3 : index
    %next = tensor.extract_slice %chosen[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
    %true = arith.constant true
    loop.yield while(%true : i1) carried(%next : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

// A row and a column that the iteration's number takes have one element, so
// nothing has to hold: the loop itself keeps the extents.
// CHECK-LABEL: func @row_of_iteration(
func.func @row_of_iteration(%x0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: scf.if
  // CHECK: loop.loop
  // CHECK-NOT: loopc.cold
  // CHECK-NOT: scf.if
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x0, %c0 : tensor<?xf32>
  %r = loop.loop (%i : index, %c : i1) trips(%n : index) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %next = arith.addi %i, %c1 : index
    %end = arith.minsi %next, %d : index
    %begin = arith.minsi %i, %d : index
    %rows = arith.subi %end, %begin : index
    %one = arith.cmpi eq, %rows, %c1 : index
    %size = arith.select %one, %d, %rows : index
    %e = tensor.empty(%size) : tensor<?xf32>
    %y = scf.if %one -> tensor<?xf32> {
      %f = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %f : tensor<?xf32>
    } else {
      scf.yield %e : tensor<?xf32>
    }
    loop.yield while(%c : i1) carried(%y : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}

#id2 = affine_map<(d0, d1) -> (d0, d1)>

// A condition on data says nothing of extents: the branch stays.
// CHECK-LABEL: func @chosen_by_data(
// CHECK: loop.loop
// CHECK: scf.if
// CHECK: return
func.func @chosen_by_data(%nt: tensor<i64>, %x: tensor<?x1xf32>, %s0: tensor<?x?xf32>, %flags: tensor<?xi1>, %mt: tensor<i64>) -> (tensor<?x?xf32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i64
  %n = tensor.extract %nt[] : tensor<i64>
  %m = tensor.extract %mt[] : tensor<i64>
  %d = tensor.dim %x, %c0 : tensor<?x1xf32>
  %mi = arith.index_cast %m : i64 to index
  %xx = tensor.cast %x : tensor<?x1xf32> to tensor<?x?xf32>
  %r, %e = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%s = %s0 : tensor<?x?xf32>, %a = %z : i64) {
    %k = arith.index_cast %i : i64 to index
    %f = tensor.extract %flags[%k] : tensor<?xi1>
    %place = tensor.empty(%d, %mi) : tensor<?x?xf32>
    %y = scf.if %f -> (tensor<?x?xf32>) {
      scf.yield %xx : tensor<?x?xf32>
    } else {
      %g = linalg.generic {indexing_maps = [#id2], iterator_types = ["parallel", "parallel"]} outs(%place : tensor<?x?xf32>) {
      ^bb0(%o: f32):
        %p = linalg.index 0 : index
        %v = tensor.extract %x[%p, %c0] : tensor<?x1xf32>
        linalg.yield %v : f32
      } -> tensor<?x?xf32>
      scf.yield %g : tensor<?x?xf32>
    }
    %w = tensor.dim %y, %c1 : tensor<?x?xf32>
    %wi = arith.index_cast %w : index to i64
    %b = arith.addi %a, %wi : i64
    %sd0 = tensor.dim %s, %c0 : tensor<?x?xf32>
    %sd1 = tensor.dim %s, %c1 : tensor<?x?xf32>
    %se = tensor.empty(%sd0, %sd1) : tensor<?x?xf32>
    %t = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x?xf32>) outs(%se : tensor<?x?xf32>) {
    ^bb0(%in: f32, %o: f32):
      %p = linalg.index 0 : index
      %v = tensor.extract %y[%p, %c0] : tensor<?x?xf32>
      %q = arith.addf %v, %in : f32
      linalg.yield %q : f32
    } -> tensor<?x?xf32>
    loop.yield while(%c : i1) carried(%t, %b : tensor<?x?xf32>, i64)
  }
  %et = tensor.from_elements %e : tensor<i64>
  return %r, %et : tensor<?x?xf32>, tensor<i64>
}

// Four elements at 4 * i are replaced: the value stays as long as it is if they
// end within it in the last iteration, too. That is computed whether it is
// reached or not, so that nothing is promised of the numbers there.
// CHECK-LABEL: func.func @positions(
// CHECK: arith.muli %{{.*}}, %c4_i64 : i64
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK-NEXT: loop.loop
// CHECK-NOT: arith.minsi
// CHECK: } else {
// CHECK: loop.loop
// CHECK: arith.minsi
func.func @positions(%n: i64, %x0: tensor<?xf32>, %m: tensor<4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %four = arith.constant 4 : i64
  %r = loop.loop (%i : i64, %c : i1) trips(%n : i64) carried(%x = %x0 : tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %at = arith.muli %i, %four overflow<nsw> : i64
    %from = arith.index_cast %at : i64 to index
    %begin = arith.minsi %from, %d : index
    %to = arith.addi %from, %c4 : index
    %end = arith.minsi %to, %d : index
    %rest = arith.subi %d, %end : index
    %front = tensor.extract_slice %x[0] [%begin] [1] : tensor<?xf32> to tensor<?xf32>
    %behind = tensor.extract_slice %x[%end] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
    %last = arith.addi %begin, %c4 : index
    %all = arith.addi %last, %rest : index
    %empty = tensor.empty(%all) : tensor<?xf32>
    %0 = tensor.insert_slice %front into %empty[0] [%begin] [1] : tensor<?xf32> into tensor<?xf32>
    %1 = tensor.insert_slice %m into %0[%begin] [4] [1] : tensor<4xf32> into tensor<?xf32>
    %2 = tensor.insert_slice %behind into %1[%last] [%rest] [1] : tensor<?xf32> into tensor<?xf32>
    loop.yield while(%c : i1) carried(%2 : tensor<?xf32>)
  }
  return %r : tensor<?xf32>
}
