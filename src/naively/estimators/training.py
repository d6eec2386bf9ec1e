"""Rows to learn from: read, with their labels, of which some may be missing if that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import (
    Labels,
    RowWeight,
    Target,
    check_weight,
    encode_labels,
    encode_some_labels,
)
from naively.data.frames import Table, as_rows
from naively.data.rows import Rows
from naively.estimators.checks import check_classification, check_some_weight
from naively.evaluation.reservoir import Reservoir
from naively.evaluation.semi_supervised import learn_unlabelled
from naively.kernels.reference import Floats
from naively.model.model import Model, check_rows
from naively.model.weights import Weighting
from naively.schema.choose import extend
from naively.schema.given import EventModels


@dataclass(frozen=True, eq=False)
class Training:
    """Rows to learn from.

    Parameters
    ----------
    every : Rows
        All rows, those without a label too.
    labels : Labels
        The labels and weights of the rows that have a label.
    there : ndarray of shape (rows with a label,), optional
        Which rows have a label; by default all.
    weight : ndarray of shape (rows,), optional
        The weight of every row; by default 1.
    """

    every: Rows
    labels: Labels
    there: NDArray[np.int64] | None = None
    weight: Floats | None = None

    @classmethod
    def encode(
        cls, rows: Rows, y: Target, sample_weight: RowWeight, *, semi_supervised: bool
    ) -> Training:
        """Encode labels, of which some may be missing if learning is semi-supervised."""
        if not semi_supervised:
            return cls(rows, encode_labels(y, sample_weight))
        labels, there = encode_some_labels(y, sample_weight)
        if len(there) == len(y):
            return cls(rows, labels)
        return cls(rows, labels, there, check_weight(sample_weight, len(rows)))

    def check(self) -> None:
        """Raise what is wrong with the rows as the first that are learned."""
        check_classification(self.every, self.labels)
        check_some_weight(self.labels)
        if self.there is not None and not len(self.there):
            raise ValueError("No row has a label; label some rows of each class.")
        check_rows(self.rows, self.labels)

    @property
    def is_labelled(self) -> bool:
        """Whether all rows have a label."""
        return self.there is None

    @cached_property
    def rows(self) -> Rows:
        """The rows that have a label."""
        return self.every if self.there is None else self.every.take(self.there)

    def learn_unlabelled(
        self, model: Model, sample: Reservoir, event_models: EventModels, kind: Weighting | None
    ) -> tuple[Model, float]:
        """Learn from the rows without a label too, and fit the weights.

        Parameters
        ----------
        model : Model
            What was learned from the rows with a label.
        sample : Reservoir
            A sample of these.
        event_models : "auto", str, EventModel or mapping
            The event models of columns that only rows without a label have.
        kind : {"loo", "temperature"} or None
            Of the weights.

        Returns
        -------
        model : Model
            What was learned from all rows.
        share : float
            How much a row without a label counts beside one that has a label.
        """
        n = len(self.every)
        rest = np.setdiff1d(np.arange(n), [] if self.there is None else self.there)
        weight = np.ones(len(rest)) if self.weight is None else self.weight[rest]
        # Rows of weight 0 make room for the columns, levels and words that all rows have.
        schema = extend(model.counted, self.every, event_models, model.settings)
        nothing = Labels(np.zeros(n, np.int32), model.classes, np.zeros(n))
        model += Model.learn(self.every, nothing, schema, model.settings)
        labels = replace(Labels.none(len(rest), model.classes), weight=weight)
        batch = model.counted.encode(self.every.take(rest), labels)
        return learn_unlabelled(model, sample, batch, kind)


def read_labelled(
    X: Table, y: Target, texts: bool | None, warn_of_a_column: Callable[[str], None]
) -> tuple[Rows, Target]:
    """Read rows, and take the column that ``y`` may name out of them.

    Parameters
    ----------
    X, y
        A table, and its labels or the name of their column.
    texts : bool or None
        Whether lists of strings are texts or a table; None where it is not known.
    warn_of_a_column : callable
        Called with a message if the labels are a column of a matrix.
    """
    rows = as_rows(X, texts)
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        rows, y = rows.split(y)
    if getattr(y, "shape", ())[1:] == (1,):
        warn_of_a_column(
            "A column-vector y was passed when a 1d array was expected; take its column."
        )
    return rows, y
