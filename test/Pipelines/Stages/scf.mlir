// RUN: loopc-opt %s --loopc-verify-stage=stage=scf --verify-diagnostics --split-input-file

// Each column's iteration writes its strip, by any name, before it reads it;
// the rows within only read.
func.func @holds(%x: memref<64x8xf32>, %y: memref<64x8xf32>,
                 %other: memref<?xf32>, %c: i1) {
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
  return
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
  // expected-note @+1 {{the buffer is made here}}
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
  // expected-note @+1 {{the buffer is made here}}
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

func.func private @somebody(memref<4xf32>)
func.func @unknown_use() {
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
