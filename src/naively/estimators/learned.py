"""What an estimator has learned: one frozen value, which it exchanges whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property, wraps
from threading import RLock
from typing import Concatenate, ParamSpec, TypeVar, cast

from naively.assess.folds import HeldOutFolds, hold_out
from naively.counting.labels import Beside, Target
from naively.fitting.reservoir import Reservoir
from naively.frozen import Frozen
from naively.model.held_out import HeldOut
from naively.model.model import History, Model, Verb
from naively.options import Weighting


class TargetColumn(Frozen, eq=True):
    """What is predicted, and what else was said of rows, by names of columns."""

    name: str = ""  # the column of labels, or ""
    # the columns of weights, groups and the like, by what they are
    beside: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, y: Target, beside: Beside, time: Target) -> TargetColumn:
        """Return the names of the columns that are no columns of the rows."""
        named = beside.columns | ({"time": time} if isinstance(time, str) else {})
        return cls(y if isinstance(y, str) else "", named)


NO_TARGET, NO_HISTORY = TargetColumn(), History()


class Learned(Frozen):
    """A model, a sample of its rows, where it came from, and what it predicts."""

    model: Model
    sample: Reservoir | None  # of its rows; None where they are not in memory
    history: History = NO_HISTORY
    target: TargetColumn = NO_TARGET

    @property
    def rows(self) -> Reservoir:
        """The sample, or a ValueError that says why no row can be left out."""
        if self.model.counted.unlabelled_weight > 0:
            raise ValueError(
                "The classes of rows without a label depend on the labels of all others, so none "
                "can be left out; use labelled rows that were not learned."
            )
        if self.sample is None:
            raise ValueError("The rows that were learned are not in memory; give X and y.")
        return self.sample

    @property
    def rows_or_none(self) -> Reservoir | None:
        """The sample, if any row can be left out."""
        return None if self.model.counted.unlabelled_weight > 0 else self.sample

    @property
    def kind(self) -> Weighting | None:
        """How the weights were fitted; None without weights."""
        return None if self.model.weights is None else self.model.weights.how

    @cached_property
    def held_out(self) -> HeldOutFolds:
        """Folds of the sample, each predicted by what the other rows teach."""
        seeks = self.model.seeks_interactions
        return hold_out(self.model, self.rows, self.kind, interactions=seeks)

    @property
    def odds(self) -> HeldOut | None:
        """How probable the right classes of held-out rows are, if that can be known."""
        known = self.model.counted.held_out
        if (known is not None and known.holds) or self.sample is None:
            return known
        return self.held_out.odds(self.model)

    def beside(self, named: Mapping[str, str]) -> Learned:
        """Return it with more columns that are no columns of the rows."""
        return replace(self, target=replace(self.target, beside={**self.target.beside, **named}))

    def faded(self, factor: float) -> Learned:
        """Return it with counts and sample that have faded together."""
        sample = None if self.sample is None else self.sample.faded(factor)
        return replace(self, model=self.model * factor, sample=sample)

    def left(self, model: Model) -> Learned:
        """Return what is left of it where the rows of the model are not known, as when pickled."""
        return replace(self, model=model, sample=None)

    def recorded(self, verb: Verb, rows: float, source: str = "") -> Learned:
        """Return it with what was done to the model in its history."""
        before = NO_HISTORY if verb == "train" else self.history
        total = self.model.counted.rows
        return replace(self, history=before.add(verb, rows, total, source))


# --- An estimator holds it, and one thread at a time exchanges it --------------------------------


E = TypeVar("E")
P = ParamSpec("P")
R = TypeVar("R")

LOCK = "_lock"  # neither pickled nor copied: another object has one of its own


def as_now(estimator: E) -> E:
    """Return an estimator as it is now, which nothing changes; to copy a dict is atomic."""
    now = object.__new__(type(estimator))
    now.__dict__ = estimator.__dict__.copy()
    now.__dict__.pop(LOCK, None)
    return now


def exclusive(verb: Callable[Concatenate[E, P], R]) -> Callable[Concatenate[E, P], R]:
    """Let a method that changes an estimator in place run in one thread at a time."""
    # It changes a copy, with which the estimator is exchanged at once: who only asks needs no lock.

    @wraps(verb)
    def alone(self: E, /, *args: P.args, **kwargs: P.kwargs) -> R:
        # dict.setdefault is atomic: all threads get the same lock.
        lock = self.__dict__.setdefault(LOCK, RLock())
        with lock:
            then = as_now(self)
            try:
                found = verb(then, *args, **kwargs)
            finally:
                self.__dict__ = then.__dict__ | {LOCK: lock}
            return cast("R", self) if found is then else found

    return alone


def asking(verb: Callable[Concatenate[E, P], R]) -> Callable[Concatenate[E, P], R]:
    """Let a method ask an estimator as it is now, whatever it learns meanwhile."""

    @wraps(verb)
    def ask(self: E, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return verb(as_now(self), *args, **kwargs)

    return ask


def check_is_fitted(estimator: object) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned."""
    # Scikit-learn, which takes long to import, is imported only to say no.
    if "_learned" not in getattr(estimator, "__dict__", ()):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator)
