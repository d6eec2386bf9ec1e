"""Which sums, differences and ratios of two columns may say what a model leaves unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.counting.block import BlockKey
from naively.counting.labels import Labels
from naively.fitting.weights import posterior
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.terms.functions import Combined, combined

# --- Candidates: screened by what is left unsaid -------------------------------------------------
#
# The column that varies less is taken times a power of two, so that both vary about as much, and
# times 1 where the two are alike, as prices or lengths are. A ratio is of numbers above 0.
# What a candidate could save is found to second order, by the bins of its numbers, beyond what
# either of its columns could save alone.


OPERANDS = 16  # columns that are combined: those that say most
ROWS = 2_000  # by which candidates are screened, at most
BINS = 16  # of a candidate
LIKE_UNITS = 3  # powers of two that columns of one unit differ by, at most
FARTHEST = 50  # powers of two, by which a sum has the digits of both columns
RATIO = 3.0  # times its 5 % quantile, that the 95 % quantile of what is divided by must be
JUDGED = 24  # candidates that are cut for conditions, at most,
OF_PAIR = 2  # of the same two columns
OF_CURVATURE = 3.0  # added to the curvature of a bin
NATURAL = 1.0  # nats that other than natural units and ratios must save more

Operand: TypeAlias = tuple[BlockKey, Name]
Found: TypeAlias = tuple[BlockKey, Combined]
# A combined column, by the numbers of its two, the second of which is taken 2 ** power times.
Candidate: TypeAlias = "tuple[int, Literal['+', '-', '/'], int, int]"


class _Numbers(NamedTuple):
    """A column of numbers."""

    of: Operand
    x: Floats  # (rows,)
    scale: float  # the standard deviation
    positive: bool  # whether it is above 0 throughout,
    varies: bool  # and whether its large numbers are several times its small ones


class Candidates(Frozen):
    """Combined columns, and the bins of their numbers in the first rows of a sample."""

    of: list[Candidate]
    columns: list[_Numbers]
    bins: NDArray[np.int64]  # (candidates, then columns, rows): numbered through

    @classmethod
    def among(cls, numbers: Mapping[Operand, Floats]) -> Candidates | None:
        """List the candidates that are made of columns, (rows,) each; None if there are none."""
        columns = [_numbers(of, x[:ROWS]) for of, x in numbers.items()]
        columns = [of for of in columns if 0 < of.scale < np.inf]
        two = combinations(range(len(columns)), 2)
        found = [of for a, b in two for of in _of_pair(columns, a, b)]
        if not found:
            return None
        x = np.array([of.x for of in columns])
        a, operator, b, power = map(np.array, zip(*found, strict=True))
        values = np.empty((len(found) + len(x), x.shape[1]))
        values[len(found) :] = x
        for each in ("+", "-", "/"):
            at = np.flatnonzero(operator == each)
            values[at] = combined(each, x[a[at]], x[b[at]], 2.0 ** power[at, None])
        return cls(found, columns, _binned(values))

    def best(
        self,
        joint: Floats,  # (rows, classes): what the model says
        labels: Labels,
        rows: NDArray[np.int64] | None = None,  # of the labels; by default all
    ) -> list[Found]:
        """Return the candidates that could lower the log loss of some rows most."""
        n, k = self.bins.shape[1], joint.shape[1]
        p, codes = posterior(joint[:n]), labels.codes[:n]
        weight = labels.weights[:n].astype(np.float64)
        if rows is not None:
            weight[np.setdiff1d(np.arange(n), rows)] = 0.0
        size, every = len(self.bins), self.bins.ravel()
        saved = np.zeros(size)
        for c in range(int(k == 2), k):  # two classes save as much
            left, curve = weight * ((codes == c) - p[:, c]), weight * p[:, c] * (1 - p[:, c])
            each = [
                np.bincount(every, np.tile(of, size), size * (BINS + 1)) for of in (left, curve)
            ]
            of_bins = np.square(each[0]) / (each[1] + OF_CURVATURE) / 2
            saved += of_bins.reshape(size, -1)[:, :BINS].sum(axis=1)
        a, _, b, power = map(np.array, zip(*self.of, strict=True))
        alone, found, times = saved[len(self.of) :], list[Found](), Counter[frozenset[int]]()
        more = saved[: len(self.of)] - np.maximum(alone[a], alone[b])
        for at in np.argsort(-(more + NATURAL * (power == 0)), kind="stable").tolist():
            i, operator, j, q = self.of[at]
            pair = frozenset((i, j))
            if more[at] > 0 and times[pair] < OF_PAIR:
                times[pair] += 1
                (key, name), (_, other) = self.columns[i].of, self.columns[j].of
                found.append((key, Combined(name, operator, other, q)))
        return found[:JUDGED]


def _numbers(of: Operand, x: Floats) -> _Numbers:
    known = np.sort(x[np.isfinite(x)])
    if not len(known):
        return _Numbers(of, x, 0.0, positive=False, varies=False)
    low, high = known[[len(known) // 20, len(known) * 19 // 20]]
    positive = bool(np.nanmin(x) > 0)
    with np.errstate(over="ignore"):
        return _Numbers(of, x, float(known.std()), positive, varies=bool(high > RATIO * low))


def _of_pair(columns: Sequence[_Numbers], a: int, b: int) -> Iterator[Candidate]:
    """Yield the candidates of two columns of one group."""
    if columns[a].scale < columns[b].scale:
        a, b = b, a
    ((key, _), _, scale, positive, varies), of_b = columns[a], columns[b]
    if key != of_b.of[0]:
        return
    if key.kind == "time":  # no sum of two times means anything
        yield a, "-", b, 0
        return
    power = round(np.log2(scale) - np.log2(of_b.scale))
    powers = [0, power] if power <= LIKE_UNITS else [power] if power <= FARTHEST else []
    for q in dict.fromkeys(powers):
        yield a, "+", b, q
        yield a, "-", b, q
    if positive and varies and of_b.positive:
        yield b, "/", a, 0


def _binned(values: Floats) -> NDArray[np.int64]:
    """Return the bins of numbers, (columns, rows), of about as many rows, numbered through."""
    order, there = np.sort(values, axis=1), np.count_nonzero(~np.isnan(values), axis=1)
    at = there[:, None] * np.arange(1, BINS) // BINS
    edges = np.take_along_axis(order, at, axis=1)
    first = np.arange(len(values) + 1) * (BINS - 1)
    found = dispatch.find_bins(np.ascontiguousarray(values.T), edges.ravel(), first)
    bins = np.where(found < 0, BINS, found).astype(np.int64).T
    return np.ascontiguousarray(bins + np.arange(len(values))[:, None] * (BINS + 1))
