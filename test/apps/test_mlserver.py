# ===- test_mlserver.py - MLServer ------------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.mlserver.LoopcModel` behind a server, asked by tritonclient."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import onnx
import pytest
import tritonclient.http

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
model (float[N,4] x, int64 count) => (float[N,4] y, float[N,4] z) <bool go = {1}> {
  y = Loop (count, go, x) <body = step (int64 i, bool c, float[N,4] v) => (bool c2, float[N,4] v2)
    { c2 = Identity (c)  v2 = Tanh (v) }>
  z = Neg (x)
}"""


#: Each row of the second result is the number of rows of the run.
ROWS = """<ir_version: 8, opset_import: ["" : 17]>
rows (float[N,4] x) => (float[N,4] y, int64[N] rows) {
  y = Tanh (x)
  count = Shape <end = 1> (x)
  rows = Expand (count, count)
}"""

#: Its settings are those that the test has.
SERVING = Path(__file__).parents[2] / "docs/Serving.md"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    onnx.save(onnx.parser.parse_model(MODEL), folder / "model.onnx")
    ports = [free_port() for _ in range(3)]
    settings = {
        "host": "127.0.0.1", "http_port": ports[0], "grpc_port": ports[1],
        "metrics_port": ports[2], "parallel_workers": 2,
    }  # fmt: skip
    (folder / "settings.json").write_text(json.dumps(settings))
    (page,) = re.findall(r"^```json\n(.*?)^```$", SERVING.read_text(), re.MULTILINE | re.DOTALL)
    (folder / "model-settings.json").write_text(page)
    # Another model, whose requests wait a moment for others.
    batched = {
        "name": "batched", "implementation": "loopc.mlserver.LoopcModel",
        "parameters": {"uri": "./rows.onnx"}, "max_batch_size": 8, "max_batch_time": 0.5,
    }  # fmt: skip
    (folder / "batched").mkdir()
    onnx.save(onnx.parser.parse_model(ROWS), folder / "batched/rows.onnx")
    (folder / "batched/model-settings.json").write_text(json.dumps(batched))
    command = [sys.executable, "-c", "from mlserver.cli import main; main()", "start", str(folder)]
    with open(folder / "log", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{ports[0]}")
    for _ in range(600):
        try:
            if client.is_model_ready("model") and client.is_model_ready("batched"):
                break
        except OSError:
            pass
        assert server.poll() is None, (folder / "log").read_text()
        time.sleep(0.2)
    else:
        raise AssertionError((folder / "log").read_text())
    yield f"127.0.0.1:{ports[0]}", server, ports
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(30)


def ask(address, x, count):
    client = tritonclient.http.InferenceServerClient(address, network_timeout=60)
    inputs = [
        tritonclient.http.InferInput("x", x.shape, "FP32"),
        tritonclient.http.InferInput("count", [1], "INT64"),
    ]
    inputs[0].set_data_from_numpy(x, binary_data=False)
    inputs[1].set_data_from_numpy(np.array([count]), binary_data=False)
    wanted = [tritonclient.http.InferRequestedOutput("y", binary_data=False)]
    return client.infer("model", inputs, outputs=wanted).as_numpy("y")


def test_requests_at_the_same_time(address):
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=(n, 4)).astype(np.float32) for n in range(1, 30)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, y in zip(xs, pool.map(lambda x: ask(address[0], x, 2), xs), strict=True):
            np.testing.assert_allclose(y, np.tanh(np.tanh(x)), 1e-5, 1e-6)


def test_metadata(address):
    client = tritonclient.http.InferenceServerClient(address[0])
    found = client.get_model_metadata("model")
    assert [(one["name"], one["datatype"], one["shape"]) for one in found["inputs"]] == [
        ("x", "FP32", [-1, 4]),
        ("count", "INT64", []),
    ]
    assert [one["name"] for one in found["outputs"]] == ["y", "z"]


def test_health_and_metrics(address):
    url, _, ports = address
    client = tritonclient.http.InferenceServerClient(url)
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("model") and not client.is_model_ready("nothing")
    ask(url, np.ones((1, 4), np.float32), 1)
    with urllib.request.urlopen(f"http://127.0.0.1:{ports[2]}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    (counted,) = re.findall(
        r'^model_infer_request_success_total\{model="model".*\} (.*)$', text, re.M
    )
    assert float(counted) >= 1


def test_requests_of_one_batch(address):
    """MLServer runs requests together that come within `max_batch_time`."""

    def rows(x):
        client = tritonclient.http.InferenceServerClient(address[0], network_timeout=60)
        given = tritonclient.http.InferInput("x", x.shape, "FP32")
        given.set_data_from_numpy(x, binary_data=False)
        wanted = [
            tritonclient.http.InferRequestedOutput(name, binary_data=False)
            for name in ("y", "rows")
        ]
        found = client.infer("batched", [given], outputs=wanted)
        np.testing.assert_allclose(found.as_numpy("y"), np.tanh(x), 1e-5, 1e-6)
        return found.as_numpy("rows")

    xs = [np.full((n % 2 + 1, 4), n, np.float32) / 8 for n in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(rows, xs))
    assert [len(one) for one in counts] == [len(x) for x in xs]
    assert max(one.max() for one in counts) > 2


def test_clients_are_told(address):
    with pytest.raises(Exception, match=r"input 'x'"):
        ask(address[0], np.ones((2, 5), np.float32), 1)


def test_a_worker_is_killed(address):
    url, server, _ = address
    children = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(server.pid)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    workers = [int(line.split()[0]) for line in children if "multiprocessing.spawn" in line]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    x = np.ones((1, 4), np.float32)
    deadline = time.monotonic() + 60
    while True:
        # Until the server has seen it, requests of that worker may end with an error.
        try:
            found = [ask(url, x, 1) for _ in range(4)]
            break
        except Exception:
            assert time.monotonic() < deadline
            time.sleep(0.5)
    np.testing.assert_allclose(found, np.tanh([x] * 4), 1e-5)
