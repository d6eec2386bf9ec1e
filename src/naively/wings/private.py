"""A model whose counts are noisy, so that they hardly show whether any one row was learned.

What one row changes is bounded: its class count, one level or cell of each column, and the words of
each text that was cut (``Text(max_tokens=)``). Noise that suffices for all of these together is
added to every count. Every count of what was declared stays, those of 0 too, and nothing else. A
level, cell or word that the rows alone name is kept where the greatest of its noisy counts in the
classes reaches a threshold that a new one hardly ever reaches (Korolova, Kenthapadi, Mishra &
Ntoulas 2009; Wilson et al. 2020). All that follows (no count below 0, no more
cells than rows) is computed from noisy counts alone and gives nothing more away.
"""

from __future__ import annotations

import math
import random
import secrets
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    PRESENT,
    VALUE,
    Axis,
    ByValue,
    Cells,
    Columns,
    Level,
    Levels,
    Words,
    title,
)
from naively.counting.tally import BlockTally, Tally
from naively.frozen import Frozen
from naively.kernels.dispatch import Vocabulary
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import AnySums
from naively.model.counted import AddedNoise, Counted, Mechanism
from naively.model.model import Model
from naively.schema.schema import Group
from naively.schema.settle import without_words

Below: TypeAlias = Callable[[int], int]  # a random integer from 0 to below this one, all alike

MANTISSA = 52  # bits of a float after its first
LEAST_EPSILON, MOST_EPSILON = 1e-6, 100.0
LEAST_DELTA = 1e-100  # but 0


class Sensitivity(NamedTuple):
    """What one row changes at most."""

    added: int  # by how much all counts together: the L1 sensitivity
    squared: int  # the sum of the squares of these changes: the L2 sensitivity, squared
    new: int  # how many levels, cells or words it may be the first to have, of those undeclared


def with_noise(
    model: Model, epsilon: float, delta: float, below: Below, resolution: int = 3
) -> Model:
    """Return a model with noisy counts, without weights and interactions (see ``NaiveBayes``)."""
    # Each of its rows must count once. Numbers are counted in 2**resolution cells from each power
    # of two to the next.
    _check(epsilon, delta, resolution)
    schema = without_words(model.counted.grouped).schema  # which the rows alone name
    groups = schema.groups
    # What is said of columns, and the words beside their numbers, are somebody's cells.
    readings = {
        name: replace(of, note="", words=None, forms=None) for name, of in schema.readings.items()
    }
    changes = [change_of(group, model.counted.tally.blocks[group.key]) for group in groups]
    _check_whole(model.counted.tally.weight, "the class counts")
    blocks = {g.key: regular(g, model.counted.tally.blocks[g.key], resolution) for g in groups}
    added, squared, new = (sum(of) for of in zip(Sensitivity(1, 1, 0), *changes, strict=True))
    if new and delta == 0:
        named = next(g for g, of in zip(groups, changes, strict=True) if of.new).columns[0]
        raise ValueError(
            f"The levels, cells or words of column {title(named)!r} come from its rows alone, "
            "which needs a delta above 0, such as 1e-6; or declare them, by "
            "Categorical(levels=...) or Text(vocabulary=...)."
        )
    classes = len(model.classes)
    noise, threshold = choose(epsilon, delta, Sensitivity(added, squared, new), classes)
    adding = _Adding(noise, below, threshold)
    rows = np.maximum(adding.to(model.counted.tally.weight.high), 1.0)  # the classes are known
    noisy = {group.key: adding.to_block(group, blocks[group.key], rows) for group in groups}
    said = AddedNoise(epsilon, delta, noise.mechanism, noise.deviation, threshold)
    return Model.of(
        Counted(
            replace(schema, notes={}, readings=readings),
            Tally(model.classes, Sums(rows), noisy),
            replace(model.settings, presence="ignore"),  # what is not kept would seem missing
            (*model.counted.noise, said),
        )
    )


def _check(epsilon: float, delta: float, resolution: int) -> None:
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise ValueError(
            f"epsilon must be from {LEAST_EPSILON:g} to {MOST_EPSILON:g}, got {epsilon}."
        )
    if not (delta == 0 or LEAST_DELTA <= delta < 1):
        raise ValueError(f"delta must be 0, or from {LEAST_DELTA:g} to less than 1, got {delta}.")
    if not 0 <= resolution <= MANTISSA:
        raise ValueError(f"resolution must be from 0 to {MANTISSA}, got {resolution}.")


def choose(epsilon: float, delta: float, change: Sensitivity, classes: int) -> tuple[Noise, int]:
    """Return the noise, and the threshold, which is 0 where none is needed."""
    # It is the discrete Laplace or the discrete Gaussian noise, whichever has the smaller deviation
    # times the threshold, as a threshold loses counts and noise blurs them.
    #
    # A level that no other row has is kept in the model with this row by a chance of at most ``new
    # * classes`` times that of noise to reach the threshold beside 1. Should it be, nothing is
    # hidden; the rest has the privacy of the noise. As the noise of such levels is independent of
    # all other noise, the delta d of the threshold is added to that of the noise if this chance is
    # at most d / (1 + d).
    share = delta / 2 if change.new else delta  # half is for the noise, half for the threshold
    found: list[tuple[Noise, float]] = [(DiscreteLaplace.hiding(change.added, epsilon), delta)]
    if delta > 0:
        found.append((DiscreteGaussian.hiding(change.squared, epsilon, share), share))
    if not change.new:
        return min((noise for noise, _ in found), key=lambda noise: noise.deviation), 0
    each = change.new * classes
    thresholds = [(noise, noise.threshold(d / (1 + d) / each)) for noise, d in found]
    return min(thresholds, key=lambda of: of[0].deviation * of[1])


def change_of(group: Group, block: BlockTally) -> Sensitivity:
    """Return what one row changes of what was counted of a group, if that has a bound."""
    columns, name = len(block.axis.columns), title(group.columns[0])
    unknown = not is_declared(block.axis)
    if isinstance(block.axis, ByValue):
        return Sensitivity(columns, columns, columns * unknown)
    if group.analyser is not None:
        most = group.analyser.max_tokens
        if most is None or set(block.sums) != {PRESENT, VALUE}:
            raise ValueError(
                f"Each text of column {name!r} may change any number of counts, which no noise can "
                "hide: learn it by Text(binary=True, max_tokens=20), or so many, without min_df "
                "and max_df."
            )
        once = is_once(group)
        return Sensitivity(1 + most, 1 + (most if once else most**2), most * unknown)
    if group.event.shares:
        return Sensitivity(columns, columns, 0)
    raise ValueError(
        f"Column {name!r} was counted for {group.event.name} by sums, which one row may change "
        "without bound, so that no noise can hide it; learn it as a histogram."
    )


def is_declared(axis: Axis) -> bool:
    """Whether only what was declared is kept of an axis, so that rows add no row to it."""
    return not axis.grows or bool(axis.declared)


def is_once(group: Group) -> bool:
    """Whether a word counts at most once in a text of a group."""
    return group.event.shares or (group.analyser is not None and group.analyser.binary)


def regular(group: Group, block: BlockTally, resolution: int) -> BlockTally:
    """Return a block whose cells follow from no row; an error unless it counts whole rows."""
    for sums in block.sums.values():
        _check_whole(sums, f"the counts of column {title(group.columns[0])!r}")
    if not isinstance(block.axis, Cells):
        return block
    try:
        axis, rows = block.axis.coarsened(MANTISSA - resolution)
    except ValueError as error:
        raise ValueError(f"{error} than resolution={resolution}; choose a lower one.") from error
    return BlockTally(axis, {CELL: block[CELL].place(rows, len(axis))})


def _check_whole(sums: AnySums, what: str) -> None:
    if sums.low.any() or (sums.high != np.rint(sums.high)).any():
        raise ValueError(
            f"Noise hides rows that count once, but {what} are of fractions of rows: of weights, "
            "decay, or rows without a label."
        )


class _Adding(Frozen, eq=True):
    """Noise on its way to counts."""

    noise: Noise  # what is added to each count
    below: Below  # where random integers come from
    threshold: int  # the noisy count from which on what the rows alone name is kept

    def to(self, counts: Floats) -> Floats:
        """Return noisy counts, in the shape of the counts; those below 0 are 0."""
        draws = (self.noise.draw(self.below) for _ in range(counts.size))
        drawn = np.fromiter(draws, np.float64, counts.size).reshape(counts.shape)
        return np.maximum(counts + drawn, 0.0)

    def to_block(self, group: Group, block: BlockTally, rows: Floats) -> BlockTally:
        """Return the noisy counts of a block, given the noisy class counts, (classes,)."""
        axis = block.axis
        match axis:
            case Columns():
                return self._to_truths(block, rows)
            case Words():
                return self._to_words(block, rows, once=is_once(group))
        statistic = axis.statistic
        counts = self.to(block[statistic].high)
        keep = axis.stays if is_declared(axis) else self._seen(counts)
        counts, axis = counts[keep], axis.select(keep)
        counts = _within(counts, rows, axis)
        if isinstance(axis, Levels):
            axis, order = _in_order(axis)
            counts = counts[order]
        return BlockTally(axis, {statistic: Sums(counts)}).pruned()

    def _seen(self, counts: Floats) -> NDArray[np.bool_]:
        """Return which rows of the axis have a noisy count that reaches the threshold, (rows,)."""
        return np.asarray(counts.max(axis=1, initial=0.0) >= self.threshold)

    def _to_truths(self, block: BlockTally[Columns], rows: Floats) -> BlockTally[Columns]:
        """Add noise to how many cells are true, and how many false."""
        true = self.to(block[VALUE].high)
        false = self.to(block[PRESENT].high - block[VALUE].high)
        share = np.minimum(rows / np.maximum(true + false, 1.0), 1.0)
        true, false = np.floor(true * share), np.floor(false * share)
        return BlockTally(block.axis, {PRESENT: Sums(true + false), VALUE: Sums(true)})

    def _to_words(self, block: BlockTally[Words], rows: Floats, *, once: bool) -> BlockTally[Words]:
        """Add noise to how often each word came, and to how many texts there are."""
        present = np.minimum(self.to(block[PRESENT].high), rows)
        counts = self.to(block[VALUE].high)
        axis = block.axis
        if axis.grows:
            words = axis.words
            kept = np.flatnonzero(self._seen(counts)).tolist()
            kept.sort(key=words.__getitem__)  # the order of the rows says which came first
            vocabulary = Vocabulary([words[i] for i in kept], **axis.analyser.splitting)
            counts, axis = counts[kept], Words(axis.columns, vocabulary, axis.analyser)
        if once:
            counts = np.minimum(counts, present)
        return BlockTally(axis, {PRESENT: Sums(present), VALUE: Sums(counts)}).pruned()


def _within(counts: Floats, rows: Floats, axis: ByValue) -> Floats:
    """Return counts that are scaled down where a column has more cells than there are rows."""
    share = np.minimum(rows / np.maximum(axis.sum_by_column(counts), 1.0), 1.0)
    return np.asarray(np.floor(counts * np.repeat(share, np.diff(axis.first), axis=0)))


def _in_order(axis: Levels) -> tuple[Levels, list[int]]:
    """Return the axis with its levels in an order that no row has made, and their rows before."""
    levels, order = [], []
    for first, of_column in zip(axis.first.tolist(), axis.levels, strict=False):
        declared, ranks = len(axis.declared), [*map(_rank, of_column)]
        others = sorted(range(declared, len(of_column)), key=ranks.__getitem__)
        places = [*range(declared), *others]
        levels.append(tuple(of_column[i] for i in places))
        order += [first + i for i in places]
    return replace(axis, levels=tuple(levels)), order


def _rank(level: Level) -> tuple[str, float, str]:
    """Return what levels, which may be of several types, are sorted by."""
    number = float(level) if isinstance(level, int | float) else math.inf
    return type(level).__name__, number, str(level)


# --- Noise for counts: whole numbers that are drawn exactly, and how many suffice ----------------
#
# Floating-point noise can give away what it hides (Mironov 2012), so that noise is drawn here from
# random integers alone, by the algorithms of Canonne, Kamath & Steinke, The discrete Gaussian for
# differential privacy (2020); with them every probability is exactly what the formula says.


PARTS = 1024  # a variance is rounded up to so many parts of 1
HALVINGS = 80  # of the range that the least variance is sought in
ORDERS = np.logspace(-6, 9, 6001)  # of Rényi divergence, less 1: each gives a bound that holds


def random_below(seed: int | None) -> Below:
    """Return where random integers come from: the operating system, or a seed, for tests."""
    return secrets.randbelow if seed is None else random.Random(seed).randrange


class Noise(ABC):
    """Whole numbers, as likely above 0 as below, that are added to counts."""

    mechanism: ClassVar[Mechanism]

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The standard deviation, or slightly more."""

    @abstractmethod
    def draw(self, below: Below) -> int:
        """Draw a number."""

    @abstractmethod
    def log_tail(self, least: int) -> float:
        """Return the log of a bound on the probability of a number that is at least ``least`` > 0.

        It is not less than the probability.
        """

    @final
    def threshold(self, chance: float) -> int:
        """Return the least number above 1 that noise beside 1 reaches by this chance at most."""
        enough = 1
        while self.log_tail(enough) > math.log(chance):
            enough *= 2
        first = enough // 2 + 1  # noise of a half is too little
        return 1 + bisect_left(
            range(enough), -math.log(chance), first, key=lambda least: -self.log_tail(least)
        )


@final
class DiscreteGaussian(Noise, Frozen, eq=True):
    """P(x) is proportional to exp(-x² / (2 variance))."""

    variance: Fraction
    mechanism: ClassVar[Mechanism] = "discrete Gaussian"

    @classmethod
    def hiding(cls, squared: int, epsilon: float, delta: float) -> DiscreteGaussian:
        """Return the least noise that hides a row by (epsilon, delta), both greater than 0."""
        # One row changes the counts by L2² = ``squared``, summed. Noise of a variance of L2² / (2
        # rho) hides it by rho-zero-concentrated differential privacy (Canonne, Kamath & Steinke
        # 2020, theorem 14), and so by (epsilon, ``delta_of(rho, epsilon)``).
        low, high = -60.0, 60.0  # log rho: low enough, and too high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if delta_of(math.exp(middle), epsilon) <= delta:
                low = middle
            else:
                high = middle
        variance = squared / (2 * math.exp(low))
        return cls(Fraction(math.ceil(variance * PARTS), PARTS))

    @property
    def deviation(self) -> float:
        return math.sqrt(self.variance)

    def draw(self, below: Below) -> int:
        p, q = self.variance.numerator, self.variance.denominator
        t = math.isqrt(p // q) + 1
        while True:
            x = _laplace(t, 1, below)
            if _happens((abs(x) * q * t - p) ** 2, 2 * p * q * t * t, below):
                return x

    def log_tail(self, least: int) -> float:
        # The normal distribution has more beyond least - 1: its integral is greater than the sum,
        # and the sum over all whole numbers greater than its integral (Poisson's formula).
        from scipy.special import log_ndtr

        return float(log_ndtr((1 - least) / self.deviation))


@final
class DiscreteLaplace(Noise, Frozen, eq=True):
    """P(x) is proportional to exp(-abs(x) / scale): the two-sided geometric distribution.

    Ghosh, Roughgarden & Sundararajan, Universally utility-maximizing privacy mechanisms (2009).
    """

    scale: Fraction
    mechanism: ClassVar[Mechanism] = "discrete Laplace"

    @classmethod
    def hiding(cls, added: int, epsilon: float) -> DiscreteLaplace:
        """Return the least noise that hides a row by (epsilon, 0): of the scale L1 / epsilon."""
        # One row changes all counts together by L1 = ``added``.
        return cls(added / Fraction(epsilon))

    @property
    def deviation(self) -> float:
        return 1 / (math.sqrt(2) * math.sinh(1 / (2 * float(self.scale))))

    def draw(self, below: Below) -> int:
        return _laplace(self.scale.numerator, self.scale.denominator, below)

    def log_tail(self, least: int) -> float:
        rate = 1 / float(self.scale)
        return -least * rate - math.log1p(math.exp(-rate))


def delta_of(rho: float, epsilon: float) -> float:
    """Return a delta such that rho-zero-concentrated privacy is (epsilon, delta) privacy."""
    # Canonne, Kamath & Steinke (2020), section 2.3: the least over all alpha > 1 of exp((alpha - 1)
    # (alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha. The least of some of them is a
    # bound too.
    less, alpha = ORDERS, 1 + ORDERS
    log_delta = less * (alpha * rho - epsilon) - np.log(less) + alpha * np.log(less / alpha)
    return math.exp(min(0.0, float(log_delta.min())))


def _happens(above: int, below_: int, below: Below) -> bool:
    """Return True with the probability exp(-above / below_) (algorithm 1)."""
    whole, rest = divmod(above, below_)
    always = all(_happens_once(1, 1, below) for _ in range(whole))
    return always and _happens_once(rest, below_, below)


def _happens_once(above: int, below_: int, below: Below) -> bool:
    """Return True with the probability exp(-above / below_), where the fraction is at most 1."""
    k = 1
    while below(below_ * k) < above:
        k += 1
    return k % 2 == 1


def _laplace(t: int, s: int, below: Below) -> int:
    """Draw a whole number x with a probability in proportion to exp(-|x| s / t) (algorithm 2)."""
    while True:
        u = below(t)
        if not _happens_once(u, t, below):
            continue
        v = 0
        while _happens_once(1, 1, below):
            v += 1
        size = (u + t * v) // s
        if below(2) == 0:
            return size
        if size:
            return -size
