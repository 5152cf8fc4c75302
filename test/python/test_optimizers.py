# ===- test_optimizers.py - Operators of ai.onnx.preview.training -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Optimizers broadcast their operands, as their texts say, whether extents are known or open."""

import loopc
import numpy as np
import onnx
import onnx.parser
import pytest

STATES = {"Adagrad": 1, "Momentum": 1, "Adam": 2}
ATTRIBUTES = {
    "Adagrad": "decay_factor = 0.5, epsilon = 0.01, norm_coefficient = 0.25",
    "Momentum": 'alpha = 0.75, beta = 0.5, norm_coefficient = 0.25, mode = "nesterov"',
    "Adam": "alpha = 0.75, beta = 0.5, epsilon = 0.01, norm_coefficient = 0.25",
}
Shape = tuple[int, ...]


def expected(
    op: str, rate: float, x: np.ndarray, g: np.ndarray, states: list[np.ndarray]
) -> list[np.ndarray]:
    """What `op` makes of one tensor in its third step."""
    g = 0.25 * x + g
    if op == "Adagrad":
        squares = states[0] + g * g
        return [x - rate / (1 + 3 * 0.5) * g / (np.sqrt(squares) + 0.01), squares]
    if op == "Momentum":
        moment = 0.75 * states[0] + 0.5 * g
        return [x - rate * (g + 0.75 * moment), moment]
    first, second = 0.75 * states[0] + 0.25 * g, 0.5 * states[1] + 0.5 * g * g
    rate = rate * np.sqrt(1 - 0.5**3) / (1 - 0.75**3)
    return [x - rate * first / (np.sqrt(second) + 0.01), first, second]


def model(op: str, shapes: list[Shape], form: str) -> bytes:
    """`op` for tensors of `shapes`: value, gradient and states."""

    def port(name: str, shape: Shape) -> str:
        if form == "unranked":
            return f"float {name}"
        extents = [f"{name}{k}" if form == "open" else str(e) for k, e in enumerate(shape)]
        return f"float[{', '.join(extents)}] {name}"

    names = ["x", "g", *(f"s{k}" for k in range(STATES[op]))]
    results = ["y", *(f"t{k}" for k in range(STATES[op]))]
    text = f"""<ir_version: 10, opset_import: ["" : 21, "ai.onnx.preview.training" : 1]>
        g (float r, int64 n, {", ".join(map(port, names, shapes))})
            => ({", ".join(f"float[{name}_] {name}" for name in results)}) {{
            {", ".join(results)} = ai.onnx.preview.training.{op} <{ATTRIBUTES[op]}>
                (r, n, {", ".join(names)})
        }}"""
    made = onnx.parser.parse_model(text)
    for info in made.graph.output:
        info.type.tensor_type.ClearField("shape")
    if form == "unranked":
        for info in made.graph.input[2:]:
            info.type.tensor_type.ClearField("shape")
    return bytes(made.SerializeToString())


#: Shapes of the value, the gradient and the first state.
SHAPES = [
    ((3,), (3,), (3,)),
    ((1,), (3,), (3,)),
    ((3,), (3,), (1,)),
    ((0,), (1,), (1,)),
    ((1,), (0,), (0,)),
    ((3,), (2, 3), (2, 1)),
    ((1, 3), (1,), (2, 1)),
]
CASES = [
    (op, shapes, form)
    for op in STATES
    for shapes in SHAPES
    for form in ("known", "open", "unranked")
    # See test_states_of_two_shapes_of_unknown_rank.
    if (op, shapes, form) != ("Adam", SHAPES[-1], "unranked")
]


@pytest.mark.parametrize(("op", "shapes", "form"), CASES)
def test_operands_broadcast(op: str, shapes: tuple[Shape, ...], form: str) -> None:
    value, gradient, state = shapes
    # The second state is as large as the value alone.
    all_shapes = [value, gradient, state, value][: 2 + STATES[op]]
    dice = np.random.default_rng(0)
    x, g, *states = (dice.uniform(0.5, 1, shape).astype(np.float32) for shape in all_shapes)
    session = loopc.InferenceSession(model(op, all_shapes, form))
    feeds = {"r": np.float32(0.1), "n": np.int64(3), "x": x, "g": g}
    got = session.run(None, feeds | {f"s{k}": each for k, each in enumerate(states)})
    for one, other in zip(got, expected(op, 0.1, x, g, states), strict=True):
        assert np.shape(one) == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("form", ["known", "open"])
@pytest.mark.parametrize("op", STATES)
def test_operands_that_do_not_broadcast_are_refused(op: str, form: str) -> None:
    all_shapes: list[Shape] = [(2,), (3,), (3,), (3,)]
    shapes = all_shapes[: 2 + STATES[op]]
    with pytest.raises(loopc.Error):
        feeds = {"r": np.float32(0.1), "n": np.int64(3)} | {
            name: np.ones(shape, np.float32)
            for name, shape in zip(["x", "g", "s0", "s1"], shapes, strict=False)
        }
        loopc.InferenceSession(model(op, shapes, form)).run(None, feeds)


def test_states_of_two_shapes_of_unknown_rank() -> None:
    all_shapes: list[Shape] = [(1, 3), (1,), (2, 1), (1, 3)]
    session = loopc.InferenceSession(model("Adam", all_shapes, "unranked"))
    feeds = {"r": np.float32(0.1), "n": np.int64(3)} | {
        name: np.ones(shape, np.float32)
        for name, shape in zip(["x", "g", "s0", "s1"], all_shapes, strict=True)
    }
    with pytest.raises(loopc.RunError):
        session.run(None, feeds)
