"""What no tally of rows can be: counts below zero, or of more cells than there are rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Levels, sum_by_column, title
from naively.core.cells import Cells
from naively.core.kernels import Floats
from naively.core.remainder import find_negative
from naively.core.statistic import CELL, LEVEL, PRESENT, SQUARE, VALUE
from naively.core.tally import BlockTally, Tally

# What rounding may leave of counts that were merged, forgotten and decayed.
RELATIVE, ABSOLUTE = 1e-9, 1e-6
ROOT = 1.35e154  # of the largest square that is finite


def impossible(tally: Tally, shares: Collection[Any] = ()) -> str | None:
    """Say what no rows can have been counted as, or None if a tally may be one of rows.

    Parameters
    ----------
    tally : Tally
        What was counted, or what is left of it.
    shares : collection of block keys
        Blocks of values from 0 to 1.
    """
    below = find_negative(tally)
    if below is not None:
        return below
    classes, rows = tally.classes.tolist(), tally.class_count
    for key, block in tally.blocks.items():
        for name, cells in _cells(block):
            wrong = np.flatnonzero(_above(cells, rows))
            if len(wrong):
                return f"column {title(name)!r} has more cells than rows in {classes[wrong[0]]!r}"
        if SQUARE in block.sums:
            most = ROOT * np.maximum(block[PRESENT].high, 1.0)
            if (np.abs(block[VALUE].high) > most).any():
                return "numbers have no squares"
        if key in shares and _above(block[VALUE].high, block[PRESENT].high).any():
            return "more cells are true than there are cells"
    return None


def _cells(block: BlockTally) -> list[tuple[Any, Floats]]:
    """Return how many cells of each column were counted, by class, as far as that is known."""
    axis, names = block.axis, block.axis.columns
    if PRESENT in block.sums:
        return list(zip(names, block[PRESENT].high, strict=False))
    if not isinstance(axis, Levels | Cells):
        return []
    counted = block[LEVEL if LEVEL in block.sums else CELL].high
    return list(zip(names, sum_by_column(axis.first, counted), strict=True))


def _above(part: Floats, whole: Floats) -> NDArray[np.bool_]:
    above: NDArray[np.bool_] = part > whole * (1 + RELATIVE) + ABSOLUTE
    return above
