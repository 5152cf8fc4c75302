// Tensors that go around in upstream's loop: x, x + x, ..., and their order.
func.func @main(%x: tensor<?xf32> {loopc.name = "x"}, %n: tensor<i64> {loopc.name = "n"}) -> (tensor<?xf32> {loopc.name = "y"}, tensor<?xf32> {loopc.name = "before"}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = tensor.extract %n[] : tensor<i64>
  %r:3 = scf.while (%i = %zero, %a = %x, %b = %x) : (i64, tensor<?xf32>, tensor<?xf32>) -> (i64, tensor<?xf32>, tensor<?xf32>) {
    %c = arith.cmpi slt, %i, %last : i64
    scf.condition(%c) %i, %b, %a : i64, tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%i: i64, %b: tensor<?xf32>, %a: tensor<?xf32>):
    %sum = arith.addf %a, %x : tensor<?xf32>
    %j = arith.addi %i, %one : i64
    scf.yield %j, %sum, %a : i64, tensor<?xf32>, tensor<?xf32>
  }
  return %r#2, %r#1 : tensor<?xf32>, tensor<?xf32>
}
