# ===- test_ray.py - Ray Data ---------------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.ray.Predictor` on a local cluster, a worker of which is killed in the middle."""

import os
import signal

import loopc.ray
import numpy as np
import onnx
import pytest
import ray
from pages import run_page

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
model (float[N,4] x) => (float[N,4] y, float[N] total) <int64[1] axes = {1}> {
  y = Tanh (x)
  total = ReduceSum <keepdims = 0> (y, axes)
}"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("ray") / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return str(path)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module", autouse=True)
def _cluster(cache):
    # Workers compile as those of users do: in a process of its own, once for all.
    variables = {"LOOPC_CACHE_DIR": cache, "LOOPC_COMPILE": ""}
    ray.init(
        num_cpus=4,
        include_dashboard=False,
        object_store_memory=200 * 2**20,
        runtime_env={"env_vars": variables},
        log_to_driver=False,
    )
    yield
    ray.shutdown()


def rows(count):
    return np.arange(4 * count, dtype=np.float32).reshape(count, 4) / count


def dataset(data, column="x"):
    return ray.data.from_numpy(np.array_split(data, 4)).rename_columns({"data": column})


def predict(data, model, predictor=loopc.ray.Predictor, **options):
    return dataset(data).map_batches(
        predictor, fn_constructor_kwargs={"model": model, **options}, batch_size=64, concurrency=2,
        zero_copy_batch=True,
    )  # fmt: skip


def test_results(model, cache):
    found = predict(rows(1000), model).take_all()
    x = np.stack([row["x"] for row in found])
    order = np.argsort(x[:, 0])
    np.testing.assert_array_equal(x[order], rows(1000))
    y = np.stack([row["y"] for row in found])
    np.testing.assert_allclose(y, np.tanh(x), 1e-5, 1e-6)
    np.testing.assert_allclose([row["total"] for row in found], y.sum(1), 1e-5, 1e-5)


def test_columns(model):
    data = dataset(rows(10), "given")
    found = data.map_batches(
        loopc.ray.Predictor,
        fn_constructor_kwargs={
            "model": model, "inputs": {"x": "given"}, "outputs": {"total": "sum"},
            "keep_columns": False,
        },
        concurrency=1,
    )  # fmt: skip
    assert set(found.take_all()[0]) == {"sum"}


def test_threads_are_the_actors(model):
    class Threads(loopc.ray.Predictor):
        def __call__(self, batch):
            threads = self.session.get_session_options().intra_op_num_threads
            return {
                "threads": np.full(len(batch["x"]), threads),
                "writable": np.full(len(batch["x"]), batch["x"].flags.writeable),
            }

    found = dataset(rows(4)).map_batches(
        Threads, fn_constructor_kwargs={"model": model}, concurrency=1, num_cpus=2,
        zero_copy_batch=True,
    )  # fmt: skip
    assert found.take_all() == [{"threads": 2, "writable": False}] * 4


def test_errors_come_back(model):
    with pytest.raises(Exception, match="the batch has no column 'z'"):
        predict(rows(10), model, inputs={"x": "z"}).take_all()
    with pytest.raises(Exception, match="input 'x'"):
        predict(rows(10).astype(np.float64), model).take_all()


def test_a_worker_is_killed(model, tmp_path):
    mark = str(tmp_path / "killed")

    class Dies(loopc.ray.Predictor):
        """Ends its process in the middle of a batch, once."""

        def __call__(self, batch):
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return super().__call__(batch)
            os.kill(os.getpid(), signal.SIGKILL)

    found = predict(rows(1000), model, Dies).take_all()
    assert os.path.exists(mark)
    x = np.stack([row["x"] for row in found])
    np.testing.assert_array_equal(x[np.argsort(x[:, 0])], rows(1000))
    np.testing.assert_allclose(np.stack([row["y"] for row in found]), np.tanh(x), 1e-5, 1e-6)


def test_page(tmp_path):
    run_page("Serving.md", "", tmp_path)
