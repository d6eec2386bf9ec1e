"""The linear view: a model as weights, where its log odds are a straight line in the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.labels import LabelArray
from naively.kernels.reference import Floats
from naively.likelihoods.numbers import Sloped
from naively.model.model import Model
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 10  # features of greatest weight
INTERCEPT = "(intercept)"


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Tabular):
    """Weights and intercepts, shaped as those of scikit-learn's linear models.

    With two classes ``X @ coef[0] + intercept[0]`` is the log odds of the second class, and its
    sign the prediction; with more, ``X @ coef.T + intercept`` is largest for the predicted class.
    Here ``X`` holds the features, in the order of their names:

    * a number, a count, or a truth (0 or 1) as it is, named by its column;
    * a number that is added clipped as ``min(max(x, 17), 90)``, named "age in [17, 90]";
    * for each level of a column 1 where the cell is that level, else 0, named ``column=level``;
    * how often a text holds each word (for ``Bernoulli``, whether it does), likewise.

    No cell is missing in them: what it says that cells are there is in the intercepts.

    As a table it has the columns ``class``, ``feature`` and ``weight``, and the intercepts (biases)
    are in it as the feature "(intercept)".

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> X, y = {"colour": ["red", "red", "blue", "blue"]}, ["warm", "warm", "cold", "warm"]
    >>> view = NaiveBayes(Categorical(), weights=None).fit(X, y).inspect.linear()
    >>> view.feature_names.tolist(), view.coef.round(2), view.intercept.round(2)
    (['colour=red', 'colour=blue'], array([[ 0.59, -0.51]]), array([1.1]))
    """

    feature_names: NDArray[np.object_]  # (features,)
    coef: Floats  # (1, features) for two classes, else (classes, features)
    intercept: Floats  # (1,) for two classes, else (classes,)
    classes: LabelArray  # (classes,)

    def to_dict(self) -> dict[str, list[Any]]:
        names = [INTERCEPT, *self.feature_names.tolist()]
        weight = np.column_stack([self.intercept, self.coef])
        return {
            "class": [label for label in self._labels for _ in names],
            "feature": names * len(weight),
            "weight": weight.ravel().tolist(),
        }

    @property
    def _labels(self) -> list[Any]:
        """The class that each row of the weights speaks for: of two, the second."""
        labels: list[Any] = self.classes.tolist()
        return labels[1:] if len(labels) == 2 else labels

    def __str__(self) -> str:
        of = list(map(repr, self.classes.tolist()))
        if len(of) == 2:
            of = [f"log odds of {of[1]} against {of[0]}"]
        lines = []
        for what, coef, intercept in zip(of, self.coef, self.intercept, strict=True):
            lines += [what, f"  {intercept:+.3f}  {INTERCEPT}"]
            greatest = np.argsort(-np.abs(coef), kind="stable")[:SHOWN]
            lines += [f"  {coef[j]:+.3f}  {self.feature_names[j]}" for j in greatest]
            if len(coef) > SHOWN:
                lines.append(f"  and {len(coef) - SHOWN:,} features of less weight")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None, n: int = 10) -> Axes:
        """Draw the weights of the n features of the largest ones as bars.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.
        n : int, default 10
            How many features; with more than two classes each has a bar for every class, and of
            many classes the first are drawn.

        Returns
        -------
        ax : matplotlib.axes.Axes
            With the intercept in its title where there are two classes.
        """
        from naively.pictures.evidence import draw_weights

        best = np.argsort(-np.abs(self.coef).max(axis=0, initial=0.0), kind="stable")[:n]
        labels = self.classes.tolist()
        names = self.feature_names[best].tolist()
        two = len(labels) == 2
        what = f"log odds of {labels[1]!r} against {labels[0]!r}" if two else "log likelihood"
        return draw_weights(names, self.coef[:, best], self._labels, what, self.intercept, ax)


def linear(model: Model) -> Linear:
    """Return the linear view of a model (see ``nb.inspect.linear``)."""
    if model.schema.interactions or (model.weights and model.weights.linear.products):
        raise ValueError(
            "The model is not linear in its interactions: each is of two columns at a time."
        )
    names: list[str] = []
    tables, total = [], model.start
    for group in model.schema.groups:
        axis, likelihood = model.counts[group.key].axis, model.likelihoods[group.key]
        lines = None
        if isinstance(likelihood, Sloped):
            lines, likelihood = likelihood, likelihood.inner
        try:
            slope, constant = likelihood.linear()
        except ValueError as error:
            kind = group.event.name
            raise ValueError(f"The model is not linear in its {kind} columns: {error}") from None
        total = total + constant
        if group.kind == "missing":  # no cell is: what it says that they are there is the same
            there = np.zeros(len(axis.columns), np.int64)
            total = total + likelihood.at(there, np.arange(len(there))).sum(axis=0)
            continue
        labels = [axis.label(row) for row in range(len(axis))]
        names += [title(c) if level is None else f"{title(c)}={level}" for c, level in labels]
        if lines is None:
            tables.append(slope)
            continue
        total = total - lines.centre @ lines.slope
        tables += [slope, lines.slope]
        names += [
            f"{title(axis.columns[column])} in [{_plain(low)}, {_plain(high)}]"
            for column, low, high in zip(lines.column, lines.low, lines.high, strict=True)
        ]
    coef = np.concatenate(tables).T if tables else np.empty((len(total), 0))
    if len(total) == 2:
        coef, total = coef[1:] - coef[:1], total[1:] - total[:1]
    return Linear(np.array(names, object), coef, total, model.classes)


def _plain(x: float) -> str:
    """Return a number in as few digits as say exactly which it is."""
    return f"{x:g}" if float(f"{x:g}") == x else repr(float(x))
