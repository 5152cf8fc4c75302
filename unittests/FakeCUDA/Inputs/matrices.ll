; Tensor cores through LLVM's intrinsics; each lane's operands are computed from
; its number. KernelTest.cpp knows what comes out.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare {double, double} @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double)
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

@tile = internal addrspace(3) global [128 x i16] undef, align 16

; A[i][k] = i + k, B[k][j] = k - j, C = 0.5, by rows to out (16 x 8).
define ptx_kernel void @tf32(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = lshr i32 %t, 2
  %q = and i32 %t, 3
  %g8 = add i32 %g, 8
  %q4 = add i32 %q, 4
  %a0 = add i32 %g, %q
  %a1 = add i32 %g8, %q
  %a2 = add i32 %g, %q4
  %a3 = add i32 %g8, %q4
  %b0 = sub i32 %q, %g
  %b1 = sub i32 %q4, %g
  %fa0 = sitofp i32 %a0 to float
  %fa1 = sitofp i32 %a1 to float
  %fa2 = sitofp i32 %a2 to float
  %fa3 = sitofp i32 %a3 to float
  %fb0 = sitofp i32 %b0 to float
  %fb1 = sitofp i32 %b1 to float
  %ia0 = bitcast float %fa0 to i32
  %ia1 = bitcast float %fa1 to i32
  %ia2 = bitcast float %fa2 to i32
  %ia3 = bitcast float %fa3 to i32
  %ib0 = bitcast float %fb0 to i32
  %ib1 = bitcast float %fb1 to i32
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32 %ia0, i32 %ia1, i32 %ia2, i32 %ia3, i32 %ib0, i32 %ib1, float 0.5, float 0.5, float 0.5, float 0.5)
  %d0 = extractvalue {float, float, float, float} %d, 0
  %d1 = extractvalue {float, float, float, float} %d, 1
  %d2 = extractvalue {float, float, float, float} %d, 2
  %d3 = extractvalue {float, float, float, float} %d, 3
  %row = mul i32 %g, 8
  %col = mul i32 %q, 2
  %at = add i32 %row, %col
  %p0 = getelementptr float, ptr addrspace(1) %out, i32 %at
  store float %d0, ptr addrspace(1) %p0
  %p1 = getelementptr float, ptr addrspace(1) %p0, i32 1
  store float %d1, ptr addrspace(1) %p1
  %p2 = getelementptr float, ptr addrspace(1) %p0, i32 64
  store float %d2, ptr addrspace(1) %p2
  %p3 = getelementptr float, ptr addrspace(1) %p0, i32 65
  store float %d3, ptr addrspace(1) %p3
  ret void
}

; A and B are ones in bf16; C is the number of the lane.
define ptx_kernel void @bf16(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = uitofp i32 %t to float
  %d = call {float, float, float, float} @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 1065369472, i32 1065369472, i32 1065369472, i32 1065369472, i32 1065369472, i32 1065369472, float %c, float %c, float %c, float %c)
  %d3 = extractvalue {float, float, float, float} %d, 3
  %at = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %d3, ptr addrspace(1) %at
  ret void
}

; A[i][k] = i, B[k][j] = j, C = 1, by rows to out (8 x 8).
define ptx_kernel void @f64(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = lshr i32 %t, 2
  %q = and i32 %t, 3
  %x = uitofp i32 %g to double
  %d = call {double, double} @llvm.nvvm.mma.m8n8k4.row.col.f64(double %x, double %x, double 1.0, double 1.0)
  %d0 = extractvalue {double, double} %d, 0
  %d1 = extractvalue {double, double} %d, 1
  %row = mul i32 %g, 8
  %col = mul i32 %q, 2
  %at = add i32 %row, %col
  %p0 = getelementptr double, ptr addrspace(1) %out, i32 %at
  store double %d0, ptr addrspace(1) %p0
  %p1 = getelementptr double, ptr addrspace(1) %p0, i32 1
  store double %d1, ptr addrspace(1) %p1
  ret void
}

; Two 8 x 8 matrices of 16 bits with the number of each element, transposed.
define ptx_kernel void @transpose(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %t, 4
  br label %fill
fill:
  %i = phi i32 [ 0, %0 ], [ %i1, %fill ]
  %n = add i32 %first, %i
  %n16 = trunc i32 %n to i16
  %s = getelementptr i16, ptr addrspace(3) @tile, i32 %n
  store i16 %n16, ptr addrspace(3) %s
  %i1 = add i32 %i, 1
  %done = icmp eq i32 %i1, 4
  br i1 %done, label %load, label %fill
load:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %row = and i32 %t, 15
  %e = mul i32 %row, 8
  %ra = getelementptr i16, ptr addrspace(3) @tile, i32 %e
  %m = call {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %ra)
  %m0 = extractvalue {i32, i32} %m, 0
  %m1 = extractvalue {i32, i32} %m, 1
  %p0 = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %m0, ptr addrspace(1) %p0
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i32 32
  store i32 %m1, ptr addrspace(1) %p1
  ret void
}
