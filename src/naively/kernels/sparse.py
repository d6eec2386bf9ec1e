"""Sparse matrices in CSR form: checked, made canonical, counted and scored.

Tables of words × classes that store only what is not 0, counted and multiplied: the contract.

Most words come in few classes, so that such a table has few cells beside words times classes. It
is given as ``first``, of shape (words + 1,), where the cells of each word begin, and last where
they end; ``classes``, of shape (cells,), ascending within a word; and the values of the cells.
Texts are the arrays ``indptr``, ``indices`` and ``data`` of a CSR matrix of rows × words;
without data every number is 1. The native kernels are the same functions, faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels.double_double import CANCELLED, NEGLIGIBLE, Sums, scatter
from naively.kernels.reference import (
    Finish,
    Finished,
    Floats,
    Integers,
    check_codes,
    check_starts,
    finish_rows,
)

Cells: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats | None]"
ROUNDING = 1e-9  # as in ``naively.counting.leave_one_out``


def tally_sparse(
    indptr: Integers,  # of a matrix of shape (rows, width); NaN adds nothing
    indices: Integers,
    data: Floats | None,
    y: Integers,  # (rows,): their classes
    w: Floats | None,  # (rows,)
    k: int,  # classes
    width: int,
) -> Cells:
    """Return the weighted sums of a CSR matrix's numbers by column and class."""
    # As the fields of ``SparseSums``: where the cells of each column begin, their classes, their
    # sums, and the rounding errors of these, or None where all sums are exact.
    if len(y) != len(indptr) - 1 or (w is not None and len(w) != len(y)):
        raise ValueError("rows, classes and weights differ in number")
    check_codes(y, k, "class")
    check_codes(indices, width, "column")
    row, x = entries_of(indptr, data)
    cell, place = np.unique(
        indices[indptr[0] : indptr[-1]].astype(np.int64) * k + np.asarray(y, np.int64)[row],
        return_inverse=True,
    )
    weight = None if w is None else w[row]
    high, low = scatter(place, np.nan_to_num(x), weight, (len(cell), 1))
    keep = high[:, 0] != 0 if low is None else (high[:, 0] != 0) | (low[:, 0] != 0)
    column, classes = np.divmod(cell[keep], max(k, 1))
    first = np.searchsorted(column, np.arange(width + 1)).astype(np.int64)
    return first, classes.astype(np.int32), high[keep, 0], None if low is None else low[keep, 0]


def score_sparse(  # noqa: PLR0917  (as in the native kernel)
    indptr: Integers,  # of a matrix of shape (rows, words); NaN adds nothing
    indices: Integers,
    data: Floats | None,
    first: NDArray[np.int64],  # (words + 1,): where the cells of each word begin
    classes: NDArray[np.int32],  # (cells,)
    values: Floats,  # (cells,)
    band: NDArray[np.uint8],  # (words,)
    shift: Floats,  # (words,)
    slope: Floats,  # (bands, classes)
    weight: Floats,  # (bands, classes)
    # a row's sum is divided by this power of the sum of its numbers, at least 1
    length_power: float,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
) -> Finished:
    """Return start + x·slopes of the rows of a CSR matrix, finished."""
    # The slope of a word in a class is that of its band, plus the word's shift times the weight of
    # its band, plus the value of its cell if there is one.
    n, (bands, k), words = len(indptr) - 1, slope.shape, len(first) - 1
    check_codes(indices, words, "column")
    row, x = entries_of(indptr, data)
    x, word = np.nan_to_num(x), indices[indptr[0] : indptr[-1]]
    of_band = row * bands + band[word]
    length = np.bincount(of_band, x, n * bands).reshape(n, bands)
    shifts = np.bincount(of_band, x * shift[word], n * bands).reshape(n, bands)
    total = length @ slope + shifts @ weight
    entry, cell = cells_of(word, first)
    at = row[entry] * k + classes[cell]
    total += np.bincount(at, x[entry] * values[cell], n * k).reshape(n, k)
    total *= np.power(np.maximum(length.sum(axis=1), 1.0), -length_power)[:, None]
    return finish_rows(total + start, finish, log_prior)


def leave_out_words(  # noqa: PLR0917  (as in the native kernel)
    indptr: Integers,  # of a matrix of shape (rows, words); NaN adds nothing
    indices: Integers,
    data: Floats | None,
    y: Integers,  # (rows,): their classes
    w: Floats | None,  # (rows,): what their numbers were multiplied by when they were counted
    first: NDArray[np.int64],  # (words + 1,): where the cells of each word begin
    classes: NDArray[np.int32],  # (cells,)
    count: Floats,  # (cells,)
    frequency: Floats,  # (words,): how often each came in all classes
    pretend: Floats,  # (words,), above 0
    total: Floats,  # (classes,): the counts of all words, with the pretend counts
    bands: int,
    grows: bool = True,
) -> tuple[Floats, Floats]:
    """Return log likelihoods of counted rows, (rows, bands, classes), each without itself."""
    # Beside them are the lengths of the rows, in words that others have too, (rows,). A word of a
    # class has the probability (count + pretend count) / total. One that no other row has is as if
    # it had never been seen, where the vocabulary ``grows``. A word that at least 2**b other rows
    # have, but fewer than twice as many, is in band b, the last band taking all beyond. 0 is the
    # log likelihood in a class of which nothing is left.
    n, k = len(indptr) - 1, len(total)
    check_codes(indices, len(first) - 1, "column")
    check_codes(y, k, "class")
    row, x = entries_of(indptr, data)
    x, word = np.nan_to_num(x), indices[indptr[0] : indptr[-1]]
    own = x if w is None else x * w[row]
    others, least = frequency[word] - own, pretend[word]
    alone = (others <= NEGLIGIBLE) & grows
    band = np.zeros(len(word), np.int64)
    if bands > 1:
        band = np.frexp(np.maximum(others, 1.0) * (1 + ROUNDING))[1].astype(np.int64) - 1
        band = np.minimum(band, bands - 1)
    part = row * bands + band
    known = np.where(alone, 0.0, x)
    length = np.bincount(part, known, n * bands).reshape(n, bands, 1)
    shift = np.bincount(part, known * np.log(least), n * bands).reshape(n, bands, 1)
    entry, cell = cells_of(word, first)
    is_own = classes[cell] == np.asarray(y)[row[entry]]
    left = np.where(is_own, np.maximum(count[cell] - own[entry], 0.0), count[cell])
    gain = known[entry] * (np.log(left + least[entry]) - np.log(least[entry]))
    at = part[entry] * k + classes[cell]
    evidence = np.bincount(at, gain, n * bands * k).astype(np.float64).reshape(n, bands, k)
    gone = np.bincount(row[entry[is_own]], (count[cell] - left)[is_own], n)
    rest = np.tile(total, (n, 1)) - np.bincount(row, alone * least, n)[:, None]
    rest[np.arange(n), y] -= gone
    there = rest > NEGLIGIBLE
    log_rest = np.log(np.where(there, rest, 1.0))
    summed = evidence + shift - length * log_rest[:, None]
    summed = np.where(there[:, None], summed, 0.0)
    return summed, np.asarray(length.sum(axis=(1, 2)), np.float64)


def leave_out_lengths(
    indptr: Integers, indices: Integers, data: Floats | None, w: Floats | None, frequency: Floats
) -> Floats:
    """Return the lengths that ``leave_out_words`` returns, (rows,), and nothing else."""
    check_codes(indices, len(frequency), "column")
    row, x = entries_of(indptr, data)
    x, word = np.nan_to_num(x), indices[indptr[0] : indptr[-1]]
    others = frequency[word] - (x if w is None else x * w[row])
    known = np.where(others > NEGLIGIBLE, x, 0.0)
    return np.bincount(row, known, len(indptr) - 1).astype(np.float64)


def take_rows(
    indptr: Integers, indices: NDArray[Any], data: NDArray[Any] | None, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any] | None]:
    """Return the arrays of a matrix of these rows of another, in this order, of whatever type."""
    check_codes(rows, len(indptr) - 1, "row")
    check_starts(indptr)
    if indptr[0] < 0 or indptr[-1] > len(indices):
        raise ValueError("indptr is malformed")
    begin = np.asarray(indptr, np.int64)[rows]
    size = np.asarray(indptr, np.int64)[rows + 1] - begin
    ends = np.append(0, np.cumsum(size))
    at = np.repeat(begin - ends[:-1], size) + np.arange(ends[-1])
    return ends, indices[at], None if data is None else data[at]


def entries_of(indptr: Integers, data: Floats | None) -> tuple[NDArray[np.int64], Floats]:
    """Return the row, from 0, and the number of each entry of CSR rows, both (entries,)."""
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return row, np.ones(len(row)) if data is None else np.asarray(data[indptr[0] : indptr[-1]])


def cells_of(
    word: Integers, first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of the entry and that of the cell, for each cell of each entry's word."""
    size = first[word.astype(np.int64) + 1] - first[word]
    entry = np.repeat(np.arange(len(word)), size)
    cell = np.arange(len(entry)) - np.repeat(np.cumsum(size) - size, size) + first[word][entry]
    return entry, cell


# --- Rows that are left out where each class is scored by the words of others, in NumPy ----------
#
# The tables of words × classes store only what is not 0, as in ``naively.kernels.sparse``.


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
    # (classes,): the counts of all words in the other classes, with the pretend counts
    total: Floats,
    grows: bool = True,
) -> Floats:  # (rows, classes), 0 where nothing is left of a class's others
    """Return the evidence of counted rows, without themselves, for classes scored by all others."""
    # A word of a class has the weight -log of (count in the other classes + pretend count) / total.
    # The arguments are those of ``leave_out_words``.
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
        # For the row's own class the others stay; for any other class they lose the row.
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


# --- The sum of sparse tables, or a difference, in plain NumPy; the native kernel is faster ------
#
# A table is four arrays, as in `SparseSums`: where the cells of each row begin, and of each cell
# its class, its number, and the rounding error of the number.


Total: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats | None]"
Part: TypeAlias = (
    "tuple[NDArray[np.int64] | None, NDArray[np.int64], NDArray[np.int32], Floats, Floats | None]"
)


def sum_sparse(parts: Sequence[Part], rows: int, k: int, difference: bool = False) -> Total:
    """Return the sum, of so many rows, of tables of k classes, whose rows may stand elsewhere."""
    # The parts of each table are the place of each row in the sum, no two alike, or None where row
    # i stands at i; then what ``tally_sparse`` returns. So is the sum; a cell that adds up to 0 is
    # not stored. A ``difference`` is the first of two tables less the second, and what is as small
    # beside both numbers of a cell as rounding is 0.
    if difference and len(parts) != 2:
        raise ValueError("a difference is of two tables")
    cells = [_cells(*part, rows, k) for part in parts]
    if difference:
        row, classes, high, low = cells[1]
        cells[1] = row, classes, -high, -low
    row, classes, high, low = (np.concatenate(arrays) for arrays in zip(*cells, strict=True))
    key = row * k + classes
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else order
    total = Sums(high[order], low[order]).total_by_group(begins)
    keep = (total.high != 0) | (total.low != 0)
    if difference and len(begins):
        keep &= np.abs(total.high) > CANCELLED * np.add.reduceat(np.abs(high[order]), begins)
    row, classes = np.divmod(key[begins][keep], max(k, 1))
    first = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=first[1:])
    return first, classes.astype(np.int32), total.high[keep], total[keep].errors


def _cells(
    places: NDArray[np.int64] | None,
    first: NDArray[np.int64],
    classes: NDArray[np.int32],
    high: Floats,
    low: Floats | None,
    rows: int,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]:
    """Return the row in the sum, the class, the number and its error of each cell of a table."""
    check_starts(first)
    low = np.zeros(len(high)) if low is None else low
    if first[0] != 0 or not first[-1] == len(classes) == len(high) == len(low):
        raise ValueError("first does not fit the cells")
    own = np.arange(len(first) - 1) if places is None else places
    if len(own) != len(first) - 1:
        raise ValueError("each row has a place")
    check_codes(own, rows, "row")
    check_codes(classes, k, "class")
    return np.repeat(own, np.diff(first)), classes, high, low
