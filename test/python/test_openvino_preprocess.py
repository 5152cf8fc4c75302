# ===- test_openvino_preprocess.py - Models that are changed ---------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""PrePostProcessor, other shapes and outputs, and files, by OpenVINO and by loopc.openvino."""

import loopc
import loopc.openvino
import numpy as np
import onnx
import onnx.parser
import openvino
import openvino.preprocess
import pytest
from openvino import opset13 as ops

ENGINES = {"openvino": openvino, "loopc.openvino": loopc.openvino}
DRAW = np.random.default_rng(7)
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, str]:
    """The same model in both formats: each channel times its number, in a loop of one trip."""
    folder = tmp_path_factory.mktemp("images")
    image = ops.parameter([1, 3, 8, 6], np.float32, name="data")
    image.output(0).set_names({"image", "pixels"})
    factors = ops.constant(np.arange(3, dtype=np.float32).reshape(1, 3, 1, 1))
    hidden = ops.multiply(image, factors)
    hidden.set_friendly_name("times")
    hidden.output(0).set_names({"hidden"})
    result = ops.add(hidden, ops.constant(np.float32(1)))
    result.output(0).set_names({"y"})
    model = openvino.Model([ops.result(result, name="out")], [image], "images")
    model.set_rt_info("yolo", ["model_info", "model_type"])
    model.set_rt_info("cat dog", ["model_info", "labels"])
    openvino.save_model(model, folder / "model.xml", False)
    text = """<ir_version: 8, opset_import: ["" : 17]>
    images (float[1, 3, 8, 6] image) => (float[1, 3, 8, 6] y)
    <float[1, 3, 1, 1] factors = {0, 1, 2}, float one = {1}, int64 trips = {1}> {
      [times] hidden = Mul (image, factors)
      go = Constant <value = bool {1}> ()
      y = Loop (trips, go, hidden) <body = add (int64 i, bool on, float[?, ?, ?, ?] s)
        => (bool more, float[?, ?, ?, ?] t) {
        more = Identity (on)
        zero = Mul (image, image)
        nothing = Sub (zero, zero)
        more_of_s = Add (s, nothing)
        t = Add (more_of_s, one)
      }>
    }"""
    onnx.save(onnx.parser.parse_model(text), folder / "model.onnx")
    return {kind: str(folder / f"model.{kind}") for kind in ("xml", "onnx")}


def pixels(*shape: int) -> np.ndarray:
    return DRAW.integers(0, 255, shape).astype(np.uint8)


def reals(*shape: int) -> np.ndarray:
    return DRAW.random(shape, np.float32)


def camera(ov, steps):
    """A picture of bytes of any size, to what networks are trained with."""
    given = steps.input("image").tensor()
    given.set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    given.set_color_format(ov.preprocess.ColorFormat.BGR).set_spatial_dynamic_shape()
    steps.input().model().set_layout(ov.Layout("NCHW"))
    chain = steps.input().preprocess().convert_element_type(ov.Type.f32)
    chain.convert_color(ov.preprocess.ColorFormat.RGB)
    chain.resize(ov.preprocess.ResizeAlgorithm.RESIZE_LINEAR)
    chain.mean([1.0, 2.0, 3.0]).scale([4.0, 5.0, 6.0])
    steps.output("y").model().set_layout(ov.Layout("NCHW"))
    steps.output().tensor().set_layout(ov.Layout("NHWC")).set_element_type(ov.Type.f16)
    return pixels(1, 11, 13, 3)


def bytes_only(ov, steps):
    steps.input().tensor().set_element_type(ov.Type.u8)
    return pixels(1, 3, 8, 6)


def padded(ov, steps):
    steps.input().tensor().set_shape([1, 3, 6, 6])
    chain = steps.input().preprocess()
    mode = ov.preprocess.PaddingMode.CONSTANT
    chain.pad([0, 0, 2, 0], [0, 0, 1, 0], 0.5, mode).crop([0, 0, 1, 0], [1, 3, 9, 6])
    chain.mean(1.0).scale(2.0)
    return reals(1, 3, 6, 6)


def mirrored(ov, steps):
    steps.input().tensor().set_shape([1, 3, 4, 6])
    mode = ov.preprocess.PaddingMode.REFLECT
    steps.input().preprocess().pad([0, 0, 2, 0], [0, 0, 2, 0], 0.0, mode)
    return reals(1, 3, 4, 6)


def order_of_axes(ov, steps):
    steps.input().preprocess().convert_layout([0, 3, 1, 2])
    steps.output().postprocess().convert_layout([0, 2, 3, 1])
    return reals(1, 8, 6, 3)


def channels(ov, steps):
    steps.input().model().set_layout(ov.Layout("NCHW"))
    steps.input().preprocess().reverse_channels()
    steps.output().postprocess().convert_element_type(ov.Type.i32)
    return reals(1, 3, 8, 6)


def four_channels(ov, steps):
    given = steps.input().tensor().set_layout(ov.Layout("NHWC"))
    given.set_color_format(ov.preprocess.ColorFormat.BGRX)
    steps.input().model().set_layout(ov.Layout("NCHW"))
    steps.input().preprocess().convert_color(ov.preprocess.ColorFormat.RGB)
    return reals(1, 8, 6, 4)


def frame_of(name: str, to: str, size=None, steps_behind=None):
    """A frame of video, of `size` or that of the model."""

    def step(ov, steps):
        kinds = ov.preprocess.ColorFormat
        given = steps.input().tensor().set_element_type(ov.Type.u8)
        count = {"TWO_PLANES": 2, "THREE_PLANES": 3}.get(name.partition("_")[2], 1)
        names = ["y", "u", "v"][:count] if count > 1 else []
        given.set_color_format(getattr(kinds, name), names)
        if size is not None:
            given.set_spatial_dynamic_shape()
        steps.input().model().set_layout(ov.Layout("NCHW"))
        chain = steps.input().preprocess().convert_color(getattr(kinds, to))
        if size is not None:
            chain.resize(ov.preprocess.ResizeAlgorithm.RESIZE_LINEAR)
        height, width = size or (8, 6)
        if count == 1:
            return pixels(1, height * 3 // 2, width, 1)
        half = [pixels(1, height // 2, width // 2, 4 - count) for _ in range(count - 1)]
        return [pixels(1, height, width, 1), *half]

    return step


def resized(algorithm: str, is_bytes: bool = False):
    def step(ov, steps):
        given = steps.input().tensor().set_layout("NHWC" if ov is not openvino else
                                                  ov.Layout("NHWC"))  # fmt: skip
        given.set_spatial_static_shape(11, 13)
        if is_bytes:
            given.set_element_type(ov.Type.u8)
        steps.input().model().set_layout(ov.Layout("NCHW"))
        kind = getattr(ov.preprocess.ResizeAlgorithm, f"RESIZE_{algorithm}")
        steps.input().preprocess().resize(kind)
        return (pixels if is_bytes else reals)(1, 11, 13, 3)

    return step


CASES = {
    "camera": camera,
    "bytes": bytes_only,
    "padded": padded,
    "mirrored": mirrored,
    "order": order_of_axes,
    "channels": channels,
    "four channels": four_channels,
    "NV12": frame_of("NV12_SINGLE_PLANE", "RGB"),
    "NV12, two planes": frame_of("NV12_TWO_PLANES", "BGR"),
    "I420": frame_of("I420_SINGLE_PLANE", "BGR"),
    "I420, three planes": frame_of("I420_THREE_PLANES", "RGB"),
    "NV12, resized": frame_of("NV12_SINGLE_PLANE", "RGB", (12, 10)),
    "NV12, two planes, resized": frame_of("NV12_TWO_PLANES", "RGB", (4, 14)),
    "I420, resized": frame_of("I420_SINGLE_PLANE", "RGB", (16, 4)),
    "linear": resized("LINEAR"),
    "linear, bytes": resized("LINEAR", True),
    "nearest": resized("NEAREST"),
    "cubic": resized("CUBIC"),
    "bilinear of Pillow": resized("BILINEAR_PILLOW"),
    "bicubic of Pillow": resized("BICUBIC_PILLOW"),
}


@pytest.mark.parametrize("kind", ["xml", "onnx"])
@pytest.mark.parametrize("case", CASES)
def test_steps(case, kind, models):
    if "Pillow" in case and kind == "onnx":
        steps = loopc.openvino.preprocess.PrePostProcessor(
            loopc.openvino.Core().read_model(models[kind])
        )
        CASES[case](loopc.openvino, steps)
        with pytest.raises(loopc.InvalidArgument, match="Pillow's algorithms are for models of IR"):
            steps.build()
        return
    ports, results, given = [], [], None
    for ov in ENGINES.values():
        model = ov.Core().read_model(models[kind])
        steps = ov.preprocess.PrePostProcessor(model)
        made = CASES[case](ov, steps)
        given = made if given is None else given
        built = steps.build()
        assert built is model or ov is openvino
        compiled = ov.Core().compile_model(built, "CPU", EXACT)
        results.append(compiled(given if isinstance(given, list) else [given])[0])
        ports.append([])
        for port in compiled.inputs:
            names = port.names if kind == "xml" else len(port.names) > 0
            ports[-1].append((str(port.partial_shape), port.element_type.get_type_name(), names))
    assert ports[0] == ports[1]
    assert results[0].dtype == results[1].dtype and results[0].shape == results[1].shape
    # Where bytes are interpolated, sums near a half are rounded to either side.
    near = 2 if case == "linear, bytes" or "12" in case or "420" in case else 1e-5
    relative = 1e-3 if results[0].dtype == np.float16 else 1e-5
    np.testing.assert_allclose(results[1].astype(float), results[0].astype(float), relative, near)


def test_steps_that_do_not_fit(models):
    """An error names the step, and the model is as it was."""
    ov = loopc.openvino
    model = ov.Core().read_model(models["xml"])
    algorithm = ov.preprocess.ResizeAlgorithm.RESIZE_LINEAR
    nhwc = ov.Layout("NHWC")
    for build, reason in (
        (lambda p: p.input().preprocess().mean([1.0, 2.0, 3.0]), "mean: .* has no axis C"),
        (lambda p: p.input().preprocess().resize(algorithm), "resize: .* has no axis H"),
        (lambda p: p.input().tensor().set_layout(nhwc).set_shape([1, 9, 9, 3]),
         r"the steps give the shape \[1,9,9,3\], and the model has \[1,3,8,6\]"),
        (lambda p: (p.input().tensor().set_element_type("u8"), p.input().preprocess().scale(2.0)),
         "scale: elements of type u8"),
        (lambda p: p.input().preprocess().crop([0], [1]), "crop: expected 4 numbers"),
        (lambda p: p.input().preprocess().convert_color(ov.preprocess.ColorFormat.RGB),
         "UNDEFINED cannot become RGB"),
        (lambda p: p.input().preprocess().custom(lambda x: x), "custom: build the model by"),
        (lambda p: p.input().tensor().set_color_format(ov.preprocess.ColorFormat.NV12_TWO_PLANES),
         "the image has 2 planes: convert_color"),
        (lambda p: p.input().tensor().set_color_format(
            ov.preprocess.ColorFormat.I420_THREE_PLANES, ["y"]), "I420_THREE_PLANES has 3 planes"),
        (lambda p: p.input().tensor().set_color_format(
            ov.preprocess.ColorFormat.NV12_SINGLE_PLANE).set_spatial_static_shape(3, 4),
         "NV12: height and width are even, got 3"),
        (lambda p: (p.input().tensor().set_color_format(ov.preprocess.ColorFormat.GRAY),
                    p.input().preprocess().convert_color(ov.preprocess.ColorFormat.RGB)),
         "GRAY cannot become RGB"),
        (lambda p: p.input("z"), "no input 'z'"),
    ):  # fmt: skip
        steps = ov.preprocess.PrePostProcessor(model)
        with pytest.raises(RuntimeError, match=reason):
            build(steps)
            steps.build()
        assert model.inputs[0].element_type == "f32" and model.inputs[0].shape == [1, 3, 8, 6]


@pytest.mark.parametrize("kind", ["xml", "onnx"])
@pytest.mark.parametrize("color", ["RGB", "BGR", "NV12_SINGLE_PLANE", "I420_THREE_PLANES"])
@pytest.mark.parametrize("type", ["u8", "f32"])
def test_gray(kind, color, type, tmp_path):
    image = ops.parameter([1, 1, 4, 6], np.float32, name="image")
    image.output(0).set_names({"image"})
    result = ops.add(image, ops.constant(np.float32(1)))
    result.output(0).set_names({"y"})
    file = tmp_path / f"model.{kind}"
    if kind == "xml":
        openvino.save_model(openvino.Model([ops.result(result)], [image], "m"), file, False)
    else:
        text = """<ir_version: 8, opset_import: ["" : 17]>
        m (float[1, 1, 4, 6] image) => (float[1, 1, 4, 6] y) <float one = {1}> {
          y = Add (image, one)
        }"""
        onnx.save(onnx.parser.parse_model(text), file)
    results = []
    for ov in ENGINES.values():
        model = ov.Core().read_model(file)
        steps = ov.preprocess.PrePostProcessor(model)
        kinds = ov.preprocess.ColorFormat
        given = steps.input().tensor().set_element_type(getattr(ov.Type, type))
        given.set_color_format(getattr(kinds, color)).set_layout(ov.Layout("NHWC"))
        steps.input().model().set_layout(ov.Layout("NCHW"))
        steps.input().preprocess().convert_color(kinds.GRAY)
        compiled = ov.Core().compile_model(steps.build(), "CPU", EXACT)
        rng = np.random.default_rng(3)
        feeds = [rng.integers(0, 256, tuple(port.shape)).astype(type.replace("u8", "uint8")
                 .replace("f32", "float32")) for port in compiled.inputs]  # fmt: skip
        results.append(compiled(feeds)[0])
    near = 1 if type == "u8" else 1e-3
    np.testing.assert_allclose(results[1], results[0], 1e-5, near)


@pytest.mark.parametrize("layer", ["NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR"])
@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("type", [np.uint8, np.float32])
def test_layers_of_video(layer, planes, type, tmp_path):
    """What the package openvino puts into a model for a frame of video."""
    count = planes if planes == 1 or layer.startswith("I420") else 2
    shapes = (
        [[2, 12, 6, 1]] if count == 1 else [[2, 8, 6, 1]] + [[2, 4, 3, 4 - count]] * (count - 1)
    )
    given = [ops.parameter(shape, type, name=f"p{k}") for k, shape in enumerate(shapes)]
    made = {"NV12toRGB": ops.nv12_to_rgb, "NV12toBGR": ops.nv12_to_bgr,
            "I420toRGB": ops.i420_to_rgb, "I420toBGR": ops.i420_to_bgr}[layer](*given)  # fmt: skip
    model = openvino.Model([ops.result(made)], given, "video")
    openvino.save_model(model, tmp_path / "model.xml", False)
    feeds = [DRAW.integers(0, 256, shape).astype(type) for shape in shapes]
    expected = openvino.Core().compile_model(model, "CPU", EXACT)(feeds)[0]
    got = loopc.openvino.Core().compile_model(tmp_path / "model.xml")(feeds)[0]
    assert got.dtype == expected.dtype and got.shape == expected.shape == (2, 8, 6, 3)
    near = 1 if type is np.uint8 else 1e-3
    np.testing.assert_allclose(got.astype(float), expected.astype(float), 1e-5, near)


@pytest.mark.parametrize("engine", ENGINES)
def test_layouts(engine):
    ov = ENGINES[engine]
    assert str(ov.Layout("nchw")) == "[N,C,H,W]" and ov.Layout("N...C") == "[N,...,C]"
    assert ov.Layout("").empty and ov.Layout("?C??").get_index_by_name("C") == 1
    assert ov.Layout("N...C").get_index_by_name("C") == -1
    assert ov.layout_helpers.has_batch(ov.Layout("NC")) and not ov.Layout("NC").has_name("H")
    assert ov.layout_helpers.width_idx(ov.Layout("[N,C,H,W]")) == 3
    for wrong in ("NN", "[N,N]"):
        with pytest.raises(RuntimeError):
            ov.Layout(wrong)
    with pytest.raises(RuntimeError):
        ov.Layout("NC").get_index_by_name("H")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["xml", "onnx"])
def test_batches_outputs_and_files(engine, kind, models, tmp_path):
    ov = ENGINES[engine]
    model = ov.Core().read_model(models[kind])
    with pytest.raises(RuntimeError):
        ov.set_batch(model, 2)
    ov.layout_helpers.set_layout(model.inputs[0], ov.Layout("NCHW"))
    ov.set_batch(model, 2)
    assert ov.get_batch(model) == 2 and model.inputs[0].shape == [2, 3, 8, 6]
    assert model.outputs[0].partial_shape == [2, 3, 8, 6]
    # An extent that the file fixes becomes open, and another number.
    model.reshape([-1, 3, "1..9", 5])
    assert model.inputs[0].partial_shape[0].is_dynamic
    (added,) = model.add_outputs("hidden")
    assert added.any_name == "hidden" and len(model.outputs) == 2
    assert model.add_outputs(["y"])[0].any_name == "y" and len(model.outputs) == 2
    with pytest.raises(RuntimeError):
        model.add_outputs("nothing")
    kinds = [layer.get_type_name() for layer in model.get_ordered_ops()]
    assert kinds[0] == "Parameter" and kinds[-1] == "Result" and len(kinds) >= 5
    assert {"data" if kind == "xml" else "image"} == {
        one.get_friendly_name() for one in model.get_parameters()
    }
    x = reals(4, 3, 2, 5)
    results = ov.Core().compile_model(model, "CPU", EXACT)([x])
    np.testing.assert_allclose(results["hidden"], x * np.arange(3).reshape(3, 1, 1), 1e-6)
    np.testing.assert_allclose(results["y"], results["hidden"] + 1, 1e-6)
    if engine == "openvino":
        return
    # What is written has the shapes, outputs and layouts; of IR OpenVINO reads them, too.
    file = tmp_path / f"saved.{kind}"
    ov.save_model(model, file)
    for reader in ENGINES.values():
        again = reader.Core().read_model(str(file))
        assert [port.any_name for port in again.outputs] == ["y", "hidden"]
        assert str(again.inputs[0].partial_shape) == "[?,3,?,5]"
        assert kind == "onnx" or str(again.inputs[0].node.layout) == "[N,C,H,W]"
        results = reader.Core().compile_model(again, "CPU", EXACT)([x])
        np.testing.assert_allclose(results["hidden"], x * np.arange(3).reshape(3, 1, 1), 1e-6)
    with pytest.raises(loopc.InvalidArgument, match="whose files end in"):
        ov.save_model(model, tmp_path / ("saved.onnx" if kind == "xml" else "saved.xml"))
    with pytest.raises(loopc.InvalidArgument, match="weights stay as they are"):
        ov.save_model(model, file, compress_to_fp16=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_model_tells(engine, models):
    model = ENGINES[engine].Core().read_model(models["xml"])
    assert model.has_rt_info(["model_info", "model_type"])
    assert not model.has_rt_info(["model_info", "threshold"])
    assert model.get_rt_info(["model_info", "model_type"]).astype(str) == "yolo"
    assert model.get_rt_info(["model_info", "labels"]).value == "cat dog"
    with pytest.raises(RuntimeError):
        model.get_rt_info(["model_info", "threshold"])


def test_a_pair_names_an_output_of_a_layer(models):
    for kind in models:
        model = loopc.openvino.Core().read_model(models[kind])
        (added,) = model.add_outputs(("times", 0))
        assert added.names == {"hidden"}
        with pytest.raises(loopc.InvalidArgument, match="'times', output 1"):
            model.add_outputs(("times", 1))


def test_external_data_stay_where_they_are(tmp_path):
    text = """<ir_version: 8, opset_import: ["" : 17]>
    big (float[1, 300] x) => (float[1, 300] y) { h = MatMul (x, w)  y = Relu (h) }"""
    model = onnx.parser.parse_model(text)
    weights = reals(300, 300)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    file = tmp_path / "big.onnx"
    onnx.save(model, file, save_as_external_data=True, location="w.bin", size_threshold=10)
    ov = loopc.openvino
    read = ov.Core().read_model(file)
    read.add_outputs("h")
    steps = ov.preprocess.PrePostProcessor(read)
    steps.input().tensor().set_element_type("u8")
    results = ov.Core().compile_model(steps.build())([np.ones((1, 300), np.uint8)])
    np.testing.assert_allclose(results["h"][0], weights.sum(0), 1e-4)
