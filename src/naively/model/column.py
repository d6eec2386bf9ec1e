"""One column by class: densities of numbers, probabilities of levels, the most telling words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.axis import VALUE, Level, Levels
from naively.counting.block import Batch
from naively.data.rows import times_of
from naively.kernels.reference import Floats
from naively.model.classes import frequent
from naively.model.column_views import ColumnView, LevelView, NumberView, WordView
from naively.model.model import Model
from naively.model.one_column import ROOM, OneColumn, is_text
from naively.model.strongest import Rank, ranked

POINTS = 401  # at which a density is computed
BINS = 30  # of the numbers themselves
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
    """Look at one column of a model (see ``nb.inspect.column``).

    Parameters
    ----------
    model : Model
        What was learned.
    column : str or int
        The column.
    batches : sequence of Batch
        A sample of the rows that were learned.
    weighted : bool
        Whether to multiply by the class priors.
    at : array-like of shape (numbers,), optional
        Where to compute the densities.

    Returns
    -------
    view : ColumnView
        Of numbers, levels or words.
    """
    found = OneColumn.find(model, column)
    prior = np.exp(model.class_log_prior) if weighted else np.ones(len(model.classes))
    if found.is_number:
        return _numbers(found, batches, prior, at, weighted=weighted)
    if at is not None:
        raise ValueError(f"Column {found.title!r} holds no numbers; leave out at=.")
    return _words(found) if is_text(found) else _levels(found, prior, weighted=weighted)


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
    low, high, notes = _range(column, batches)
    log = _is_far_apart(column, low, high)
    x = _grid(column, low, high, log=log) if at is None else np.asarray(at, np.float64).reshape(-1)
    edges = (np.geomspace if log else np.linspace)(low, high, BINS + 1)
    if counts:
        first, last = np.floor(low), np.ceil(high)
        step = max(1.0, np.ceil((last - first + 1) / BINS))
        edges = np.arange(first - 0.5, last + step, step)
    every = list(range(len(model.classes)))
    observed = column.histogram(batches, edges, every)
    if observed is None:
        notes.append("without the data: the rows are not kept (save(path, keep_rows=True) does)")
    notes += _missing(column)
    unit = DAY if column.is_time else 1.0
    return NumberView(
        column.title,
        event.name,
        model.classes.tolist(),
        model.tally.class_count,
        times_of(x) if column.is_time else x,
        np.exp(column.log_prob(x)) * prior * unit,
        counts,
        weighted,
        log,
        None if observed is None else times_of(edges) if column.is_time else edges,
        None if observed is None else observed * prior * unit,
        tuple(notes),
    )


def _range(column: OneColumn, batches: Sequence[Batch]) -> tuple[float, float, list[str]]:
    """Return from where to where a density is shown, and what is to be said of it."""
    low, high = column.range(batches)
    support = column.group.event.support
    room = ROOM * (high - low) or max(abs(high) * 0.1, 0.5)
    if _is_far_apart(column, low, high):
        low, high = low / LOG_ROOM, high * LOG_ROOM
    else:
        low, high = low - room, high + room
    if support != "numbers":
        low = max(low, high * LEAST if support == "positive" and low <= 0 else 0.0)
    if column.extent is not None:
        low, high = max(low, column.extent[0]), min(high, column.extent[1])
    beyond = column.beyond(batches, low, high)
    if not beyond:
        return low, high, []
    many = "number is" if beyond == 1 else "numbers are"
    return low, high, [f"{beyond:,.10g} {many} beyond the 0.5 to 99.5 % of each class"]


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
    """Say how many cells are missing."""
    rows = float(column.model.tally.class_count.sum())
    missing = rows - float(column.present.sum())
    return [f"{missing:,.10g} of {rows:,.10g} cells are missing"] if missing > 1e-9 * rows else []


def _levels(column: OneColumn, prior: Floats, *, weighted: bool) -> LevelView:
    """Return the probabilities of the levels of a column, or of true and false."""
    model, event, notes = column.model, column.group.event, _missing(column)
    if event.layout == "rows":
        levels, p, count = _marginal(column)
    elif isinstance(column.tally.axis, Levels):
        p = np.exp(column.of_codes(np.arange(len(column.levels))))
        levels, count = list(column.levels), column.level_count
    elif event.shares:
        levels, p = column.truths, np.exp(column.of_truths())
        true = np.asarray(column.tally[VALUE].high[column.place])
        count = np.stack([column.present - true, true])
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
        model.tally.class_count,
        levels,
        p * prior,
        count,
        prior,
        column.in_order,
        weighted,
        tuple(notes),
    )


def _marginal(column: OneColumn) -> tuple[list[Level], Floats, Floats]:
    """Return the levels of one of several columns that are one event, with p and counts."""
    place = list(column.group.columns).index(column.name)
    rows, count = column.levels, column.level_count
    index: dict[Level, int] = {}
    of = np.array([index.setdefault(row[place], len(index)) for row in rows], np.int64)
    p = _sums(np.exp(column.of_codes(np.arange(len(rows)))), of, len(index))
    rest = np.maximum(1.0 - p.sum(axis=0, keepdims=True), 0.0)
    counted = _sums(count, of, len(index))
    return [*index, NEVER], np.vstack([p, rest]), np.vstack([counted, 0.0 * rest])


def _sums(table: Floats, of: NDArray[np.int64], n: int) -> Floats:
    """Sum rows of a table into ``n`` rows."""
    sums = np.zeros((n, table.shape[1]))
    np.add.at(sums, of, table)
    return sums


def _words(column: OneColumn) -> WordView:
    """Return the words of a text that speak most for each of the most frequent classes.

    Of a text that is split in several ways, character n-grams are left out.
    """
    model = column.model
    every = model.schema.groups_of[column.name]
    groups = [group for group in every if group.analyser and group.analyser.legible] or every
    classes = frequent(model.tally.class_count)
    found: list[tuple[int, Rank, str, float, float]] = []
    for group in groups:
        axis = model.counts[group.key].axis
        p = group.event.parameters(model.counts[group.key], group.event.estimate)["p"]
        for c in classes:
            for rank, i, weight in ranked(model, group, c, WORDS):
                found.append((c, rank, str(axis.label(i)[1]), weight, float(p[i, c])))
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
        tuple(_missing(column)),
    )
