# ===- test_ort_ep_context.py - Models that hold compiled code --------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""EPContext models, other versions of onnxruntime, and the programs of docs/OnnxRuntimeEP.md."""

import ctypes
import os
import pathlib
import platform
import re
import subprocess
import sys

import loopc
import loopc.onnxruntime
import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from ort_provider import (
    GROWTH,
    assert_equal,
    assert_like_alone,
    find_refusal,
    growth_feeds,
    open_claiming,
    open_session,
    parse,
    run_alone,
)

ROOT = pathlib.Path(__file__).parents[2]


# ----- models with compiled code -----------------------------------------------


def write_context(folder, embed, model="model.onnx", **options):
    """Writes context.onnx in the folder, of model.onnx there."""
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 3
    entries = {"enable": "1", "embed_mode": embed, "file_path": str(folder / "context.onnx")}
    for key, value in entries.items():
        session_options.add_session_config_entry(f"ep.context_{key}", value)
    loopc.onnxruntime.add_provider(session_options, **options)
    return onnxruntime.InferenceSession(str(folder / model), session_options)


@pytest.mark.parametrize("embed", ["0", "1"])
def test_context_models(tmp_path, embed, monkeypatch, tmp_path_factory):
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(scratch))
    model = parse(GROWTH)
    onnx.save(model, tmp_path / "model.onnx")
    expected = run_alone(model, growth_feeds())
    assert_equal(write_context(tmp_path, embed).run(None, growth_feeds()), expected)
    # A library that is in use is replaced by another file.
    mapped = open_session(str(tmp_path / "context.onnx"))
    os.remove(tmp_path / "context.onnx")
    write_context(tmp_path, embed)
    assert_equal(mapped.run(None, growth_feeds()), expected)
    (node,) = (n for n in onnx.load(tmp_path / "context.onnx").graph.node if n.op_type != "Add")
    assert node.op_type == "EPContext" and node.domain == "com.microsoft"
    libraries = [path.name for path in tmp_path.glob("context_*")]
    assert len(libraries) == (1 if embed == "0" else 0)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "context.onnx", *libraries}

    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ["context.onnx", *libraries]:
        os.rename(tmp_path / name, moved / name)
    session = open_claiming(["EPContext"], str(moved / "context.onnx"))
    assert_equal(session.run(None, growth_feeds()), expected)
    assert list(scratch.iterdir()) == []


LOAD = """
import numpy as np, onnxruntime, loopc.onnxruntime
options = loopc.onnxruntime.add_provider(onnxruntime.SessionOptions())
session = onnxruntime.InferenceSession("context.onnx", options)
x = np.arange(4, dtype=np.float32)
print(session.run(None, {"n": np.array(2), "x": x, "y": x})[0].tolist())
maps = open("/proc/self/maps").read()
print([name in maps for name in ("libloopc.so", "libloopc_ort", "libloopc_compiler", "libLLVM")])
"""


@pytest.mark.parametrize("embed", ["0", "1"])
def test_context_models_are_loaded_without_a_compiler(tmp_path, embed):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    write_context(tmp_path, embed)
    os.remove(tmp_path / "model.onnx")
    # A process that could compile would do it itself.
    said = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=tmp_path, env=os.environ | {"LOOPC_COMPILE": "inprocess", "LOOPC_CACHE_DIR": "off"},
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    assert said == ["[0.0, 16.0, 32.0, 48.0]", "[True, True, False, False]"]


def load_changed(folder, change):
    """A session of context.onnx after its node is changed."""
    model = onnx.load(folder / "context.onnx")
    (node,) = (n for n in model.graph.node if n.op_type == "EPContext")
    change({a.name: a for a in node.attribute})
    return open_session(model, log_level=4)


def test_damaged_context_models(tmp_path, capfd):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    write_context(tmp_path, "1")

    def damage(attributes):
        code = bytearray(attributes["ep_cache_context"].s)
        code[len(code) // 2] ^= 1
        attributes["ep_cache_context"].s = bytes(code)

    def empty(attributes):
        attributes["ep_cache_context"].s = b""

    def rename(attributes):
        attributes["notes"].s = attributes["notes"].s.replace(b"0,1,2", b"0,1,7")

    def leave(name):
        def change(attributes):
            attributes["embed_mode"].i = 0
            attributes["ep_cache_context"].s = name

        return change

    for change, message in (
        (damage, "is damaged"),
        (empty, "is damaged"),
        (rename, "name the port 7"),
        (leave(b"../x.so"), "not beside the model"),
        (leave(b"/x.so"), "not beside the model"),
        (leave(b"x.so"), "the model was given as bytes"),
    ):
        with pytest.raises(Exception, match=message):
            load_changed(tmp_path, change)


def test_context_models_in_memory(tmp_path):
    model = parse(GROWTH)
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 4
    loopc.onnxruntime.add_provider(session_options)

    def compile_model(embed):
        return onnxruntime.ModelCompiler(
            session_options, model.SerializeToString(), embed_compiled_data_into_model=embed
        ).compile_to_bytes()

    session = open_claiming(["EPContext"], onnx.ModelProto.FromString(compile_model(True)))
    assert_like_alone(session, model, growth_feeds())
    with pytest.raises(Exception, match=r"ep\.context_file_path says where"):
        compile_model(False)


def test_context_models_for_other_machines(tmp_path, capfd):
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    session = open_claiming([], parse(GROWTH), log_level=2, cpu="none-such")
    assert "Loop stays with onnxruntime: error: LC0602: 'none-such'" in capfd.readouterr().err
    if platform.machine() == "x86_64":
        write_context(tmp_path, "0", cpu="x86-64-v2")
        session = open_session(str(tmp_path / "context.onnx"))
        assert_like_alone(session, parse(GROWTH), growth_feeds())


# ----- other onnxruntimes ------------------------------------------------------


def load_by(version, get_api):
    """What the library answers an onnxruntime: the message of a status, or None."""
    said = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
    def create_status(code, message):
        said.append(message.decode())
        return 1

    nothing = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: None)
    table = (ctypes.c_void_p * 500)(*[ctypes.cast(nothing, ctypes.c_void_p).value] * 500)
    table[0] = ctypes.cast(create_status, ctypes.c_void_p).value
    tables = {"all": ctypes.addressof(table), "none": None}
    text = ctypes.create_string_buffer(version)
    get_version = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: ctypes.addressof(text))
    get_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(
        lambda number: tables["all" if number == 1 else get_api]
    )
    base = (ctypes.c_void_p * 2)(
        ctypes.cast(get_table, ctypes.c_void_p), ctypes.cast(get_version, ctypes.c_void_p)
    )
    library = ctypes.CDLL(loopc.get_ep_library())
    factories, count = (ctypes.c_void_p * 1)(), ctypes.c_size_t(7)
    library.CreateEpFactories.restype = ctypes.c_void_p
    status = library.CreateEpFactories(
        b"x", base, None, factories, ctypes.c_size_t(1), ctypes.byref(count)
    )
    assert (status == 1) == bool(said) and count.value == 0
    return said[0]


@pytest.mark.parametrize(
    ("version", "get_api", "message"),
    [
        (b"1.26.4", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime 1.26.4"),
        (b"2.0.0", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime 2.0.0"),
        (b"dev", "all", "loopc needs onnxruntime 1.27 or a later 1.x, this is onnxruntime dev"),
        (b"1.27.0", "none", "this is onnxruntime 1.27.0, which has no interface of version 1.27"),
        (b"1.31.1", "all", "this is onnxruntime 1.31.1, which was built without execution providers"),
    ],
)  # fmt: skip
def test_other_versions_are_refused(version, get_api, message):
    assert load_by(version, get_api).startswith(message)


def test_functions_are_tried():
    # The functions of a real one, but for one that says something else.
    program = """
import ctypes, glob, loopc, onnxruntime
(real,) = glob.glob(onnxruntime.__path__[0] + "/capi/libonnxruntime.so.*")
base = ctypes.CDLL(real).OrtGetApiBase
base.restype = ctypes.POINTER(ctypes.c_void_p * 2)
get_table = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(base().contents[0])
table = (ctypes.c_void_p * 424).from_buffer_copy((ctypes.c_void_p * 424).from_address(get_table(27)))
text = ctypes.create_string_buffer(b"something else")
wrong = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda status: ctypes.addressof(text))
said = []
create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)(table[0])
def create_status(code, message):
    said.append(message.decode())
    return create(code, message)
mine = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)(create_status)
table[0], table[2] = (ctypes.cast(f, ctypes.c_void_p).value for f in (mine, wrong))
give = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(lambda number: ctypes.addressof(table))
other = (ctypes.c_void_p * 2)(ctypes.cast(give, ctypes.c_void_p), base().contents[1])
library = ctypes.CDLL(loopc.get_ep_library())
library.CreateEpFactories.restype = ctypes.c_void_p
count = ctypes.c_size_t(0)
library.CreateEpFactories(b"x", other, None, (ctypes.c_void_p * 1)(), ctypes.c_size_t(1), ctypes.byref(count))
print(said[-1])
"""
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "whose functions are not what loopc takes them for" in result.stdout


# ----- docs/OnnxRuntimeEP.md -----------------------------------------------------


def test_the_programs_of_the_documentation(tmp_path, monkeypatch, capfd):
    text = (ROOT / "docs/OnnxRuntimeEP.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    start, report, cancel, ahead = (block for language, block in blocks if language == "python")
    _, answer, said = (block for language, block in blocks if not language)
    onnx.save(parse(GROWTH), tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(start, names)
    assert_like_alone(names["session"], parse(GROWTH), growth_feeds())
    exec(report, names)
    assert capfd.readouterr().out == answer
    exec(cancel, names)
    with pytest.raises(Exception, match="cancelled"):
        names["session"].run(None, growth_feeds())
    if platform.machine() == "x86_64":
        exec(ahead, names)
        session = open_session("compiled.onnx")
        assert_like_alone(session, parse(GROWTH), growth_feeds())

    check_what_a_run_says(said, capfd)


def check_what_a_run_says(documented, capfd):
    model = parse("""
g (int64 n, float[N] x) => (float[N] y) {
  t = Constant<value = bool {1}>()
  y = Loop<body = b (int64 i, bool k, float[N] s) => (bool k2, float[N] s2) {
    k2 = Identity(k)
    s2 = Cos(s)
  }>(n, t, x)
}""")
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    loop.name = "decode"
    session = open_session(model, log_level=0)
    capfd.readouterr()
    session.run(None, {"n": np.array(2), "x": np.ones(3, np.float32)})
    (line,) = re.findall(r"Loop 'decode': .* of its own", capfd.readouterr().err)
    line = line.replace("'n' is read", "'x' is read")

    def mask(text):
        return re.sub(r"'x' is read at N(, 'x' is read at N)*", "inputs",
                      re.sub(r"0x\w+|\d+", "N", text))  # fmt: skip

    assert mask(line) == mask(documented.strip())


def test_the_documentation_has_all_options(capfd):
    text = (ROOT / "docs/OnnxRuntimeEP.md").read_text()
    rows = set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) | {"features"}
    (listed,) = re.findall(r"'device': it has ([\w, ]+)", find_refusal(capfd, device=0))
    assert set(listed.split(", ")) - {""} <= rows
