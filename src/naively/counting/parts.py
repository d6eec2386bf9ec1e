"""Parts of the evidence: what has a weight of its own for each class.

A part is a column; all columns of a block that are one event; or the words of a text in one band of
document frequency (in 1 text, in 2 to 3, in 4 to 7, and so on). A word in two texts of a thousand
is evidence of another worth than a word in every second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Entries, Sparse
from naively.counting.labels import Labels
from naively.counting.names import Name, title
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats

ROWS = 1_000  # at a time, to bound memory
# Of a sum of weights such as 2.3: less 0.3 it is a word of two texts, not of almost two.
ROUNDING = 1e-9


def band_of(texts: Floats) -> NDArray[np.int64]:
    """Return the band of words that so many texts hold.

    >>> band_of(np.array([1.0, 2.0, 3.0, 4.0, 0.5]))
    array([0, 1, 1, 2, 0])
    """
    return np.frexp(np.maximum(texts, 1.0) * (1 + ROUNDING))[1].astype(np.int64) - 1


def count_bands(texts: Floats) -> int:
    """Return how many bands the words have that so many texts hold; at least one.

    >>> count_bands(np.array([1.0, 5.0]))
    3
    """
    return int(band_of(texts.max(initial=1.0))) + 1


@dataclass(frozen=True)
class Part:
    """What one weight of each class is for: a part of the evidence, known by its values.

    Parameters
    ----------
    group : hashable
        The block that it is of.
    column : str or int, optional
        The column; None: all columns of the block, which are one event.
    band : int, optional
        Of the words of a text, those that 2**band texts hold, or more, but fewer than twice as
        many.

    Examples
    --------
    >>> print(Part("multinomial text", "text", 2))
    multinomial text, words in 4 to 7 texts
    """

    group: Any
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
        What each part is known by.
    of_unit : ndarray of shape (units,)
        The number of the part that each unit is of. Units are the words of a text, and else the
        columns of the block.
    by_word : bool, default False
        Whether what a text says is the sum of what its words say, over the square root of how many
        they are.
    """

    keys: Sequence[Part]
    of_unit: NDArray[np.int64]
    by_word: bool = False

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def columns(cls, group: Any, columns: Sequence[Name]) -> Parts:
        """Return a part for each column."""
        return cls([Part(group, name) for name in columns], np.arange(len(columns)))

    @classmethod
    def whole(cls, group: Any, units: int) -> Parts:
        """Return one part for all units."""
        return cls([Part(group)], np.zeros(units, np.int64))

    @classmethod
    def words(cls, group: Any, column: Name, frequency: Floats, *, by_band: bool) -> Parts:
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
        """Sum what the units of n rows say, by part.

        Parameters
        ----------
        row, unit : ndarray of shape (cells,)
            The row and the unit of each cell.
        value : ndarray of shape (cells, classes)
            Its log likelihoods.

        Returns
        -------
        table : ndarray of shape (rows, parts, classes)
        """
        table = np.zeros((n, len(self), value.shape[1]))
        np.add.at(table, (row, self.of_unit[unit]), value)
        return table


def lengths_left(count: Floats, block: Sparse, labels: Labels) -> Floats:
    """Return how many words each text has that other texts hold, of shape (rows,).

    Parameters are those of ``leave_one_out``.
    """
    row, word, x = block.entries()
    weight = labels.weights
    known = count.sum(axis=1)[word] - x * weight[row] > NEGLIGIBLE
    return np.bincount(row[known], x[known], len(block)).astype(np.float64)


def leave_one_out(
    count: Floats, pretend: Floats, block: Sparse, labels: Labels, *, by_band: bool
) -> Floats:
    """Return what the words say in each text, as if it had not been counted.

    Parameters
    ----------
    count : ndarray of shape (words, classes)
        How often the texts of each class hold a word, these among them.
    pretend : ndarray of shape (words,)
        Pretend counts beside them.
    block : Sparse
        The words of the texts.
    labels : Labels
        Their classes; what they weigh is left out, at most 1.
    by_band : bool
        Whether each band of document frequency is a part; else all words are one.

    Returns
    -------
    evidence : ndarray of shape (rows, parts, classes)
        A band is of the number of other texts that hold a word. A word that no other text
        holds is as if it had never been seen.
    """
    frequency = count.sum(axis=1)
    bands = count_bands(frequency) if by_band else 1
    total = count.sum(axis=0) + pretend.sum()
    evidence = np.zeros((len(block), bands, count.shape[1]))
    for start in range(0, len(block), ROWS):
        some = np.arange(start, min(start + ROWS, len(block)))
        texts, own = block.select(some), labels.take(some)
        row, word, x = texts.entries()
        here = np.zeros(len(count), np.bool_)  # the words that some of these texts hold
        here[word] = True
        cells = row, (np.cumsum(here) - 1)[word], x
        evidence[some] = _some(
            count[here], frequency[here], pretend[here], total, cells, own, bands
        )
    return evidence


def _some(
    count: Floats,
    frequency: Floats,
    pretend: Floats,
    total: Floats,
    cells: Entries,
    labels: Labels,
    bands: int,
) -> Floats:
    """Return the evidence of a few texts, of the words that they hold (see ``leave_one_out``)."""
    from scipy.sparse import csr_array

    row, word, x = cells
    n, k = len(labels), count.shape[1]
    weight = labels.weights
    own, y = x * weight[row], labels.codes[row]
    others = frequency[word] - own
    total = np.tile(total, (n, 1))
    total[np.arange(n), labels.codes] -= np.bincount(row, own, n)
    known = others > NEGLIGIBLE
    total -= np.bincount(row[~known], pretend[word[~known]], n)[:, None]
    row, word, x, own, y = row[known], word[known], x[known], own[known], y[known]

    part = row * bands + (band_of(others[known]) if bands > 1 else 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_count = np.log(count + pretend[:, None])
        held = csr_array((x, (part, word)), shape=(n * bands, len(count)))
        evidence = (held @ log_count).reshape(n, bands, k)
        left = np.maximum(count[word, y] - own, 0.0) + pretend[word]
        change = np.bincount(part, x * (np.log(left) - log_count[word, y]), n * bands)
        evidence[np.arange(n), :, labels.codes] += change.reshape(n, bands)
        of_all = np.where(total > NEGLIGIBLE, np.log(total), 0.0)
    number = np.bincount(part, x, n * bands).reshape(n, bands)
    evidence -= number[:, :, None] * of_all[:, None]
    evidence[np.broadcast_to((total <= NEGLIGIBLE)[:, None], evidence.shape)] = 0.0
    return evidence
