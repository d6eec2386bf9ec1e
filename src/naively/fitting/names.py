"""Numbers that are names, of persons or shops: each value says something by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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

    def table(self, p: Floats, labels: Labels, rows: NDArray[np.int64], more: float) -> Floats:
        """Return what each value adds, (values + 1, classes), by posteriors, (rows, classes)."""
        code, right, weight = self.code[rows], labels.codes[rows], labels.weights[rows]
        k, n = p.shape[1], len(self.values) + 1
        there = np.bincount(code * k + right, weight, n * k).reshape(n, k)
        expected = np.stack([np.bincount(code, weight * of, n) for of in p[rows].T], axis=1)
        alike = more * np.maximum(there.sum(axis=0) / there.sum(), 1 / there.sum())
        found: Floats = np.log((there + alike) / (expected + alike))
        found -= found.mean(axis=1, keepdims=True)
        found[np.bincount(code, minlength=n) < 2] = 0.0
        found[-1] = 0.0
        if n > MOST:
            size = np.abs(found).max(axis=1)
            found[size < np.partition(size, n - MOST)[n - MOST]] = 0.0
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
        tried = [_Trial.of(of, thirds, of_thirds, labels, more) for of in left for more in MORE]
        best = max(tried, key=lambda trial: trial.gain)
        if not best.gain:
            break
        column, total = best.column, total + best.gain
        both = zip(of_thirds, best.tables, strict=True)
        of_thirds = [_times(one, table[column.code[: len(one)]]) for one, table in both]
        table = column.table(p, labels, every, best.more)
        p = _times(p, table[column.code])
        added = np.flatnonzero(table.any(axis=1))
        found[column.of] = dict(zip(column.values[added].tolist(), table[added], strict=True))
        left = [one for one in left if one is not column]
    return found, total


def _times(p: Floats, added: Floats) -> Floats:
    """Return posteriors with more log odds, both (rows, classes)."""
    found: Floats = p * np.exp(added)
    found /= found.sum(axis=1, keepdims=True)
    return found


class _Trial(NamedTuple):
    """What the values of a column add, held-out thirds apart."""

    column: Values
    more: float
    tables: list[Floats]  # of each third, (values + 1, classes)
    gain: float  # nats of the thirds together; 0 if it may be chance

    @classmethod
    def of(
        cls,
        column: Values,
        thirds: Sequence[Third],
        p: Sequence[Floats],  # of each third, (rows, classes)
        labels: Labels,
        more: float,
    ) -> _Trial:
        tables, gains, weights = list[Floats](), list[Floats](), list[Floats]()
        for third, of_third in zip(thirds, p, strict=True):
            held, table = third.held, column.table(of_third, labels, third.rest, more)
            code = column.code[held]
            with_them = np.einsum("nk,nk->n", of_third[held], np.exp(table)[code])
            tables.append(table)
            weights.append(labels.weights[held])
            gains.append(weights[-1] * (table[code, labels.codes[held]] - np.log(with_them)))
            if gains[-1].sum() <= 0:
                return cls(column, more, tables, 0.0)
        gain, weight = np.concatenate(gains), np.concatenate(weights)
        total = float(gain.sum())
        error = float(np.sqrt(np.square(gain - weight * total / weight.sum()).sum()))
        sure = total > max(WORTH, ERRORS * error)
        return cls(column, more, tables, total if sure else 0.0)
