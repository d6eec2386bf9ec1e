"""What one column looks like in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.axis import VALUE, Level
from naively.counting.block import Batch
from naively.counting.labels import Label
from naively.data.columns import times_of
from naively.inspect.odds import Rank, ranked
from naively.inspect.one_column import ROOM, OneColumn, bins_of
from naively.kernels.reference import Floats
from naively.messages import amount, visible
from naively.model.class_prior import and_more, frequent
from naively.model.model import Model
from naively.schema.encode import plain_cells
from naively.tabular import Drawn, crossed

POINTS = 401  # at which a density is computed
BINS = 20  # for the eye, at most
WHOLE = 30  # whole numbers that have a bar each, at most
FENCE = 4.0  # times the range of the middle half, above it: so far a linear axis goes
MOST_COUNTS = 101  # whole numbers that are shown one by one
WORDS = 20  # of each class

NEVER = "(never seen)"  # what is left for levels that did not come
DAY = 86_400.0  # seconds
AS_GOOD_AS_0 = 1e-30  # of the greatest number: the cell of 0 has a middle beside it
FAR_APART, LOG_ROOM = 1e3, 1.5  # ratios, above which axes are logarithmic, and at their ends
LEAST = 1e-6  # of the greatest number: where a density of positive numbers begins


def column_view(
    model: Model,
    column: object,
    batches: Sequence[Batch] = (),
    *,
    weighted: bool = False,
    at: ArrayLike | None = None,
) -> ColumnView:
    """Look at one column of a model (see ``nb.inspect.column``)."""
    found = OneColumn.find(model, column)
    prior = np.exp(model.class_log_prior) if weighted else np.ones(len(model.classes))
    if found.is_number:
        return _numbers(found, batches, prior, at, weighted=weighted)
    if at is not None:
        raise ValueError(f"Column {found.title!r} holds no numbers; leave out at=.")
    return _words(found) if found.is_text else _levels(found, prior, weighted=weighted)


def _numbers(
    column: OneColumn,
    batches: Sequence[Batch],
    prior: Floats,
    at: ArrayLike | None,
    *,
    weighted: bool,
) -> NumberView:
    """Return the densities of a column of numbers."""
    model, event = column.model, column.group.event
    counts = event.support == "counts"
    low, high, inner, notes = _range(column, batches)
    log = _is_far_apart(column, low, high)
    # Bins are for the eye: fewer than those of a model, and on the grid of the column's numbers.
    grid = 1.0 if counts else column.grid(batches)
    if log or column.is_time:
        edges = (np.geomspace if log else np.linspace)(low, high, BINS + 1)
    else:
        few = grid == 1 and inner[1] - inner[0] < WHOLE
        edges = bins_of(*inner, grid, WHOLE if few else BINS)
    ends = (min(low, edges[0]), max(high, edges[-1])) if column.is_counted_in_cells else (low, high)
    x = _grid(column, *ends, log=log) if at is None else np.asarray(at, np.float64).reshape(-1)
    observed = column.histogram(batches, edges)
    if observed is None:
        notes.append("without the data: the rows are not kept (save(path, keep_rows=True) does)")
    notes += _missing(column)
    unit = DAY if column.is_time else 1.0
    return NumberView(
        column.title,
        event.name,
        model.classes.tolist(),
        model.counted.tally.class_count,
        times_of(x) if column.is_time else x,
        np.exp(column.log_prob(x)) * prior * unit,
        counts,
        weighted,
        log,
        times_of(edges) if column.is_time else edges,
        None if observed is None else observed * prior * unit,
        column.is_counted_in_cells and event.name != "density" and at is None,
        grid == 1 and float(edges[1] - edges[0]) == 1,
        notes=tuple(notes),
    )


def _range(
    column: OneColumn, batches: Sequence[Batch]
) -> tuple[float, float, tuple[float, float], list[str]]:
    """Return from where to where a density is shown, the numbers in it, and what is to be said."""
    low, high = column.range(batches)
    support = column.group.event.support
    if _is_far_apart(column, low, high):
        inner = low, high
        low, high = low / LOG_ROOM, high * LOG_ROOM
    else:
        least, most = column.fence(batches, FENCE)
        low, high = inner = max(low, least), min(high, most)
        room = ROOM * (high - low) or max(abs(high) * 0.1, 0.5)
        low, high = low - room, high + room
    if support != "numbers":
        low = max(low, high * LEAST if support == "positive" and low <= 0 else 0.0)
    if column.extent is not None:
        low, high = max(low, column.extent[0]), min(high, column.extent[1])
    beyond = column.beyond(batches, low, high)
    said = amount(max(beyond, 1.0))
    note = f"{said} {'number is' if said == '1' else 'numbers are'} beyond what is drawn"
    return low, high, inner, [note] * (beyond > 0)


def _is_far_apart(column: OneColumn, low: float, high: float) -> bool:
    """Whether positive numbers are so far apart that a linear axis would show few of them."""
    positive = column.group.event.support == "positive" or column.is_counted_in_cells
    return positive and low > AS_GOOD_AS_0 * high and high / low > FAR_APART


def _grid(column: OneColumn, low: float, high: float, *, log: bool) -> Floats:
    """Return the numbers that densities are computed at, (points,)."""
    if column.group.event.support == "counts":
        first, last = np.floor(low), np.ceil(high)
        if last - first < MOST_COUNTS:
            return np.arange(first, last + 1.0)
        return np.unique(np.rint(np.linspace(first, last, MOST_COUNTS)))
    steps = column.edges[(column.edges > low) & (column.edges < high)]
    # Either side of a step, so that a histogram is drawn as steps.
    even = (np.geomspace if log else np.linspace)(low, high, POINTS)
    sides = [np.clip(even, low, high), steps, np.nextafter(steps, -np.inf)]
    return np.unique(np.concatenate(sides))


def _missing(column: OneColumn) -> list[str]:
    """Say how many cells are missing, of all rows."""
    rows = float(column.model.counted.tally.class_count.sum())
    count = float(column.model.view.tally.class_count.sum())
    missing = count - float(column.present.sum())
    if missing <= 1e-9 * count:
        return []
    return [f"{amount(max(missing / count * rows, 1.0))} of {amount(rows)} cells are missing"]


def _levels(column: OneColumn, prior: Floats, *, weighted: bool) -> LevelView:
    """Return the probabilities of the levels of a column, or of true and false."""
    model, event, notes = column.model, column.group.event, _missing(column)
    if event.layout == "rows":
        levels, p, count = _marginal(column)
    elif column.has_items:
        p = np.exp(column.of_items(np.arange(len(column.items))))
        levels, count = list(column.items), column.item_count
    else:  # of a bag of counts: how many of all are of this column
        levels, notes = [f"share of all counts in {column.group.event.name}"], []
        p = event.parameters(column.tally, event.estimate)["p"][[column.place]]
        count = np.asarray(column.tally[VALUE].high[[column.place]])
    if levels[-1:] == [NEVER] and not p[-1].any():
        levels, p, count = levels[:-1], p[:-1], count[:-1]
    return LevelView(
        column.title,
        event.name,
        model.classes.tolist(),
        model.counted.tally.class_count,
        levels,
        p * prior,
        count,
        prior,
        column.in_order,
        weighted,
        notes=tuple(notes),
    )


def _marginal(column: OneColumn) -> tuple[list[Level], Floats, Floats]:
    """Return the levels of one of several columns that are one event, with p and counts."""
    place = list(column.group.columns).index(column.name)
    rows, count = column.levels, column.item_count
    index: dict[Level, int] = {}
    of = np.array([index.setdefault(row[place], len(index)) for row in rows], np.int64)
    p, counted = np.zeros((2, len(index) + 1, count.shape[1]))
    np.add.at(p, of, np.exp(column.of_items(np.arange(len(rows)))))
    np.add.at(counted, of, count)
    p[-1] = np.maximum(1.0 - p.sum(axis=0), 0.0)
    return [*index, NEVER], p, counted


def _words(column: OneColumn) -> WordView:
    """Return the words of a text that speak most for each of the most frequent classes."""
    # Character n-grams of a text that is split in several ways are left out.
    model = column.model
    every = model.view.schema.groups_of[column.name]
    groups = [group for group in every if group.analyser and group.analyser.legible] or every
    classes = frequent(model.counted.tally.class_count)
    found: list[tuple[int, Rank, str, float, float]] = []
    every_fact = model.terms.facts(model.view.counts)
    for group in groups:
        facts = every_fact[group.key]
        p = group.event.parameters(model.view.counts[group.key], group.event.estimate)["p"]
        for c in classes:
            for rank, i, _, weight in ranked(facts, model.terms.start, c, WORDS):
                found.append((c, rank, str(facts.label(i)[1]), weight, float(p[i, c])))
    found.sort(key=lambda item: item[:3])
    most = [item for c in classes for item in [of for of in found if of[0] == c][:WORDS]]

    return WordView(
        column.title,
        column.group.event.name,
        model.classes.tolist(),
        classes,
        [word for _, _, word, *_ in most],
        [c for c, *_ in most],
        [weight for *_, weight, _ in most],
        [p for *_, p in most],
        notes=tuple(_missing(column)),
    )


# --- What a column looks like by class, as results: densities, probabilities of levels, words ----


WRITTEN = 5  # levels or words that are printed for a class


class ColumnView(Drawn):
    """One column of a fitted model by class."""

    column: str
    event: str  # the name of its event model
    classes: list[Label]
    notes: tuple[str, ...] = field(kw_only=True)
    target: str = field(default="", kw_only=True)  # the column that is predicted, if it is known


def _printed(view: ColumnView, lines: Sequence[str], shown: int) -> str:
    """Return lines, how many classes are not shown in them, and the notes."""
    notes = [*and_more(len(view.classes) - shown, "class"), *view.notes]
    return "\n".join(map(visible, [*lines, *(f"  {note}" for note in notes)]))


class NumberView(ColumnView):
    """The density of a column of numbers in each class, or the probability of each count.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    x : ndarray of shape (points,)
        Numbers, or times.
    density : ndarray of shape (points, classes)
        p(x | class) at each of them, without weights: a density (of times, per day), or the
        probability of a count. If ``weighted``, times the class prior.
    counts, weighted, log : bool
        Whether the numbers are counts, whether the class prior is in, and whether the numbers are
        so far apart that the axes are logarithmic.
    edges : ndarray of shape (bins + 1,)
        Of bins for the eye.
    observed : ndarray of shape (bins, classes), optional
        The density of the numbers themselves in each bin; None where no rows are kept.
    stepped, whole : bool
        Whether the density is a histogram's, which a picture shows as its means over the bins; and
        whether each bin is of one whole number, so that they are probabilities.
    notes : tuple of str
        What else is to be said.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    class_count: Floats
    x: NDArray[Any]
    density: Floats
    counts: bool
    weighted: bool
    log: bool
    edges: NDArray[Any]
    observed: Floats | None
    stepped: bool
    whole: bool

    @property
    def what(self) -> str:
        """What the numbers are."""
        what = "probability" if self.counts else "density"
        return f"class prior × {what}" if self.weighted else what

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, x and density (or probability, of counts)."""
        name = "probability" if self.counts else "density"
        axes = {"class": self.classes}, {"x": plain_cells(self.x)}
        return crossed(axes, {name: self.density.T})

    def __str__(self) -> str:
        lines = [f"{self.column}: {self.what} by class ({self.event})"]
        if len(self.x):
            ends = f"{_written(self.x[0])} to {_written(self.x[-1])}"
            lines[0] += f", {len(self.x):,} points from {ends}"
        shown = frequent(self.class_count)
        for c in shown if len(self.x) else ():
            top = int(np.argmax(self.density[:, c]))
            peak = f"highest at {_written(self.x[top])} ({self.density[top, c]:.4g})"
            lines.append(f"  {self.classes[c]!r}: {peak}")
        return _printed(self, lines, len(shown))


def _written(x: Any) -> str:
    """Write a number or a time."""
    return str(x.astype("datetime64[m]")) if isinstance(x, np.datetime64) else f"{x:.6g}"


class LevelView(ColumnView):
    """The probability of each level of a column in each class.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    class_count : ndarray of shape (classes,)
        How many rows of each were learned.
    levels : list
        The levels; the last stands for levels that were never seen, if they have a probability.
    p : ndarray of shape (levels, classes)
        p(level | class), without weights; if ``weighted``, times the class prior.
    count : ndarray of shape (levels, classes)
        How many rows of the class have the level.
    prior : ndarray of shape (classes,)
        What probabilities are multiplied by.
    in_order : bool
        Whether the levels have an order of their own; else the most frequent is drawn first.
    weighted : bool
        Whether the class prior is in.
    notes : tuple of str
        What else is to be said.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    class_count: Floats
    levels: list[Level]
    p: Floats
    count: Floats
    prior: Floats
    in_order: bool
    weighted: bool

    @property
    def what(self) -> str:
        """What the numbers are."""
        return "class prior × probability" if self.weighted else "probability"

    @property
    def share(self) -> Floats:
        """The share of the rows of each class that has each level, times the prior if weighted."""
        total = self.count.sum(axis=0)
        return np.asarray(self.count / np.where(total > 0, total, 1.0) * self.prior)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns level, class, probability and count."""
        axes = {"level": self.levels}, {"class": self.classes}
        return crossed(axes, {"probability": self.p, "count": self.count})

    def __str__(self) -> str:
        size, shown = f"{len(self.levels):,} levels", frequent(self.class_count)
        lines = [f"{self.column}: {self.what} by class ({self.event}), {size}"]
        for c in shown:
            best = np.argsort(-self.p[:, c], kind="stable")[:WRITTEN]
            of = [f"{self.levels[i]} {self.p[i, c]:.3f}" for i in best]
            more = ["..."] * (len(self.levels) > WRITTEN)
            lines.append(f"  {self.classes[c]!r}: {', '.join([*of, *more])}")
        return _printed(self, lines, len(shown))


class WordView(ColumnView):
    """The words of a text that speak most for each class, against all others together.

    Parameters
    ----------
    column, event : str
        The column, and the name of its event model.
    classes : list of labels
        The classes.
    of : list of int
        The classes whose words were looked for: the most frequent ones.
    word : list of str
        Words, those of one class together, first what rows of the class gain most from on average.
    word_class : list of int
        The number of the class that each word speaks for.
    weight : list of float
        The weight of evidence for the class against all others, in nats, as predictions have it.
    p : list of float
        The probability of each word in its class.
    notes : tuple of str
        What else is to be said.
    target : str
        The column that is predicted, if its name is known, which pictures say.
    """

    of: list[int]
    word: list[str]
    word_class: list[int]
    weight: list[float]
    p: list[float]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns class, word, weight and probability."""
        return {
            "class": [self.classes[c] for c in self.word_class],
            "word": [*self.word],
            "weight": [*self.weight],
            "probability": [*self.p],
        }

    def __str__(self) -> str:
        lines = [f"{self.column}: the words that speak most for each class ({self.event}), in nats"]
        for c in self.of:
            of = [i for i in range(len(self.word)) if self.word_class[i] == c][:WRITTEN]
            words = ", ".join(f"{self.word[i]} {self.weight[i]:+.2f}" for i in of)
            lines.append(f"  {self.classes[c]!r}: {words}")
        return _printed(self, lines, len(self.of))
