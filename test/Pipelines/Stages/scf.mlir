// RUN: loopc-opt %s --loopc-verify-stage=stage=scf --verify-diagnostics --split-input-file

// Each column's iteration writes its strip, by any name, before it reads it;
// the rows within only read.
func.func @holds(%x: memref<64x8xf32>,
                 %other: memref<?xf32>, %c: i1) -> memref<64x8xf32> {
  %y = memref.alloc() : memref<64x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %strip = memref.alloc() {loopc.private} : memref<64xf32>
  scf.for %j = %c0 to %c8 step %c1 {
    %view = scf.if %c -> memref<?xf32> {
      scf.for %k = %c0 to %c64 step %c1 {
        %0 = memref.load %x[%k, %j] : memref<64x8xf32>
        memref.store %0, %strip[%k] : memref<64xf32>
      }
      %copied = memref.cast %strip : memref<64xf32> to memref<?xf32>
      scf.yield %copied : memref<?xf32>
    } else {
      scf.yield %other : memref<?xf32>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %view[%i] : memref<?xf32>
      memref.store %0, %y[%i, %j] : memref<64x8xf32>
    } {loopc.parallel}
  } {loopc.parallel}
  memref.dealloc %strip : memref<64xf32>
  return %y : memref<64x8xf32>
}

// -----

func.func @lowered(%x: memref<4xf32>, %v: f32) {
  // expected-error @+2 {{stage scf: 'linalg.fill' op is lowered here}}
  // expected-note @+1 {{please report it}}
  linalg.fill ins(%v : f32) outs(%x : memref<4xf32>)
  return
}

// -----

func.func @loop(%n: i64) {
  // expected-error @+2 {{stage scf: 'loop.loop' op is lowered here}}
  // expected-note @+1 {{please report it}}
  loop.loop (%i : i64, %d : i1) trips(%n : i64) {
    loop.yield while(%d : i1)
  }
  return
}

// -----

// The iteration before wrote it.
func.func @read_first(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    // expected-error @+2 {{stage scf: 'memref.load' op reads a buffer that is marked 'loopc.private' before its iteration has written it}}
    // expected-note @+1 {{please report it}}
    %0 = memref.load %strip[%c0] : memref<4xf32>
    memref.store %0, %y[%j] : memref<64xf32>
    %1 = memref.load %x[%j] : memref<64xf32>
    memref.store %1, %strip[%c0] : memref<4xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

// A branch may not have been taken.
func.func @written_in_a_branch(%x: memref<64xf32>, %y: memref<64xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    scf.if %c {
      %1 = memref.load %x[%j] : memref<64xf32>
      memref.store %1, %strip[%c0] : memref<4xf32>
    }
    // expected-error @+2 {{stage scf: 'memref.load' op reads a buffer that is marked 'loopc.private' before its iteration has written it}}
    // expected-note @+1 {{please report it}}
    %0 = memref.load %strip[%c0] : memref<4xf32>
    memref.store %0, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

// Columns are brought together by blocks of the sum, 16 rows at a time: what the
// loops fill is as long as the block, and the reads go from its begin to its
// end.
#within = affine_map<(k, b) -> (k - b)>
#next = affine_map<(k, b) -> (k - b + 1)>
#behind = affine_map<(b) -> (b + 512)>
func.func @blocks(%x: memref<?x64xf32>, %n: index) -> memref<?x64xf32> {
  %y = memref.alloc(%n) : memref<?x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %strip = memref.alloc() {loopc.private} : memref<514x32xf32>
  scf.for %j = %c0 to %c64 step %c16 {
    scf.for %b = %c0 to %n step %c512 {
      %last = affine.apply #behind(%b)
      %e = arith.minsi %last, %n : index
      scf.for %k = %b to %e step %c2 {
        %0 = vector.load %x[%k, %j] : memref<?x64xf32>, vector<16xf32>
        %at = affine.apply #within(%k, %b)
        vector.store %0, %strip[%at, %c0] : memref<514x32xf32>, vector<16xf32>
        vector.store %0, %strip[%at, %c16] : memref<514x32xf32>, vector<16xf32>
        %after = affine.apply #next(%k, %b)
        vector.store %0, %strip[%after, %c0] : memref<514x32xf32>, vector<16xf32>
        vector.store %0, %strip[%after, %c16] : memref<514x32xf32>, vector<16xf32>
      }
      scf.for %k = %b to %e step %c1 {
        %at = affine.apply #within(%k, %b)
        %0 = vector.load %strip[%at, %c16] : memref<514x32xf32>, vector<16xf32>
        vector.store %0, %y[%k, %j] : memref<?x64xf32>, vector<16xf32>
      }
    }
  } {loopc.parallel}
  memref.dealloc %strip : memref<514x32xf32>
  return %y : memref<?x64xf32>
}

// -----

// One element is written, and two are read.
func.func @part(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    memref.store %0, %strip[%c0] : memref<4xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      // expected-error @+2 {{stage scf: 'memref.load' op reads more of a buffer that is marked 'loopc.private' than its iteration is known to have written}}
      // expected-note @+1 {{please report it}}
      %1 = memref.load %strip[%k] : memref<4xf32>
      memref.store %1, %y[%j] : memref<64xf32>
    }
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

// Every second element is written.
func.func @gaps(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    scf.for %k = %c0 to %c4 step %c2 {
      memref.store %0, %strip[%k] : memref<4xf32>
    }
    // expected-error @+2 {{stage scf: 'memref.load' op reads more of a buffer}}
    // expected-note @+1 {{please report it}}
    %1 = memref.load %strip[%c1] : memref<4xf32>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

// A loop that may not run writes nothing.
func.func @no_trips(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<1xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    scf.for %k = %c0 to %n step %c1 {
      memref.store %0, %strip[%c0] : memref<1xf32>
    }
    // expected-error @+2 {{stage scf: 'memref.load' op reads more of a buffer}}
    // expected-note @+1 {{please report it}}
    %1 = memref.load %strip[%c0] : memref<1xf32>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<1xf32>
  return
}

// -----

// Places in a view are not those of the buffer; all of it is written.
func.func @views(%x: memref<64xf32>) -> memref<64xf32> {
  %y = memref.alloc() : memref<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    scf.for %k = %c0 to %c4 step %c1 {
      memref.store %0, %strip[%k] : memref<4xf32>
    }
    %view = memref.subview %strip[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    %1 = memref.load %view[%c1] : memref<2xf32, strided<[1], offset: 2>>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return %y : memref<64xf32>
}

// -----

func.func @part_of_a_view(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%j] : memref<64xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      memref.store %0, %strip[%k] : memref<4xf32>
    }
    %view = memref.subview %strip[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
    // expected-error @+2 {{stage scf: 'memref.load' op reads more of a buffer}}
    // expected-note @+1 {{please report it}}
    %1 = memref.load %view[%c1] : memref<2xf32, strided<[1], offset: 2>>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

// What is written may be another buffer than the one that is read.
func.func @one_of_two(%y: memref<64xf32>, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<64xf32>
  %other = memref.alloc() : memref<64xf32>
  %one = arith.select %flag, %strip, %other : memref<64xf32>
  scf.for %j = %c0 to %c64 step %c1 {
    memref.store %zero, %one[%j] : memref<64xf32>
    // expected-error @+2 {{stage scf: 'memref.load' op reads}}
    // expected-note @+1 {{please report it}}
    %1 = memref.load %strip[%j] : memref<64xf32>
    memref.store %1, %y[%j] : memref<64xf32>
  } {loopc.parallel}
  memref.dealloc %strip : memref<64xf32>
  memref.dealloc %other : memref<64xf32>
  return
}

// -----

// It may be either.
func.func @two_ways(%c: i1) {
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  // expected-error @+2 {{stage scf: 'arith.select' op gives a value that is a buffer marked 'loopc.private' in two ways}}
  // expected-note @+1 {{please report it}}
  %0 = arith.select %c, %strip, %strip : memref<4xf32>
  memref.dealloc %strip : memref<4xf32>
  return
}

// -----

func.func private @somebody(memref<4xf32>)
func.func @unknown_use() {
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc() {loopc.private} : memref<4xf32>
  // expected-error @+2 {{stage scf: 'func.call' op uses a buffer that is marked 'loopc.private', and nobody knows how}}
  // expected-note @+1 {{please report it}}
  func.call @somebody(%strip) : (memref<4xf32>) -> ()
  return
}

// -----

// No iteration tells its place.
func.func @one_place(%x: memref<64xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-error @+2 {{stage scf: 'scf.for' op is marked 'loopc.parallel', and that is not proved: iterations may write to one place}}
  // expected-note @+1 {{please report it}}
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %y[%c0] : memref<1xf32>
  } {loopc.parallel}
  return
}

// -----

// Buffers that passes of this stage allocate have owners, too.
func.func @leak(%n: index) {
  // expected-error @+2 {{stage scf: what is allocated here is never freed}}
  // expected-note @+1 {{please report it}}
  %strip = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @freed_in_each_iteration(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @+2 {{stage scf: 'memref.dealloc' op frees or transfers in each iteration what was allocated once}}
    // expected-note @+1 {{please report it}}
    memref.dealloc %strip : memref<?xf32>
  }
  return
}

// -----

func.func @used_after(%n: index, %c: i1) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the buffer is allocated here}}
  %strip = memref.alloc(%n) : memref<?xf32>
  // expected-note @+1 {{it is freed or transferred here}}
  memref.dealloc %strip : memref<?xf32>
  // expected-error @+2 {{stage scf: 'memref.load' op uses a buffer after it was freed or transferred}}
  // expected-note @+1 {{please report it}}
  %0 = memref.load %strip[%c0] : memref<?xf32>
  return %0 : f32
}

// -----

// A loop that exchanges two buffers, and whose results nobody uses, borrows them.
func.func @exchanged(%n: index, %c: i1, %v: f32) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<?xf32>, memref<?xf32>) {
    memref.store %v, %x[%i] : memref<?xf32>
    scf.yield %y, %x : memref<?xf32>, memref<?xf32>
  }
  %last = arith.select %c, %a, %b : memref<?xf32>
  %other = arith.select %c, %b, %a : memref<?xf32>
  memref.dealloc %other : memref<?xf32>
  return %last : memref<?xf32>
}

// -----

func.func @freed_where_it_is_borrowed(%n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (memref<?xf32>) {
    // expected-error @+2 {{stage scf: 'memref.dealloc' op frees a buffer that the function does not own}}
    // expected-note @+1 {{please report it}}
    memref.dealloc %x : memref<?xf32>
    scf.yield %x : memref<?xf32>
  }
  return %a : memref<?xf32>
}

// -----

func.func @section_left(%n: index) -> index {
  // expected-error @+2 {{stage scf: 'loopc.call_section' op is, or calls, a section of a function, which goes back to it here}}
  // expected-note @+1 {{please report it}}
  %r = loopc.call_section @section(%n) : (index) -> index
  return %r : index
}
// expected-error @+1 {{stage scf: 'func.func' op is, or calls, a section of a function}}
func.func private @section(%n: index) -> index attributes {loopc.section} {
  return %n : index
}
