"""Writes the .npy files beside this one: `python make.py`, with numpy and ml_dtypes."""

from pathlib import Path

import ml_dtypes
import numpy as np

HERE = Path(__file__).parent


def save(name, array, version=None):
    with open(HERE / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


for kind in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
    save(kind, np.array([3, 1, 2], "<" + kind))
save("bf16", np.array([3, 1, 2], ml_dtypes.bfloat16))
save("bool", np.array([True, False, True]))
save("single", np.array(7, "<i4"))
save("empty", np.zeros((3, 0), "<f8"))
save("c_order", np.arange(6, dtype="<i2").reshape(2, 3))
save("fortran_order", np.asfortranarray(np.arange(6, dtype="<i2").reshape(2, 3)))
save("version_2", np.array([3, 1, 2], "<u2"), version=(2, 0))
save("version_3", np.array([3, 1, 2], "<u2"), version=(3, 0))

save("big_endian", np.array([3, 1, 2], ">f4"))
save("complex", np.array([1j], "<c8"))
save("strings", np.array(["three", "one"]))
save("objects", np.array([None], object))
save("records", np.array([(1, 2.0)], [("é", "<i4"), ("b", "<f4")]))
