# ===- test_dask.py - Dask, and batches of Arrow --------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.batches.Predictor` in Dask's workers, one of which is killed, and over Arrow."""

import functools
import os
import pickle
import signal

import dask.distributed
import loopc
import loopc.batches
import numpy as np
import onnx
import pyarrow
import pytest

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
model (float[N,4] x) => (float[N,4] y, float[N] total) <int64[1] axes = {1}> {
  y = Tanh (x)
  total = ReduceSum <keepdims = 0> (y, axes)
}"""
X = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("dask") / "model.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return str(path)


def work(predictor, mark, rows):
    """A batch of Dask's; the first one ends its worker."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return predictor({"x": rows})["y"]
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_of_dask_is_killed(model, tmp_path):
    predictor = loopc.batches.Predictor(model)
    mark = str(tmp_path / "killed")
    with (
        dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        dask.distributed.Client(cluster) as client,
    ):
        parts = np.array_split(X, 20)
        found = client.gather(client.map(functools.partial(work, predictor, mark), parts))
    assert os.path.exists(mark)
    np.testing.assert_allclose(np.concatenate(found), np.tanh(X), 1e-5, 1e-6)


def columns():
    flat = pyarrow.array(X.reshape(-1))
    return {
        "lists": pyarrow.FixedSizeListArray.from_arrays(flat, 4),
        "tensors": pyarrow.FixedShapeTensorArray.from_numpy_ndarray(X),
    }


@pytest.mark.parametrize("kind", ["lists", "tensors"])
def test_arrow(model, kind):
    batch = pyarrow.RecordBatch.from_pydict({"id": range(100), "x": columns()[kind]})
    predictor = pickle.loads(pickle.dumps(loopc.batches.Predictor(model)))
    # A slice begins somewhere in the columns' memory.
    first, second = predictor.arrow([batch, batch.slice(90)])
    assert first.schema.names == ["id", "x", "y", "total"]
    y = np.array(first["y"].to_pylist(), np.float32)
    np.testing.assert_allclose(y, np.tanh(X), 1e-5, 1e-6)
    np.testing.assert_allclose(second["total"].to_numpy(), y[90:].sum(1), 1e-5, 1e-5)


def test_arrow_tensors_of_another_order():
    """Arrow may keep the dimensions of its tensors in another order than they are read in."""
    tensors = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    kept = pyarrow.array(tensors.transpose(0, 2, 1).reshape(-1))
    kind = pyarrow.fixed_shape_tensor(pyarrow.float32(), [3, 2], permutation=[1, 0])
    lists = pyarrow.FixedSizeListArray.from_arrays(kept, 6)
    column = pyarrow.ExtensionArray.from_storage(kind, lists)
    negate = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 21]>
        negate (float[n, 2, 3] x) => (float[n, 2, 3] y) { y = Neg(x) }"""
    )
    predictor = loopc.batches.Predictor(negate, keep_columns=False)
    batch = pyarrow.RecordBatch.from_arrays([column], ["x"])
    (made,) = predictor.arrow([batch.slice(1)])
    np.testing.assert_array_equal(np.array(made["y"].to_pylist(), np.float32), -tensors[1:])


@pytest.mark.parametrize("is_inside", [False, True])
def test_missing_values(model, is_inside):
    predictor = loopc.batches.Predictor(model, keep_columns=False)
    column = pyarrow.array([None, 1.0, 2.0, 3.0], pyarrow.float32())
    if is_inside:
        column = pyarrow.FixedSizeListArray.from_arrays(column, 4)
    nothing = pyarrow.RecordBatch.from_arrays([column], ["x"])
    with pytest.raises(loopc.InvalidArgument, match="column 'x' has 1 missing values"):
        next(predictor.arrow([nothing]))


def test_refused(model):
    predictor = loopc.batches.Predictor(model, keep_columns=False)
    for options, match in (
        ({"inputs": {"q": "x"}}, "inputs: the model has no 'q'"),
        ({"outputs": {"q": "x"}}, "outputs: the model has no 'q'"),
        ({"constants": {"q": 1}}, "constants: the model has no 'q'"),
    ):
        with pytest.raises(loopc.InvalidArgument, match=match):
            loopc.batches.Predictor(model, **options)
    with pytest.raises(loopc.InvalidArgument) as caught:
        predictor({"x": X.astype(np.float64)})
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
