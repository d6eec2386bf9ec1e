"""What several models have counted, side by side, and how old rows fade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from naively.counting.tally import Tally
from naively.inspect.one_column import OneColumn
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.tabular import Drawn


class Counts(Drawn):
    """How many rows of each class, or of each level of a column, several tallies hold.

    Parameters
    ----------
    names : list of str
        Of the tallies.
    what : str
        "class", or the name of the column.
    value : list
        The classes, or the levels.
    count : ndarray of shape (values, tallies)
        How many rows.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> monday = NaiveBayes().fit({"a": [1, 2, 8]}, ["ham", "ham", "spam"])
    >>> tuesday = NaiveBayes().fit({"a": [9, 2]}, ["spam", "ham"])
    >>> both = monday.tally_ + tuesday.tally_
    >>> print(Counts.of({"monday": monday.tally_, "tuesday": tuesday.tally_, "merged": both}))
    class  monday  tuesday  merged
    ham         2        1       3
    spam        1        1       2
    """

    names: list[str]
    what: str
    value: list[Any]
    count: Floats

    @classmethod
    def of(cls, tallies: Mapping[str, Tally]) -> Counts:
        """Return the class counts of tallies by name."""
        each = {name: (of.classes.tolist(), of.class_count) for name, of in tallies.items()}
        found = cls._side_by_side("class", each)
        order = np.argsort(np.array([*map(str, found.value)]), kind="stable").tolist()
        value = [found.value[i] for i in order]
        return cls(found.names, "class", value, found.count[order])

    @classmethod
    def of_column(cls, models: Mapping[str, Model], column: str | int) -> Counts:
        """Return how many rows of models, by name, have each level of a column.

        Raises
        ------
        ValueError
            If a model has no such column, or does not count its levels.
        """
        found = {name: OneColumn.find(model, column) for name, model in models.items()}
        for name, of in found.items():
            if not of.levels:
                raise ValueError(f"No levels of column {of.title!r} are counted in {name!r}.")
        each = {name: (of.levels, of.item_count.sum(axis=1)) for name, of in found.items()}
        return cls._side_by_side(str(column), each)

    @classmethod
    def _side_by_side(cls, what: str, each: Mapping[str, tuple[Sequence[Any], Floats]]) -> Counts:
        """Return values with how many rows have them, of several tallies by name."""
        every = dict.fromkeys(value for values, _ in each.values() for value in values)
        place = {value: i for i, value in enumerate(every)}
        count = np.zeros((len(place), len(each)))
        for j, (values, rows) in enumerate(each.values()):
            count[[place[value] for value in values], j] = rows
        return cls([*each], what, [*place], count)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the values, and a column of counts for each tally."""
        return {self.what: [*self.value]} | dict(
            zip(self.names, self.count.T.tolist(), strict=True)
        )


class Fading(Drawn):
    """How many rows a model holds that decays before it learns each batch.

    After batch t it holds n_t = factor · n_(t-1) + new_t rows, so that of batch s
    new_s · factor^(t-s) are left.

    Parameters
    ----------
    new : ndarray of shape (batches,)
        How many rows each batch brings.
    factor : float
        What all counts are multiplied by before a batch is learned.

    Examples
    --------
    >>> fading = Fading.of([100, 100, 100], 0.5)
    >>> print(fading)
    batch  new  effective
        1  100        100
        2  100        150
        3  100        175
    >>> fading.half_life
    1.0
    """

    new: Floats
    factor: float

    @classmethod
    def of(cls, batches: Sequence[float | Tally], factor: float) -> Fading:
        """Return how batches fade, given the number of rows of each, or its tally.

        Raises
        ------
        ValueError
            If the factor is not above 0 and at most 1, or a number of rows is negative.
        """
        if not 0 < factor <= 1:
            raise ValueError(f"The factor of fading must be above 0 and at most 1, got {factor}.")
        new = np.array(
            [float(b.class_count.sum()) if isinstance(b, Tally) else float(b) for b in batches]
        )
        if not (np.isfinite(new) & (new >= 0)).all():
            raise ValueError("A batch must have a number of rows that is at least 0.")
        return cls(new, float(factor))

    @property
    def left(self) -> Floats:
        """How many rows of each batch are left after each: (batches, batches), later ones along."""
        n = np.arange(len(self.new))
        age = n[None, :] - n[:, None]
        return np.where(age >= 0, self.new[:, None] * self.factor ** np.maximum(age, 0), 0.0)

    @property
    def effective(self) -> Floats:
        """How many rows the model holds after each batch, (batches,)."""
        return np.asarray(self.left.sum(axis=0))

    @property
    def half_life(self) -> float:
        """After how many batches half of the rows are left; infinite without decay."""
        return float(np.log(0.5) / np.log(self.factor)) if self.factor < 1 else float("inf")

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns batch, new and effective."""
        return {
            "batch": [*range(1, len(self.new) + 1)],
            "new": self.new.tolist(),
            "effective": self.effective.tolist(),
        }
