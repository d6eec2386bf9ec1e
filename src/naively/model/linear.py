"""The linear view: a model as weights, where its log odds are a straight line in the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.names import title
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.model.model import Model

SHOWN = 10  # features of greatest weight


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Shown):
    """Weights and intercepts, shaped as those of scikit-learn's linear models.

    With two classes ``X @ coef[0] + intercept[0]`` is the log odds of the second class, and its
    sign the prediction; with more, ``X @ coef.T + intercept`` is largest for the predicted class.
    Here ``X`` holds the features, in the order of their names:

    * a number, a count, or a truth (0 or 1) as it is, named by its column;
    * for each level of a column 1 where the cell is that level, else 0, named ``column=level``;
    * how often a text holds each word (for ``Bernoulli``, whether it does), likewise.

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> X, y = {"colour": ["red", "red", "blue", "blue"]}, ["warm", "warm", "cold", "warm"]
    >>> view = NaiveBayes(Categorical(), weights=None).fit(X, y).linear()
    >>> view.feature_names.tolist(), view.coef.round(2), view.intercept.round(2)
    (['colour=red', 'colour=blue'], array([[ 0.59, -0.51]]), array([1.1]))
    """

    feature_names: NDArray[Any]
    coef: Floats  # (1, features) for two classes, else (classes, features)
    intercept: Floats
    classes: NDArray[Any]

    def __str__(self) -> str:
        labels = self.classes.tolist()
        of = list(map(repr, labels))
        if len(labels) == 2:
            of = [f"log odds of {of[1]} against {of[0]}"]
        lines = []
        for what, coef, intercept in zip(of, self.coef, self.intercept, strict=True):
            lines.append(f"{what}: {intercept:+.3f}, and of {len(coef):,} features mostly")
            greatest = np.argsort(-np.abs(coef), kind="stable")[:SHOWN]
            lines += [f"  {coef[j]:+.3f}  {self.feature_names[j]}" for j in greatest]
        return "\n".join(lines)


def linear(model: Model) -> Linear:
    """Return the linear view of a model (see ``NaiveBayes.linear``)."""
    names: list[str] = []
    tables, total = [], model.start
    for group in model.schema.groups:
        if group.is_interaction:
            raise ValueError(
                "The model is not linear in its interactions: each is of two columns at a time."
            )
        try:
            slope, constant = model.likelihoods[group.key].linear()
        except ValueError as error:
            kind = group.event.name
            raise ValueError(f"The model is not linear in its {kind} columns: {error}") from None
        tables.append(slope)
        total = total + constant
        axis = model.counts[group.key].axis
        labels = [axis.label(row) for row in range(len(axis))]
        names += [title(c) if level is None else f"{title(c)}={level}" for c, level in labels]
    coef = np.concatenate(tables).T if tables else np.empty((len(total), 0))
    if len(total) == 2:
        coef, total = coef[1:] - coef[:1], total[1:] - total[:1]
    return Linear(np.array(names, object), coef, total, model.classes)
