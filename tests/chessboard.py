"""A table that only rules can tell: no line, and no product of two lines."""

import numpy as np


def chessboard(rows: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return two columns of numbers from 0 to 4, and whether they meet on a dark square."""
    a, b = np.random.default_rng(seed).uniform(0, 4, (2, rows))
    return {"a": a, "b": b}, (a.astype(int) + b.astype(int)) % 2 == 1
