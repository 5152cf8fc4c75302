# ===- test_packages.py - Packages that were written for onnxruntime --------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Packages of PyPI whose ``import onnxruntime`` gives loopc: the same answers.

Each is run as it is, by a process in which ``sys.modules["onnxruntime"]`` is loopc, by
one in which it is onnxruntime with loopc's execution provider in all sessions, and by one
in which it is onnxruntime.
"""

import json
import subprocess
import sys

import pytest

PRELUDE = """
import json, sys
if sys.argv[1] == "loopc":
    import loopc
    sys.modules["onnxruntime"] = loopc
elif sys.argv[1] == "provider":
    import loopc.onnxruntime
    loopc.onnxruntime.enable()
import numpy as np
# A tone and a little noise: what is said of silence alone is a matter of roundings.
tones = np.sin(2 * np.pi * 220 * np.arange(16000) / 16000)
tones = (tones + np.random.default_rng(0).normal(0, 0.05, 16000)).astype(np.float32)
"""
PROGRAMS = {
    # The pitch of a voice.
    "swift_f0": """
from swift_f0 import SwiftF0
found = SwiftF0(threads=1, spin=False).detect(tones, 16000)
answer = [found.pitch_hz.tolist(), found.confidence.tolist()]
""",
    # An encoder, and a decoder that is called for each letter.
    "arabic_name_romanizer": """
import arabic_name_romanizer
names = ["محمد", "زغلفوط الشنكبي", "سعاد الخرفوشية"]
answer = [[c.text for c in arabic_name_romanizer.transliterate(name, top_k=2)] for name in names]
""",
    # The type of a file.
    "magika": """
from magika import Magika
texts = [
    b"def f(x):\\n    import os\\n    return x + 1\\nclass A:\\n    pass\\n" * 5,
    b"# Title\\nThis is *text*.\\n\\n- a\\n- b\\n" * 5,
    b'{"a": [1, 2, 3], "b": {"c": null}}' * 8,
]
found = [Magika().identify_bytes(text) for text in texts]
answer = [[str(one.output.label), one.score] for one in found]
""",
    # Frames of speech, and what they are made of.
    "onnx_asr": """
import onnx_asr, pathlib
from onnx_asr.preprocessors.preprocessor import OnnxPreprocessor
from onnx_asr.preprocessors.resampler import Resampler
folder = pathlib.Path(__import__("importlib.util").util.find_spec("silero_vad").origin).parent
vad = onnx_asr.load_vad("silero", folder / "data")
speech = np.concatenate([tones[:8000] / 50, tones])[None]
lengths = np.array([speech.shape[1]])
answer = [list(one) for one in vad.segment_batch(speech, lengths, 16000)]
for name in ("kaldi", "nemo80", "whisper80"):
    features, count = OnnxPreprocessor(name, {})(speech, lengths)
    answer += [features.mean(axis=1).tolist(), count.tolist()]
slower, count = Resampler(8000, {})(speech, lengths, 16000)
answer += [slower[0, ::100].tolist(), count.tolist()]
""",
    # Vowels of Arabic, by quantized LSTMs.
    "text2tashkeel": """
from text2tashkeel import Diacritizer
answer = [Diacritizer("rawi-v2-int8").diacritize("بسم الله الرحمن الرحيم")]
""",
}


def answer_of(engine, program):
    code = PRELUDE + program + "\nprint(json.dumps(answer))\n"
    done = subprocess.run(
        [sys.executable, "-c", code, engine], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def agree(given, expected):
    if isinstance(expected, list):
        return len(given) == len(expected) and all(map(agree, given, expected))
    return given == (pytest.approx(expected, 1e-3, 1e-3) if type(expected) is float else expected)


@pytest.mark.parametrize("package", PROGRAMS)
def test_package(package):
    given, inside, expected = (
        answer_of(engine, PROGRAMS[package]) for engine in ("loopc", "provider", "onnxruntime")
    )
    assert agree(given, expected), (given, expected)
    assert agree(inside, expected), (inside, expected)


def test_loops_of_packages_are_claimed():
    """The loops in the models of these packages run on loopc's execution provider."""
    program = """
import onnxruntime
from arabic_name_romanizer import transliterate
made, real = [], onnxruntime.InferenceSession.__init__
def create(self, model, sess_options=None, *rest, **named):
    sess_options = sess_options or onnxruntime.SessionOptions()
    sess_options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    real(self, model, sess_options, *rest, **named)
    made.append(self)
onnxruntime.InferenceSession.__init__ = create
transliterate("\u0633\u0639\u0627\u062f")
answer = sorted({
    (graph.ep_name, node.op_type)
    for session in made
    for graph in session.get_provider_graph_assignment_info()
    for node in graph.get_nodes()
    if node.op_type in ("Loop", "Scan", "If", "LSTM", "GRU", "RNN")
})
"""
    assert answer_of("provider", program) == [["LoopcExecutionProvider", "GRU"]]
