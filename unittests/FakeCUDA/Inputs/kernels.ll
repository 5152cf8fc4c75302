; Kernels whose code has what LLVM emits for calls, aggregates, local memory,
; half precision, wide integers, atomics and reductions. KernelTest.cpp knows
; what they compute.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)

;===- calls ----------------------------------------------------------------===;

%pair = type { i64, <2 x float> }

define internal i32 @first(i32 %a, %pair %p) noinline {
  %x = extractvalue %pair %p, 0
  %t = trunc i64 %x to i32
  %r = add i32 %a, %t
  ret i32 %r
}
define internal i32 @second(i32 %a, %pair %p) noinline {
  %v = extractvalue %pair %p, 1
  %e = extractelement <2 x float> %v, i32 1
  %t = fptosi float %e to i32
  %r = mul i32 %a, %t
  ret i32 %r
}
@functions = internal addrspace(1) constant [2 x ptr] [ptr @first, ptr @second]

define internal double @fibonacci(i32 %n) noinline {
  %small = icmp slt i32 %n, 2
  br i1 %small, label %end, label %more
more:
  %n1 = sub i32 %n, 1
  %n2 = sub i32 %n, 2
  %a = call double @fibonacci(i32 %n1)
  %b = call double @fibonacci(i32 %n2)
  %sum = fadd double %a, %b
  ret double %sum
end:
  %d = sitofp i32 %n to double
  ret double %d
}

define ptx_kernel void @calls(ptr addrspace(1) %out, ptr addrspace(1) %doubles) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %which = and i32 %t, 1
  %slot = getelementptr ptr, ptr addrspace(1) @functions, i32 %which
  %f = load ptr, ptr addrspace(1) %slot
  %p0 = insertvalue %pair undef, i64 10, 0
  %p1 = insertvalue %pair %p0, <2 x float> <float 3.0, float 4.0>, 1
  %r = call i32 %f(i32 %t, %pair %p1)
  %m = and i32 %t, 7
  switch i32 %m, label %end [ i32 0, label %a i32 1, label %b i32 2, label %c
                              i32 3, label %d i32 4, label %e ]
a:
  br label %end
b:
  br label %end
c:
  br label %end
d:
  br label %end
e:
  br label %end
end:
  %c0 = phi i32 [ 1000, %0 ], [ 100, %a ], [ 230, %b ], [ 310, %c ], [ 470, %d ], [ 590, %e ]
  %sum = add i32 %r, %c0
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %sum, ptr addrspace(1) %at
  %fib = call double @fibonacci(i32 %t)
  %dat = getelementptr double, ptr addrspace(1) %doubles, i32 %t
  store double %fib, ptr addrspace(1) %dat
  ret void
}

;===- memory ---------------------------------------------------------------===;

%block = type { i32, [3 x i32], i8 }
@weights = internal addrspace(4) constant [4 x i32] [i32 3, i32 5, i32 7, i32 9]
@tile = internal addrspace(3) global [64 x i32] undef, align 4

define ptx_kernel void @memory(ptr addrspace(1) %out, ptr byval(%block) %arg, i1 %flag, half %h) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %local = alloca [8 x i32]
  br label %fill
fill:
  %i = phi i32 [ 0, %0 ], [ %next, %fill ]
  %w = mul i32 %i, %t
  %la = getelementptr i32, ptr %local, i32 %i
  store i32 %w, ptr %la
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 8
  br i1 %done, label %filled, label %fill
filled:
  %sa = getelementptr i32, ptr addrspace(3) @tile, i32 %t
  %t2 = mul i32 %t, %t
  store i32 %t2, ptr addrspace(3) %sa
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %odd = trunc i32 %t to i1
  %m = and i32 %t, 7
  %mine = getelementptr i32, ptr %local, i32 %m
  %other = sub i32 63, %t
  %theirs3 = getelementptr i32, ptr addrspace(3) @tile, i32 %other
  %theirs = addrspacecast ptr addrspace(3) %theirs3 to ptr
  %from = select i1 %odd, ptr %mine, ptr %theirs
  %v = load i32, ptr %from
  %three = urem i32 %t, 3
  %aa = getelementptr %block, ptr %arg, i32 0, i32 1, i32 %three
  %av = load i32, ptr %aa
  %ba = getelementptr %block, ptr %arg, i32 0, i32 2
  %b = load i8, ptr %ba
  %b32 = sext i8 %b to i32
  %wi = and i32 %t, 3
  %wa = getelementptr i32, ptr addrspace(4) @weights, i32 %wi
  %wv = load i32, ptr addrspace(4) %wa
  %f = select i1 %flag, i32 1000, i32 2000
  %hi = fptosi half %h to i32
  %s0 = add i32 %v, %av
  %s1 = add i32 %s0, %b32
  %s2 = add i32 %s1, %wv
  %s3 = add i32 %s2, %f
  %s4 = add i32 %s3, %hi
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %s4, ptr addrspace(1) %at
  ret void
}

;===- halves ---------------------------------------------------------------===;

declare half @llvm.fma.f16(half, half, half)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare bfloat @llvm.fma.bf16(bfloat, bfloat, bfloat)
declare half @llvm.maximum.f16(half, half)
declare half @llvm.minnum.f16(half, half)
declare float @llvm.roundeven.f32(float)
declare float @llvm.round.f32(float)
declare float @llvm.floor.f32(float)
declare i32 @llvm.fptosi.sat.i32.f32(float)

; x: floats; out: for each thread four halves and four words.
define ptx_kernel void @halves(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %xa = getelementptr float, ptr addrspace(1) %x, i32 %t
  %v = load float, ptr addrspace(1) %xa
  %h = fptrunc float %v to half
  %b = fptrunc float %v to bfloat
  %h1 = call half @llvm.fma.f16(half %h, half %h, half 1.0)
  %b1 = call bfloat @llvm.fma.bf16(bfloat %b, bfloat %b, bfloat 1.0)
  %h2 = call half @llvm.maximum.f16(half %h, half 2.0)
  %h3 = fdiv half %h, 3.0
  %base = getelementptr [6 x i32], ptr addrspace(1) %out, i32 %t
  store half %h1, ptr addrspace(1) %base
  %p1 = getelementptr half, ptr addrspace(1) %base, i32 1
  store bfloat %b1, ptr addrspace(1) %p1
  %p2 = getelementptr half, ptr addrspace(1) %base, i32 2
  store half %h2, ptr addrspace(1) %p2
  %p3 = getelementptr half, ptr addrspace(1) %base, i32 3
  store half %h3, ptr addrspace(1) %p3
  %r0 = call float @llvm.round.f32(float %v)
  %r1 = call float @llvm.roundeven.f32(float %v)
  %r2 = call float @llvm.floor.f32(float %v)
  %r3 = call i32 @llvm.fptosi.sat.i32.f32(float %v)
  %q0 = getelementptr i32, ptr addrspace(1) %base, i32 2
  store float %r0, ptr addrspace(1) %q0
  %q1 = getelementptr i32, ptr addrspace(1) %base, i32 3
  store float %r1, ptr addrspace(1) %q1
  %q2 = getelementptr i32, ptr addrspace(1) %base, i32 4
  store float %r2, ptr addrspace(1) %q2
  %q3 = getelementptr i32, ptr addrspace(1) %base, i32 5
  store i32 %r3, ptr addrspace(1) %q3
  ret void
}

; out[i] = a[i] * 2 + 1 on eight halves a thread.
define ptx_kernel void @halfvectors(ptr addrspace(1) %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr <8 x half>, ptr addrspace(1) %a, i32 %t
  %v = load <8 x half>, ptr addrspace(1) %at
  %m = fmul <8 x half> %v, splat (half 2.0)
  %s = fadd <8 x half> %m, splat (half 1.0)
  store <8 x half> %s, ptr addrspace(1) %at
  ret void
}

; Four floats a thread.
define ptx_kernel void @vectors(ptr addrspace(1) %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr <4 x float>, ptr addrspace(1) %a, i32 %t
  %v = load <4 x float>, ptr addrspace(1) %at
  %m = fmul <4 x float> %v, <float 2.0, float 3.0, float 4.0, float 5.0>
  %s = fadd <4 x float> %m, splat (float 1.0)
  store <4 x float> %s, ptr addrspace(1) %at
  ret void
}

;===- integers -------------------------------------------------------------===;

declare i64 @llvm.ctlz.i64(i64, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i64 @llvm.bitreverse.i64(i64)
declare i32 @llvm.bswap.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare i8 @llvm.smax.i8(i8, i8)

define ptx_kernel void @integers(ptr addrspace(1) %out, i64 %a, i64 %b) {
  %clz = call i64 @llvm.ctlz.i64(i64 %a, i1 false)
  %a32 = trunc i64 %a to i32
  %b32 = trunc i64 %b to i32
  %ctz = call i32 @llvm.cttz.i32(i32 %a32, i1 false)
  %ctz64 = zext i32 %ctz to i64
  %rev = call i64 @llvm.bitreverse.i64(i64 %a)
  %swap = call i32 @llvm.bswap.i32(i32 %a32)
  %swap64 = zext i32 %swap to i64
  %rot = call i32 @llvm.fshl.i32(i32 %a32, i32 %b32, i32 %b32)
  %rot64 = zext i32 %rot to i64
  %fsh = call i64 @llvm.fshr.i64(i64 %a, i64 %b, i64 %b)
  %add = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %a32, i32 %a32)
  %addv = extractvalue { i32, i1 } %add, 1
  %add64 = zext i1 %addv to i64
  %mul = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %a, i64 %b)
  %mulv = extractvalue { i64, i1 } %mul, 1
  %mul64 = zext i1 %mulv to i64
  %wa = sext i64 %a to i128
  %wb = sext i64 %b to i128
  %wm = mul i128 %wa, %wb
  %ws = ashr i128 %wm, 24
  %wt = trunc i128 %ws to i64
  %div = sdiv i128 %wm, 1000003
  %div64 = trunc i128 %div to i64
  %a8 = trunc i64 %a to i8
  %b8 = trunc i64 %b to i8
  %max = call i8 @llvm.smax.i8(i8 %a8, i8 %b8)
  %max64 = sext i8 %max to i64
  %rem = urem i64 %a, %b
  %p0 = getelementptr i64, ptr addrspace(1) %out, i32 0
  store i64 %clz, ptr addrspace(1) %p0
  %p1 = getelementptr i64, ptr addrspace(1) %out, i32 1
  store i64 %ctz64, ptr addrspace(1) %p1
  %p2 = getelementptr i64, ptr addrspace(1) %out, i32 2
  store i64 %rev, ptr addrspace(1) %p2
  %p3 = getelementptr i64, ptr addrspace(1) %out, i32 3
  store i64 %swap64, ptr addrspace(1) %p3
  %p4 = getelementptr i64, ptr addrspace(1) %out, i32 4
  store i64 %rot64, ptr addrspace(1) %p4
  %p5 = getelementptr i64, ptr addrspace(1) %out, i32 5
  store i64 %fsh, ptr addrspace(1) %p5
  %p6 = getelementptr i64, ptr addrspace(1) %out, i32 6
  store i64 %add64, ptr addrspace(1) %p6
  %p7 = getelementptr i64, ptr addrspace(1) %out, i32 7
  store i64 %mul64, ptr addrspace(1) %p7
  %p8 = getelementptr i64, ptr addrspace(1) %out, i32 8
  store i64 %wt, ptr addrspace(1) %p8
  %p9 = getelementptr i64, ptr addrspace(1) %out, i32 9
  store i64 %div64, ptr addrspace(1) %p9
  %p10 = getelementptr i64, ptr addrspace(1) %out, i32 10
  store i64 %max64, ptr addrspace(1) %p10
  %p11 = getelementptr i64, ptr addrspace(1) %out, i32 11
  store i64 %rem, ptr addrspace(1) %p11
  ret void
}

;===- atomics --------------------------------------------------------------===;

define ptx_kernel void @atomics(ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %td = uitofp i32 %t to double
  %t8 = trunc i32 %t to i8
  %p4 = getelementptr i8, ptr addrspace(1) %p, i32 4
  %p8 = getelementptr i8, ptr addrspace(1) %p, i32 8
  %p16 = getelementptr i8, ptr addrspace(1) %p, i32 16
  %p17 = getelementptr i8, ptr addrspace(1) %p, i32 17
  %p20 = getelementptr i8, ptr addrspace(1) %p, i32 20
  %p24 = getelementptr i8, ptr addrspace(1) %p, i32 24
  %p32 = getelementptr i8, ptr addrspace(1) %p, i32 32
  %r0 = atomicrmw add ptr addrspace(1) %p, i32 1 seq_cst
  %r1 = atomicrmw fadd ptr addrspace(1) %p4, float 0.5 monotonic
  %r2 = atomicrmw fmax ptr addrspace(1) %p8, double %td acq_rel
  %r3 = atomicrmw add ptr addrspace(1) %p17, i8 1 monotonic
  %r4 = atomicrmw fadd ptr addrspace(1) %p20, half 1.0 monotonic
  %r5 = atomicrmw umin ptr addrspace(1) %p24, i64 40 syncscope("block") monotonic
  %c = cmpxchg ptr addrspace(1) %p32, i32 %t, i32 7 acq_rel acquire
  %v = load atomic i32, ptr addrspace(1) %p acquire, align 4
  fence syncscope("device") seq_cst
  %more = icmp ult i32 %v, 1
  br i1 %more, label %wrong, label %right
wrong:
  store atomic i32 77, ptr addrspace(1) %p16 release, align 4
  br label %right
right:
  ret void
}

;===- reduce ---------------------------------------------------------------===;

@partial = internal addrspace(3) global [32 x i32] undef, align 4

; out[block] = sum of x over the block, for blocks of whole warps.
define ptx_kernel void @reduce(ptr addrspace(1) %x, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %xa = getelementptr i32, ptr addrspace(1) %x, i32 %t
  %v0 = load i32, ptr addrspace(1) %xa
  br label %warp
warp:
  %d = phi i32 [ 16, %0 ], [ %half, %warp ]
  %v = phi i32 [ %v0, %0 ], [ %sum, %warp ]
  %o = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %v, i32 %d, i32 31)
  %sum = add i32 %v, %o
  %half = lshr i32 %d, 1
  %last = icmp eq i32 %half, 0
  br i1 %last, label %store, label %warp
store:
  %w = lshr i32 %t, 5
  %sa = getelementptr i32, ptr addrspace(3) @partial, i32 %w
  store i32 %sum, ptr addrspace(3) %sa
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %leader = icmp eq i32 %t, 0
  br i1 %leader, label %add, label %end
add:
  %i = phi i32 [ 0, %store ], [ %i1, %add ]
  %all = phi i32 [ 0, %store ], [ %all1, %add ]
  %pa = getelementptr i32, ptr addrspace(3) @partial, i32 %i
  %pv = load i32, ptr addrspace(3) %pa
  %all1 = add i32 %all, %pv
  %i1 = add i32 %i, 1
  %stop = icmp eq i32 %i1, 4
  br i1 %stop, label %write, label %add
write:
  store i32 %all1, ptr addrspace(1) %out
  br label %end
end:
  ret void
}
