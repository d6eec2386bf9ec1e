"""What the kernels in plain NumPy refuse: indices out of range, cells that must not be there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def check_codes(codes: NDArray[np.integer], size: int, what: str) -> None:
    """Raise a ValueError unless every index is at least 0 and less than ``size``."""
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise ValueError(f"a {what} index is out of range")


def check_starts(indptr: NDArray[np.integer]) -> None:
    """Raise a ValueError unless the rows of a CSR matrix follow one another."""
    if (np.diff(indptr) < 0).any():
        raise ValueError("indptr is malformed")


def check_numbers(cells: NDArray[np.number], complete: bool) -> None:
    """Raise a ValueError if numbers are to be complete, and one is missing or infinite."""
    if complete and not np.isfinite(cells).all():
        raise ValueError("a cell is missing or infinite")


def check_present(codes: NDArray[np.integer], complete: bool) -> None:
    """Raise a ValueError if levels are to be complete, and one is missing."""
    if complete and (codes < 0).any():
        raise ValueError("a cell is missing")
