"""Weights: how much the evidence of each column counts, and the linear part beside it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from naively.counting.axis import Derived, Name
from naively.counting.labels import Label, LabelArray
from naively.counting.leave_one_out import Part
from naively.kernels.reference import Floats
from naively.messages import Shown, amount
from naively.options import OfFields, Weighting
from naively.terms.functions import NOTHING, LinearPart

# --- Weights: how much the evidence of each column counts ----------------------------------------
#
# Naive Bayes counts what two columns have in common twice. Non-negative factors of each column's
# log likelihoods, one for each class, take that back; every explanation is still a sum, and the
# probabilities are calibrated.


@dataclass(frozen=True)
class Sought:
    """What came of looking for interactions."""

    why_none: str = ""  # why there are none
    notes: tuple[str, ...] = ()  # which there are, and what they gain


@dataclass(frozen=True, repr=False)
class Weights(Shown, OfFields):
    """A non-negative factor for the log likelihoods of each part of the evidence.

    A log likelihood is centred over the classes before it is multiplied: weights that are equal
    for all classes merely temper it.
    """

    classes: tuple[Label, ...]
    of: Mapping[Part, tuple[float, ...]]  # of each part, (classes,)
    bias: tuple[float, ...]  # (classes,): what is added to the log prior of each, in nats
    usual: float  # the weight, for every class, of a part that has none of its own
    rows: float  # how many independent rows the model held when these were fitted
    how: Weighting = "loo"  # a weight for each part, or one for all
    linear: LinearPart = NOTHING  # what is added to the evidence so weighted
    # (classes,): how many independent rows a weight of 1 is (see ``naively.fitting.sample``);
    # where there are none, it is one
    rows_per_weight: tuple[float, ...] = ()
    sought: Sought | None = None  # what came of looking for interactions; None if nobody looked

    @classmethod
    def even(cls, classes: LabelArray, rows_per_weight: Floats | None) -> Weights:
        """Return weights that are all 1, of a model of which a weight of 1 is so many rows."""
        of = () if rows_per_weight is None else tuple(rows_per_weight.tolist())
        return cls(tuple(classes.tolist()), {}, (0.0,) * len(classes), 1.0, 0.0, rows_per_weight=of)

    @property
    def by_name(self) -> dict[str, dict[Label, float]]:
        """The weights of each part by class, under the name of the part."""
        return {
            str(part): dict(zip(self.classes, each, strict=True)) for part, each in self.of.items()
        }

    def __str__(self) -> str:
        lines = [f"fitted on {amount(self.rows)} rows; mean over the classes (least to greatest)"]
        for name, by_class in self.by_name.items():
            of = list(by_class.values())
            lines.append(f"  {np.mean(of):.3f} ({min(of):.3f} to {max(of):.3f})  {name}")
        lines += [f"with a linear part: {self.linear}"] if self.linear else []
        return "\n".join(lines)

    def fresh(self, rows: float) -> float:
        """Return what share of so many rows the model held when the weights were fitted."""
        return min(1.0, self.rows / rows) if rows > 0 else 1.0

    @cached_property
    def groups(self) -> frozenset[Hashable]:
        """The groups of which some column has weights of its own."""
        return frozenset(part.group for part in self.of if part.column is not None)

    def of_rows_like(self, other: Weights | None) -> Weights:
        """Return these weights, of a model of which a weight of 1 is as many rows as of another."""
        return self if other is None else replace(self, rows_per_weight=other.rows_per_weight)

    def rows_of(self, classes: Sequence[Label]) -> Floats | None:
        """Return how many rows a weight of 1 is, (classes,); None where it is one throughout."""
        if not self.rows_per_weight:
            return None
        return np.array([*self.rows_per_weight, 1.0])[self.places(classes)]

    def table(self, parts: Sequence[Part], classes: Sequence[Label]) -> Floats:
        """Return the weights of parts, of shape (parts, classes)."""
        # A band of words that came more often than any did when the weights were fitted has those
        # of the last band. Another part without weights of its own has those of its whole group, or
        # the usual one, or 0 of what is said beside the columns.
        # To look a part up takes long; those that the weights were fitted to are in their order.
        own = [*self.of] == [*parts]
        each = [*self.of.values()] if own else [self._of(part) for part in parts]
        found = np.array(each, np.float64).reshape(len(parts), len(self.classes))  # of none too
        place = self.places(classes)
        mean = found.mean(axis=1, keepdims=True) if self.classes else np.zeros((len(found), 1))
        return np.hstack([found, mean])[:, place]

    def _of(self, part: Part) -> tuple[float, ...]:
        """Return the weights of a part by class."""
        last = self._last_band.get((part.group, part.column))
        if part.band is not None and last is not None:
            part = replace(part, band=min(part.band, last))
        beside = isinstance(part.column, Derived) and part.column.beside
        usual = 0.0 if beside else self.usual
        of_group = self.of.get(Part(part.group), (usual,) * len(self.classes))
        return self.of.get(part, of_group)

    @cached_property
    def _last_band(self) -> dict[tuple[Hashable, Name | None], int]:
        """The last band of each text that has weights by band."""
        last: dict[tuple[Hashable, Name | None], int] = {}
        for part in self.of:
            if part.band is not None:
                of = part.group, part.column
                last[of] = max(part.band, last.get(of, 0))
        return last

    def bias_of(self, classes: Sequence[Label]) -> Floats:
        """Return what is added to the log priors of classes, of shape (classes,)."""
        places = self.places(classes)
        bias: Floats = np.array([*self.bias, 0.0])[places]
        return bias + self.linear.intercept_of(places) if self.linear.intercept else bias

    def places(self, classes: Sequence[Label]) -> list[int]:
        """Return the number of each class; of one that has no weights, the number after all."""
        place = {label: i for i, label in enumerate(self.classes)}
        return [place.get(label, len(place)) for label in classes]

    def __add__(self, other: Weights) -> Weights:
        """Average the weights, each by the rows behind it; what one lacks is the other's."""
        rows = self.rows + other.rows
        share = self.rows / rows if rows > 0 else 0.5
        classes = tuple(dict.fromkeys([*self.classes, *other.classes]))

        def mean_of(part: Part) -> tuple[float, ...]:
            mine, theirs = (
                w.table([part], classes)[0] if part in w.of else None for w in (self, other)
            )
            if mine is None or theirs is None:
                one = other if mine is None else self
                return tuple(one.table([part], classes)[0].tolist())
            return tuple((theirs + share * (mine - theirs)).tolist())

        places = self.places(classes), other.places(classes)
        mine, theirs = (
            np.array([*w.bias, 0.0])[at] for w, at in zip((self, other), places, strict=True)
        )
        bias = share * mine + (1 - share) * theirs
        per: tuple[float, ...] = ()
        if self.rows_per_weight or other.rows_per_weight:
            ours, others = (
                np.ones(len(classes)) if of is None else of
                for of in (self.rows_of(classes), other.rows_of(classes))
            )
            per = tuple((share * ours + (1 - share) * others).tolist())
        return Weights(
            classes,
            {part: mean_of(part) for part in dict.fromkeys([*self.of, *other.of])},
            tuple(bias.tolist()),
            other.usual + share * (self.usual - other.usual),
            rows,
            self.how if self.how == other.how else "loo",
            self.linear.mean(other.linear, share, places),
            per,
            self.sought or other.sought,
        )


def mean(a: Weights | None, b: Weights | None) -> Weights | None:
    """Return the mean of the weights of two models; if one has none, those of the other."""
    return b if a is None else a if b is None else a + b
