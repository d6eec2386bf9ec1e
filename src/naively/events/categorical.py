"""Categorical: one of the levels of a column, with Laplace or an m-estimate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias, cast, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, VALUE, Level, Levels, title
from naively.counting.block import Block, Codes
from naively.counting.labels import Labels, is_missing, plain_cell
from naively.counting.leave_one_out import (
    ROWS,
    BagsLeftOut,
    LeftOut,
    choose,
    different_cells,
    frequency_of,
)
from naively.counting.tally import BlockTally
from naively.events.base import (
    UNSAID,
    ClassNumbers,
    Ratios,
    added,
    by_row,
    check_settings,
    check_some,
    draw_levels,
)
from naively.events.estimate import Estimate, OfShares, flat
from naively.events.prior import Dirichlet, share
from naively.events.shown import PROBABILITY, Parameters, read_shares
from naively.frozen import Frozen
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats
from naively.messages import shortened
from naively.options import PSEUDO_COUNTS, How
from naively.terms.kinds import LevelTerms
from naively.terms.uncertain import Uncertain, mean_of_log, variance_of_share

# --- Categorical event model: one of the levels of a column --------------------------------------


HALF = 0.5  # each class has half a row more in the log loss that m is chosen by
MOST_CODES = 1 << 31  # levels of a column, with codes=
CHOICES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # of m, for "auto"
USUAL_M = 2.0  # towards which the choice is shrunk


@final
class Categorical(OfShares[Levels, Codes], Frozen, eq=True):
    """One of several levels: x | class ~ Categorical(p), one p per column and class.

    Parameters
    ----------
    alpha : float, "laplace" or "jeffreys", default 1.0
        Pretend count of each level in each class: the prior is Dirichlet(alpha), or with
        ``estimate="map"`` Dirichlet(alpha + 1), whose mode it is. 1 is Laplace's rule, 1/2
        Jeffreys's, any other Lidstone's, 0 maximum likelihood. A level never seen in training has
        the probability of a known level that was never counted: alpha / (n + alpha · (levels + 1)).
    codes : int or sequence of int, optional
        Levels are the whole numbers 0, 1, 2, ..., and every one up to the largest seen is a level,
        seen or not; a column (or each of them) has at least this many. A level never seen, within
        these or not, takes alpha / (n + alpha · levels).
    prior : Dirichlet, optional
        Instead of ``alpha``. A vector is for one column, in the order of its levels; a level
        never seen takes nothing then.
    m : float or "auto", optional
        Instead of ``alpha``: pretend rows in each class, spread as the levels are over all classes
        (the m-estimate), each level with half a row more, or by ``p``. A level never seen takes
        the share of half a row. "auto" takes for each column the m of least leave-one-out log
        loss, which follows from the counts.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean. What is undefined
        (maximum likelihood from nothing, the mode of a uniform posterior) is NaN.
    p : mapping of level to float, sequence of float, or "uniform", optional
        How the m pretend rows are spread: (n of the level + m · p) / (n + m). A mapping declares
        the levels too; a sequence is in the order of the levels. Another level has no pretend rows
        when rows are scored, and is an error when it is learned; with "uniform" it has those of a
        known level.
    levels : sequence of str, bool, int or float, optional
        Levels that each column has, seen or not: alpha / (n + alpha · levels). Any other level is
        added when it is learned.

    Notes
    -----
    Bishop, Pattern Recognition and Machine Learning (2006), section 2.2; Cestnik, Estimating
    probabilities: a crucial task in machine learning (1990), for the m-estimate.

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> nb = NaiveBayes(Categorical(), weights=None)
    >>> nb = nb.fit([["red"], ["red"], ["blue"]], [0, 0, 1])
    >>> nb.predict_proba([["red"], ["green"]]).round(2)
    array([[0.82, 0.18],
           [0.62, 0.38]])
    """

    alpha: float | str = 1.0
    codes: int | Sequence[int] | None = None
    prior: Dirichlet | None = None
    m: float | str | None = None
    estimate: How = UNSAID
    p: str | Sequence[float] | Mapping[Level, float] | None = None
    levels: Sequence[Level] | None = None
    name = "categorical"
    statistics = (LEVEL,)
    layout = "levels"
    chosen_by = "m"
    space: ClassVar = {"p": PROBABILITY}

    def __post_init__(self) -> None:
        check_settings(self, *PSEUDO_COUNTS)
        check_m(self, self.m, self.p, named=("auto",))
        check_some(self, "codes", self.codes)
        codes = np.asarray(self.codes)
        if codes.ndim:  # as a tuple they are equal to themselves, and hash
            object.__setattr__(self, "codes", tuple(codes.tolist()))
        if self.codes is not None and not (self.p is None and self.levels is None):
            raise ValueError("Categorical codes= are levels already: leave out levels= and p=.")
        levels, p = declared_levels(self.levels, self.p)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "declared", levels or ())
        object.__setattr__(self, "p", None if p is None else check_shares(self, p))
        if levels is not None and isinstance(self.p, tuple) and len(self.p) != len(levels):
            raise ValueError(f"Categorical p has {len(self.p)} shares for {len(levels)} levels.")

    def n_levels(self, axis: Levels) -> NDArray[np.int64]:
        """Return how many levels each column has, (columns,)."""
        if self.codes is None:
            return np.diff(axis.first)
        for name, levels in zip(axis.columns, axis.levels, strict=True):
            if not all(type(level) is int for level in levels):
                raise ValueError(
                    f"Categorical codes= needs whole numbers, and column {title(name)!r} holds "
                    "other levels; leave codes= out."
                )
            for code in levels:
                if not 0 <= code < MOST_CODES:
                    raise ValueError(
                        f"Column {title(name)!r} holds the code {shortened(str(code), 30)}, and "
                        f"codes= counts all levels from 0 to the largest; give codes from 0 to "
                        f"{MOST_CODES - 1}, or leave codes= out."
                    )
        largest = [max(levels, default=-1) for levels in axis.levels]
        seen = np.array(largest, np.int64) + 1
        return np.maximum(seen, self.codes)

    def parameters(self, tally: BlockTally[Levels], how: How) -> dict[str, Floats]:
        smoothed = self._smoothed(tally, how)
        return {"p": share(smoothed.count, smoothed.total[tally.axis.column])}

    def terms(self, tally: BlockTally[Levels]) -> LevelTerms:
        axis, column = tally.axis, tally.axis.column
        smoothed = self._smoothed(tally, self.estimate)
        first = axis.first + np.arange(len(axis.levels) + 1)  # one row more: levels never seen
        table = np.empty((first[-1], smoothed.count.shape[1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            table[np.arange(len(axis)) + column] = smoothed.count / smoothed.total[column]
            table[first[1:] - 1] = smoothed.never / (smoothed.total + smoothed.outside)
            # Unsmoothed, a class with no value in a column has a log likelihood of 0 there.
            return LevelTerms(np.log(np.where(np.isnan(table), 1.0, table)), first)

    def ratios(self, tally: BlockTally[Levels]) -> Ratios:
        """Return the counts of levels and, last of each column, of a level never seen."""
        axis, smoothed = tally.axis, self._smoothed(tally, self.estimate)
        count, counted, _ = self._counted(tally)
        pretend, d = self._pretend(tally, self.estimate).known, len(axis.columns)
        after = axis.first[1:]  # where levels never seen are put

        def with_never(known: Floats, never: Floats) -> Floats:
            shape = d, count.shape[1]
            return np.insert(
                np.broadcast_to(known, count.shape), after, np.broadcast_to(never, shape), 0
            )

        column, none = tally.axis.column, np.zeros((1, 1))
        more = smoothed.total - counted
        return Ratios.spread(
            with_never(count, none),
            with_never(pretend, smoothed.never),
            with_never(counted[column], counted),
            with_never(more[column], more + smoothed.outside),
        )

    def log_prob_without(self, tally: BlockTally[Levels], cells: LeftOut[Codes]) -> Floats:
        """Return the log likelihood of each cell without its own row, (cells, classes); m stays."""
        level = tally.axis.first[cells.column] + cells.x
        first, of = different_cells(cells, level, len(tally.axis))
        cells, level, column = cells.take(first), level[first], cells.column[first]
        every, total, m = self._counted(tally)
        if self.p == "uniform" and self.estimate != "mle":
            return log_uniform_without(float(m[0]), tally, cells).take(of, axis=0)
        count, own = every[level], cells.labels.one_hot()
        if self.m is None or self.p is not None or self.estimate == "mle":
            net = self._pretend(tally, self.estimate).known
            net = np.broadcast_to(net, (len(tally.axis), 1))[level]
            rest = np.maximum(count - own + net, 0.0)
            whole = self._smoothed(tally, self.estimate).total[column]
            whole = whole - np.maximum(count + net, 0.0) + rest
        else:
            m = m[column, None]
            q = pooled(tally.axis, every, total, cells.labels.weights, level, column)[:, None]
            rest, whole = np.maximum(count - own, 0.0) + m * q, total[column] - own + m
        with np.errstate(divide="ignore", invalid="ignore"):
            p = rest / whole
            return np.log(np.where(np.isnan(p), 1.0, p)).take(of, axis=0)

    @classmethod
    def of(cls, p: Mapping[Level, float] | Sequence[float]) -> Estimate:
        """Return the distribution of levels with given probabilities, as an estimate.

        Parameters
        ----------
        p : mapping of level to float, or sequence of float
            Probabilities that sum to 1; a sequence is of the levels 0, 1, 2, ...

        Examples
        --------
        >>> Categorical.of(p={"red": 0.75, "blue": 0.25}).sample(4, random_state=0)
        ['red', 'red', 'red', 'red']
        """
        levels, shares = read_shares(cls.__name__, p)
        return cls(alpha=0, estimate="mle").given(Levels((0,), (levels,)), {LEVEL: Sums(shares)})

    def uncertain(self, tally: BlockTally[Levels], block: Codes, least: float = 0.0) -> Uncertain:
        """Return the posterior mean and variance of levels; those never seen count as known."""
        column, smoothed = tally.axis.column, self._smoothed(tally, "mean")
        known = self.terms(tally)
        level = np.arange(len(tally.axis)) + column
        count, total = np.asarray(smoothed.count), smoothed.total[column]
        mean, variance = known.table.copy(), np.zeros_like(known.table)
        with np.errstate(invalid="ignore"):
            mean[level] = mean_of_log(count, least) - mean_of_log(total, least)
        variance[level] = variance_of_share(count, total, least)
        items = LevelTerms(mean, known.first).items(block)
        of = known.first[items.column] + items.item
        return Uncertain(items.row, items.column, items.value, variance[of])

    def pretended(self, tally: BlockTally[Levels], how: How) -> Floats:
        return self._pretend(tally, how).known

    def n_parameters(self, tally: BlockTally[Levels]) -> int:
        free = np.maximum(self.n_levels(tally.axis) - 1, 0)
        return int(free.sum()) * tally[LEVEL].shape[1]

    def n_values(self, tally: BlockTally[Levels]) -> int:
        return math.prod(self.n_levels(tally.axis).tolist())

    def sample(
        self, tally: BlockTally[Levels], classes: ClassNumbers, rng: np.random.Generator
    ) -> Codes:
        axis = tally.axis
        count = self._smoothed(tally, self.estimate).count
        codes = np.empty((len(classes), len(axis.levels)), np.int32)
        for j, (start, end) in enumerate(pairwise(axis.first)):
            codes[:, j] = draw_levels(count[start:end], classes, rng)
        return Codes(codes, axis)

    def _prior_counts(self, tally: BlockTally[Levels]) -> Parameters:
        known = self._pretend(tally, "mean").known
        return flat(known[:1] if len(known) and (known == known[0]).all() else known)

    def _posterior_counts(self, tally: BlockTally[Levels]) -> Parameters:
        return flat(self._smoothed(tally, "mean").count)

    def _known(self, seen: Iterable[Level]) -> Iterable[Level]:
        """Return the levels of a plain sample: with ``codes``, all numbers up to the largest."""
        if self.codes is None:
            return dict.fromkeys([*self.declared, *seen])
        return range(int(self.n_levels(Levels((0,), (tuple(seen),)))[0]))

    def _smoothed(self, tally: BlockTally[Levels], how: How) -> _Smoothed:
        """Return the counts of levels and their totals by column, with pretend counts."""
        axis, pretend = tally.axis, self._pretend(tally, how)
        counted, total, _ = self._counted(tally)
        if len(pretend.known) not in (1, len(counted)):
            raise ValueError(
                f"The Dirichlet prior has {len(pretend.known)} counts for {len(counted)} levels."
            )
        count = np.maximum(counted + pretend.known, 0.0)
        never = np.maximum(pretend.never, 0.0)
        if self.p is None and pretend.rows is not None and how == self.estimate:
            # exact, where adding up is not
            return _Smoothed(count, total + pretend.rows[:, None], never, np.zeros_like(never))
        more = (self.n_levels(axis) - np.diff(axis.first))[:, None]
        total = axis.sum_by_column(count) + never * more
        # With codes, a level never seen has its place already.
        spread = self.m is not None and self.p is None
        outside = np.zeros((1, 1)) if spread or self.codes is not None else never
        return _Smoothed(count, total, never, outside)

    def _pretend(self, tally: BlockTally[Levels], how: How) -> _Pretend:
        """Return the pretend counts of each level, and of a level never seen."""
        if self.prior is not None:
            known = by_row(self.prior.pretend(how))
            return _Pretend(known, known if len(known) == 1 else np.zeros((1, 1)))
        if self.m is None or how == "mle":
            known = added(0.0 if how == "mle" else self.alpha, self.estimate, how)
            return _Pretend(known, known)
        count, total, m = self._counted(tally)
        if self.p is not None:  # by level, if it was a mapping, since it was checked
            shares = cast("Shares", self.p)
            known = m[tally.axis.column] * shares_of_levels(shares, tally.axis)
            uniform = m / np.maximum(np.diff(tally.axis.first), 1)
            never = uniform if shares == "uniform" else np.zeros(len(m))
        else:
            never = m * SPARE / pooled_total(tally.axis, total)
            known = m[tally.axis.column] * pooled(tally.axis, count, total)
        return _Pretend(added(known, self.estimate, how), added(never, self.estimate, how), m)

    def _counted(self, tally: BlockTally[Levels]) -> _Counts:
        """Return the counts of levels and columns, with the pretend rows that these ask for."""
        if self not in (of := _COUNTS.setdefault(tally, {})):
            count = tally[LEVEL].high
            total = tally.axis.sum_by_column(count)
            of[self] = count, total, self._m(tally.axis, count, total)
        return of[self]

    def _m(self, axis: Levels, count: Floats, total: Floats) -> Floats:
        """Return the pretend rows of each column, of shape (columns,)."""
        d = len(axis.columns)
        if self.m != "auto":
            return np.full(d, self.m or 0.0, np.float64)
        column, q = axis.column, pooled(axis, count, total, 1.0)[:, None]
        prior, own_prior = total + HALF, np.maximum(total - 1.0, 0.0) + HALF

        def loss(m: float) -> Floats:
            others = prior[column] * (count + m * q) / (total[column] + m)
            rest = np.maximum(count - 1.0, 0.0) + m * q
            own = own_prior[column] * rest / (np.maximum(total - 1.0, 0.0)[column] + m)
            right = own / (others.sum(axis=1, keepdims=True) - others + own)
            of_level = -(count * np.log(right)).sum(axis=1)
            return np.bincount(column, of_level, d).astype(np.float64)

        return choose(CHOICES, np.stack([loss(m) for m in CHOICES]), towards=USUAL_M)


# Counts of levels (levels, classes), of columns (columns, classes), and pretend rows (columns,).
_Counts: TypeAlias = tuple[Floats, Floats, Floats]
# For each tally, for as long as it lives: rows are left out of what scores them.
_COUNTS: WeakKeyDictionary[BlockTally[Levels], dict[Categorical, _Counts]] = WeakKeyDictionary()


class _Pretend(Frozen):
    """Pretend counts, each an array of one column."""

    known: Floats  # (levels or 1, 1): of each level, or the same of all
    never: Floats  # (columns or 1, 1): of a level never seen
    rows: Floats | None = None  # (columns,): pretend rows that were spread, if any were


class _Smoothed(Frozen):
    """Counts that include pretend counts."""

    count: Floats  # (levels, classes)
    total: Floats  # (columns, classes)
    never: Floats  # (columns or 1, 1): of a level never seen
    outside: Floats  # (columns or 1, 1): what a level never seen adds to the total


# --- The m-estimate: pretend rows in each class, spread by given shares or as over all classes ---
#
# (n of the outcome + m · p) / (n + m), with Cestnik, Estimating probabilities: a crucial task in
# machine learning (1990), and Mitchell, Machine Learning (1997), section 6.9.1.


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
    own = plain_cell(level)
    return int(own) if isinstance(own, float) and own.is_integer() else own


def pooled_total(
    axis: Levels,
    total: Floats,  # (columns, classes)
    left_out: Floats | float = 0.0,
    column: NDArray[np.int64] | slice = slice(None),
) -> Floats:
    """Return the counts of columns over all classes, (columns,), with half a row for each level."""
    # After decay, less than a row may be left.
    rows: Floats = np.maximum(total.sum(axis=1)[column] - left_out, 0.0)
    return rows + SPARE * np.maximum(np.diff(axis.first), 1)[column]


def pooled(
    axis: Levels,
    count: Floats,  # (levels, classes)
    total: Floats,  # (columns, classes)
    left_out: Floats | float = 0.0,
    level: NDArray[np.int64] | slice = slice(None),
    column: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the shares of levels over all classes, less a row of weight ``left_out`` with each."""
    # A level that only this row has keeps half a row, which is less than the share of a level never
    # seen without the row, but by one factor for all classes, so that no posterior differs.
    seen = count.sum(axis=1)[level]
    left = np.maximum(seen - left_out, 0.0)
    left = np.where(left <= NEGLIGIBLE * seen, 0.0, left)
    column = axis.column[level] if column is None else column
    return (left + SPARE) / pooled_total(axis, total, left_out, column)


def shares_of_levels(p: Shares, axis: Levels) -> Floats:
    """Return the given share of each level in its column, of shape (levels,)."""
    if isinstance(p, str):
        return np.repeat(1 / np.maximum(np.diff(axis.first), 1), np.diff(axis.first))
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
    """Return log likelihoods of cells without their rows, (cells, classes), for uniform shares."""
    # Without the only row that has a level, there is a level less that rows are spread over.
    axis, column = tally.axis, cells.column
    level = axis.first[column] + cells.x
    count = tally[LEVEL].high
    seen = count.sum(axis=1)[level]
    own = cells.labels.one_hot()
    alone = (seen - cells.labels.weights <= NEGLIGIBLE * seen) & ~axis.stays[level]
    known = np.diff(axis.first)[column] - alone
    each = m / np.maximum(known, 1)
    rest = np.where(alone[:, None], 0.0, np.maximum(count[level] - own, 0.0)) + each[:, None]
    whole = axis.sum_by_column(count)[column] - own
    whole = whole + (np.where(known > 0, m, 0.0) + np.where(alone, each, 0.0))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = rest / whole
        return np.log(np.where(np.isnan(p), 1.0, p))


def spread(count: Floats, recorded: NDArray[np.bool_], p: Shares | None) -> Floats:
    """Return the shares of words or columns, (words,): given, uniform, or as over all classes."""
    # ``count`` is how often each came, (words, classes), and ``recorded`` which ever were,
    # (words,).
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
    """Yield numbers of rows and the counts that are left without each, as ``bags_left_out``."""
    # The shares that m pretend counts are spread by change with each row that is left out, so that
    # each cell has counts of its own.
    frequency, count = frequency_of(tally, block), tally[VALUE].high
    every = count.sum(axis=1)
    for start in range(0, len(block), ROWS):
        rows = np.arange(start, min(start + ROWS, len(block)))
        cells = LeftOut.of(block.select(rows), labels.take(rows))
        row, word, x, n = cells.row, cells.column, cells.x, len(rows)
        others = cells.others(frequency)
        alone = cells.alone(tally, others)
        own = x[:, None] * cells.labels.one_hot()
        total = count.sum(axis=0) - np.stack([np.bincount(row, of, n) for of in own.T], axis=1)
        if p is None:
            here, weight = every[word], cells.labels.weights * x
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
