# ===- files.py - Files for loopc-run, and what it made of them -------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""files.py make|check FOLDER: inputs and outputs of sum.onnxtxt by numpy and onnx."""

import pathlib
import sys

import numpy as np
from onnx import numpy_helper

X = np.array([1, 2, 3, 4], np.float32)
N = np.array(2)
TOTAL = X * 3
ALL = np.stack([X * 2, X * 3])


def make(folder: pathlib.Path) -> None:
    """Writes the same values in every format."""
    (folder / "data").mkdir(parents=True)
    for name, value in (
        ("input_0", N),
        ("input_1", X),
        ("output_0", TOTAL),
        ("output_1", ALL),
    ):
        proto = numpy_helper.from_array(value, name)
        (folder / "data" / f"{name}.pb").write_bytes(proto.SerializeToString())
    np.savez(folder / "in.npz", n=N, x=X)
    np.savez_compressed(folder / "packed.npz", n=N, x=X, other=np.zeros(3))
    np.savez(folder / "positional.npz", N, X)
    np.savez(folder / "out.npz", total=TOTAL, all=ALL)
    wrong = ALL.copy()
    wrong[1, 2] += 1
    np.savez(folder / "wrong.npz", total=TOTAL, all=wrong)
    np.savez(folder / "shape.npz", total=TOTAL[:3], all=ALL.astype(np.float64))
    np.save(folder / "big.npy", X.astype(">f4"))
    np.save(
        folder / "fortran.npy", np.asfortranarray(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    )
    np.save(folder / "object.npy", np.array([{}], object), allow_pickle=True)
    (folder / "cut.npy").write_bytes((folder / "big.npy").read_bytes()[:-1])
    packed = bytearray((folder / "packed.npz").read_bytes())
    packed[70] ^= 0xFF
    (folder / "damaged.npz").write_bytes(packed)


def check(folder: pathlib.Path) -> None:
    """Reads what loopc-run wrote."""
    with np.load(folder / "written.npz") as archive:
        assert sorted(archive) == ["all", "total"]
        assert archive["all"].dtype == np.float32
        np.testing.assert_array_equal(archive["all"], ALL)
        np.testing.assert_array_equal(archive["total"], TOTAL)
    np.testing.assert_array_equal(np.load(folder / "written" / "all.npy"), ALL)
    np.testing.assert_array_equal(np.load(folder / "written" / "total.npy"), TOTAL)
    print("files are right")


{"make": make, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
