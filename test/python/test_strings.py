# ===- test_strings.py - Tensors of strings ----------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Strings through operators, loops and branches, and to numbers and back."""

from __future__ import annotations

import re
from typing import Any

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

STRING = TensorProto.STRING


def texts(*values: Any) -> np.ndarray:
    """An array of strings."""
    return np.array(values, dtype=object)


def run(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, np.ndarray],
    outputs: dict[str, int],
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 21,
) -> list[Any]:
    """Runs a graph whose dimensions are all dynamic."""

    def kind(value: np.ndarray) -> int:
        return STRING if value.dtype == object else helper.np_dtype_to_tensor_dtype(value.dtype)

    def tensor(name: str, value: np.ndarray) -> onnx.TensorProto:
        if value.dtype != object:
            return onnx.numpy_helper.from_array(value, name)
        encoded: Any = [str(x).encode() for x in value.ravel()]
        return helper.make_tensor(name, STRING, value.shape, encoded)

    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(n, kind(v), [None] * v.ndim) for n, v in inputs.items()],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()],
        [tensor(n, v) for n, v in (constants or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 4)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return loopc.InferenceSession(model.SerializeToString()).run(None, inputs)


X = np.array([["a", "", "grün"], ["日本", "b" * 300, "c\x00d"]], dtype=object)


@pytest.mark.parametrize(
    ("node", "constants", "expected"),
    [
        (helper.make_node("Identity", ["x"], ["y"]), {}, X),
        (helper.make_node("Transpose", ["x"], ["y"]), {}, X.T),
        (helper.make_node("Reshape", ["x", "s"], ["y"]), {"s": np.array([3, 2])},
         X.reshape(3, 2)),
        (helper.make_node("Concat", ["x", "x"], ["y"], axis=1), {}, np.concatenate([X, X], 1)),
        (helper.make_node("Gather", ["x", "s"], ["y"], axis=1), {"s": np.array([2, -3, 0])},
         X[:, [2, 0, 0]]),
        (helper.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"]),
         {"a": np.array([2]), "b": np.array([-9]), "c": np.array([1]), "d": np.array([-2])},
         X[:, ::-2]),
        (helper.make_node("Expand", ["x", "s"], ["y"]), {"s": np.array([2, 1, 1])},
         np.broadcast_to(X, (2, 2, 3))),
        (helper.make_node("Tile", ["x", "s"], ["y"]), {"s": np.array([2, 1])}, np.tile(X, (2, 1))),
        (helper.make_node("Unsqueeze", ["x", "s"], ["y"]), {"s": np.array([0])}, X[None]),
        (helper.make_node("Pad", ["x", "s"], ["y"]), {"s": np.array([0, 1, 1, 0])},
         np.pad(X, ((0, 1), (1, 0)), constant_values="")),
        (helper.make_node("Where", ["m", "x", "o"], ["y"]),
         {"m": np.array([True, False, True]), "o": texts("zz")},
         np.where(np.array([True, False, True]), X, "zz")),
        (helper.make_node("Compress", ["x", "m"], ["y"], axis=1),
         {"m": np.array([True, False, True])}, X[:, [0, 2]]),
        (helper.make_node("ReverseSequence", ["x", "s"], ["y"], batch_axis=0, time_axis=1),
         {"s": np.array([3, 2])}, np.stack([X[0, ::-1], X[1, [1, 0, 2]]])),
    ],
    ids=lambda value: value.op_type if isinstance(value, onnx.NodeProto) else "",
)  # fmt: skip
def test_movement(
    node: onnx.NodeProto, constants: dict[str, np.ndarray], expected: np.ndarray
) -> None:
    (result,) = run([node], {"x": X}, {"y": STRING}, constants)
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


def test_empty_tensor() -> None:
    (result,) = run([helper.make_node("Identity", ["x"], ["y"])], {"x": X[:, :0]}, {"y": STRING})
    assert result.shape == (2, 0)


def test_equal_broadcasts() -> None:
    (result,) = run([helper.make_node("Equal", ["x", "c"], ["y"])], {"x": X},
                    {"y": TensorProto.BOOL}, {"c": texts("a", "b", "c")})  # fmt: skip
    assert result.tolist() == [[True, False, False], [False, False, False]]


def test_unique_in_order_of_code_points() -> None:
    x = texts("b", "a", "b", "ä", "", "a")
    values, firsts, inverse, counts = run(
        [helper.make_node("Unique", ["x"], ["v", "f", "i", "c"])], {"x": x},
        {"v": STRING, "f": TensorProto.INT64, "i": TensorProto.INT64, "c": TensorProto.INT64},
    )  # fmt: skip
    assert values.tolist() == ["", "a", "b", "ä"]
    assert firsts.tolist() == [4, 1, 0, 3]
    assert inverse.tolist() == [2, 1, 2, 3, 0, 1]
    assert counts.tolist() == [1, 2, 2, 1]


# ===------------------------------------------------------------------------===#
# Loops and branches
# ===------------------------------------------------------------------------===#


def _loop(trips: int) -> list[Any]:
    """Appends the iteration's number to a carried text; collects text and a captured one."""
    body = helper.make_graph(
        [
            helper.make_node("Cast", ["i"], ["n"], to=STRING),
            helper.make_node("StringConcat", ["s", "n"], ["t"]),
            helper.make_node("StringConcat", ["x", "n"], ["u"]),
            helper.make_node("Identity", ["c"], ["d"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", STRING, None),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("t", STRING, None),
            helper.make_tensor_value_info("u", STRING, None),
            helper.make_tensor_value_info("t2", STRING, None),
        ],
    )
    body.node.append(helper.make_node("Identity", ["t"], ["t2"]))
    return run(
        [helper.make_node("Loop", ["m", "", "x"], ["y", "all", "every"], body=body)],
        {"m": np.array(trips, np.int64), "x": texts("p", "é")},
        {"y": STRING, "all": STRING, "every": STRING},
    )


@pytest.mark.parametrize("trips", [0, 1, 12])
def test_loop(trips: int) -> None:
    last, captured, every = _loop(trips)
    numbers = [str(k) for k in range(trips)]
    assert last.tolist() == ["p" + "".join(numbers), "é" + "".join(numbers)]
    assert captured.tolist() == [["p" + n, "é" + n] for n in numbers]
    assert every.tolist() == [[c + "".join(numbers[: k + 1]) for c in "pé"] for k in range(trips)]


@pytest.mark.parametrize("choice", [True, False])
def test_if(choice: bool) -> None:
    def branch(name: str, node: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph([node], name, [], [
            helper.make_tensor_value_info(node.output[0], STRING, None)])  # fmt: skip

    (result,) = run(
        [
            helper.make_node(
                "If", ["c"], ["y"],
                then_branch=branch("then", helper.make_node("Identity", ["x"], ["a"])),
                else_branch=branch(
                    "else",
                    helper.make_node("Constant", [], ["b"],
                                     value_strings=["none"]),
                ),
            )
        ],
        {"c": np.array(choice), "x": texts("u", "v")},
        {"y": STRING},
    )  # fmt: skip
    assert result.tolist() == (["u", "v"] if choice else ["none"])


# ===------------------------------------------------------------------------===#
# Numbers
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_to_strings(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    values = [0, -0.0, 1, -2.5, 0.1, 1e-4, 9.9e-5, 1e-5, 999, 1000, 999999, 1e6, 1e15, 1e16,
              123456.789, 2.0**-44, 5e-324, np.inf, -np.inf, np.nan, 65504, 3.4028235e38]  # fmt: skip
    with np.errstate(over="ignore"):
        x = np.array([*values, *(2.0 ** np.arange(-24, 16)), *rng.normal(size=200)]).astype(dtype)
    (result,) = run([helper.make_node("Cast", ["x"], ["y"], to=STRING)], {"x": x}, {"y": STRING})
    assert result.tolist() == x.astype(np.str_).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.bool_])
def test_integers_to_strings(dtype: Any) -> None:
    if dtype is np.bool_:
        x = np.array([True, False])
    else:
        x = np.array([np.iinfo(dtype).min, 0, 7, np.iinfo(dtype).max], dtype)
    (result,) = run([helper.make_node("Cast", ["x"], ["y"], to=STRING)], {"x": x}, {"y": STRING})
    assert result.tolist() == x.astype(np.str_).tolist()


def test_strings_to_floats() -> None:
    x = texts("3.14", " 1e-5\n", "1E8", "INF", "+inf", "-Inf", "NaN", "-0", "0.1", "1e400")
    (result,) = run([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], {"x": x},
                    {"y": TensorProto.FLOAT})  # fmt: skip
    np.testing.assert_array_equal(result, np.array([float(v) for v in x], np.float32))


def test_strings_to_integers() -> None:
    x = texts("-9223372036854775808", "9223372036854775807", "+7", "100.5")
    (result,) = run([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64)], {"x": x},
                    {"y": TensorProto.INT64})  # fmt: skip
    assert result.tolist() == [-(2**63), 2**63 - 1, 7, 100]


@pytest.mark.parametrize("text", ["", "Hello", "1_0", "0x10", "1e", "9223372036854775808", "1\x00"])
def test_no_integer(text: str) -> None:
    with pytest.raises(loopc.RunError, match=r"main/#0 Cast .*is not an integer"):
        run([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64)], {"x": texts(text)},
            {"y": TensorProto.INT64})  # fmt: skip


# ===------------------------------------------------------------------------===#
# Texts
# ===------------------------------------------------------------------------===#


@pytest.mark.parametrize("limit", [None, 0, 1, 2])
@pytest.mark.parametrize("delimiter", [None, "", ",", "ab"])
def test_split(delimiter: str | None, limit: int | None) -> None:
    x = texts("a,b", " a  b\t c ", "", ",,", "aabab", "x\u3000y\u00a0z", "ab")
    attributes: dict[str, Any] = {}
    if delimiter is not None:
        attributes["delimiter"] = delimiter
    if limit is not None:
        attributes["maxsplit"] = limit
    pieces, counts = run([helper.make_node("StringSplit", ["x"], ["y", "n"], **attributes)],
                         {"x": x}, {"y": STRING, "n": TensorProto.INT64})  # fmt: skip
    expected = [v.split(delimiter or None, -1 if limit is None else limit) for v in x]
    assert counts.tolist() == [len(v) for v in expected]
    width = max(counts)
    assert pieces.tolist() == [v + [""] * (width - len(v)) for v in expected]


WORDS = texts(
    "Σ", "ΟΔΥΣΣΕΥΣ", "ΑΣ'", "straße", "İstanbul", "ǆ", "ﬁn", "MONDAY", "ΑΣΒ", "x\U0001d400"
)


@pytest.mark.parametrize("action", ["LOWER", "UPPER", "NONE"])
def test_normalizer_case(action: str) -> None:
    (result,) = run(
        [helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action=action)],
        {"x": WORDS}, {"y": STRING},
    )  # fmt: skip
    words = [str(word) for word in WORDS]
    expected = {
        "LOWER": [word.lower() for word in words],
        "UPPER": [word.upper() for word in words],
        "NONE": words,
    }
    assert result.tolist() == expected[action]


@pytest.mark.parametrize(("sensitive", "expected"), [(0, ["b"]), (1, ["a", "b"])])
def test_normalizer_stop_words(sensitive: int, expected: list[str]) -> None:
    node = helper.make_node("StringNormalizer", ["x"], ["y"], stopwords=["A", "c"],
                            is_case_sensitive=sensitive)  # fmt: skip
    (result,) = run([node], {"x": texts("a", "b", "c")[None]}, {"y": STRING})
    assert result.tolist() == [expected]


def test_normalizer_drops_all() -> None:
    node = helper.make_node("StringNormalizer", ["x"], ["y"], stopwords=["a"])
    (result,) = run([node], {"x": texts("a", "A")}, {"y": STRING})
    assert result.tolist() == [""]


PATTERNS = [
    r"", r"a", r"a*", r"(a|b)+c?", r"[a-c]{2,3}", r"[^a]*", r"(?i)ABC", r"\d+\.\d*", r"\w+@\w+",
    r"a.c", r"(?s)a.c", r"^a$", r"\bab\b.*", r"x{0}", r"(ab){2,}", r"[\]a-]+", r"\x41\u00e9" [:4],
    r"[[:alpha:]]+", r"a??b+?", r"\Qa.b\E|c", r"é+", r"[à-ü]+", r"(?:a|(?i:b))+", r"(?P<n>a)b",
    r"a{2}", r"a{,2}", r"\.", r"[^\W\d]+", r"\A\S+\z",
]  # fmt: skip
SUBJECTS = ["", "a", "aa", "abc", "ABC", "abab", "ab cd", "a.b", "a\nc", "c", "éé", "x@y", "1.5",
            "]-a", "aab", "é", "bB", "a{,2}", "A", "日本"]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_regex(pattern: str) -> None:
    (result,) = run([helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)],
                    {"x": texts(*SUBJECTS)}, {"y": TensorProto.BOOL})  # fmt: skip
    # Python's syntax, and its \w, \d and \b, made those of RE2.
    python = pattern.replace(r"\z", r"\Z").replace("[[:alpha:]]", "[a-zA-Z]")
    python = re.sub(r"\\Q(.*?)\\E", lambda m: re.escape(m[1]), python)
    python = python.replace("a{,2}", r"a\{,2\}")
    flags = "(?a:" if not python.startswith("(?") else ""
    expected = [re.fullmatch(flags + python + (")" if flags else ""), s) is not None
                for s in SUBJECTS]  # fmt: skip
    assert result.tolist() == expected


def test_regex_is_linear() -> None:
    pattern = "(a*)*" * 10 + "b"
    (result,) = run([helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)],
                    {"x": texts("a" * 10000)}, {"y": TensorProto.BOOL})  # fmt: skip
    assert result.tolist() == [False]


@pytest.mark.parametrize(
    "pattern", ["(", ")", "a**", "[b-a]", "*", r"\1", "(?=a)", "a{1001}", "[a"]
)
def test_regex_refused(pattern: str) -> None:
    with pytest.raises(loopc.CompileError, match="'pattern'"):
        run([helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)],
            {"x": texts("a")}, {"y": TensorProto.BOOL})  # fmt: skip


def _encode(x: np.ndarray, kind: int, **attributes: Any) -> Any:
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    return run([node], {"x": x}, {"y": kind})[0].tolist()


def test_label_encoder() -> None:
    x = texts("b", "", "a", "zz", "b")
    assert _encode(x, TensorProto.INT64, keys_strings=["a", "b", ""], values_int64s=[1, 2, 3],
                   default_int64=-5) == [2, 3, 1, -5, 2]  # fmt: skip
    numbers = np.array([3, -(2**63), 2**63 - 1, 0], np.int64)
    assert _encode(numbers, STRING, keys_int64s=[2**63 - 1, 3, -(2**63)],
                   values_strings=["max", "three", "min"]) == ["three", "min", "max", "_Unused"]  # fmt: skip
    floats = np.array([np.nan, -0.0, 1.5, 2], np.float32)
    assert _encode(floats, TensorProto.FLOAT, keys_floats=[1.5, 0.0, np.nan],
                   values_floats=[1.0, 2.0, 3.0], default_float=9.0) == [3, 2, 1, 9]  # fmt: skip


def test_label_encoder_many_keys() -> None:
    keys = [f"key{k}" for k in range(1000)]
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, 1100, 500)
    x = texts(*(f"key{k}" for k in chosen))
    assert _encode(x, TensorProto.INT64, keys_strings=keys, values_int64s=list(range(1000))) == [
        k if k < 1000 else -1 for k in chosen
    ]


def test_loops_over_strings_verify() -> None:
    """The form that strings have at run time is in the type lists of loops, too."""
    model = onnx.parser.parse_model("""
      <ir_version: 10, opset_import: ["" : 21]>
      m (string[K] x, string[T, K] s) => (string[K] y, string[T, K] z) {
        y, z = Scan <num_scan_inputs = 1, body = b (string[K] a, string[K] q)
          => (string[K] d, string[K] e) {
            d = StringConcat(a, q)
            e = Identity(a)
          }> (x, s)
      }""")
    session = loopc.InferenceSession(model, loopc.SessionOptions(verify=True))
    y, z = session.run(None, {"x": texts("a", "b"), "s": np.array([["c", "d"], ["e", "f"]])})
    assert y.tolist() == ["ace", "bdf"]
    assert z.tolist() == [["a", "b"], ["ac", "bd"]]
