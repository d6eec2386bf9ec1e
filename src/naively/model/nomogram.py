"""Nomograms: each column's scale of weights of evidence, and what their sum means.

Možina, Demšar, Kattan & Zupan, Nomograms for visualization of naive Bayesian classifier (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.axis import Cells, Columns, Levels
from naively.counting.block import Batch
from naively.counting.labels import Label
from naively.data.rows import times_of
from naively.kernels.reference import Floats
from naively.messages import visible
from naively.model.classes import number_of, spoken_for
from naively.model.model import Model
from naively.model.odds import Odds
from naively.model.one_column import OneColumn
from naively.schema.encode import plain_cell
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = 7  # of a column of numbers, about
POINTS = 201  # at which the range of a column of numbers is looked for
MOST_LEVELS = 12  # of a column, those that came most often
WRITTEN = 8  # values that are printed for a column
PROBABILITIES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, eq=False)
class Scale:
    """What one column says.

    Parameters
    ----------
    column : str
        Its name.
    value : list
        Levels, or round numbers or times; the last is None where a missing cell is evidence.
    weight : ndarray of shape (values,)
        The weight of evidence of each, in nats.
    low, high : float
        The least and the greatest weight of any of its values; of numbers, within the range of
        0.5 % to 99.5 % of each class.
    more : int
        How many levels there are beside these.
    """

    column: str
    value: list[Any]
    weight: Floats
    low: float
    high: float
    more: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Nomogram(Tabular):
    """Scales of weights of evidence, ordered by their ranges.

    The log odds of a row are the intercept and the weight of each of its cells; a missing cell has
    none unless the scale of its column has one for it.

    Parameters
    ----------
    label : label
        The class that is spoken for.
    against : label or None
        The class that it is compared with; None of all others as one.
    scales : list of Scale
        The columns, the widest range first.
    intercept : float
        The log odds where nothing is seen, in nats.
    notes : tuple of str
        What else is to be said.
    """

    label: Label
    against: Label | None
    scales: list[Scale]
    intercept: float
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns column, value and weight, in nats."""
        return {
            "column": [scale.column for scale in self.scales for _ in scale.value],
            "value": [plain_cell(value) for scale in self.scales for value in scale.value],
            "weight": [w for scale in self.scales for w in scale.weight.tolist()],
        }

    @property
    def probabilities(self) -> dict[float, float]:
        """The sum of weights at which the class has each of some probabilities."""
        return {p: float(np.log(p / (1 - p)) - self.intercept) for p in PROBABILITIES}

    @property
    def names(self) -> str:
        """The two classes."""
        against = "all others" if self.against is None else repr(self.against)
        return f"{self.label!r} against {against}"

    def __str__(self) -> str:
        lines = [f"nomogram for {self.names}: weights of evidence (nats)"]
        wide = min(30, max((len(scale.column) for scale in self.scales), default=0))
        for scale in self.scales:
            by_weight = np.argsort(scale.weight, kind="stable").tolist()
            some = by_weight
            if len(by_weight) > WRITTEN:
                some = [*by_weight[: WRITTEN // 2], *by_weight[-WRITTEN // 2 :]]
            of = ", ".join(f"{written(scale.value[i])} {scale.weight[i]:+.2f}" for i in some)
            lines.append(f"  {scale.column:<{wide}}  {of}")
        sums = ", ".join(f"{p:g} at {at:+.2f}" for p, at in self.probabilities.items())
        lines.append(f"  probability of {self.label!r} by the sum of the weights: {sums}")
        return "\n".join(map(visible, [*lines, *(f"  {note}" for note in self.notes)]))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a line for each column, and below what the sum of the weights means."""
        from naively.pictures.axes import name_of
        from naively.pictures.evidence import draw_nomogram

        against = "all others" if self.against is None else name_of(self.against)
        return draw_nomogram(
            [name_of(scale.column) for scale in self.scales],
            [[name_of(written(value)) for value in scale.value] for scale in self.scales],
            [scale.weight for scale in self.scales],
            [(scale.low, scale.high) for scale in self.scales],
            self.probabilities,
            label=f"weight of evidence (nats)\n{name_of(self.label)} against {against}",
            name=f"p({name_of(self.label)})",
            notes=self.notes,
            ax=ax,
        )


def written(value: Any) -> str:
    """Write a level, a number, a time or a missing cell as a scale shows it."""
    if value is None:
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    return f"{value:g}" if isinstance(value, float) else str(value)


def nomogram(
    model: Model,
    label: Label | None,
    against: Label | None,
    n: int = 10,
    batches: Sequence[Batch] = (),
) -> Nomogram:
    """Return the nomogram of a model (see ``nb.inspect.nomogram``)."""
    if n < 1:
        raise ValueError(f"n must be at least 1, the columns that are shown, got {n}.")
    if len(model.classes) < 2:
        raise ValueError("A nomogram compares two classes, but only one was learned.")
    c = number_of(model.classes, label, spoken_for(model.tally.class_count))
    others = [r for r in range(len(model.classes)) if r != c]
    if against is not None:
        others = [number_of(model.classes, against, 0)]
        if others == [c]:
            raise ValueError(f"A nomogram compares two classes, got {against!r} twice.")
    odds = Odds(model.start, c, others)
    found = [_scale(column, _cells(column, batches), odds) for column in _columns(model)]
    if not found:
        raise ValueError("The model has no column whose cells have a weight each; see explain.")
    found.sort(key=lambda scale: scale.low - scale.high)
    single = len(others) == 1
    rival = model.classes.tolist()[others[0]] if single else None
    notes = []
    if not single:
        notes.append("all others are taken as one class, by their priors")
    if len(found) > n:
        notes.append(f"the {n:,} columns of widest range, of {len(found):,}")
    pairs = model.schema.interactions or (model.weights and model.weights.linear.products)
    texts = {name for g in model.schema.of_columns if g.analyser for name in g.columns}
    notes += ["texts are left out: the weight of a word is in explain"] * bool(texts)
    notes += ["interactions are left out"] * bool(pairs)
    label_of = model.classes.tolist()[c]
    return Nomogram(label_of, rival, found[:n], odds.prior, tuple(notes))


def _columns(model: Model) -> list[OneColumn]:
    """Return the columns that have an item of evidence for each cell."""
    found = []
    for group in model.schema.of_columns:
        axis = model.counts[group.key].axis
        if isinstance(axis, Columns | Cells | Levels):
            found += [OneColumn(model, name, group, j) for j, name in enumerate(axis.columns)]
    return found


@dataclass(frozen=True, eq=False)
class _Cells:
    """Values of a column: their log likelihoods, (values, classes), those shown and others."""

    value: list[Any]
    shown: Floats
    others: Floats
    more: int = 0


def _scale(column: OneColumn, cells: _Cells, odds: Odds) -> Scale:
    """Return the scale of one column; with what it says that its cells are there, or missing."""
    value, shown, others = cells.value, cells.shown, cells.others
    if column.of_missing is not None:
        there, missing = column.of_missing
        value, shown, others = [*value, None], np.vstack([shown + there, missing]), others + there
    weight = odds.weight(shown)
    every = np.append(weight, odds.weight(others))
    ends = (float(every.min()), float(every.max())) if len(every) else (0.0, 0.0)
    return Scale(column.title, value, weight, *ends, cells.more)


def _cells(column: OneColumn, batches: Sequence[Batch]) -> _Cells:
    """Return the values of one column."""
    if isinstance(column.tally.axis, Levels):
        count = column.level_count.sum(axis=1)
        first = np.sort(np.argsort(-count, kind="stable")[:MOST_LEVELS])
        every = column.of_codes(np.arange(len(count)), weighted=True)
        levels = [column.levels[i] for i in first]
        return _Cells(levels, every[first], every, len(count) - len(first))
    if column.group.event.shares:
        truths = column.of_truths(weighted=True)
        return _Cells(column.truths, truths, truths)
    low, high = column.range(batches)
    whole = column.group.event.support == "counts"
    ticks = round_numbers(low, high, whole=whole)
    points = np.linspace(low, high, POINTS)
    if whole:
        points = np.unique(np.rint(points))
    every = column.evidence(np.concatenate([ticks, points]))
    values = [*times_of(ticks)] if column.is_time else ticks.tolist()
    return _Cells(values, every[: len(ticks)], every[len(ticks) :])


def round_numbers(low: float, high: float, *, whole: bool = False, n: int = TICKS) -> Floats:
    """Return about n round numbers from low to high; one number where they are the same.

    Examples
    --------
    >>> round_numbers(0.3, 9.9)
    array([2., 4., 6., 8.])
    """
    if not high > low:
        return np.array([low])
    size = (high - low) / n
    unit = 10.0 ** np.floor(np.log10(size))
    step = unit * next(step for step in STEPS if step * unit >= size * (1 - 1e-9))
    if whole:
        step = max(1.0, np.ceil(step))
    found = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    digits = max(0, 2 - int(np.floor(np.log10(step))))
    return np.round(found, digits) + 0.0 if len(found) else np.array([low, high])
