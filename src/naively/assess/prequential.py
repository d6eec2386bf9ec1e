"""How good a model is while it learns: each batch is scored before it is learned.

Dawid, Statistical theory: the prequential approach (1984). No row is held out, and none is scored
by itself: it is what a model that learns all the time has been worth all the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from naively.assess.curves import Metric, check_metric, number_of, of_tally, split_once
from naively.assess.refits import Moment, Named, Places, check_folds, in_blocks
from naively.counting.axis import Name
from naively.counting.block import Batch, relabelled
from naively.counting.labels import LEAST_WEIGHT, Labels
from naively.counting.tally import Tally
from naively.data.columns import Rows
from naively.fitting.reservoir import ANY
from naively.fitting.sample import Sample
from naively.fitting.weights import hits_and_losses
from naively.kernels.reference import Floats
from naively.model.counted import count_batch
from naively.model.model import Model, Weights
from naively.options import Weighting
from naively.schema.encode import Held
from naively.tabular import Tabular, as_text, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


EVERY = 1_000  # rows of a batch
ALL = "all"


class Prequential(Tabular):
    """Scores of batches by what was learned before each, and of all rows.

    Parameters
    ----------
    batch : list of int or "all"
        Which batch, from 1 on; the last line is of all rows.
    rows : list of float
        How many rows it has (their weight).
    log_loss : list of float
        In nats per row.
    accuracy : list of float
        The share of right answers.
    """

    batch: list[int | str]
    rows: list[float]
    log_loss: list[float]
    accuracy: list[float]

    TABLE = ("batch", "rows", "log_loss", "accuracy")


def prequential(
    rows: Rows,
    labels: Labels,
    model: Callable[[], Model],  # returns the model that has learned all rows before
    learn: Callable[[slice], object],  # learns the rows of a slice
    every: int = EVERY,  # how many rows a batch has; the last may have fewer
) -> Prequential:
    """Score and learn rows in batches, in their order."""
    if every < 1:
        raise ValueError(f"A batch must have at least 1 row, got {every}.")
    found = []
    for start in range(0, len(labels), every):
        place = np.arange(start, min(start + every, len(labels)))
        before, right = model(), labels.take(place)
        hit, loss = hits_and_losses(before.posterior(rows.take(place)), before.classes, right)
        weight = right.weights
        rows_of = max(float(weight.sum()), LEAST_WEIGHT)  # of a batch no row may count
        learn(slice(start, start + len(place)))
        means = float(loss @ weight) / rows_of, float(hit @ weight) / rows_of
        found.append((float(weight.sum()), *means))
    weight = np.array([of[0] for of in found])
    total = [float(np.average([of[i] for of in found], weights=weight)) for i in (1, 2)]
    number = [*range(1, len(found) + 1), ALL]
    columns = [list(of) for of in zip(*found, (float(weight.sum()), *total), strict=True)]
    return Prequential(number, *columns)


# --- Whether rows have an order: whether the past predicts worse than other rows do ---------------
#
# Cross-validation shuffles rows, so that each is judged by what came after it too. Where a column
# of times has been learned, a part of the sample is put in its order, and the last quarter judged
# by what the others teach; and so is a random quarter. Both learn equally many rows.


ROWS = 3_000  # that are looked at, so that it takes less than a fit
FEWEST = 200  # of which anything is said
SURE, MUCH = 2.0, 0.1  # standard errors, and the share of the log loss, beyond which it is said


def note_of_time(model: Model, sample: Sample, kind: Weighting | None) -> tuple[str, ...]:
    """Return what is to be said of the order of rows; nothing where it makes no difference."""
    schema = model.view.schema
    times = [name for name in schema.order if name in schema.times]
    for name in times:
        found = _forward_and_shuffled(model, sample, kind, name)
        if found is None:
            continue
        (forward, shuffled), noise = found
        if forward - shuffled > max(SURE * noise, MUCH * shuffled):
            said = (
                f"the rows change over time: the last quarter by {name!r} has a log loss of "
                f"{forward:.4f}, learned from the rows before it, and a random quarter "
                f"{shuffled:.4f}; the scores here are of shuffled rows. assess(time={name!r}) "
                "judges rows by those before them, and curve.decay says how fast to forget"
            )
            return (said,)
    return ()


def _forward_and_shuffled(
    model: Model, sample: Sample, kind: Weighting | None, by: Name
) -> tuple[tuple[float, float], float] | None:
    """Return the log loss of the last quarter and of a random one, and the error of both."""
    held = [Held(model.recode(batch)) for batch in sample.batches]
    moments = np.concatenate([of.number(by) for of in held]).astype(np.float64)
    mixed = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(moments)))[:ROWS]
    if len(mixed) < FEWEST:
        return None
    weight = sample.labels.standing_for(model.counted.tally.class_count).weights
    sample = replace(sample, batches=relabelled(sample.batches, "weight", weight))
    ordered = mixed[np.argsort(moments[mixed], kind="stable")]
    if moments[ordered[0]] == moments[ordered[-1]]:
        return None
    means, errors = [], []
    for rows in (ordered, mixed):
        cut = len(rows) * 3 // 4
        loss = _losses(model, sample, kind, rows[:cut], rows[cut:])
        w = weight[np.sort(rows[cut:])]
        means.append(float(np.average(loss, weights=w)))
        errors.append(float((w * w * (loss - means[-1]) ** 2).sum() / w.sum() ** 2))
    return (means[0], means[1]), float(np.sqrt(sum(errors)))


def _losses(
    model: Model,
    sample: Sample,
    kind: Weighting | None,
    learned: NDArray[np.int64],
    judged: NDArray[np.int64],
) -> Floats:
    """Return the log loss of rows, in the order of the sample, by a model of others alone."""
    before, after = (_only(sample, rows) for rows in (learned, judged))
    counted = (count_batch(b, model.counted.schema) for b in before.batches if len(b))
    known = of_tally(model, reduce(Tally.__add__, counted))
    if kind is not None:
        known = known.weighed(before.weighed(known, kind).weights)
    return hits_and_losses(after.posterior(known), known.classes, after.labels)[1]


def _only(sample: Sample, rows: NDArray[np.int64]) -> Sample:
    """Return some rows of a sample."""
    copies = np.zeros_like(sample.copies)
    copies[rows] = sample.copies[rows]
    return sample.keep(copies)


# --- How fast what was learned ages: each block of time scored by what was learned before ---------
#
# Rows are counted once, block by block. What was learned before a block is the sum of the tallies
# of the blocks before it, each times 0.5 to the power of its age over a half-life; it is the tally
# before, times one factor, plus one block. Weights follow in one of two ways. "fitted": before each
# block, to a sample in which a row fades as its counts do, so that a point of the curve is what
# ``fit`` gives with such sample weights. "kept": those of the first block stay, as they do where
# ``decay`` and ``partial_fit`` follow each other, since ``decay`` drops the sample.


Follow: TypeAlias = Literal["fitted", "kept"]
FOLLOW: tuple[Follow, ...] = get_args(Follow)
SHORTEST = 0.25  # of a block, with which little but the last one counts
NEGLIGIBLE = 1e-6  # nats per row, by which no half-life is better than another
BEYOND_CHANCE = 2.0  # standard errors beyond which a difference is not by chance


class DecayCurve(Tabular):
    """Scores of each block of time by what was learned before, a line a half-life and block.

    Parameters
    ----------
    half_life : list of float
        In blocks: after so many of them a row counts half. Infinity is for ever.
    block : list of int
        Which block was scored, from 1 on; block 0 is only learned.
    begin, end : list of float or datetime
        The first and the last time in the block.
    rows : list of int
        How many rows it has.
    accuracy : list of float
        The share of right answers.
    log_loss : list of float
        In nats per row.
    best : float
        The half-life of the least log loss of all rows that were scored; of equal ones the longest.
    gain, noise : float
        How much less it is than with counts that last for ever, in nats per row, and the standard
        error of that.
    span : float
        How long a block is, in the units of time (seconds of dates): the median.
    """

    half_life: list[float]
    block: list[int]
    begin: list[Moment]
    end: list[Moment]
    rows: list[int]
    accuracy: list[float]
    log_loss: list[float]
    best: float
    gain: float
    noise: float
    span: float

    @property
    def factor(self) -> float:
        """What to ``decay`` by before each block of this length is learned, for the best."""
        return factor_of(self.best)

    def to_dict(self) -> dict[str, list[Any]]:
        names = {"begin": "from", "end": "to"}
        of = ("half_life", "block", "begin", "end", "rows", "log_loss", "accuracy")
        return {names.get(name, name): list(getattr(self, name)) for name in of}

    def by_half_life(self) -> dict[str, list[float]]:
        """Return half-lives with the scores of all blocks together."""
        rows, half_life = np.array(self.rows, float), np.array(self.half_life)
        found: dict[str, list[float]] = {"half_life": [*dict.fromkeys(self.half_life)]}
        for name in ("log_loss", "accuracy"):
            of, some = np.array(getattr(self, name)), (half_life == h for h in found["half_life"])
            found[name] = [float(np.average(of[at], weights=rows[at])) for at in some]
        return found

    @property
    def said(self) -> str:
        """Which half-life is best, in a sentence."""
        if math.isinf(self.best):
            return "Best: for ever; nothing is gained by decay."
        chance = "" if self.gain > BEYOND_CHANCE * self.noise else ", which may be chance"
        if self.best == min(self.half_life):
            chance += "; with more blocks, shorter ones can be tried"
        blocks = "1 block" if self.best == 1 else f"{self.best:g} blocks"
        return (
            f"Best: a half-life of {blocks}, decay({self.factor:.3g}) before each: "
            f"log loss {self.gain:.3g} (± {self.noise:.2g}) less than for ever{chance}."
        )

    def __str__(self) -> str:
        """Return the scores of all blocks by half-life, and which is best."""
        blocks = max(self.block)
        said = f"{blocks} blocks, each scored by what was learned before; half-lives are in blocks"
        return "\n".join([said, as_text(self.by_half_life()), self.said])

    def plot(self, ax: Axes | None = None, metric: Metric = "log_loss") -> Axes:
        """Draw a score against time, a line for each half-life.

        Parameters
        ----------
        metric : {"accuracy", "log_loss"}
            What is drawn.
        ax : Axes, optional
            What to draw on.
        """
        return picture(self, ax, metric=check_metric(metric))


def decay_curve(
    model: Model,  # what was learned of all rows, without weights
    batch: Batch,
    time: Named,  # the time of each
    blocks: int = 10,  # how many blocks, as equal in rows as can be; rows of one time are in one
    half_lives: Iterable[float] | None = None,  # in blocks; by default 1/4, 1/2, 1, ..., infinity
    kind: Weighting | None = None,  # the weights to fit; by default none
    weights: Follow | None = "fitted",  # before each block; else those of the first are "kept"
) -> DecayCurve:
    """Score blocks of rows in the order of time by what was learned before, for some half-lives."""
    moments = time.moments(len(batch))
    of_row = blocks_of(moments, blocks, time.of)
    each = check_half_lives(half_lives, blocks)
    pool = split_once(model, batch)
    if weights not in {None, *FOLLOW}:
        raise ValueError(
            f"weights must be {', '.join(map(repr, FOLLOW))} or None, got {weights!r}."
        )
    weigh = _weigher(batch, of_row, kind, weights)
    places = [np.flatnonzero(of_row == b) for b in range(blocks)]
    parts = [pool.take(rows) for rows in places]
    tallies = [count_batch(part, model.counted.schema) for part in parts[:-1]]
    ends = [(moments[rows].min(), moments[rows].max()) for rows in places]

    points: list[tuple[Any, ...]] = []
    losses: dict[float, Floats] = {}
    first: tuple[Floats, Floats] | None = None  # one block that is known fades as a whole
    for half in each:
        found = []
        for b, then in _known_before(model, tallies, half, weigh):
            scored = first if b == 1 and first is not None else _scored_block(then(), parts[b])
            first = scored if b == 1 else first
            hit, loss = scored
            means = float(hit.mean()), float(loss.mean())
            points.append((half, b, *map(time.shown, ends[b]), len(hit), *means))
            found.append(loss)
        losses[half] = np.concatenate(found)
    least = min(of.mean() for of in losses.values())
    best = max(h for h in each if losses[h].mean() <= least + NEGLIGIBLE)
    less = losses[each[-1]] - losses[best]
    noise = float(less.std() / math.sqrt(len(less)))
    span = float(np.median([end - begin for begin, end in ends]))
    half_life, block, begin, end, rows, accuracy, log_loss = map(list, zip(*points, strict=True))
    scores = half_life, block, begin, end, rows, accuracy, log_loss
    return DecayCurve(*scores, best=best, gain=float(less.mean()), noise=noise, span=span)


def _known_before(
    model: Model,
    tallies: Sequence[Tally],
    half_life: float,
    weigh: Callable[[Model, int, float], Model],
) -> Iterator[tuple[int, Callable[[], Model]]]:
    """Yield each block that is scored, and what makes the model of the blocks before it."""
    factor = factor_of(half_life)
    tally: Tally | None = None
    for b, more in enumerate(tallies, start=1):
        tally = more if tally is None else tally * factor + more

        def then(tally: Tally = tally, b: int = b) -> Model:
            return weigh(of_tally(model, tally), b, factor)

        yield b, then


def _weigher(
    batch: Batch, of_row: Places, kind: Weighting | None, follow: Follow | None
) -> Callable[[Model, int, float], Model]:
    """Return what gives weights to the model of the blocks before one, whose counts fade."""
    first: list[Weights] = []

    def fitted(model: Model, b: int, factor: float) -> Model:
        assert kind is not None
        before = np.flatnonzero(of_row < b)
        rows = batch.take(before)
        faded = rows.labels.weights * factor ** (b - 1 - of_row[before])
        sample = ANY.added(replace(rows, labels=replace(rows.labels, weight=faded)))
        sample = sample.for_model(model)
        return model.weighed(sample.of(model).weighed(model, kind).weights)

    def kept(model: Model, b: int, factor: float) -> Model:
        if b == 1:
            weighed = fitted(model, b, factor)
            assert weighed.weights is not None
            first[:] = [weighed.weights]
            return weighed
        return model.weighed(first[0])

    if kind is None or follow is None:
        return lambda model, b, factor: model  # noqa: ARG005  (pure naive Bayes has none)
    return fitted if follow == "fitted" else kept


def _scored_block(model: Model, rows: Batch) -> tuple[Floats, Floats]:
    """Return whether each answer is right, and the log loss of each row."""
    return hits_and_losses(model.score(model.recode(rows), "posterior"), model.classes, rows.labels)


def blocks_of(moments: Floats, blocks: object, of: str = "") -> Places:
    """Return the block of each row in the order of its time, or raise why there are none."""
    number, times = check_folds(blocks, "blocks"), len(np.unique(moments))
    if times < number:
        more = f"ask for at most {times} blocks" if times > 1 else "rows have no order in time"
        raise ValueError(
            f"There are {times} different times{f' in {of}' if of else ''}, fewer than "
            f"blocks={blocks}; {more}."
        )
    return in_blocks(moments, number, of)


def check_half_lives(half_lives: Iterable[float] | None, blocks: int) -> list[float]:
    """Return half-lives in blocks, ascending, each once, the last of them infinity."""
    if half_lives is None:
        doubled = range(2 + max(1, (blocks - 1).bit_length()))
        return [*(SHORTEST * 2.0**i for i in doubled), math.inf]
    each = list(half_lives)
    for given in each:
        if given != math.inf and not number_of(given) > 0:
            raise ValueError(
                f"A half-life must be a number of blocks that is greater than 0, got {given!r}."
            )
    return sorted({*map(float, each), math.inf})


def factor_of(half_life: float) -> float:
    """Return what counts are multiplied by when one unit of time has passed."""
    return math.pow(0.5, 1 / half_life)
