"""How probable held-out rows' right classes were, and the sets of classes that follow from it.

Conformal prediction (Vovk, Gammerman & Shafer, Algorithmic learning in a random world, 2005): a set
has each class that is at least as probable as the right class is in nine of ten held-out rows. Then
nine of ten sets of other rows like these hold the right class, however wrong the probabilities are.

The rows are held out in folds, whose weights are fitted without them, so that none is set aside.
That is no theorem, but it was measured: of 26 tables with 100 rows sets of 90 % held the right
class in 90.6 %, and were a tenth smaller than with a fifth of the rows set aside.

The log odds of the right class are counted in narrow bins, class by class: counts add up where
models are merged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Label, LabelArray
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import warn

LOWEST, WIDTH, BINS = -15.0, 0.05, 600  # nats: where the bins begin, and how wide each is
LIKE_THE_COMMON = 10.0  # rows, as which what holds for all classes counts in each class
ENOUGH = 0.9  # of the rows whose folds were held out, that must still be learned
ALIKE = 0.2  # total variation between the class shares of models that are merged
ROUNDING = 1e-9
USUAL = (0.8, 0.9, 0.95, 0.99)  # coverages that are written where a model leaves Python


class HeldOut(Frozen):
    """The log odds of the right class of held-out rows, counted by class."""

    classes: tuple[Label, ...]
    # (cells,): the number of a class times BINS and that of a bin, ascending; each is there once
    cell: NDArray[np.int64]
    rows: Floats  # (cells,): the weight of the rows in each
    left: float = 1.0  # the share of the rows that were learned then which still are

    @classmethod
    def of(
        cls, p: Floats, right: NDArray[np.integer], weight: Floats, classes: Sequence[Label]
    ) -> HeldOut:
        """Count rows that the model has not learned."""
        # Their posteriors are of shape (rows, classes), the numbers of their right classes, and how
        # many rows each stands for, of shape (rows,).
        of_right = p[np.arange(len(p)), right]
        with np.errstate(divide="ignore"):
            odds = np.log(of_right) - np.log1p(-of_right)
        place = np.clip(np.floor((odds - LOWEST) / WIDTH), 0, BINS - 1).astype(np.int64)
        return cls._summed(tuple(classes), right.astype(np.int64) * BINS + place, weight)

    @classmethod
    def _summed(
        cls, classes: tuple[Label, ...], cell: NDArray[np.int64], rows: Floats, left: float = 1.0
    ) -> HeldOut:
        there = rows > 0
        different, at = np.unique(cell[there], return_inverse=True)
        total = np.bincount(at, rows[there], len(different)).astype(np.float64)
        return cls(classes, different, total, left)

    def __add__(self, other: HeldOut) -> HeldOut:
        """Return the rows of both; it warns if their classes have other shares."""
        classes = dict.fromkeys((*self.classes, *other.classes))
        number = {label: i for i, label in enumerate(classes)}
        cells = [_numbered(of, number) for of in (self, other)]
        count = [
            np.bincount(cell // BINS, of.rows, len(number))
            for cell, of in zip(cells, (self, other), strict=True)
        ]
        if all(of.sum() > 0 for of in count):
            apart = np.abs(count[0] / count[0].sum() - count[1] / count[1].sum()).sum() / 2
            chance = math.sqrt((len(number) - 1) * sum(1 / of.sum() for of in count))
            if apart > ALIKE + chance:  # two standard deviations at least
                warn(
                    "The merged models have different shares of the classes, so sets of "
                    "predict_set may hold the right class less often than they promise: call "
                    "calibrate(X, y) with rows of all."
                )
        both = np.array([self.rows.sum(), other.rows.sum()])
        left = float(np.array([self.left, other.left]) @ both / both.sum()) if both.any() else 1.0
        rows = np.concatenate([self.rows, other.rows])
        return self._summed(tuple(classes), np.concatenate(cells), rows, left)

    def among(self, classes: LabelArray) -> HeldOut:
        """Return the same of these classes, in their order; rows of others are left out."""
        labels = tuple(classes.tolist())
        if labels == self.classes:
            return self
        known = {label: i for i, label in enumerate(labels)}
        there = np.array([label in known for label in self.classes], np.bool_)
        rows = np.where(there[self.cell // BINS], self.rows, 0.0)
        number = dict.fromkeys(self.classes, 0) | known
        return self._summed(labels, _numbered(self, number), rows, self.left)

    def fading(self, share: float) -> HeldOut:
        """Return the same of a model that holds a share of the rows it held."""
        return replace(self, left=self.left * min(1.0, share))

    @property
    def holds(self) -> bool:
        """Whether enough of the rows are still learned."""
        return self.left >= ENOUGH - ROUNDING

    def check(self) -> None:
        """Raise a ValueError if too few of the rows are still learned."""
        if not self.holds:
            raise ValueError(
                f"Only {self.left:.0%} of the rows that sets were calibrated with are still "
                f"learned, fewer than {ENOUGH:.0%}: call calibrate(X, y) with labelled rows."
            )

    def least(self, coverage: float, *, by_class: bool = False) -> Floats:
        """Return how probable a class must be to be in a set, (classes,)."""
        # It is the lower end of a bin: 0 where there are too few rows, so that all classes are in.
        # by_class: whether the coverage is to hold among the rows of each class. For a class of few
        # rows it is shrunk to that of all, as if ten rows more were like all others.
        check_coverage(coverage)
        k, n = len(self.classes), float(self.rows.sum())
        every: Floats = np.bincount(self.cell % BINS, self.rows, BINS).astype(np.float64)
        if not by_class or n == 0:
            return np.full(k, _lower_end(every[None], [coverage * (n + 1)])[0])
        table = np.bincount(self.cell, self.rows, k * BINS).reshape(k, BINS)
        need = coverage * (table.sum(axis=1) + LIKE_THE_COMMON + 1)
        return _lower_end(table + LIKE_THE_COMMON / n * every, need)


def _numbered(held_out: HeldOut, number: dict[Label, int]) -> NDArray[np.int64]:
    """Return the cells, of classes that are numbered otherwise."""
    place = np.array([number[label] for label in held_out.classes], np.int64)
    return place[held_out.cell // BINS] * BINS + held_out.cell % BINS


def least_at(held_out: HeldOut | None) -> dict[float, float]:
    """Return how probable a class of a set must be, at usual coverages; nothing if unknown."""
    if held_out is None or not held_out.holds:
        return {}
    return {coverage: float(held_out.least(coverage)[0]) for coverage in USUAL}


def check_coverage(coverage: object) -> float:
    """Return a coverage; a ValueError unless it is between 0 and 1."""
    if not isinstance(coverage, int | float | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must be between 0 and 1, such as 0.9, got {coverage!r}.")
    return float(coverage)


def _lower_end(rows: Floats, need: Sequence[float] | Floats) -> Floats:
    """Return the probability that the highest bin begins at which as many as needed are above."""
    above = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    enough = above >= np.asarray(need)[:, None] - ROUNDING
    bins = enough.sum(axis=1) - 1  # the lowest bins have most above them
    p = 1 / (1 + np.exp(-(LOWEST + WIDTH * bins)))
    return np.where(bins > 0, p, 0.0)


def sets_of(p: Floats, least: Floats) -> NDArray[np.bool_]:
    """Return which classes are in each row's set, (rows, classes); the most probable one is."""
    found: NDArray[np.bool_] = p >= least
    found[np.arange(len(p)), p.argmax(axis=1)] = True
    return found
