// RUN: loopc-opt %s --loopc-verify-stage=stage=memref --verify-diagnostics --split-input-file

// Ownership goes with the value: through a loop, out of a branch, to the caller.
func.func @holds(%n: i64, %c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %r = loop.loop (%i : i64, %d : i1) trips(%n : i64) carried(%b = %a : memref<4xf32>) {
    %e = memref.alloc() : memref<4xf32>
    memref.copy %b, %e : memref<4xf32> to memref<4xf32>
    memref.dealloc %b : memref<4xf32>
    loop.yield while(%d : i1) carried(%e : memref<4xf32>)
  }
  %z = scf.if %c -> memref<4xf32> {
    memref.dealloc %r : memref<4xf32>
    %f = memref.alloc() : memref<4xf32>
    scf.yield %f : memref<4xf32>
  } else {
    scf.yield %r : memref<4xf32>
  }
  return %z : memref<4xf32>
}

// A condition that is compared with false is not that condition.
memref.global "private" constant @four : memref<4xf32> = dense<1.0>
func.func @compared(%c: i1, %x: memref<4xf32>) -> memref<4xf32> {
  %false = arith.constant false
  %not = arith.cmpi eq, %c, %false : i1
  %y = scf.if %not -> memref<4xf32> {
    %constant = memref.get_global @four : memref<4xf32>
    scf.yield %constant : memref<4xf32>
  } else {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  %z = scf.if %c -> memref<4xf32> {
    scf.yield %y : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %y, %b : memref<4xf32> to memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  return %z : memref<4xf32>
}

// Two buffers take turns.
func.func @turns(%c: i1) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %new = arith.select %c, %a, %b : memref<4xf32>
  %old = arith.select %c, %b, %a : memref<4xf32>
  memref.dealloc %old : memref<4xf32>
  return %new : memref<4xf32>
}

// A flag says whether there is something to free; it may have been folded.
func.func @flag(%i: index, %j: index, %x: memref<4xf32>) {
  %true = arith.constant true
  %c = arith.cmpi slt, %i, %j : index
  %r = scf.if %c -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  %d = arith.cmpi sge, %i, %j : index
  %e = arith.xori %d, %true : i1
  scf.if %e {
    memref.dealloc %r : memref<4xf32>
  }
  return
}

// A list's element is held while it is used; an empty list is anybody's.
func.func @lists(%c: i1, %s: !list.list<f32>) -> !list.list<f32> {
  %zero = arith.constant 0 : index
  %x, %shape = list.at %s[%zero] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
  %empty = list.empty : !list.list<f32>
  %t = scf.if %c -> !list.list<f32> {
    %held = list.retain %s : !list.list<f32>
    scf.yield %held : !list.list<f32>
  } else {
    scf.yield %empty : !list.list<f32>
  }
  %u = list.insert %x, %shape into %t[%zero] {element_owner = "move"}
      : memref<?xf32>, memref<?xi64> into !list.list<f32>
  memref.dealloc %shape : memref<?xi64>
  return %u : !list.list<f32>
}

// -----

func.func @leak() {
  // expected-error @+2 {{stage memref: what is allocated here is never freed}}
  // expected-note @+1 {{please report it}}
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @leak_on_a_path(%c: i1) {
  // expected-error @+2 {{stage memref: what is allocated here is not freed on every path}}
  // expected-note @+1 {{please report it}}
  %a = memref.alloc() : memref<4xf32>
  scf.if %c {
    // expected-note @+1 {{it is freed or transferred here}}
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// -----

func.func @leak_in_a_loop(%n: i64) {
  loop.loop (%i : i64, %d : i1) trips(%n : i64) {
    // expected-error @+2 {{stage memref: what is allocated here is never freed}}
    // expected-note @+1 {{please report it}}
    %a = memref.alloc() : memref<4xf32>
    loop.yield while(%d : i1)
  }
  return
}

// -----

func.func @twice(%c: i1) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = memref.alloc() : memref<4xf32>
  scf.if %c {
    // expected-note @+1 {{it is freed or transferred here}}
    memref.dealloc %a : memref<4xf32>
  }
  // expected-error @+2 {{stage memref: 'memref.dealloc' op frees what was freed or transferred before}}
  // expected-note @+1 {{please report it}}
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// The same buffer by two names.
func.func @twice_by_alias(%c: i1) {
  // expected-error @+1 {{stage memref: what is allocated here is not freed on every path}}
  %a = memref.alloc() : memref<4xf32>
  // expected-note @+1 {{the buffer is allocated here}}
  %b = memref.alloc() : memref<4xf32>
  %r = arith.select %c, %a, %b : memref<4xf32>
  // Of both.
  // expected-note @+1 {{it is freed or transferred here}}
  memref.dealloc %r : memref<4xf32>
  // expected-error @+2 {{stage memref: 'memref.dealloc' op frees what was freed or transferred before}}
  // expected-note @+1 {{please report it}}
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

func.func @use_after_end(%x: memref<4xf32>) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = memref.alloc() : memref<4xf32>
  %view = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  // expected-note @+1 {{it is freed or transferred here}}
  memref.dealloc %a : memref<4xf32>
  %zero = arith.constant 0 : index
  // expected-error @+2 {{stage memref: 'memref.load' op uses a buffer after it was freed or transferred}}
  // expected-note @+1 {{please report it}}
  %0 = memref.load %view[%zero] : memref<2xf32, strided<[1], offset: 1>>
  return
}

// -----

func.func @of_the_caller(%x: memref<4xf32>) {
  // expected-error @+2 {{stage memref: 'memref.dealloc' op frees a buffer that the function does not own}}
  // expected-note @+1 {{please report it}}
  memref.dealloc %x : memref<4xf32>
  return
}

// -----

// The caller's inputs stay as they are.
func.func @write_to_an_input(%x: memref<4xf32>, %v: f32) {
  %zero = arith.constant 0 : index
  %view = memref.subview %x[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  // expected-error @+2 {{stage memref: 'memref.store' op writes to memory that is an input or a constant}}
  // expected-note @+1 {{please report it}}
  memref.store %v, %view[%zero] : memref<2xf32, strided<[1], offset: 1>>
  return
}

// -----

memref.global constant @weights : memref<4xf32> = dense<1.0>

// One of two buffers, of which a run may not write to one.
func.func @write_to_a_constant(%c: i1, %v: f32) {
  %a = memref.alloc() : memref<4xf32>
  %w = memref.get_global @weights : memref<4xf32>
  %one = arith.select %c, %a, %w : memref<4xf32>
  // expected-error @+2 {{stage memref: 'linalg.fill' op writes to memory that is an input or a constant}}
  // expected-note @+1 {{please report it}}
  linalg.fill ins(%v : f32) outs(%one : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

// The loop writes to what it carries.
func.func @init_of_the_caller(%n: i64, %x: memref<4xf32>) -> memref<4xf32> {
  // expected-error @+2 {{stage memref: 'loop.loop' op transfers a buffer that the function does not own}}
  // expected-note @+1 {{please report it}}
  %r = loop.loop (%i : i64, %d : i1) trips(%n : i64) carried(%b = %x : memref<4xf32>) {
    loop.yield while(%d : i1) carried(%b : memref<4xf32>)
  }
  return %r : memref<4xf32>
}

// -----

func.func @init_used_behind(%n: i64) -> memref<4xf32> {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = memref.alloc() : memref<4xf32>
  // expected-note @+1 {{it is freed or transferred here}}
  %r = loop.loop (%i : i64, %d : i1) trips(%n : i64) carried(%b = %a : memref<4xf32>) {
    loop.yield while(%d : i1) carried(%b : memref<4xf32>)
  }
  // expected-error @+2 {{stage memref: 'memref.copy' op uses a buffer after it was freed or transferred}}
  // expected-note @+1 {{please report it}}
  memref.copy %a, %r : memref<4xf32> to memref<4xf32>
  return %r : memref<4xf32>
}

// -----

func.func @freed_in_each_iteration(%n: i64) {
  // expected-note @+1 {{the buffer is allocated here}}
  %a = memref.alloc() : memref<4xf32>
  loop.loop (%i : i64, %d : i1) trips(%n : i64) {
    // expected-error @+2 {{stage memref: 'memref.dealloc' op frees or transfers in each iteration what was allocated once}}
    // expected-note @+1 {{please report it}}
    memref.dealloc %a : memref<4xf32>
    loop.yield while(%d : i1)
  }
  return
}

// -----

// Two carried values are two buffers.
func.func @yielded_twice(%n: i64) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  // expected-note @+2 {{the buffer is allocated here}}
  %r:2 = loop.loop (%i : i64, %d : i1) trips(%n : i64)
      carried(%x = %a : memref<4xf32>, %y = %b : memref<4xf32>) {
    memref.dealloc %y : memref<4xf32>
    // expected-error @+2 {{stage memref: 'loop.yield' op transfers what was freed or transferred before}}
    // expected-note @+1 {{please report it}}
    loop.yield while(%d : i1) carried(%x, %x : memref<4xf32>, memref<4xf32>)
  }
  memref.dealloc %r#0 : memref<4xf32>
  memref.dealloc %r#1 : memref<4xf32>
  return
}

// -----

// What comes out of a list is the list's, too: a loop would write to it.
func.func @shared(%n: i64, %s: !list.list<f32>) -> memref<?xf32> {
  %zero = arith.constant 0 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %x, %shape = list.at %s[%zero] : !list.list<f32> -> memref<?xf32>, memref<?xi64>
  memref.dealloc %shape : memref<?xi64>
  // expected-error @+2 {{stage memref: 'loop.loop' op transfers a buffer that a list owns, too}}
  // expected-note @+1 {{please report it}}
  %r = loop.loop (%i : i64, %d : i1) trips(%n : i64) carried(%b = %x : memref<?xf32>) {
    loop.yield while(%d : i1) carried(%b : memref<?xf32>)
  }
  return %r : memref<?xf32>
}

// -----

func.func @list_never_released(%s: !list.list<f32>) {
  // expected-error @+2 {{stage memref: what is allocated here is never freed}}
  // expected-note @+1 {{please report it}}
  %t = list.retain %s : !list.list<f32>
  return
}

// -----

func.func @list_of_the_caller(%s: !list.list<f32>) -> !list.list<f32> {
  %zero = arith.constant 0 : index
  // expected-error @+2 {{stage memref: 'list.erase' op transfers a list that the function does not own}}
  // expected-note @+1 {{please report it}}
  %t = list.erase %s[%zero] : !list.list<f32>
  return %t : !list.list<f32>
}

// -----

func.func @moved_and_freed(%x: memref<?xf32>, %shape: memref<?xi64>, %n: index) -> !list.list<f32> {
  %zero = arith.constant 0 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %a = memref.alloc(%n) : memref<?xf32>
  %s = list.empty : !list.list<f32>
  // expected-note @+1 {{it is freed or transferred here}}
  %t = list.insert %a, %shape into %s[%zero] {element_owner = "move"}
      : memref<?xf32>, memref<?xi64> into !list.list<f32>
  // expected-error @+2 {{stage memref: 'memref.dealloc' op frees what was freed or transferred before}}
  // expected-note @+1 {{please report it}}
  memref.dealloc %a : memref<?xf32>
  return %t : !list.list<f32>
}

// -----

func.func @tensor(%x: memref<4xf32>) {
  // expected-error @+2 {{stage memref: 'arith.constant' op gives 'tensor<2xf32>', and tensors are buffers here}}
  // expected-note @+1 {{please report it}}
  %0 = arith.constant dense<0.0> : tensor<2xf32>
  return
}

// -----

// expected-error @+2 {{stage memref: 'func.func' op has an argument of 'tensor<4xf32>', and tensors are buffers here}}
// expected-note @+1 {{please report it}}
func.func @tensor_argument(%x: tensor<4xf32>) {
  return
}

// -----

func.func @collects(%n: i64) -> memref<?xi64> {
  // expected-error @+2 {{stage memref: 'loop.loop' op collects values, which is lowered here}}
  // expected-note @+1 {{please report it}}
  %r = loop.loop (%i : i64, %d : i1) trips(%n : i64) collect(memref<?xi64> axis 0) {
    loop.yield while(%d : i1) collect(%i : i64)
  }
  return %r : memref<?xi64>
}

// -----

func.func @fixed(%n: i64) {
  // expected-note @+1 {{the loop is here}}
  loop.loop (%i : i64, %d : i1) trips(%n : i64) attributes {loopc.fixed_storage} {
    // expected-error @+2 {{stage memref: 'memref.alloc' op is in a loop whose storage is fixed}}
    // expected-note @+1 {{please report it}}
    %a = memref.alloc() : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
    loop.yield while(%d : i1)
  }
  return
}

// -----

// A transposed view is a view.
func.func @turned() -> memref<8x4xf32, strided<[1, 8]>> {
  %a = memref.alloc() : memref<4x8xf32>
  %t = memref.transpose %a (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
  return %t : memref<8x4xf32, strided<[1, 8]>>
}

// -----

func.func @unknown_owner(%x: memref<4xf32>) {
  // expected-error @+2 {{stage memref: 'memref.realloc' op gives a buffer, and no rule says who owns it}}
  // expected-note @+1 {{please report it}}
  %0 = memref.realloc %x : memref<4xf32> to memref<8xf32>
  return
}
