"""What speaks most for each class: its words, levels and numbers, by their weights of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from naively.counting.axis import LEVEL, PRESENT, VALUE, ByValue, Levels, title
from naively.counting.tally import BlockTally
from naively.kernels.reference import Floats
from naively.model.explain import Weighed
from naively.model.model import Model
from naively.model.odds import Odds
from naively.schema.group import Group
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Rank: TypeAlias = tuple[float, float]  # what rows gain, and how often it came: the least is first


@dataclass(frozen=True, eq=False, repr=False)
class Strongest(Tabular):
    """What speaks most for each class, as a table of ``class``, ``column``, ``value``, ``weight``.

    Parameters
    ----------
    by_class : dict
        For each label its items: column, value and weight of evidence in nats, which is
        log p(item | class) - log p(item | all other classes together). The first is what rows of
        the class gain most from on average: its weight times how often it came in the class.

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> X, y = {"fur": [True, True, False], "wings": [False, False, True]}, ["cat", "cat", "bird"]
    >>> NaiveBayes(Bernoulli(), weights=None).fit(X, y).inspect.strongest(1)
    class  column  value    weight
    bird   wings          0.980829
    cat    fur             0.81093
    """

    by_class: dict[Any, list[Weighed]]

    def to_dict(self) -> dict[str, list[Any]]:
        rows = [(label, *item) for label, items in self.by_class.items() for item in items]
        names = ("class", "column", "value", "weight")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the items of each class as bars, class under class.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
            Of many classes the first are drawn, and it says so.
        """
        from naively.pictures.evidence import draw_strongest

        several = len({column for items in self.by_class.values() for column, _, _ in items}) > 1
        named = {
            label: [
                (column if several or value is None else "", _shown(value), weight)
                for column, value, weight in items
            ]
            for label, items in self.by_class.items()
        }
        return draw_strongest(named, ax)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def strongest_of(model: Model, n: int = 10) -> Strongest:
    """Return what speaks most for each class (see ``nb.inspect.strongest``)."""
    if n < 1:
        raise ValueError(f"n must be a number of items that is at least 1, got {n}.")
    labels = model.classes.tolist()
    return Strongest({label: strongest(model, c, n) for c, label in enumerate(labels)})


def strongest(model: Model, c: int, n: int) -> list[Weighed]:
    """Return the n items that speak most for class c against all others together.

    An item is a word (no character n-gram), a level, a column that is true, or a number that is
    usual in the class: its mean, or one in the most probable bin. Missing cells and interactions
    are no items. The first is what a row of the class gains most from on average: its weight of
    evidence, times how often it came in the class. What weighs nothing, or speaks against the
    class, is left out.
    """
    found: list[tuple[Rank, Weighed]] = []
    for group in model.schema.of_columns:
        if group.key in model.schema.of_character_ngrams:
            continue
        axis, x = model.counts[group.key].axis, model.likelihoods[group.key].typical(c).x
        for rank, i, weight in ranked(model, group, c, n):
            if x is None:
                column, shown = axis.label(i)
            else:
                column, shown = axis.columns[i], float(x[i])
                if column in model.schema.times:
                    shown = np.datetime64(round(shown), "s").item()
            found.append((rank, (title(column), shown, weight)))
    found.sort(key=lambda of: of[0])
    return [item for _, item in found[:n]]


def ranked(model: Model, group: Group, c: int, n: int) -> list[tuple[Rank, int, float]]:
    """Return the n items of a group that speak most for class c: rank, row and weight of each."""
    tally, typical = model.counts[group.key], model.likelihoods[group.key].typical(c)
    weight = Odds(model.start, c).weight(typical.value)
    count = _count(tally, c, numbers=typical.x is not None)
    here = np.flatnonzero((weight > 0) & (count > 0))
    weight, count = weight[here], count[here]
    gain = weight * count
    best = np.lexsort((-count, -gain))[:n].tolist()
    return [((-float(gain[i]), -float(count[i])), int(here[i]), float(weight[i])) for i in best]


def _count(tally: BlockTally, c: int, *, numbers: bool) -> Floats:
    """Return how often each item came in class c, (items,); a number as often as its column."""
    if numbers and isinstance(tally.axis, ByValue):
        cells: Floats = tally.axis.sum_by_column(tally[tally.axis.statistic].high)
        return cells[:, c]
    statistic = PRESENT if numbers else LEVEL if isinstance(tally.axis, Levels) else VALUE
    count: Floats = tally.sums[statistic][:, np.array([c])].high[:, 0]
    return count
