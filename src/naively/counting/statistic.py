"""Sufficient statistics: the handful of elementwise sums that naive Bayes is made of."""

from __future__ import annotations

from enum import Enum


class Statistic(Enum):
    """What is summed over the rows of a class, for each column, level or word."""

    PRESENT = "present"  # 1 for a cell that is there, 0 for a missing one
    VALUE = "value"  # x
    SQUARE = "square"  # x²
    DOCUMENT = "document"  # 1 for a text that holds a token
    LEVEL = "level"  # which of the levels of a column: one sum for each
    CELL = "cell"  # which of the cells that a column of numbers falls into: one sum for each


PRESENT = Statistic.PRESENT
VALUE = Statistic.VALUE
SQUARE = Statistic.SQUARE
DOCUMENT = Statistic.DOCUMENT
LEVEL = Statistic.LEVEL
CELL = Statistic.CELL
