"""Tables that encode whole numbers by their place, where they are close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.names import Level

DENSE_RANGE = 1 << 16  # whole numbers within such a range are encoded by position


@dataclass(frozen=True, eq=False)
class CodeTable:
    """Codes by value, column after column, with a place for other numbers at each end."""

    low: NDArray[np.int64]  # (columns,): the value of each column's first place
    start: NDArray[np.int64]  # (columns,): where each column's places begin
    size: NDArray[np.int64]  # (columns,): how many places each column has
    codes: NDArray[np.int32]  # (places,): the code at each place

    @classmethod
    def of(cls, levels: tuple[tuple[Level, ...], ...]) -> CodeTable | None:
        """Make the table; None where levels are not whole numbers, or far apart."""
        if not all(of and all(type(level) is int for level in of) for of in levels):
            return None
        ends = [(min(of) - 1, max(of)) for of in levels]
        fits = np.iinfo(np.int64)
        if not ends or max(top - below + 2 for below, top in ends) > DENSE_RANGE:
            return None
        if min(below for below, _ in ends) < fits.min or max(top for _, top in ends) > fits.max:
            return None
        low = np.array([below for below, _ in ends], np.int64)
        size = np.array([top for _, top in ends], np.int64) - low + 2
        start = np.cumsum(size) - size
        codes = np.repeat(np.array([len(of) for of in levels], np.int32), size)
        for of, first, at in zip(levels, low, start, strict=True):
            codes[np.array(of) - first + at] = np.arange(len(of))
        return cls(low, start, size, codes)

    def look_up(self, matrix: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the code of each whole number, rows × columns."""
        place = matrix - self.low
        np.clip(place, 0, self.size - 1, out=place)
        place += self.start
        codes: NDArray[np.int32] = self.codes[place]
        return codes
