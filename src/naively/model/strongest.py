"""What speaks most for each class: its words, levels and numbers of greatest weight of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.names import title
from naively.model.explain import Weighed
from naively.model.model import Model
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Strongest(Tabular):
    """What speaks most for each class, as a table of ``class``, ``column``, ``value``, ``weight``.

    Parameters
    ----------
    by_class : dict
        For each label its items, strongest first: column, value and weight of evidence in nats,
        which is log p(item | class) - log p(item | all other classes together).

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> X, y = {"fur": [True, True, False], "wings": [False, False, True]}, ["cat", "cat", "bird"]
    >>> NaiveBayes(Bernoulli(), weights=None).fit(X, y).strongest(1)
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
        from naively.pictures.weights import draw_strongest

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
    """Return what speaks most for each class (see ``NaiveBayes.strongest``)."""
    if n < 1:
        raise ValueError(f"n must be a number of items that is at least 1, got {n}.")
    labels = model.classes.tolist()
    return Strongest({label: strongest(model, c, n) for c, label in enumerate(labels)})


def strongest(model: Model, c: int, n: int) -> list[Weighed]:
    """Return the n items that speak most for class c against all others together.

    An item is a word (no character n-gram), a level, a column that is true, or a number that is
    usual in the class: its mean, or one in the most probable bin. Its weight is
    log p(item | c) - log p(item | not c), the others weighted by their priors. Missing cells and
    interactions are no items.
    """
    others = np.arange(len(model.classes)) != c
    if not others.any():
        return []
    prior = model.class_log_prior[others]
    log_share = prior - np.logaddexp.reduce(prior)
    found: list[Weighed] = []
    for group in model.schema.of_columns:
        axis = model.counts[group.key].axis
        if group.key in model.schema.of_character_ngrams:
            continue
        typical = model.likelihoods[group.key].typical(c)
        rest = np.logaddexp.reduce(typical.value[:, others] + log_share, axis=1)
        with np.errstate(invalid="ignore"):
            weight = np.nan_to_num(
                typical.value[:, c] - rest, nan=0.0, posinf=np.inf, neginf=-np.inf
            )
        for i in np.argsort(-weight, kind="stable")[:n].tolist():
            if typical.x is None:
                column, shown = axis.label(i)
            else:
                column, shown = axis.columns[i], float(typical.x[i])
                if column in model.schema.times:
                    shown = np.datetime64(round(shown), "s").item()
            found.append((title(column), shown, float(weight[i])))
    return sorted(found, key=lambda item: -item[2])[:n]
