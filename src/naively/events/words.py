"""The multinomial of words whose counts are sparse: its slopes, and rows that are left out.

Every pretend count is above 0 here, so that every slope is finite: what a class never had is
log (pretend count / total of the class).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Sparse
from naively.counting.labels import Labels
from naively.kernels import dispatch
from naively.kernels.reference import Floats
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
    if not words or not k:
        return None
    alike = bool((pretend == pretend[0]).all())  # as most often: then nothing is repeated
    of_cell = pretend[:1] if alike else np.repeat(pretend, np.diff(count.first))
    whole = count.stored.high + of_cell
    if pretend.min() <= 0 or whole.min(initial=1.0) <= 0:
        return None
    total = np.maximum(count.by_class() + pretend.sum(), 0.0)
    if total.min() <= 0:
        return None
    return WordSlopes(
        count.first,
        count.classes,
        np.log(whole) - np.log(of_cell),
        np.full(words, np.log(of_cell)) if alike else np.log(pretend),
        -np.log(total)[None],
        np.ones((1, k)),
        np.zeros(words, np.uint8),
    )


def evidence_of_words_without(
    count: SparseSums, pretend: Floats, block: Sparse, labels: Labels, bands: int
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
    """
    evidence, _ = dispatch.leave_out_words(
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
        count.by_class() + pretend.sum(),
        bands,
    )
    found: Floats = evidence
    return found


def as_int32(numbers: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return numbers of words in 32 bits; the same array if it has so many."""
    return numbers.astype(np.int32, copy=False)
