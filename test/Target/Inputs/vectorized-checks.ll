; A nest whose inner loop is vectorised behind a check of the two buffers.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define void @rows(ptr %to, ptr %from) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner

inner:
  %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %read = getelementptr i1, ptr %from, i64 %k
  %mask = load i8, ptr %read, align 1
  %row = getelementptr i8, ptr %to, i64 %i
  %written = getelementptr i1, ptr %row, i64 %k
  store i8 0, ptr %written, align 1
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k, 17
  br i1 %more, label %inner, label %outer.end

outer.end:
  %i.next = add i64 %i, 1
  br label %outer
}
