// Where a body has one block only, there is no place for branches.
// RUN: loopc-opt %s --loopc-branches-backwards --verify-diagnostics

func.func @in_a_loop(%n: i64, %c: i1) {
  loop.loop (%i : i64, %cond : i1) trips(%n : i64) while(%c : i1) {
    // expected-error @+1 {{'scf.if' op cannot become branches in 'loop.loop', whose body is one block}}
    scf.if %c {
      loop.check %c, "no"
    }
    loop.yield while(%cond : i1)
  }
  return
}
