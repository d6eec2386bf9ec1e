"""Numbers that are names, of persons or shops: each value says something by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.fitting.combine import Operand
from naively.fitting.weights import Third, posterior
from naively.frozen import Frozen
from naively.kernels.reference import Floats

# --- Exact values, as levels ---------------------------------------------------------------------
#
# A value adds the logarithm of a ratio: how many of its rows are of a class, over how many the
# model expected. Both have some rows more that are as all rows are. A value that came once adds
# nothing, nor does one that never came.


FEWEST = 12  # different values, from which on they may be names,
DIFFERENT = 0.9  # and share of the rows that differ, up to which they may
MORE = (1.0, 10.0)  # rows, that are as all are
WORTH = 3.0  # nats that must be saved on the held-out rows,
ERRORS = 3.0  # times their standard error, and some on each third
MOST = 4_096  # values of a column that say most


class Values(Frozen):
    """A column of numbers by its different values."""

    of: Operand
    values: Floats  # (values,): ascending
    code: NDArray[np.int64]  # (rows,): the value of each row; the number after all is of missing

    @classmethod
    def among(cls, numbers: Mapping[Operand, Floats]) -> list[Values]:
        """Return the columns, (rows,) each, whose values may be names."""
        found = []
        for of, x in numbers.items():
            known = np.sort(x[~np.isnan(x)])
            different = np.count_nonzero(known[1:] != known[:-1]) + 1
            if FEWEST < different <= DIFFERENT * len(known):
                values, code = np.unique(x, return_inverse=True)
                found.append(cls(of, values[:different], np.minimum(code, different)))
        return found

    def tables(self, p: Floats, labels: Labels, rows: NDArray[np.int64]) -> Floats:
        """Return what each value adds by posteriors, (rows, classes), for each of ``MORE``."""
        # The shape is (more, values + 1, classes).
        code, right, weight = self.code[rows], labels.codes[rows], labels.weights[rows]
        k, n = p.shape[1], len(self.values) + 1
        there = np.bincount(code * k + right, weight, n * k).reshape(n, k)
        expected = np.stack([np.bincount(code, weight * of, n) for of in p[rows].T], axis=1)
        share = np.maximum(there.sum(axis=0) / there.sum(), 1 / there.sum())
        alike = np.array(MORE)[:, None, None] * share
        found: Floats = np.log((there + alike) / (expected + alike))
        found -= found.mean(axis=2, keepdims=True)
        found[:, np.bincount(code, minlength=n) < 2] = 0.0
        found[:, -1] = 0.0
        if n > MOST:
            size = np.abs(found).max(axis=2)
            found[size < np.partition(size, n - MOST, axis=1)[:, n - MOST, None]] = 0.0
        return found


def named(
    columns: Sequence[Values],
    thirds: Sequence[Third],
    joint: Floats,  # (rows, classes)
    labels: Labels,
) -> tuple[dict[Operand, dict[float, Floats]], float]:
    """Return what values add where held-out thirds gain by them, (classes,), and these nats."""
    # One column after the other, each beside those before.
    found: dict[Operand, dict[float, Floats]] = {}
    left, total, every = list(columns), 0.0, np.arange(len(joint))
    p, of_thirds = posterior(joint), [posterior(third.joint) for third in thirds]
    while left:
        tried = [_trial(column, thirds, of_thirds, labels) for column in left]
        at = max(range(len(left)), key=lambda i: tried[i][0])
        gain, more, tables = tried[at]
        if not gain:
            break
        column, total = left.pop(at), total + gain
        both = zip(of_thirds, tables, strict=True)
        of_thirds = [_times(one, table[column.code[: len(one)]]) for one, table in both]
        table = column.tables(p, labels, every)[more]
        p = _times(p, table[column.code])
        added = np.flatnonzero(table.any(axis=1))
        found[column.of] = dict(zip(column.values[added].tolist(), table[added], strict=True))
    return found, total


def _times(p: Floats, added: Floats) -> Floats:
    """Return posteriors with more log odds, both (rows, classes)."""
    found: Floats = p * np.exp(added)
    found /= found.sum(axis=1, keepdims=True)
    return found


def _trial(
    column: Values, thirds: Sequence[Third], p: Sequence[Floats], labels: Labels
) -> tuple[float, int, list[Floats]]:
    """Return what held-out thirds gain, in nats, by which of ``MORE``, and the tables of each."""
    # 0 if it may be chance. Posteriors are (rows, classes), and tables (values + 1, classes).
    tables, gains, rises = list[Floats](), list[Floats](), np.ones(len(MORE), np.bool_)
    for third, of_third in zip(thirds, p, strict=True):
        held, table = third.held, column.tables(of_third, labels, third.rest)
        code = column.code[held]
        with_them = np.einsum("nk,mnk->mn", of_third[held], np.exp(table)[:, code])
        gain = table[:, code, labels.codes[held]] - np.log(with_them)
        tables.append(table)
        gains.append(labels.weights[held] * gain)
        rises &= gains[-1].sum(axis=1) > 0
        if not rises.any():
            return 0.0, 0, []
    gain, weight = np.hstack(gains), labels.weights[np.hstack([third.held for third in thirds])]
    total = gain.sum(axis=1)
    error = np.sqrt(np.square(gain - weight * total[:, None] / weight.sum()).sum(axis=1))
    sure = np.where(rises & (total > np.maximum(WORTH, ERRORS * error)), total, 0.0)
    best = int(np.argmax(sure))
    return float(sure[best]), best, [of[best] for of in tables]
