; A mask that is made of a vector, goes to a general register whole, and is then
; shifted in place: LLVM 22 erases the instruction that makes it.
target triple = "x86_64-pc-linux-gnu"

define i1 @mask(<2 x i32> %x, i1 %other) {
  %wide = sext <2 x i32> %x to <2 x i64>
  %negative = icmp slt <2 x i64> %wide, zeroinitializer
  %first = extractelement <2 x i1> %negative, i64 0
  %number = extractelement <2 x i64> %wide, i64 0
  %inserted = insertelement <8 x i1> zeroinitializer, i1 %other, i64 0
  %bits = bitcast <8 x i1> %inserted to i8
  %none = icmp eq i8 %bits, 0
  %chosen = select i1 %first, i64 0, i64 %number
  %zero = icmp ult i64 %chosen, 1
  %both = and i1 %none, %zero
  ret i1 %both
}
