"""Hashes of numbers, by which equal rows are told.

`hash_rows` is contract, oracle and fallback of the native kernel, as the functions in
``naively.kernels.reference`` are.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint64]

SALT = np.uint64(0x9E3779B97F4A7C15)  # the hash of 0, so that 0 is not as if missing
TILE = 16384  # numbers at a time, so that temporaries stay in the cache


def hash_numbers(numbers: NDArray[np.float64]) -> Hashes:
    """Return the hash of each number: its bits, of which the high ones are in the low ones too."""
    bits = (numbers + 0.0).view(np.uint64)  # -0 is 0
    hashes: Hashes = bits ^ (bits >> np.uint64(32)) ^ SALT
    return hashes


@np.errstate(invalid="ignore", over="ignore")
def hash_rows(values: NDArray[np.floating], factors: Hashes) -> Hashes:
    """Return for each row the sum of its hashes times the factors of the columns, modulo 2^64.

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
        Numbers, float32 or float64; a missing cell is NaN, and adds nothing.
    factors : ndarray of uint64, of shape (columns,)

    Returns
    -------
    total : ndarray of uint64, of shape (rows,)
    """
    total = np.zeros(len(values), np.uint64)
    rows = max(1, TILE // max(1, len(factors)))
    for start in range(0, len(values), rows):
        numbers = np.asarray(values[start : start + rows], np.float64)
        hashes = hash_numbers(numbers)
        if np.isnan(numbers.sum()):  # then some may be missing; it is quicker than to look at all
            hashes[np.isnan(numbers)] = 0
        total[start : start + rows] = hashes @ factors
    return total
