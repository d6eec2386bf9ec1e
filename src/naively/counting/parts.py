"""Parts of the evidence: what has a weight of its own for each class.

A part is a column; all columns of a block that are one event; or the words of a text in one band of
document frequency (in 1 text, in 2 to 3, in 4 to 7, and so on), because a word in two texts of a
thousand needs another weight than a word in every second text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import BlockKey
from naively.counting.names import Name, title
from naively.kernels.reference import Floats

# A sum of weights such as 2.3 less 0.3 may be just below 2, and the word is still in two texts.
ROUNDING = 1e-9


def band_of(texts: Floats) -> NDArray[np.int32]:
    """Return the band of each word, (words,), from how many texts hold it, (words,).

    >>> band_of(np.array([1.0, 2.0, 3.0, 4.0, 0.5]))
    array([0, 1, 1, 2, 0], dtype=int32)
    """
    return np.frexp(np.maximum(texts, 1.0) * (1 + ROUNDING))[1] - 1


def count_bands(texts: Floats) -> int:
    """Return the number of bands of words, at least 1, from how many texts hold each, (words,).

    >>> count_bands(np.array([1.0, 5.0]))
    3
    """
    return int(band_of(texts.max(initial=1.0))) + 1


@dataclass(frozen=True)
class Part:
    """A part of the evidence, which has one weight for each class; equal parts are the same.

    Parameters
    ----------
    group : hashable
        The key of the block that it belongs to.
    column : str or int, optional
        The column; None stands for all columns of a block that are one event.
    band : int, optional
        The band of the words that at least 2**band texts hold, but fewer than twice as many.

    Examples
    --------
    >>> print(Part("multinomial text", "text", 2))
    multinomial text, words in 4 to 7 texts
    """

    group: BlockKey
    column: Name | None = None
    band: int | None = None

    def __str__(self) -> str:
        if self.column is None:
            return str(self.group)
        if self.band is None:
            return title(self.column)
        least, most = 2**self.band, 2 ** (self.band + 1) - 1
        span = "1 text" if most == 1 else f"{least} to {most} texts"
        return f"{self.group}, words in {span}"


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of the evidence of a block.

    Parameters
    ----------
    keys : sequence of Part
        The parts, in the order of their numbers.
    of_unit : ndarray of shape (units,)
        The number of each unit's part. A unit is a word where the block is of texts, and else a
        column.
    by_word : bool, default False
        Whether a text's evidence is the sum of its words' evidence over the square root of the
        number of its words.
    """

    keys: Sequence[Part]
    of_unit: NDArray[np.integer]
    by_word: bool = False

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def columns(cls, group: BlockKey, columns: Sequence[Name]) -> Parts:
        """Return a part for each column."""
        return cls([Part(group, name) for name in columns], np.arange(len(columns)))

    @classmethod
    def whole(cls, group: BlockKey, units: int) -> Parts:
        """Return one part for all units."""
        return cls([Part(group)], np.zeros(units, np.int64))

    @classmethod
    def words(cls, group: BlockKey, column: Name, frequency: Floats, *, by_band: bool) -> Parts:
        """Return a part for the words of a text, or one for each band of document frequency.

        ``frequency`` is how many texts hold each word, of shape (words,).

        >>> Parts.words("text", "note", np.array([1.0, 3.0]), by_band=True).keys[1]
        Part(group='text', column='note', band=1)
        """
        if not by_band:
            return cls([Part(group, column)], np.zeros(len(frequency), np.int64), by_word=True)
        bands = range(count_bands(frequency))
        keys = [Part(group, column, band) for band in bands]
        return cls(keys, band_of(frequency), by_word=True)

    def sums(
        self, row: NDArray[np.int64], unit: NDArray[np.int64], value: Floats, n: int
    ) -> Floats:
        """Sum the log likelihoods of the cells of n rows by part.

        Parameters
        ----------
        row, unit : ndarray of shape (cells,)
            The row and the unit of each cell.
        value : ndarray of shape (cells, classes)
            The log likelihoods of each cell.

        Returns
        -------
        table : ndarray of shape (rows, parts, classes)
        """
        table = np.zeros((n, len(self), value.shape[1]))
        np.add.at(table, (row, self.of_unit[unit]), value)
        return table
