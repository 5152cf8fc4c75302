# ===- test_generation.py - Searches around decoders ------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""onnxruntime's operators that generate tokens with a decoder, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import loopc
import loopc.onnxruntime
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

Ports = list[tuple[str, int]]

WORDS = 19
HEADS, SIZE = 2, 4
WIDTH = HEADS * SIZE

# One layer of a GPT: past_K and present_K are [2, B, heads, words so far, size].
LAYER = """
  all# = MatMul(x#, project#)
  q1#, k1#, v1# = Split<axis = 2, num_outputs = 3>(all#)
  apart# = Constant<value_ints = [0, 0, 2, 4]>()
  q2# = Reshape(q1#, apart#)
  k2# = Reshape(k1#, apart#)
  v2# = Reshape(v1#, apart#)
  q# = Transpose<perm = [0, 2, 1, 3]>(q2#)
  k3# = Transpose<perm = [0, 2, 1, 3]>(k2#)
  v3# = Transpose<perm = [0, 2, 1, 3]>(v2#)
  k4# = Unsqueeze(k3#, first)
  v4# = Unsqueeze(v3#, first)
  new# = Concat<axis = 0>(k4#, v4#)
  present_# = Concat<axis = 3>(past_#, new#)
  k5#, v5# = Split<axis = 0, num_outputs = 2>(present_#)
  k# = Squeeze(k5#, first)
  v# = Squeeze(v5#, first)
  kT# = Transpose<perm = [0, 1, 3, 2]>(k#)
  near# = MatMul(q#, kT#)
  biased# = Add(near#, bias)
  weights# = Softmax<axis = -1>(biased#)
  seen0# = MatMul(weights#, v#)
  seen1# = Transpose<perm = [0, 2, 1, 3]>(seen0#)
  together# = Constant<value_ints = [0, 0, 8]>()
  seen# = Reshape(seen1#, together#)
  x@ = Add(x#, seen#)
"""


def gpt(layers: int = 1, seed: int = 0, captured: bool = False) -> tuple[Any, list[Any]]:
    """A decoder, and the initializers that it captures from around it."""
    rng = np.random.default_rng(seed)
    pasts = "".join(f", float[2, B, {HEADS}, P, {SIZE}] past_{k}" for k in range(layers))
    presents = "".join(f", float[2, B, {HEADS}, T, {SIZE}] present_{k}" for k in range(layers))
    body = "".join(LAYER.replace("#", str(k)).replace("@", str(k + 1)) for k in range(layers))
    graph = parser.parse_graph(f"""
decoder (int32[B, S] input_ids, int32[B, S] position_ids, int32[B, T] attention_mask{pasts})
     => (float[B, S, {WORDS}] logits{presents}) {{
  word = Gather(words, input_ids)
  place = Gather(places, position_ids)
  x0 = Add(word, place)
  first = Constant<value_ints = [0]>()
  one = Constant<value_ints = [1]>()
  inner = Constant<value_ints = [1, 2]>()
  readBits = Cast<to = 9>(attention_mask)
  read = Unsqueeze(readBits, inner)
  length = Shape<start = 1, end = 2>(input_ids)
  total = Shape<start = 1, end = 2>(attention_mask)
  square = Concat<axis = 0>(length, total)
  bit = Constant<value = int64 {{1}}>()
  bits = Expand(bit, square)
  before = Sub(total, length)
  scalar = Constant<value = int64[0] {{}}>()
  shift = Reshape(before, scalar)
  lower = Trilu<upper = 0>(bits, shift)
  causal = Cast<to = 9>(lower)
  visible = And(read, causal)
  nothing = Constant<value = float {{0.0}}>()
  never = Constant<value = float {{-10000.0}}>()
  bias = Where(visible, nothing, never)
  {body}
  logits = MatMul(x{layers}, out)
}}""")
    weights = {
        "words": rng.standard_normal((WORDS, WIDTH)),
        "places": rng.standard_normal((64, WIDTH)),
        "out": rng.standard_normal((WIDTH, WORDS)) * 2,
        **{f"project{k}": rng.standard_normal((WIDTH, 3 * WIDTH)) for k in range(layers)},
    }
    made = [numpy_helper.from_array(v.astype(np.float32), n) for n, v in weights.items()]
    if captured:
        return graph, made
    graph.initializer.extend(made)
    return graph, []


def model(
    op: str,
    feeds: dict[str, Any],
    outputs: Ports,
    *,
    open_shapes: bool = True,
    constants: tuple[str, ...] = (),
    captured: list[Any] | None = None,
    **attributes: Any,
) -> tuple[bytes, dict[str, np.ndarray]]:
    """A model of one node; an input that is None is left out."""
    names = ["" if v is None else n for n, v in feeds.items()]
    given = {n: np.asarray(v) for n, v in feeds.items() if v is not None}
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(op, names, [n for n, _ in outputs], "search", domain="com.microsoft")
    for name, value in attributes.items():
        node.attribute.append(helper.make_attribute(name, value))
    inputs, initializers = [], list(captured or [])
    for name, value in list(given.items()):
        if name in constants:
            initializers.append(numpy_helper.from_array(given.pop(name), name))
            continue
        shape = [f"{name}_{k}" if open_shapes and n != 1 else n for k, n in enumerate(value.shape)]
        element = helper.np_dtype_to_tensor_dtype(value.dtype)
        inputs.append(helper.make_tensor_value_info(name, element, shape))
    results = [helper.make_tensor_value_info(n, t, None) for n, t in outputs if n]
    graph = helper.make_graph([node], "generation", inputs, results, initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return made.SerializeToString(), given


def check(want: Any, value: Any, pad: int = 0) -> None:
    assert value.dtype == want.dtype and value.shape == want.shape
    if want.dtype.kind == "f":
        # The scores of steps that are not taken are not set.
        want = want if value.ndim < 4 else want[: len(np.trim_zeros(value.any(axis=(1, 2, 3))))]
        value = value[: len(want)]
        np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-4)
        return
    # What is behind the end of all sequences onnxruntime's greedy search leaves unset.
    used = np.flatnonzero((value != pad).any(axis=tuple(range(value.ndim - 1))))
    end = used[-1] + 2 if len(used) else 1
    np.testing.assert_array_equal(value[..., :end], want[..., :end])


class Pair:
    """A model of one node in onnxruntime and in loopc."""

    def __init__(self, op: str, feeds: dict[str, Any], outputs: Ports, **more: Any) -> None:
        made, self.feeds = model(op, feeds, outputs, **more)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        self.peer = onnxruntime.InferenceSession(made, options, ["CPUExecutionProvider"])
        self.own = loopc.InferenceSession(made)

    def compare(self, **feeds: Any) -> Any:
        given = {**self.feeds, **{n: v for n, v in feeds.items() if n in self.feeds}}
        got = self.own.run(None, given)
        for want, value in zip(self.peer.run(None, given), got, strict=True):
            check(want, value)
        return got


def int32(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def prompt(batch: int, length: int, seed: int = 0, pads: int = 0) -> np.ndarray:
    ids = np.random.default_rng(seed).integers(2, WORDS, (batch, length)).astype(np.int32)
    ids[0, :pads] = 0
    return ids


GREEDY: Ports = [("sequences", TensorProto.INT32)]


def greedy(ids: np.ndarray, length: int, **inputs: Any) -> dict[str, Any]:
    names = ("min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask",
             "attention_mask")  # fmt: skip
    rest = {n: inputs.get(n) for n in names}
    return {"input_ids": ids, "max_length": int32(length), **rest}


IDS: dict[str, Any] = {"eos_token_id": 1, "pad_token_id": 0}


BEAM: Ports = [
    ("sequences", TensorProto.INT32),
    ("sequences_scores", TensorProto.FLOAT),
    ("scores", TensorProto.FLOAT),
]


def beams(ids: np.ndarray, length: int, count: int, kept: int = 1, **inputs: Any) -> dict[str, Any]:
    names = ("repetition_penalty", "vocab_mask", "prefix_vocab_mask",
             "attention_mask", "decoder_input_ids", "logits_processor")  # fmt: skip
    return {
        "input_ids": ids,
        "max_length": int32(length),
        "min_length": inputs.get("min_length", int32(0)),  # onnxruntime needs it
        "num_beams": int32(count),
        "num_return_sequences": int32(kept),
        # onnxruntime needs it for the type of the scores.
        "length_penalty": inputs.get("length_penalty", np.array([1.0], np.float32)),
        **{n: inputs.get(n) for n in names},
    }


def sampling(ids: np.ndarray, length: int, seed: int, **inputs: Any) -> dict[str, Any]:
    return {
        **greedy(ids, length, **{"min_length": int32(0), **inputs}),
        "presence_mask": None,
        "seed": int32(seed),
    }


def options(rng: np.random.Generator, batch: int, length: int) -> dict[str, Any]:
    """Inputs that change scores, some of them such that they change nothing."""
    words = (rng.random(WORDS) < 0.8).astype(np.int32)
    begins = (rng.random((batch, WORDS)) < rng.choice([0.7, 1.0])).astype(np.int32)
    words[2:7] = begins[:, 2:5] = 1
    ids = rng.integers(0, WORDS, (batch, length)).astype(np.int32)
    ids[:, -1] = np.maximum(ids[:, -1], 2)
    return {
        "input_ids": ids,
        "min_length": int32(rng.integers(0, 10)),
        "repetition_penalty": rng.choice([1.0, 1.3, 0.8], 1).astype(np.float32),
        "vocab_mask": words if rng.random() < 0.5 else np.ones_like(words),
        "prefix_vocab_mask": begins,
        "attention_mask": (rng.random((batch, length)) < 0.8).astype(np.int32),
    }


def test_greedy() -> None:
    for layers, batch, length in ((1, 1, 3), (2, 3, 1)):
        decoder, _ = gpt(layers, batch)
        given = greedy(prompt(batch, length, 1), 16)
        pair = Pair("GreedySearch", given, GREEDY, open_shapes=batch > 1, decoder=decoder, **IDS)
        pair.compare()


@pytest.mark.parametrize("gram", [0, 1, 3])
def test_scores(gram: int) -> None:
    """Prompts of any number and length, and all that changes scores."""
    decoder, _ = gpt(1, gram)
    rng = np.random.default_rng(gram)
    given = greedy(prompt(2, 3), 9, **options(rng, 2, 3))
    given["input_ids"] = prompt(2, 3)
    pair = Pair("GreedySearch", given, GREEDY, decoder=decoder, no_repeat_ngram_size=gram,
                eos_token_id=5, pad_token_id=0)  # fmt: skip
    for _ in range(25):
        batch, length = (int(n) for n in rng.integers(1, 6, 2))
        most = length + 1 + int(rng.integers(0, 8 if gram == 1 else 20))
        pair.compare(**options(rng, batch, length), max_length=int32(most))


def test_words_that_nothing_repeats() -> None:
    """An n-gram longer than all sequences is compared with none, and takes no longer to compile."""
    decoder, _ = gpt(1, 3)
    given = greedy(prompt(2, 3, 1), 9)
    (plain,) = Pair("GreedySearch", given, GREEDY, decoder=decoder, **IDS).compare()
    made, feeds = model("GreedySearch", given, GREEDY, decoder=decoder,
                        no_repeat_ngram_size=1 << 40, **IDS)  # fmt: skip
    (value,) = loopc.InferenceSession(made).run(None, feeds)
    np.testing.assert_array_equal(value, plain)


def test_another_first_decoder() -> None:
    """onnxruntime has it for buffers that are shared only."""
    decoder, _ = gpt(1, 5)
    first, _ = gpt(1, 6)
    given = greedy(prompt(2, 3, 5), 12)
    (plain,) = Pair("GreedySearch", given, GREEDY, decoder=decoder, **IDS).compare()
    made, feeds = model("GreedySearch", given, GREEDY, decoder=decoder, init_decoder=first, **IDS)
    (value,) = loopc.InferenceSession(made).run(None, feeds)
    assert (value != plain).any()


def test_decoders_capture() -> None:
    """Their weights may be those of the model, and lengths constants."""
    decoder, weights = gpt(2, 7, captured=True)
    Pair("GreedySearch", greedy(prompt(2, 3, 7), 12), GREEDY, decoder=decoder,
         captured=weights, constants=("max_length",), **IDS).compare()  # fmt: skip


def test_within_onnxruntime() -> None:
    """The execution provider takes a search whole, with what its decoder captures."""
    loopc.onnxruntime.register()
    decoder, weights = gpt(2, 7, captured=True)
    made, feeds = model("GreedySearch", greedy(prompt(2, 3, 7), 12), GREEDY, decoder=decoder,
                        captured=weights, **IDS)  # fmt: skip
    options = loopc.onnxruntime.add_provider(onnxruntime.SessionOptions())
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = onnxruntime.InferenceSession(made, options)
    claimed = [
        (graph.ep_name, node.op_type)
        for graph in session.get_provider_graph_assignment_info()
        for node in graph.get_nodes()
    ]
    assert claimed == [("LoopcExecutionProvider", "GreedySearch")]
    expected = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    check(expected.run(None, feeds)[0], session.run(None, feeds)[0])


def test_narrow_states() -> None:
    """Logits and states of 16 bits, which onnxruntime has for GPUs only."""
    wide, _ = gpt(1, 8)
    narrow, _ = gpt(1, 8)
    for value in (narrow.input[3], *narrow.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    # Both are 32 bits wide inside.
    for node in narrow.node:
        node.input[:] = ["past_wide" if n == "past_0" else n for n in node.input]
        node.output[:] = [f"{n}_wide" if n in ("logits", "present_0") else n for n in node.output]
        node.input[:] = ["present_0_wide" if n == "present_0" else n for n in node.input]
    first = helper.make_node("Cast", ["past_0"], ["past_wide"], to=TensorProto.FLOAT)
    narrow.node.insert(0, first)
    for name in ("logits", "present_0"):
        narrow.node.append(
            helper.make_node("Cast", [f"{name}_wide"], [name], to=TensorProto.FLOAT16)
        )
    results = []
    for decoder in (wide, narrow):
        made, feeds = model("GreedySearch", greedy(prompt(2, 3), 7), GREEDY, decoder=decoder, **IDS)
        results += loopc.InferenceSession(made).run(None, feeds)
    np.testing.assert_array_equal(*results)


def test_too_short_a_length() -> None:
    decoder, _ = gpt()
    pair = Pair("GreedySearch", greedy(prompt(1, 5), 5), GREEDY, decoder=decoder, **IDS)
    with pytest.raises(Exception, match="max_length"):
        pair.peer.run(None, pair.feeds)
    with pytest.raises(loopc.Error, match=r"max_length_less_the_prompt.*less than 0"):
        pair.own.run(None, pair.feeds)


def test_a_search_in_a_branch() -> None:
    decoder, _ = gpt(1, 14)
    made, feeds = model("GreedySearch", greedy(prompt(2, 2, 14), 9), GREEDY, decoder=decoder, **IDS)
    expected = loopc.InferenceSession(made).run(None, feeds)
    whole = onnx.load_from_string(made)
    branch = helper.make_graph(list(whole.graph.node), "search", [], list(whole.graph.output))
    other = parser.parse_graph("g () => (int32[A, B] twice) { twice = Add(input_ids, input_ids) }")
    del whole.graph.node[:], whole.graph.output[:]
    whole.graph.node.append(
        helper.make_node("If", ["wanted"], ["y"], then_branch=branch, else_branch=other)
    )
    whole.graph.input.append(helper.make_tensor_value_info("wanted", TensorProto.BOOL, []))
    whole.graph.output.append(helper.make_tensor_value_info("y", TensorProto.INT32, None))
    session = loopc.InferenceSession(whole.SerializeToString())
    (y,) = session.run(None, {**feeds, "wanted": np.array(True)})
    np.testing.assert_array_equal(y, expected[0])
    (y,) = session.run(None, {**feeds, "wanted": np.array(False)})
    np.testing.assert_array_equal(y, 2 * feeds["input_ids"])


@pytest.mark.parametrize("custom", [0, 1])
def test_sampling(custom: int) -> None:
    """The same draws as onnxruntime's, from all seeds."""
    decoder, _ = gpt(1, 40)
    rng = np.random.default_rng(custom)
    given = sampling(prompt(3, 3), 20, 0, **options(rng, 3, 3))
    given["input_ids"] = prompt(3, 3)
    pair = Pair("Sampling", given, GREEDY, decoder=decoder, custom=custom, top_p=0.85,
                temperature=2.0, min_tokens_to_keep=2, **IDS)  # fmt: skip
    for seed in (0, 1, 2147483647, *rng.integers(0, 2**31, 20)):
        batch, length = (int(n) for n in rng.integers(1, 6, 2))
        given = options(rng, batch, length)
        pair.compare(**given, max_length=int32(length + 12), seed=int32(seed))


def test_beams_of_known_number() -> None:
    decoder, _ = gpt(2, 13)
    Pair("BeamSearch", beams(prompt(2, 2, 13), 12, 4, 2), BEAM[:2], decoder=decoder,
         open_shapes=False, constants=("num_beams", "max_length", "num_return_sequences"),
         **IDS).compare()  # fmt: skip


def compare_beams(pair: Pair, rng: np.random.Generator, runs: int, start: int = 0) -> None:
    """Any number of prompts and beams; `start`: words that sequences begin with, else prompts."""
    for _ in range(runs):
        batch, length = (int(n) for n in rng.integers(1, 5, 2))
        count = int(rng.integers(1, 6))
        pair.compare(
            **options(rng, batch, length),
            max_length=int32((start or length) + 2 + rng.integers(0, 14)),
            num_beams=int32(count),
            num_return_sequences=int32(rng.integers(1, count + 1)),
            length_penalty=rng.choice([1.0, 0.5, 2.0, 0.0], 1).astype(np.float32),
        )


@pytest.mark.parametrize("early", [0, 1])
def test_beams(early: int) -> None:
    decoder, _ = gpt(1, 12)
    rng = np.random.default_rng(12 + early)
    given = beams(prompt(3, 3), 14, 4, 2, **options(rng, 3, 3))
    given["input_ids"] = prompt(3, 3)
    pair = Pair("BeamSearch", given, BEAM, decoder=decoder, early_stopping=early,
                no_repeat_ngram_size=2 * early, eos_token_id=5, pad_token_id=0)  # fmt: skip
    compare_beams(pair, rng, 25)


# Attention of a decoder's words to themselves and to what the encoder made.
CROSS = """
  apart# = Constant<value_ints = [0, 0, 2, 4]>()
  together# = Constant<value_ints = [0, 0, 8]>()
  all# = MatMul(x#, project#)
  q1#, k1#, v1# = Split<axis = 2, num_outputs = 3>(all#)
  q2# = Reshape(q1#, apart#)
  k2# = Reshape(k1#, apart#)
  v2# = Reshape(v1#, apart#)
  q# = Transpose<perm = [0, 2, 1, 3]>(q2#)
  k3# = Transpose<perm = [0, 2, 1, 3]>(k2#)
  v3# = Transpose<perm = [0, 2, 1, 3]>(v2#)
  present_key_self_# = Concat<axis = 2>(past_key_self_#, k3#)
  present_value_self_# = Concat<axis = 2>(past_value_self_#, v3#)
  kT# = Transpose<perm = [0, 1, 3, 2]>(present_key_self_#)
  near# = MatMul(q#, kT#)
  weights# = Softmax<axis = -1>(near#)
  seen# = MatMul(weights#, present_value_self_#)
  kC# = Transpose<perm = [0, 1, 3, 2]>(past_key_cross_#)
  nearC0# = MatMul(q#, kC#)
  nearC# = Add(nearC0#, bias)
  weightsC# = Softmax<axis = -1>(nearC#)
  seenC# = MatMul(weightsC#, past_value_cross_#)
  bothSeen# = Add(seen#, seenC#)
  seen1# = Transpose<perm = [0, 2, 1, 3]>(bothSeen#)
  seen2# = Reshape(seen1#, together#)
  x@ = Add(x#, seen2#)
"""

# What the decoder attends to, of `read` [B, S, width].
KEYS = """
  crossAll# = MatMul(read, crossProject#)
  crossK1#, crossV1# = Split<axis = 2, num_outputs = 2>(crossAll#)
  crossApart# = Constant<value_ints = [0, 0, 2, 4]>()
  crossK2# = Reshape(crossK1#, crossApart#)
  crossV2# = Reshape(crossV1#, crossApart#)
  present_key_cross_# = Transpose<perm = [0, 2, 1, 3]>(crossK2#)
  present_value_cross_# = Transpose<perm = [0, 2, 1, 3]>(crossV2#)
  past_key_cross_# = Identity(present_key_cross_#)
  past_value_cross_# = Identity(present_value_cross_#)
"""


def states(kind: str, extent: str, layers: int) -> str:
    shape = f"float[B, {HEADS}, {extent}, {SIZE}]"
    return "".join(
        f", {shape} {kind.replace('$', part)}_{k}"
        for k in range(layers)
        for part in ("key", "value")
    )


def random_weights(layers: int, seed: int) -> dict[str, np.ndarray]:
    """What encoders and decoders multiply with, by name."""
    rng = np.random.default_rng(seed)
    return {
        "words": rng.standard_normal((WORDS, WIDTH)),
        "places": rng.standard_normal((64, WIDTH)),
        "out": rng.standard_normal((WIDTH, WORDS)) * 2,
        **{f"project{k}": rng.standard_normal((WIDTH, 3 * WIDTH)) for k in range(layers)},
        **{f"crossProject{k}": rng.standard_normal((WIDTH, 2 * WIDTH)) for k in range(layers)},
    }


def seq2seq(layers: int, seed: int, form: str) -> dict[str, Any]:
    """Encoder and decoder; form: "old" (the encoder makes the first logits), "new", "speech"."""
    speech = form == "speech"
    bias = (
        "bias = Constant<value = float {0.0}>()"
        if speech
        else """
  maskBits = Cast<to = 9>(encoder_attention_mask)
  inner = Constant<value_ints = [1, 2]>()
  maskWide = Unsqueeze(maskBits, inner)
  nothing = Constant<value = float {0.0}>()
  never = Constant<value = float {-10000.0}>()
  bias = Where(maskWide, nothing, never)"""
    )

    def steps(ids: str) -> str:
        body = "".join(CROSS.replace("#", str(k)).replace("@", str(k + 1)) for k in range(layers))
        return f"""{bias}
  scalar = Constant<value = int64[0] {{}}>()
  step = Constant<value = int64 {{1}}>()
  before1 = Shape<start = 2, end = 3>(past_key_self_0)
  before = Reshape(before1, scalar)
  count1 = Shape<start = 1, end = 2>({ids})
  count = Reshape(count1, scalar)
  total = Add(before, count)
  numbers = Range(before, total, step)
  place = Gather(places, numbers)
  word = Gather(words, {ids})
  x0 = Add(word, place)
  {body}
  logits = MatMul(x{layers}, out)
"""

    keys = "".join(KEYS.replace("#", str(k)) for k in range(layers))
    crosses = states("past_$_cross", "S", layers)
    made = states("present_$_cross", "S", layers)
    selves = states("present_$_self", "T", layers)
    mask = "" if speech else ", int32[B, S] encoder_attention_mask"
    given = f"float[B, S, {WIDTH}] encoder_input_ids" if speech else "int32[B, S] encoder_input_ids"
    read = "Identity(encoder_input_ids)" if speech else "Gather(words, encoder_input_ids)"
    if form == "new":
        signature = f"({given}{mask}) => ({made[2:]})"
        inside = f"read = {read}\n{keys}"
    else:
        empty = "".join(
            f"past_{part}_self_{k} = Identity(noState)\n"
            for k in range(layers)
            for part in ("key", "value")
        )
        signature = (
            f"({given}{mask}, int32[B, L] decoder_input_ids) => (float[B, L, {WORDS}] logits, "
            f"float[B, S, {WIDTH}] encoder_hidden_states{selves}{made})"
        )
        inside = f"""read = {read}
  encoder_hidden_states = Identity(read)
  {keys}
  batch = Shape<start = 0, end = 1>(encoder_input_ids)
  inside = Constant<value_ints = [{HEADS}, 0, {SIZE}]>()
  shape = Concat<axis = 0>(batch, inside)
  noState = ConstantOfShape(shape)
  {empty}{steps("decoder_input_ids")}"""
    encoder = parser.parse_graph(f"encoder {signature} {{\n{inside}\n}}")
    hidden = f", float[B, S, {WIDTH}] encoder_hidden_states" if form == "old" else ""
    pasts = states("past_$_self", "P", layers)
    decoder = parser.parse_graph(
        f"decoder (int32[B, 1] input_ids{mask}{hidden}{pasts}{crosses})"
        f" => (float[B, 1, {WORDS}] logits{selves}) {{\n{steps('input_ids')}\n}}"
    )
    weights = random_weights(layers, seed)
    for graph in (encoder, decoder):
        used = {n for node in graph.node for n in node.input}
        graph.initializer.extend(
            numpy_helper.from_array(v.astype(np.float32), n)
            for n, v in weights.items()
            if n in used
        )
    return {"encoder": encoder, "decoder": decoder}


@pytest.mark.parametrize("form", ["old", "new"])
def test_beams_of_encoders(form: str) -> None:
    graphs = seq2seq(1, 21, form)
    rng = np.random.default_rng(21)
    given = beams(prompt(2, 4), 10, 3, 3, **options(rng, 2, 4))
    given["input_ids"] = prompt(2, 4)
    pair = Pair("BeamSearch", given, BEAM, **graphs, model_type=1,
                decoder_start_token_id=2, eos_token_id=7, pad_token_id=0)  # fmt: skip
    compare_beams(pair, rng, 15, start=1)
    # Without a mask, padding in front is not read.
    plain = beams(prompt(2, 4, 3, pads=2), 9, 2)
    Pair("BeamSearch", plain, BEAM[:1], **graphs, model_type=1, constants=("num_beams",),
         decoder_start_token_id=2, eos_token_id=7, pad_token_id=0).compare()  # fmt: skip


def test_beams_of_speech() -> None:
    graphs = seq2seq(1, 30, "speech")
    rng = np.random.default_rng(30)
    features = rng.standard_normal((2, 5, WIDTH)).astype(np.float32)
    words = int32(2, 3, 4, 5, 6, 7).reshape(2, 3)
    ids: dict[str, Any] = {"model_type": 2, "eos_token_id": 7, "pad_token_id": 0}
    Pair("BeamSearch", beams(features, 10, 3, 2), BEAM[:2], **graphs, decoder_start_token_id=2,
         **ids).compare()  # fmt: skip
    given = beams(features, 10, 3, 2, decoder_input_ids=words)
    for name in ("cross_qk_layer_head", "extra_decoding_ids"):
        given[name] = None
    given["temperature"] = np.array([0.7], np.float32)
    Pair("WhisperBeamSearch", given, BEAM, **graphs, **ids).compare()


STAMPS = {"beginning_timestamp_token_id": 12, "no_timestamps_token_id": 11,
          "start_of_lm_token_id": 10, "translate_token_id": 8, "transcribe_token_id": 9,
          "no_speech_token_id": 7}  # fmt: skip


def test_timestamps() -> None:
    """Rules for words that say when something was said."""
    graphs = seq2seq(1, 31, "speech")
    rng = np.random.default_rng(31)
    features = rng.standard_normal((2, 5, WIDTH)).astype(np.float32)
    given = beams(features, 12, 3, 2, decoder_input_ids=int32(6, 3, 6, 4).reshape(2, 2),
                  logits_processor=int32(1))  # fmt: skip
    pair = Pair("WhisperBeamSearch", given, BEAM[:2], **graphs, **STAMPS, model_type=2,
                decoder_start_token_id=6, eos_token_id=5, pad_token_id=0)  # fmt: skip
    for _ in range(20):
        batch, count = (int(n) for n in rng.integers(1, 5, 2))
        begins = rng.integers(0, WORDS, (batch, int(rng.integers(1, 6)))).astype(np.int32)
        pair.compare(
            input_ids=rng.standard_normal((batch, 5, WIDTH)).astype(np.float32),
            decoder_input_ids=begins,
            max_length=int32(begins.shape[1] + 3 + rng.integers(0, 12)),
            num_beams=int32(count),
            num_return_sequences=int32(count),
            logits_processor=int32(rng.integers(0, 4) > 0),
        )


def refused(said: str, op: str, feeds: dict[str, Any], outputs: Any, **attributes: Any) -> None:
    made, _ = model(op, feeds, outputs, **{**IDS, **attributes})
    with pytest.raises(loopc.CompileError, match=said) as caught:
        loopc.InferenceSession(made)
    assert f"{op} 'search'" in str(caught.value)


def test_what_is_not_supported() -> None:
    decoder, _ = gpt()
    ids = prompt(1, 3)
    given = greedy(ids, 9)
    refused("model_type", "GreedySearch", given, GREEDY, decoder=decoder, model_type=1)
    refused("'decoder' is missing", "GreedySearch", given, GREEDY)
    refused("model_type 3", "BeamSearch", beams(ids, 9, 2), BEAM, decoder=decoder, model_type=3)
    refused("'encoder' or 'decoder' is missing", "BeamSearch", beams(ids, 9, 2), BEAM,
            decoder=decoder, model_type=1)  # fmt: skip
    rules = beams(ids, 9, 2, logits_processor=int32(1))
    refused("'logits_processor'", "BeamSearch", rules, BEAM, decoder=decoder, model_type=2)
    refused("beginning_timestamp_token_id", "WhisperBeamSearch", rules, BEAM, decoder=decoder)
    present = {**sampling(ids, 9, 0), "presence_mask": np.ones((1, WORDS), np.int32)}
    refused("'presence_mask'", "Sampling", present, GREEDY, decoder=decoder)
    shared, _ = gpt()
    shared.input.append(helper.make_tensor_value_info("past_sequence_length", 6, [1]))
    refused("share a buffer", "GreedySearch", given, GREEDY, decoder=shared)
    narrow, _ = gpt()
    narrow.input[3].type.tensor_type.shape.dim[2].dim_param = "heads"
    refused("known heads", "GreedySearch", given, GREEDY, decoder=narrow)
    wide, _ = gpt()
    wide.input[0].type.tensor_type.elem_type = TensorProto.INT64
    refused("is declared as", "GreedySearch", given, GREEDY, decoder=wide)


def test_bodies_alone_call_graphs() -> None:
    """What a search's body has for that is no operator of models."""
    made = parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18, "loopc.graph" : 1]>
        g (float[n] x) => (float[n] y) {
          y = loopc.graph.Call<graph = inner (float[n] a) => (float[n] b) { b = Neg(a) }>(x)
        }
    """)
    with pytest.raises(loopc.CompileError, match=r"domain 'loopc\.graph' is unknown"):
        loopc.InferenceSession(made)
