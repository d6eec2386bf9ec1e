"""Multinomials of words whose counts are sparse: slopes, and rows that are left out.

Every pretend count is above 0 here, so that every slope is finite: what a class never had is
log (pretend count / total of the class). A complement's words have the counts of all classes but
one, so that what a class never had is what all classes had.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Sparse
from naively.counting.labels import Labels
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.sparse import leave_out_of_others
from naively.kernels.sparse_sums import SparseSums
from naively.likelihoods.words import WordSlopes


def slopes_of_words(count: SparseSums, pretend: Floats) -> WordSlopes | None:
    """Return log probabilities of words in classes; None if some are not finite.

    Parameters
    ----------
    count : SparseSums of shape (words, classes)
        How often each word came in each class.
    pretend : ndarray of shape (words,)
        What is added to each.

    Examples
    --------
    >>> from naively.kernels.double_double import Sums
    >>> count = SparseSums.of(Sums(np.array([[2.0, 0.0], [0.0, 1.0]])))
    >>> np.exp(slopes_of_words(count, np.ones(2)).slope)  # 3 / 4 and 1 / 3, 1 / 4 and 2 / 3
    array([[0.75      , 0.33333333],
           [0.25      , 0.66666667]])
    """
    words, k = count.shape
    if not words or not k or pretend.min() <= 0:
        return None
    # Where all pretend counts are alike, as most often, one number stands for those of all cells.
    alike = bool((pretend == pretend[0]).all())
    of_word = pretend[:1] if alike else pretend
    of_cell = slice(None) if alike else np.repeat(np.arange(words), np.diff(count.first))
    log_pretend = np.log(of_word)
    value = count.stored.high + of_word[of_cell]
    if value.min(initial=1.0) <= 0:
        return None
    np.log(value, out=value)
    value -= log_pretend[of_cell]
    total = np.maximum(count.by_class() + pretend.sum(), 0.0)
    if total.min() <= 0:
        return None
    return WordSlopes(
        count.first,
        count.classes,
        value,
        np.full(words, log_pretend) if alike else log_pretend,
        -np.log(total)[None],
        np.ones((1, k)),
        np.zeros(words, np.uint8),
    )


def slopes_of_others(count: SparseSums, pretend: Floats) -> WordSlopes | None:
    """Return -log probabilities of words in all other classes; None if some are not finite.

    The parameters are those of ``slopes_of_words``; there are two classes or more.

    Examples
    --------
    >>> from naively.kernels.double_double import Sums
    >>> count = SparseSums.of(Sums(np.array([[2.0, 0.0], [0.0, 1.0]])))
    >>> np.exp(-slopes_of_others(count, np.ones(2)).slope)  # 1 / 3 and 3 / 4, 2 / 3 and 1 / 4
    array([[0.33333333, 0.75      ],
           [0.66666667, 0.25      ]])
    """
    words, k = count.shape
    if not words or k < 2 or pretend.min() <= 0:
        return None
    every, cells = count.by_row() + pretend, np.diff(count.first)
    value = np.repeat(every, cells)
    value -= count.stored.high
    total = total_of_others(count, pretend)
    if every.min() <= 0 or value.min(initial=1.0) <= 0 or total.min() <= 0:
        return None
    log_every = np.log(every)
    np.log(value, out=value)
    np.subtract(np.repeat(log_every, cells), value, out=value)
    return WordSlopes(
        count.first,
        count.classes,
        value,
        -log_every,
        np.log(total)[None],
        np.ones((1, k)),
        np.zeros(words, np.uint8),
    )


def total_of_others(count: SparseSums, pretend: Floats) -> Floats:
    """Return the counts of all words in all other classes, with pretend counts, (classes,)."""
    of_class = count.by_class()
    others: Floats = of_class.sum() - of_class + pretend.sum()
    return others


def evidence_of_others_without(
    count: SparseSums, pretend: Floats, block: Sparse, labels: Labels, *, grows: bool
) -> Floats:
    """Return the evidence of all other classes for rows, each without itself, (rows, classes).

    The parameters are those of ``evidence_of_words_without``.
    """
    return leave_out_of_others(
        block.indptr,
        as_int32(block.indices),
        None if block.presence else np.asarray(block.data, np.float64),
        labels.codes,
        labels.weight,
        count.first,
        count.classes,
        count.stored.high,
        count.by_row(),
        pretend,
        total_of_others(count, pretend),
        grows,
    )


def evidence_of_words_without(
    count: SparseSums,
    pretend: Floats,
    block: Sparse,
    labels: Labels,
    bands: int,
    *,
    grows: bool,
) -> Floats:
    """Return log likelihoods of rows, each without itself, of shape (rows, bands, classes).

    Parameters
    ----------
    count, pretend
        As for ``slopes_of_words``; no slope is infinite.
    block, labels : Sparse, Labels
        The rows, with their classes.
    bands : int
        How many bands of document frequency the words are divided into.
    grows : bool
        Whether the rows make the words, rather than being numbers of columns that stay.
    """
    frequency, total = count.by_row(), count.by_class() + pretend.sum()
    indices = block.indices
    here = np.zeros(len(pretend), np.bool_)
    here[indices] = True
    if 2 * here.sum() < len(here):  # of a sample of the rows, most words are not needed
        count, frequency, pretend = count[here], frequency[here], pretend[here]
        indices = (np.cumsum(here, dtype=np.int32) - 1)[indices]
    evidence, _ = dispatch.leave_out_words(
        block.indptr,
        as_int32(indices),
        None if block.presence else np.asarray(block.data, np.float64),
        labels.codes,
        labels.weight,
        count.first,
        count.classes,
        count.stored.high,
        frequency,
        pretend,
        total,
        bands,
        grows,
    )
    found: Floats = evidence
    return found


def as_int32(numbers: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return numbers of words in 32 bits; the same array if it has so many."""
    return numbers.astype(np.int32, copy=False)
