# ===- algorithms.py - Algorithms that count places -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Algorithms whose loops read and write at places that they count: tables, shifts, butterflies."""

import numpy as np

from loop_models.registry import OrtDiffers, f32, graph, i64, loop_model, noise, ramp, run


def _most_worth(weights, worth, capacity):
    best = np.zeros(capacity, np.float32)
    for weight, value in zip(weights, worth, strict=True):
        with_it = np.full(capacity, -1e30, np.float32)
        if weight < capacity:
            with_it[weight:] = best[: capacity - weight] + value
        best = np.maximum(best, with_it)
    return best


@loop_model("loop_carried", "loop_order")
def knapsack_by_places():
    """A Gather at the numbers of elements less a weight, held above 0."""
    weights, worth = i64([3, 1, 40, 17, 5]), f32([4, 1, 30, 21, 6])
    table = graph("""(int64[T] w, float[T] v, float[C] z) => (float[C] best) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        least = Constant<value = float {-1e30}>()
        n = Size(z)
        places = Range(zero, n, one)
        best = Scan <num_scan_inputs = 2, body = b (float[C] d, int64 wi, float vi) => (float[C] d1) {
            j = Sub(places, wi)
            fits = GreaterOrEqual(j, zero)
            held = Max(j, zero)
            before = Gather(d, held)
            more = Add(before, vi)
            t = Where(fits, more, least)
            d1 = Max(d, t)
        }> (z, w, v)
    }""")

    def items(w, v, capacity):
        return {"w": w, "v": v, "z": np.zeros(capacity, np.float32)}

    return table, [
        *(run(f"of{c}", items(weights, worth, c), [_most_worth(weights, worth, c)])
          for c in (1, 15, 16, 17, 45, 100)),
        run("empty", items(weights, worth, 0), [f32([])]),
        run("negative", items(i64([1, -2]), f32([1, 2]), 20), error=r"(?i)21|out of|range"),
        run("below", items(i64([-(2**63)]), f32([1]), 20), [np.zeros(20, np.float32)]),
        run("around", items(i64([-(2**63 - 10)]), f32([1]), 20), error=r"(?i)out of|range"),
    ]  # fmt: skip


def _stages(x):
    """Real and imaginary twiddles of a Stockham transform of ``x`` elements."""
    count = x.bit_length() - 1
    k = np.arange(x // 2)
    angle = np.stack([-2 * np.pi * ((k >> s) << s) / x for s in range(count)])
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


@loop_model("loop_carried", rtol=1e-4)
def fourier_by_stages():
    """Halves become pairs: what is carried takes turns with another shape. Bits are reversed."""
    cos, sin = _stages(64)
    re, im = noise(64), noise(64, seed=1)
    turned = [int(f"{k:06b}"[::-1], 2) for k in range(64)]
    wanted = np.fft.fft(re + 1j * im)[turned]
    return graph("""(float[64] re0, float[64] im0, float[T,32] c, float[T,32] s) => (float[64] re, float[64] im) {
        begin = Constant<value = int64[1] {0}>()
        half = Constant<value = int64[1] {32}>()
        end = Constant<value = int64[1] {64}>()
        column = Constant<value = int64[2] {32, 1}>()
        flat = Constant<value = int64[1] {-1}>()
        re, im = Scan <num_scan_inputs = 2, body = b (float[64] a, float[64] b, float[32] wr, float[32] wi) => (float[64] a1, float[64] b1) {
            ar = Slice(a, begin, half)
            br = Slice(a, half, end)
            ai = Slice(b, begin, half)
            bi = Slice(b, half, end)
            sr = Add(ar, br)
            si = Add(ai, bi)
            dr = Sub(ar, br)
            di = Sub(ai, bi)
            p = Mul(dr, wr)
            q = Mul(di, wi)
            tr = Sub(p, q)
            u = Mul(dr, wi)
            v = Mul(di, wr)
            ti = Add(u, v)
            sr2 = Reshape(sr, column)
            tr2 = Reshape(tr, column)
            r2 = Concat<axis = 1>(sr2, tr2)
            a1 = Reshape(r2, flat)
            si2 = Reshape(si, column)
            ti2 = Reshape(ti, column)
            i2 = Concat<axis = 1>(si2, ti2)
            b1 = Reshape(i2, flat)
        }> (re0, im0, c, s)
    }"""), [
        run("six", {"re0": re, "im0": im, "c": cos, "s": sin},
            [wanted.real.astype(np.float32), wanted.imag.astype(np.float32)]),
    ]  # fmt: skip


def _adapt(x, d):
    weights, line, errors = np.zeros(24), np.zeros(24), []
    for new, wanted in zip(x.astype(np.float64), d, strict=True):
        line = np.concatenate([[new], line[:-1]])
        error = wanted - weights @ line
        weights = weights + 0.02 * error * line
        errors.append(error)
    return np.array(errors, np.float32)


@loop_model("loop_carried", "loop_collect", rtol=1e-3)
def adaptive_filter():
    """Least mean squares: a shift register of 24 numbers, and its product with the weights."""
    return graph("""(float[T] x, float[T] d) => (float[T] e) {
        zeros = Constant<value = float[24] {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}>()
        rate = Constant<value = float {0.02}>()
        begin = Constant<value = int64[1] {0}>()
        end = Constant<value = int64[1] {23}>()
        one = Constant<value = int64[1] {1}>()
        w, l, e = Scan <num_scan_inputs = 2, body = b (float[24] u, float[24] line, float new, float want) => (float[24] u1, float[24] line1, float err) {
            first = Reshape(new, one)
            rest = Slice(line, begin, end)
            line1 = Concat<axis = 0>(first, rest)
            y = MatMul(u, line1)
            err = Sub(want, y)
            step = Mul(err, rate)
            change = Mul(line1, step)
            u1 = Add(u, change)
        }> (zeros, zeros, x, d)
    }"""), [run(f"t{t}", {"x": noise(t), "d": noise(t, seed=1)},
                [_adapt(noise(t), noise(t, seed=1))]) for t in (1, 2, 60)]  # fmt: skip


def _common(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = (
                table[i, j] + 1 if x == y else max(table[i, j + 1], table[i + 1, j])
            )
    return table


@loop_model("loop_carried", "loop_order")
def longest_common_subsequence():
    """A table that GatherND and ScatterND read and write at the numbers of two loops, and beside."""
    a, b = i64([1, 2, 3, 2, 4, 1, 2]), i64([2, 4, 3, 1, 2, 1])
    table = graph("""(int64[N] a, int64[M] b, int64[P,Q] z) => (int64[P,Q] table) {
        one = Constant<value = int64 {1}>()
        flat = Constant<value = int64[1] {1}>()
        pair = Constant<value = int64[2] {1, 2}>()
        n = Size(a)
        m = Size(b)
        table = Loop <body = o (int64 i, bool c, int64[P,Q] t) => (bool c, int64[P,Q] t1) {
            ai = Gather(a, i)
            i1 = Add(i, one)
            row = Reshape(i, flat)
            next = Reshape(i1, flat)
            t1 = Loop <body = g (int64 j, bool e, int64[P,Q] u) => (bool e, int64[P,Q] u1) {
                bj = Gather(b, j)
                j1 = Add(j, one)
                column = Reshape(j, flat)
                right = Reshape(j1, flat)
                corner = Concat<axis = 0>(row, column)
                above = Concat<axis = 0>(row, right)
                left = Concat<axis = 0>(next, column)
                here = Concat<axis = 0>(next, right)
                d = GatherND(u, corner)
                up = GatherND(u, above)
                lf = GatherND(u, left)
                more = Add(d, one)
                most = Max(up, lf)
                same = Equal(ai, bj)
                v = Where(same, more, most)
                at = Reshape(here, pair)
                value = Reshape(v, flat)
                u1 = ScatterND(u, at, value)
            }> (m, "", t)
        }> (n, "", z)
    }""")

    def words(a, b, rows, columns):
        return {"a": a, "b": b, "z": np.zeros((rows, columns), np.int64)}

    return table, [
        run("words", words(a, b, 8, 7), [_common(a, b)]),
        run("none", words(a[:0], b, 1, 7), [_common(a[:0], b)]),
        run("too_few_columns", words(a, b, 8, 6), error=r"(?i)6|out of|range"),
        run("too_few_rows", words(a, b, 7, 7), error=r"(?i)7|out of|range"),
    ]


@loop_model("loop_carried", "loop_order")
def neighbours_of_the_iteration():
    """Elements before, behind and from the end: what is out of range first is the error."""
    both = graph("""(int64 M, float[N] x, float[K] y) => (float s, float p) {
        zero = Constant<value = float {0.0}>()
        one = Constant<value = int64 {1}>()
        n = Size(x)
        last = Sub(n, one)
        s, p = Loop <body = b (int64 i, bool c, float t, float u) => (bool c, float t1, float u1) {
            before = Sub(i, one)
            behind = Add(i, one)
            turned = Sub(last, i)
            f = Gather(x, before)
            g = Gather(x, behind)
            h = Gather(y, i)
            k = Gather(x, turned)
            fg = Mul(f, g)
            hk = Mul(h, k)
            t1 = Add(t, fg)
            u1 = Add(u, hk)
        }> (M, "", zero, zero)
    }""")
    x, y = ramp(6), ramp(4)

    def sums(m):
        s = sum(x[i - 1] * x[i + 1] for i in range(m))
        return [f32(s), f32(sum(y[i] * x[5 - i] for i in range(m)))]

    return both, [
        *(run(f"m{m}", {"M": i64(m), "x": x, "y": y}, sums(m)) for m in (0, 1, 4)),
        run("behind", {"M": i64(9), "x": x[:3], "y": y}, error=r"(?i)\b3\b|out of|range"),
        run("other", {"M": i64(9), "x": x, "y": y}, error=r"(?i)\b4\b|out of|range"),
    ]


def _packets(x, levels):
    for _ in range(levels):
        even, odd = x[0::2], x[1::2]
        x = np.concatenate([even + (odd - even) * np.float32(0.5), odd - even])
    return x


@loop_model("loop_carried", rtol=1e-4)
def wavelet_packets():
    """Pairs become halves: both results are written where they are put together."""
    return graph("""(int64 M, float[64] x) => (float[64] y) {
        half = Constant<value = float {0.5}>()
        pairs = Constant<value = int64[2] {32, 2}>()
        flat = Constant<value = int64[1] {-1}>()
        y = Loop <body = b (int64 i, bool c, float[64] u) => (bool c, float[64] u1) {
            p = Reshape(u, pairs)
            even, odd = Split<axis = 1, num_outputs = 2>(p)
            d = Sub(odd, even)
            h = Mul(d, half)
            s = Add(even, h)
            low = Reshape(s, flat)
            high = Reshape(d, flat)
            u1 = Concat<axis = 0>(low, high)
        }> (M, "", x)
    }"""), [run(f"m{m}", {"M": i64(m), "x": noise(64)}, [_packets(noise(64), m)])
            for m in (0, 1, 2, 7)]  # fmt: skip


def _replaced(x, m, begins, ends):
    for begin, end in zip(begins, ends, strict=True):
        x = np.concatenate([x[:begin], m, x[end:]])
        m = m * np.float32(0.5)
    return [x]


@loop_model("loop_carried")
def replaced_parts():
    """What is between the beginning and the end is replaced by as much, by more or by less."""
    both = graph("""(float[N] x, float[M] m, int64[T] begins, int64[T] ends) => (float[?] y) {
        zero = Constant<value = int64[1] {0}>()
        most = Constant<value = int64[1] {9223372036854775807}>()
        flat = Constant<value = int64[1] {1}>()
        half = Constant<value = float {0.5}>()
        trips = Size(begins)
        y, n = Loop <body = b (int64 i, bool c, float[P] u, float[M] v) => (bool c, float[P] u1, float[M] v1) {
            from = Gather(begins, i)
            to = Gather(ends, i)
            begin = Reshape(from, flat)
            end = Reshape(to, flat)
            front = Slice(u, zero, begin)
            back = Slice(u, end, most)
            u1 = Concat<axis = 0>(front, v, back)
            v1 = Mul(v, half)
        }> (trips, "", x, m)
    }""")
    x, m = noise(12), noise(3, seed=1)

    def places(name, begins, ends):
        f = {"x": x, "m": m, "begins": i64(begins), "ends": i64(ends)}
        return run(name, f, _replaced(x, m, begins, ends))

    return both, [
        places("as_much", [0, 9, 4, 5], [3, 12, 7, 8]),
        places("none", [], []),
        places("more", [2, 2, 0], [3, 2, 0]),
        places("less", [1, 0, 3], [9, 5, 12]),
        places("changing", [0, 1, 1, 4, 3], [3, 6, 2, 7, 6]),
        places("beyond", [20, 3, 15], [30, 6, 2]),
        places("overlapping", [5, 2], [2, 5]),
    ]


@loop_model("loop_carried")
def overlap_add():
    """Frames are added to a signal: by ScatterElements, and by what is in front and behind."""

    def expect(frames, y):
        y = y.copy()
        for k, frame in enumerate(frames):
            y[4 * k : 4 * k + len(frame)] += frame
        return [y, y]

    def one(name, count, width, length):
        f = {"frames": noise(count, width, seed=3), "y": noise(length)}
        return run(name, f, expect(**f))

    return graph("""(float[T,W] frames, float[N] y) => (float[N] a, float[?] b) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        first = Constant<value = int64[1] {0}>()
        most = Constant<value = int64[1] {9223372036854775807}>()
        flat = Constant<value = int64[1] {1}>()
        four = Constant<value = int64 {4}>()
        trips = Shape<start = 0, end = 1>(frames)
        count = Squeeze(trips)
        width = Shape<start = 1, end = 2>(frames)
        w = Squeeze(width)
        places = Range(zero, w, one)
        a, b = Loop <body = g (int64 i, bool c, float[N] p, float[P] q) => (bool c, float[N] p1, float[P] q1) {
            frame = Gather(frames, i)
            from = Mul(i, four)
            at = Add(places, from)
            p1 = ScatterElements<axis = 0, reduction = "add">(p, at, frame)
            begin = Reshape(from, flat)
            end = Add(begin, width)
            front = Slice(q, first, begin)
            middle = Slice(q, begin, end)
            back = Slice(q, end, most)
            sum = Add(middle, frame)
            q1 = Concat<axis = 0>(front, sum, back)
        }> (count, "", y, y)
    }"""), [
        one("some", 5, 8, 24),
        one("longer", 5, 8, 40),
        one("single", 3, 1, 9),
        one("none", 0, 8, 5),
        run("beyond", {"frames": noise(5, 8), "y": noise(23)}, error=r"(?i)23|out of|range|broadcast"),
    ]  # fmt: skip


@loop_model("loop_carried", "loop_order")
def scatter_to_neighbours():
    """Places that are counted on: all within, some of them from the end, one beyond it."""

    def expect(u, y, begins):
        a, b, n = y.copy(), np.stack([y, y]), len(y)
        for row, begin in zip(u, begins, strict=True):
            at = np.arange(len(row)) + begin
            assert len(set(at % n)) == len(row)
            a[at] += row
            b[1, at] = np.maximum(b[1, at], row)
            b[0, at] = row
        return [a, b]

    def one(name, begins, width, length, error=None):
        f = {"u": noise(len(begins), width, seed=3), "y": noise(length), "begins": i64(begins)}
        return run(name, f, None if error else expect(**f), error=error)

    return graph("""(float[T,W] u, float[N] y, int64[T] begins) => (float[N] a, float[2,N] b) {
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        last = Constant<value = int64[1] {-1}>()
        first = Constant<value = int64[1] {0}>()
        width = Shape<start = 1, end = 2>(u)
        w = Squeeze(width)
        places = Range(zero, w, one)
        line = Unsqueeze(y, first)
        two = Concat<axis = 0>(line, line)
        zeros = Mul(places, zero)
        none = Unsqueeze(zeros, last)
        a, b = Scan <num_scan_inputs = 2, body = g (float[N] p, float[2,N] q, float[W] row, int64 begin) => (float[N] p1, float[2,N] q1) {
            at = Add(places, begin)
            column = Unsqueeze(at, last)
            p1 = ScatterND<reduction = "add">(p, column, row)
            pairs = Concat<axis = 1>(none, column)
            q0 = ScatterND(q, pairs, row)
            lines = Unsqueeze(at, first)
            new = Unsqueeze(row, first)
            x, z = Split<axis = 0, num_outputs = 2>(q0)
            z1 = ScatterElements<axis = 1, reduction = "max">(z, lines, new)
            q1 = Concat<axis = 0>(x, z1)
        }> (y, two, u, begins)
    }"""), [
        one("within", [0, 8, 3, 12], 8, 20),
        one("from_the_end", [-12, -5, -8, 2], 8, 20),
        one("short", [0, 19, -1], 1, 20),
        one("long", [0, 7, -30], 23, 30),
        one("empty", [0, 3], 0, 5),
        one("beyond", [0, 13], 8, 20, error=r"20|out of|range"),
        one("before", [0, -21], 8, 20, error=r"-21|out of|range"),
    ]  # fmt: skip


@loop_model("loop_collect", ort=OrtDiffers("values", "ORT has no order with NaN", ("odd",)))
def blocks_in_order():
    """Blocks and windows are sorted; of the places nobody reads any. NaN is the largest number."""
    odd = f32([np.nan, 1, -np.inf, np.inf, -0.0, 2, -3, 0, -np.nan, 5, 5, -1e-40, 1e-40, -7, 7, 0])

    def expect(x):
        blocks = x[: len(x) // 8 * 8].reshape(-1, 8)
        down = np.sort(blocks, axis=1)[:, ::-1][:, :3]
        windows = np.lib.stride_tricks.sliding_window_view(x, 5)
        return [np.sort(blocks, axis=1), down, np.median(windows, axis=1)]

    def one(name, x):
        wanted = expect(x)
        wanted[2] = np.sort(np.lib.stride_tricks.sliding_window_view(x, 5), axis=1)[:, 2]
        return run(name, {"x": x}, wanted)

    return graph("""(float[N] x) => (float[?,8] up, float[?,3] down, float[?] middle) {
        eight = Constant<value = int64 {8}>()
        four = Constant<value = int64 {4}>()
        n = Size(x)
        blocks = Div(n, eight)
        windows = Sub(n, four)
        flat = Constant<value = int64[1] {1}>()
        up, down = Loop <body = b (int64 i, bool c) => (bool c, float[8] lowest, float[3] highest) {
            from = Mul(i, eight)
            begin = Reshape(from, flat)
            to = Add(from, eight)
            end = Reshape(to, flat)
            block = Slice(x, begin, end)
            all = Constant<value = int64[1] {8}>()
            few = Constant<value = int64[1] {3}>()
            lowest, p = TopK<axis = 0, largest = 0>(block, all)
            highest, q = TopK<axis = 0>(block, few)
        }> (blocks, "")
        middle = Loop <body = w (int64 i, bool c) => (bool c, float m) {
            begin = Reshape(i, flat)
            five = Constant<value = int64[1] {5}>()
            end = Add(begin, five)
            window = Slice(x, begin, end)
            best, p = TopK<axis = 0>(window, five)
            two = Constant<value = int64 {2}>()
            m = Gather(best, two)
        }> (windows, "")
    }"""), [one("odd", odd), one("noise", noise(37)), one("one", noise(8)), one("less", noise(6))]
