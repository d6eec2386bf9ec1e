"""The m-estimate: pretend rows in each class, spread by given shares or as over all classes.

(n of the outcome + m · p) / (n + m), with Cestnik, Estimating probabilities: a crucial task in
machine learning (1990), and Mitchell, Machine Learning (1997), section 6.9.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, VALUE, Level, Levels, title
from naively.counting.block import Block
from naively.counting.labels import Labels, is_missing
from naively.counting.leave_one_out import ROWS, BagsLeftOut, LeftOut, frequency_of
from naively.counting.tally import BlockTally
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats

Shares: TypeAlias = str | Sequence[float]  # "uniform", or one for each level or column
SPARE = 0.5  # rows that each level, and one never seen, has more when pretend rows are spread
SLACK = 1e-9  # how far shares may be from a sum of 1


def check_m(model: object, m: object, p: object, *, named: tuple[str, ...] = ()) -> None:
    """Raise a ValueError unless m is a number of at least 0 (or a name), and is given if p is."""
    name = type(model).__name__
    names = "".join(f" or {each!r}" for each in named)
    if isinstance(m, str) and m in named:
        if p is not None:
            raise ValueError(f"{name} p needs m as a number, got {m!r}.")
        return
    if m is not None:
        number = np.asarray(m)
        if number.ndim or number.dtype.kind not in "fiu" or not (np.isfinite(number) and m >= 0):  # type: ignore[operator]  # it is a number
            raise ValueError(f"{name} m must be at least 0{names}, got {m!r}.")
    if p is not None and m is None:
        raise ValueError(f"{name} p is where m pretend rows are spread: give m too.")


def check_shares(model: object, p: Any) -> Shares:
    """Return "uniform", or shares as a tuple; a ValueError unless they are, and sum to 1."""
    if isinstance(p, str):
        if p != "uniform":
            raise ValueError(f"{type(model).__name__} p must be shares or 'uniform', got {p!r}.")
        return p
    shares = np.asarray(p, np.float64)
    right = shares.ndim == 1 and np.isfinite(shares).all() and (shares >= 0).all()
    if not right or abs(shares.sum() - 1) > SLACK:
        raise ValueError(f"{type(model).__name__} p must be shares that sum to 1, got {p}.")
    return tuple(shares.tolist())


def declared_levels(levels: Any, p: Any) -> tuple[tuple[Level, ...] | None, Any]:
    """Return declared levels, and shares in their order, where these are a mapping by level."""
    if isinstance(levels, str):
        raise ValueError(  # noqa: TRY004  (as all that is given wrong)
            f"Categorical levels must be a sequence of levels, got {levels!r}."
        )
    if isinstance(p, Mapping):
        given = {_own(level): share for level, share in p.items()}
        levels = [*given] if levels is None else levels
        if {*given} != {_own(level) for level in levels}:
            raise ValueError("Categorical p must have a share for each of levels=, and no other.")
        p = [given[_own(level)] for level in levels]
    if levels is None:
        return None, p
    found = tuple(map(_own, levels))
    if not found or len(set(found)) < len(found) or any(map(is_missing, found)):
        raise ValueError(f"Categorical levels must be at least one, and each once, got {levels!r}.")
    return found, p


def _own(level: Level) -> Level:
    """Return a level of NumPy as Python's own, and a whole number as int, as levels are kept."""
    own = level.item() if isinstance(level, np.generic) else level
    return int(own) if isinstance(own, float) and own.is_integer() else own


def pooled_total(
    tally: BlockTally[Levels],
    left_out: Floats | float = 0.0,
    column: NDArray[np.int64] | slice = slice(None),
) -> Floats:
    """Return the counts of columns over all classes, (columns,), with half a row for each level."""
    # After decay, less than a row may be left.
    rows: Floats = np.maximum(
        tally.axis.sum_by_column(tally[LEVEL].high).sum(axis=1)[column] - left_out, 0.0
    )
    return rows + SPARE * np.maximum(np.diff(tally.axis.first), 1)[column]


def pooled(
    tally: BlockTally[Levels],
    left_out: Floats | float = 0.0,
    level: NDArray[np.int64] | slice = slice(None),
    column: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the shares of levels over all classes, less a row of weight ``left_out`` with each.

    A level that only this row has keeps half a row, which is less than the share of a level never
    seen without the row, but by one factor for all classes, so that no posterior differs.
    """
    seen = tally[LEVEL].high.sum(axis=1)[level]
    left = np.maximum(seen - left_out, 0.0)
    left = np.where(left <= NEGLIGIBLE * seen, 0.0, left)
    columns = np.repeat(np.arange(len(tally.axis.columns)), tally.axis.sizes)
    column = columns[level] if column is None else column
    share: Floats = (left + SPARE) / pooled_total(tally, left_out, column)
    return share


def shares_of_levels(p: Shares, axis: Levels) -> Floats:
    """Return the given share of each level in its column, of shape (levels,)."""
    if isinstance(p, str):
        return np.repeat(1 / np.maximum(axis.sizes, 1), axis.sizes)
    for name, levels in zip(axis.columns, axis.levels, strict=True):
        if len(levels) > len(p):
            raise ValueError(
                f"Column {title(name)!r} holds the level {levels[len(p)]!r}, and p= has no share "
                f"for it; it has {len(p)} shares."
            )
        if len(levels) < len(p):
            raise ValueError(
                f"p= has {len(p)} shares and column {title(name)!r} only {len(levels)} levels; "
                "give p= as a mapping by level, or declare all levels with levels=."
            )
    return np.tile(np.asarray(p, np.float64), len(axis.columns))


def log_uniform_without(m: float, tally: BlockTally[Levels], cells: LeftOut) -> Floats:
    """Return log likelihoods of cells without their rows, (cells, classes), for uniform shares.

    Without the only row that has a level, there is a level less that rows are spread over.
    """
    axis, column = tally.axis, cells.column
    level = axis.first[column] + cells.x
    count = tally[LEVEL].high
    seen = count.sum(axis=1)[level]
    alone = (seen - cells.weight <= NEGLIGIBLE * seen) & ~axis.stays[level]
    known = axis.sizes[column] - alone
    each = m / np.maximum(known, 1)
    rest = np.where(alone[:, None], 0.0, np.maximum(count[level] - cells.own, 0.0)) + each[:, None]
    whole = axis.sum_by_column(count)[column] - cells.own
    whole = whole + (np.where(known > 0, m, 0.0) + np.where(alone, each, 0.0))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = rest / whole
        return np.log(np.where(np.isnan(p), 1.0, p))


def spread(count: Floats, recorded: NDArray[np.bool_], p: Shares | None) -> Floats:
    """Return the shares of words or columns, (words,): given, uniform, or as over all classes.

    Parameters
    ----------
    count : ndarray of shape (words, classes)
        How often each came.
    recorded : ndarray of bool, of shape (words,)
        Which columns were ever recorded.
    p : "uniform", sequence of float, or None
        None is as over all classes.
    """
    if p is None or isinstance(p, str):
        part = count.sum(axis=1) if p is None else recorded.astype(np.float64)
        return part / part.sum() if part.sum() > 0 else np.zeros_like(part)
    if len(p) != len(count):
        raise ValueError(f"Multinomial p has {len(p)} shares for {len(count)} columns or words.")
    return np.asarray(p, np.float64)


def bags_left_of_spread(
    tally: BlockTally,
    block: Block,
    labels: Labels,
    recorded: NDArray[np.bool_],
    m: float,
    p: str | None,
) -> Iterator[tuple[NDArray[np.int64], BagsLeftOut]]:
    """Yield numbers of rows and the counts that are left without each, as ``bags_left_out`` does.

    The shares that m pretend counts are spread by change with each row that is left out, so that
    each cell has counts of its own.
    """
    frequency, count = frequency_of(tally, block), tally[VALUE].high
    every = count.sum(axis=1)
    for start in range(0, len(block), ROWS):
        rows = np.arange(start, min(start + ROWS, len(block)))
        cells = LeftOut.of(block.select(rows), labels.take(rows))
        row, word, x, n = cells.row, cells.column, cells.x, len(rows)
        others = cells.others(frequency)
        alone = cells.alone(tally, others)
        own = x[:, None] * cells.own
        total = count.sum(axis=0) - np.stack([np.bincount(row, of, n) for of in own.T], axis=1)
        if p is None:
            here, weight = every[word], cells.weight * x
            left = np.where(here - weight <= NEGLIGIBLE * here, 0.0, here - weight)
            whole = every.sum() - np.bincount(row, weight, n)
            whole = np.where(whole <= NEGLIGIBLE * every.sum(), 0.0, whole)
        else:
            left, whole = np.ones(len(word)), recorded.sum() - np.bincount(row, alone, n)
        share = np.divide(left, whole[row], out=np.zeros(len(word)), where=whole[row] > 0)
        of_cell = np.maximum(count[word] - own, 0.0) + m * share[:, None]
        total = np.maximum(total, 0.0) + np.where(whole > 0, m, 0.0)[:, None]
        known = np.flatnonzero(~alone & (x != 0))
        none = np.empty((len(known), 0))
        yield rows, BagsLeftOut(
            row[known], np.arange(len(known)), x[known], others[known], of_cell[known],
            none.astype(np.int64), none, total,
        )  # fmt: skip
