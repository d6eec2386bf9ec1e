"""Rows that are left out where each class is scored by the words of all others, in plain NumPy.

The tables of words × classes store only what is not 0, as in ``naively.kernels.sparse``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.kernels.checks import check_codes
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats, Integers
from naively.kernels.sparse import cells_of, entries_of

CELLS = 2_000_000  # that are looked at together


def leave_out_of_others(
    indptr: Integers,
    indices: Integers,
    data: Floats | None,
    y: Integers,
    w: Floats | None,
    first: NDArray[np.int64],
    classes: NDArray[np.int32],
    count: Floats,
    frequency: Floats,
    pretend: Floats,
    total: Floats,
    grows: bool = True,
) -> Floats:
    """Return the evidence of counted rows, each without itself, for classes scored by all others.

    A word of a class has the weight -log of (count in the other classes + pretend count) / total.

    Parameters
    ----------
    indptr, indices, data, y, w, first, classes, count, frequency, pretend, grows
        As for ``leave_out_words``.
    total : ndarray of shape (classes,)
        The counts of all words in the other classes, with the pretend counts.

    Returns
    -------
    evidence : ndarray of shape (rows, classes)
        0 in a class of whose others nothing is left.

    Examples
    --------
    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), None
    >>> cells = np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.ones(3)
    >>> others = np.array([2.0, 1.0]), np.ones(2), np.array([3.0, 4.0])
    >>> np.exp(-leave_out_of_others(*rows, np.array([0, 1]), None, *cells, *others)).round(9)
    array([[1. , 1. ],
           [0.5, 0.5]])
    """
    n, k = len(indptr) - 1, len(total)
    check_codes(indices, len(first) - 1, "column")
    check_codes(y, k, "class")
    evidence, size = np.zeros((n, k)), np.diff(first)
    before = np.append(0, np.cumsum(size[indices[indptr[0] : indptr[-1]]]))
    cells_to = before[np.asarray(indptr) - indptr[0]]
    begin = 0
    while begin < n:  # some rows at a time
        end = int(np.searchsorted(cells_to, cells_to[begin] + CELLS, side="right")) - 1
        end = min(max(end, begin + 1), begin + max(1, CELLS // max(k, 1)))
        row, x = entries_of(indptr[begin : end + 1], data)
        x, word = np.nan_to_num(x), indices[indptr[begin] : indptr[end]]
        of = np.asarray(y[begin:end], np.int64)
        own = x if w is None else x * w[begin:end][row]
        all_of, least = frequency[word], pretend[word]
        alone = (all_of - own <= NEGLIGIBLE) & grows
        known, floor = np.where(alone, 0.0, x), np.log(np.maximum(all_of - own, 0.0) + least)
        entry, cell = cells_of(word, first)
        is_own = classes[cell] == of[row[entry]]
        # Of the row's own class the others stay; of any other class they lose the row.
        in_own = np.bincount(entry[is_own], count[cell[is_own]], len(word))
        entry, cell = entry[~is_own], cell[~is_own]
        there = np.maximum(all_of[entry] - count[cell], 0.0)
        left = np.maximum(there - own[entry], 0.0)
        gain = known[entry] * (floor[entry] - np.log(left + least[entry]))
        gone = np.minimum(own, all_of)
        less = there - left - gone[entry]  # than of a class that never had the word
        at, rows = row[entry] * k + classes[cell], end - begin
        found = np.bincount(at, gain, rows * k).reshape(rows, k).astype(np.float64)
        found -= np.bincount(row, known * floor, rows)[:, None]
        stays = np.log(np.maximum(all_of - in_own, 0.0) + least)
        right = np.arange(rows), of
        found[right] += np.bincount(row, known * (floor - stays), rows)
        rest = total - np.bincount(row, alone * least + gone, rows)[:, None]
        rest -= np.bincount(at, less, rows * k).reshape(rows, k)
        rest[right] += np.bincount(row, gone, rows)
        anything = rest > NEGLIGIBLE
        length = np.bincount(row, known, rows)[:, None]
        found += length * np.log(np.where(anything, rest, 1.0))
        evidence[begin:end] = np.where(anything, found, 0.0)
        begin = end
    return evidence
