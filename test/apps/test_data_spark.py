# ===- test_data_spark.py - Spark -----------------------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""`loopc.batches.Predictor.arrow` in Spark's `mapInArrow`, a worker of which is killed."""

import os
import signal
import sys

import loopc.batches
import numpy as np
import onnx
import pyspark.sql

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
model (double[N] x) => (double[N] y) { y = Tanh (x) }"""


def test_a_worker_of_spark_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    path = str(tmp_path / "model.onnx")
    onnx.save(onnx.parser.parse_model(MODEL), path)
    predictor = loopc.batches.Predictor(path)
    mark = str(tmp_path / "killed")

    # Spark's workers do not find this file: what is defined here travels along.
    def work(batches):
        """The first one that comes here ends its process behind its first batch."""
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            yield from predictor.arrow(batches)
        else:
            yield next(predictor.arrow(batches))
            os.kill(os.getpid(), signal.SIGKILL)

    # The second number is how often a task may fail.
    session = (
        pyspark.sql.SparkSession.builder.master("local[1,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
        .getOrCreate()
    )
    try:
        frame = session.createDataFrame([(i / 100,) for i in range(100)], "x double").repartition(4)
        found = frame.mapInArrow(work, "x double, y double").collect()
    finally:
        session.stop()
    assert os.path.exists(mark)
    found.sort()
    np.testing.assert_allclose([row.x for row in found], np.arange(100) / 100)
    np.testing.assert_allclose([row.y for row in found], np.tanh(np.arange(100) / 100))
