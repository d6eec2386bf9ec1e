"""Bernoulli models of words whose counts are sparse: slopes, and rows that are left out.

A word that never came in a class has there what any such word has: so many rows without it. The
pretend counts of true and of false, a and b, are above 0 and alike for all words.
"""

from __future__ import annotations

import numpy as np

from naively.counting.block import Sparse
from naively.counting.labels import Labels
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import SparseSums
from naively.likelihoods.words import WordSlopes


def slopes_of_truths(true: SparseSums, rows: Floats, a: float, b: float) -> WordSlopes | None:
    """Return log odds of words, beside the log probabilities that they are absent.

    Parameters
    ----------
    true : SparseSums of shape (words, classes)
        In how many rows of each class each word is.
    rows : ndarray of shape (classes,)
        How many rows each class has.
    a, b : float
        What is added to the rows with the word and to those without it.

    Returns
    -------
    slopes : WordSlopes or None
        None if some are not finite.

    Examples
    --------
    >>> from naively.kernels.double_double import Sums
    >>> true = SparseSums.of(Sums(np.array([[2.0, 0.0], [0.0, 1.0]])))
    >>> slopes = slopes_of_truths(true, np.array([2.0, 1.0]), 1.0, 1.0)
    >>> np.exp(slopes.slope + slopes.absent.slope)  # 3 / 4 and 1 / 3, 1 / 4 and 2 / 3
    array([[0.75      , 0.33333333],
           [0.25      , 0.66666667]])
    """
    words, k = true.shape
    if not words or not k or a <= 0 or b <= 0 or rows.min() <= -b:
        return None
    log_all = np.log(rows + b)
    without = (rows + b)[true.classes]
    without -= true.stored.high
    value = true.stored.high + a
    if value.min(initial=1.0) <= 0 or without.min(initial=1.0) <= 0:
        return None
    np.log(value, out=value)
    np.log(without, out=without)
    without -= log_all[true.classes]  # more than of a word that never came
    value -= np.log(a)
    value -= without
    none = np.zeros(words), np.zeros(words, np.uint8)
    one = np.ones((1, k))
    shared = true.first, true.classes
    absent = WordSlopes(
        *shared, without, none[0], (log_all - np.log(rows + a + b))[None], one, none[1]
    )
    of_band = (np.log(a) - log_all)[None]
    return WordSlopes(*shared, value, none[0], of_band, one, none[1], absent=absent)


def evidence_of_truths_without(
    slopes: WordSlopes,
    true: SparseSums,
    rows: Floats,
    pretend: tuple[float, float],
    block: Sparse,
    labels: Labels,
    *,
    grows: bool,
) -> Floats:
    """Return log likelihoods of rows, each without itself, of shape (rows, classes).

    Parameters
    ----------
    slopes, true, rows, pretend
        What ``slopes_of_truths`` returns and takes.
    block, labels : Sparse, Labels
        The rows, whose numbers are 0 and 1, with their classes.
    grows : bool
        Whether a word that no other row has is as if it had never been seen.
    """
    (a, b), n, none = pretend, len(block), np.zeros(labels.k)
    words, y, weight = true.shape[0], labels.codes, labels.weights
    row, item, x = block.entries()
    row, item = row[x != 0], item[x != 0]
    found: Floats = slopes.log_prob(block, none, "joint", none)
    alone = (true.by_row()[item] - weight[row] <= NEGLIGIBLE) & grows
    # What such a word adds to the other classes, which never had it, goes.
    of_other = np.log(a) - np.log(rows + a + b)
    found -= np.bincount(row[alone], minlength=n)[:, None] * of_other
    # In its own class a row is one row less, with its words and without the others.
    lacking = np.bincount(true.classes, minlength=labels.k)
    in_own = true.at(item, y[row])
    right, own = np.arange(n), np.zeros(n)
    for w in np.unique(weight):
        left = rows - w
        without = left[true.classes] - true.stored.high + b
        log_without, never = _log(without)
        total = np.bincount(true.classes, log_without, labels.k).astype(np.float64)
        total += (words - lacking) * np.log(np.maximum(left + b, NEGLIGIBLE))
        impossible = np.bincount(true.classes, never, labels.k).astype(np.float64)
        alike = weight == w
        of = np.flatnonzero(alike[row])
        of_row, c = row[of], y[row[of]]
        of_word, is_never = _log(left[c] - in_own[of] + b)
        own[alike] = total[y[alike]]
        own -= np.bincount(of_row, of_word, n)
        still = impossible[y] - np.bincount(of_row, is_never, n)
        with_word, no_word = _log(np.maximum(in_own[of] - w, 0.0) + a)
        known = ~alone[of]
        own += np.bincount(of_row[known], with_word[known], n)
        counted = words - np.bincount(of_row[~known], minlength=n)
        own[alike] -= (counted * np.log(np.maximum(left[y] + a + b, NEGLIGIBLE)))[alike]
        still += np.bincount(of_row[known], no_word[known], n)
        own[alike & (still > 0)] = -np.inf
    found[right, y] = own
    found[block.missing] = 0.0
    return found


def _log(count: Floats) -> tuple[Floats, Floats]:
    """Return logarithms, 0 where they are not finite, and 1 where that is so, both (cells,)."""
    there = count > 0
    return np.log(np.where(there, count, 1.0)), (~there).astype(np.float64)
