# ===- batches.py - Models over batches of columns ---------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""A model for engines that hand out batches of columns: Ray Data, Dask, Spark.

`Predictor` is a function of batches, which can be pickled: a worker makes its session from the
cache of compiled models, whose code and weights all processes of a machine share.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from loopc._errors import InvalidArgument
from loopc._extras import require
from loopc._options import Model, SessionOptions
from loopc._session import InferenceSession

__all__ = ["Predictor"]


class Predictor:
    """A model as a function of a batch: arrays by the names of columns.

    Attributes:
        session: the InferenceSession that runs.
    """

    def __init__(
        self,
        model: Model,
        *,
        inputs: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        keep_columns: bool = True,
        sess_options: SessionOptions | None = None,
        device: str | None = None,
    ) -> None:
        """Makes the session: from the cache, or by compiling, once for all processes.

        Args:
            model: as `InferenceSession` has it. A path is best for engines that send this to
                many workers: what is given as bytes travels along.
            inputs: for inputs of the model the columns that they are read from; others are
                the columns of their names.
            outputs: for outputs of the model, all that are wanted, the columns that they
                become; None for all of them under their names.
            constants: values of inputs that are the same for all batches.
            keep_columns: whether results have the columns of the batch, too.
            sess_options: how to compile and run.
            device: as `InferenceSession` has it.

        Raises:
            InvalidArgument: there is no such input or output.
            CompileError, DeviceError: as `InferenceSession`.
        """
        self.session = InferenceSession(model, sess_options, device=device)
        known = [port.name for port in self.session.get_inputs()]
        given = [port.name for port in self.session.get_overridable_initializers()]
        made = [port.name for port in self.session.get_outputs()]
        for what, wanted, there in (
            ("inputs", inputs, [*known, *given]),
            ("constants", constants, [*known, *given]),
            ("outputs", outputs, made),
        ):
            unknown = set(wanted or {}) - set(there)
            if unknown:
                names = ", ".join(map(repr, sorted(unknown)))
                raise InvalidArgument(f"{what}: the model has no {names}; it has: {there}")
        self._constants = dict(constants or {})
        self._columns = {name: name for name in known if name not in self._constants}
        self._columns.update(inputs or {})
        self._results = dict(outputs or {name: name for name in made})
        self._keep_columns = keep_columns

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Runs the model on a batch.

        Args:
            batch: an array for each column, which is read where it is and may be read-only.

        Returns:
            The columns of the batch, if they are kept, and those of the results.

        Raises:
            InvalidArgument: a column is missing, or does not fit the model.
            RunError: the computation failed. All these can be pickled.
        """
        missing = [name for name in self._columns.values() if name not in batch]
        if missing:
            raise InvalidArgument(f"the batch has no column {missing[0]!r}; it has: {list(batch)}")
        feeds = {name: batch[column] for name, column in self._columns.items()}
        results = self.session.run(list(self._results), {**feeds, **self._constants})
        made = dict(zip(self._results.values(), results, strict=True))
        return {**batch, **made} if self._keep_columns else made

    def arrow(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Runs the model on pyarrow.RecordBatch after pyarrow.RecordBatch.

        This is what Spark's `mapInArrow` wants, and Dask's delayed functions can use.
        Columns of numbers are read where they are, as are lists of one length and tensors
        of one shape, which have a dimension for it; results have columns of these kinds.

        Args:
            batches: what the engine hands out.

        Yields:
            A RecordBatch for each, as `__call__` has it.

        Raises:
            ImportError: the package pyarrow is not installed.
            InvalidArgument, RunError: as `__call__`, and for columns with missing values.
        """
        pyarrow = require("pyarrow", "batches.Predictor.arrow", "pyarrow")
        wanted = set(self._columns.values())
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            arrays = {name: _to_numpy(name, one) for name, one in columns.items() if name in wanted}
            made = self(arrays)
            results = {name: made[name] for name in self._results.values()}
            encoded = {
                name: _to_arrow(pyarrow, name, one, len(batch)) for name, one in results.items()
            }
            kept = columns if self._keep_columns else {}
            yield pyarrow.RecordBatch.from_pydict({**kept, **encoded})


def _to_numpy(name: str, column: Any) -> np.ndarray:
    """A column of Arrow as an array of one more dimension than an element has.

    Raises:
        InvalidArgument: a value is missing, of the column or of an element.
    """
    # Tensors of one shape are lists of one length, to which a name is given.
    storage = getattr(column, "storage", column)
    shape: Sequence[int] = (len(column),)
    missing = storage.null_count
    while hasattr(storage.type, "list_size"):
        shape = (*shape, storage.type.list_size)
        storage = storage.flatten()
        missing += storage.null_count
    if missing:
        raise InvalidArgument(f"column {name!r} has {missing} missing values")
    if hasattr(column, "to_numpy_ndarray"):
        # Arrow's own tensors, whose dimensions may lie in another order.
        tensors: np.ndarray = column.to_numpy_ndarray()
        return tensors
    if extents := getattr(column.type, "shape", None):
        shape = (shape[0], *extents)
    array: np.ndarray = storage.to_numpy(zero_copy_only=False)
    return array.reshape(shape)


def _to_arrow(pyarrow: Any, name: str, array: Any, rows: int) -> Any:
    """An array as a column: lists of one length for each further dimension."""
    array = np.asarray(array)
    if array.ndim == 0 or array.shape[0] != rows:
        raise InvalidArgument(
            f"output {name!r} has shape {array.shape}: it is no column of {rows} rows"
        )
    column = pyarrow.array(np.ascontiguousarray(array).reshape(-1))
    for extent in reversed(array.shape[1:]):
        column = pyarrow.FixedSizeListArray.from_arrays(column, extent)
    return column
