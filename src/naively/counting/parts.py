"""Bands: the words of texts by how many texts hold them, 1, 2 to 3, 4 to 7, and so on.

A word that two texts in a thousand hold is evidence of another worth than one that every second
holds, so that the words of each band are a part of the evidence with weights of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name, title
from naively.counting.block import Documents, Entries
from naively.counting.labels import Labels
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


def word_parts(group: Any, column: Name, frequency: Floats, by_band: bool) -> list[Part]:
    """Return the parts of the evidence that the words of a text are: one, or one for each band.

    >>> word_parts("multinomial text", "text", np.array([1.0, 3.0]), by_band=False)
    [Part(group='multinomial text', column='text', band=None)]
    """
    if not by_band:
        return [Part(group, column)]
    return [Part(group, column, band) for band in range(count_bands(frequency))]


def leave_one_out(
    count: Floats, pretend: Floats, block: Documents, labels: Labels
) -> tuple[Floats, Floats]:
    """Return what the words say in each text, as if it had not been counted.

    Parameters
    ----------
    count : ndarray of shape (words, classes)
        How often the texts of each class hold a word, these among them.
    pretend : ndarray of shape (words,)
        Pretend counts beside them.
    block : Documents
        Texts, by band where their words count once.
    labels : Labels
        Their classes; what they weigh is left out, at most 1.

    Returns
    -------
    evidence : ndarray of shape (rows, parts, classes)
        A band is of the number of other texts that hold a word. A word that no other text
        holds is as if it had never been seen.
    length : ndarray of shape (rows,)
        How many words they have that other texts hold.
    """
    frequency = count.sum(axis=1)
    bands = count_bands(frequency) if block.presence else 1
    total = count.sum(axis=0) + pretend.sum()
    evidence = np.zeros((len(block), bands, count.shape[1]))
    length = np.zeros(len(block))
    for start in range(0, len(block), ROWS):
        some = np.arange(start, min(start + ROWS, len(block)))
        texts, own = block.select(some), labels.take(some)
        row, word, x = texts.entries()
        here = np.zeros(len(count), np.bool_)  # the words that some of these texts hold
        here[word] = True
        cells = row, (np.cumsum(here) - 1)[word], x
        evidence[some], length[some] = _some(
            count[here], frequency[here], pretend[here], total, cells, own, bands
        )
    return evidence, length


def _some(
    count: Floats,
    frequency: Floats,
    pretend: Floats,
    total: Floats,
    cells: Entries,
    labels: Labels,
    bands: int,
) -> tuple[Floats, Floats]:
    from scipy.sparse import csr_array

    row, word, x = cells
    n, k = len(labels), count.shape[1]
    weight = np.ones(n) if labels.weight is None else labels.weight
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
    return evidence, np.bincount(row, x, n).astype(np.float64)
