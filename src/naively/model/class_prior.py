"""The class prior: what it may be, what follows from it, how it is shifted and estimated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.labels import Label, LabelArray
from naively.events import Beta, Dirichlet
from naively.kernels.reference import Floats
from naively.options import How
from naively.schema.settings import ClassPrior, Probabilities

# --- The class prior, how probable each class is before anything is seen; and decisions by cost ---
#
# A decision follows from posteriors and costs, and may be to be unsure. Where the classes are not
# as frequent as in training, posteriors follow from another class prior, which EM estimates.


Cost: TypeAlias = "Mapping[Any, Mapping[Any, float]] | ArrayLike | None"

PRETEND = 1.0  # row of each class more, in the prior of a model with weights
UNSURE = "unsure"
ENOUGH = 1e-9  # change of a probability after which the class prior has converged
MOST_STEPS = 1000


def class_probabilities(
    prior: ClassPrior, how: How, class_count: Floats, classes: LabelArray, pretend: float = 0.0
) -> Floats:
    """Return the probability of each class: as counted, given, or estimated under a prior."""
    # The rows (total weight) of each class, their labels and their probabilities are of shape
    # (classes,). ``pretend`` rows are added to what was counted of each class.
    match prior:
        case Beta() | Dirichlet():
            count = np.maximum(class_count + pretend_classes(prior, how, classes), 0.0)
        case str() if prior in ("data", "uniform"):
            count = np.ones(len(classes))
            if prior == "data":
                count = class_count + pretend * ((class_count > 0) & (how != "mle"))
        case str():
            raise ValueError(
                "class_prior must be 'data', 'uniform', probabilities, Beta or Dirichlet, "
                f"got {prior!r}."
            )
        case _:
            return given_prior(prior, classes)
    if not count.sum() > 0:
        raise ValueError("Nothing is left to predict from: the counts are all zero.")
    return np.asarray(count / count.sum())


def check_class_prior(
    prior: ClassPrior, how: How, classes: LabelArray, *, more: bool = False
) -> None:
    """Raise a ValueError if no probabilities of these classes follow from the class prior."""
    # more: whether other classes may still come: then it may be for more classes than these
    if more:
        classes = _may_come(prior, classes)
    class_probabilities(prior, how, np.ones(len(classes)), classes)


def _may_come(prior: ClassPrior, classes: LabelArray) -> LabelArray:
    """Return the classes that a prior is for, if these are among them, and else these."""
    # The labels are numbers where a prior says only the number of classes.
    match prior:
        case Mapping() if all(label in prior for label in classes.tolist()):
            every = np.empty(len(prior), object)
            every[:] = list(prior)
            return every
        case str() | Mapping():
            n = 0
        case Beta():
            n = 2
        case Dirichlet():
            n = np.size(prior.alpha)
        case _:
            n = np.size(prior)
    return classes if n <= len(classes) else np.arange(n)


def among_fewer(prior: ClassPrior, classes: LabelArray, fewer: LabelArray) -> ClassPrior:
    """Return the class prior given that a row is of one of fewer of the classes."""
    if len(fewer) == len(classes):
        return prior
    there = np.isin(classes, fewer)
    match prior:
        case str():
            return prior
        case Beta():
            return "data"  # one class is left, which is certain
        case Dirichlet():
            alpha = np.asarray(prior.alpha, np.float64)
            return Dirichlet(tuple(alpha[there].tolist())) if alpha.ndim else prior
        case _:
            p = given_prior(prior, classes)[there]
            return tuple((p / p.sum()).tolist()) if p.any() else "uniform"


def is_estimated(prior: ClassPrior) -> bool:
    """Whether the class prior follows from the class counts."""
    return isinstance(prior, str | Beta | Dirichlet) and prior != "uniform"


def pretend_classes(prior: Beta | Dirichlet, how: How, classes: LabelArray) -> Floats:
    """Return the pretend rows that a prior stands for, of shape (classes,), or () if all alike."""
    if isinstance(prior, Beta):
        if len(classes) != 2:
            raise ValueError(
                f"class_prior={prior} is for two classes, but there are {len(classes)}; "
                f"give a Dirichlet. The classes are {classes.tolist()}."
            )
        of_second, of_first = prior.pretend(how)
        return np.stack([of_first, of_second])
    pretend = prior.pretend(how)
    if pretend.ndim and pretend.shape != classes.shape:
        raise ValueError(
            f"class_prior={prior} has {len(pretend)} counts for {len(classes)} classes; "
            f"give one for each, or one for all. The classes are {classes.tolist()}."
        )
    return pretend


def pretended_rows(prior: ClassPrior, how: How, classes: LabelArray, pretend: float) -> Floats:
    """Return what is added to the rows of each class, (classes,); NaN where none are counted."""
    # pretend: what is added where the prior is as counted
    match prior:
        case Beta() | Dirichlet():
            added: Any = pretend_classes(prior, how, classes)
        case str() if prior == "data":
            added = 0.0 if how == "mle" else pretend
        case _:
            added = np.nan
    return np.asarray(np.broadcast_to(np.asarray(added, np.float64), classes.shape))


def given_prior(prior: Probabilities, classes: LabelArray) -> Floats:
    """Return probabilities that were given, by label or in order, of shape (classes,)."""
    labels = classes.tolist()
    if isinstance(prior, Mapping):
        if set(prior) != set(labels):
            raise ValueError(f"class_prior names {list(prior)}, but the classes are {labels}.")
        prior = [prior[label] for label in labels]
    try:
        p = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"class_prior must be probabilities, got {prior!r}.") from None
    if p.shape != classes.shape:
        raise ValueError(
            f"class_prior must have one probability for each of the {len(classes)} classes "
            f"{labels}, got shape {p.shape}."
        )
    if not (np.isfinite(p).all() and (p >= 0).all() and np.isclose(p.sum(), 1.0)):
        raise ValueError(f"class_prior must be probabilities that sum to 1, got {p.tolist()}.")
    return p


def decide(
    p: Floats, classes: LabelArray, cost: Cost = None, reject: float | None = None
) -> LabelArray:
    """Return the class of least expected cost, or "unsure" (see ``NaiveBayes.predict``)."""
    # The posteriors ``p`` are of shape (rows, classes), the answers of shape (rows,). Duda, Hart &
    # Stork, Pattern Classification (2001), section 2.2; Chow, On optimum recognition error and
    # reject tradeoff (1970).
    best, unsure = answers(p, None if cost is None else cost_table(cost, classes), reject)
    answer: LabelArray = classes[best]
    if reject is None:
        return answer
    answer = answer.astype(object)
    answer[unsure] = UNSURE
    return answer


def answers(
    p: Floats, cost: Floats | None, reject: float | None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the number of the class that each row is given, and whether that is too uncertain."""
    best = p.argmax(axis=1) if cost is None else (p @ cost).argmin(axis=1)
    if reject is None:
        return best, np.zeros(len(p), np.bool_)
    if not 0 <= reject <= 1:
        raise ValueError(f"reject must be a probability, from 0 to 1, got {reject}.")
    return best, p[np.arange(len(p)), best] < reject


class Decision(NamedTuple):
    """What follows from posteriors."""

    # (classes,): the class prior that posteriors were derived with, and the one they are wanted
    # under
    prior: tuple[Floats, Floats] | None = None
    # (right classes, answers): what each answer costs; without it, the most probable class is the
    # answer
    cost: Floats | None = None
    reject: float | None = None  # the answer is "unsure" where it is less probable

    def posterior(self, p: Floats) -> Floats:
        """Return posteriors (rows, classes) under the class prior that is wanted."""
        return p if self.prior is None else shift(p, *self.prior)

    def answers(self, p: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the number of the class that each row is given, and whether that is too unsure."""
        return answers(p, self.cost, self.reject)


MOST_PROBABLE = Decision()


def cost_table(cost: Cost, classes: LabelArray) -> Floats:
    """Return what each answer costs for each right class, (right classes, answers)."""
    labels = classes.tolist()
    if isinstance(cost, Mapping):
        named = [*cost, *(answer for of in cost.values() for answer in of)]
        unknown = [label for label in named if label not in labels]
        if unknown:
            first, written = unknown[0], str(unknown[0])
            hint = f": they are strings, write {written!r}" if written in labels else ""
            raise ValueError(f"cost names the class {first!r}; the classes are {labels}{hint}.")
        cost = [
            [cost.get(right, {}).get(answer, 0.0 if right == answer else 1.0) for answer in labels]
            for right in labels
        ]
    table = np.asarray(cost, np.float64)
    if table.shape != (len(labels), len(labels)) or not np.isfinite(table).all():
        raise ValueError(
            f"cost must be a finite table of {len(labels)} right classes × {len(labels)} answers, "
            f"got shape {table.shape}."
        )
    return table


def shift(p: Floats, prior: Floats, other: Floats) -> Floats:
    """Return posteriors (rows, classes) under another class prior than they were derived with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted = p * np.where(prior > 0, other / prior, 0.0)
        total = shifted.sum(axis=1, keepdims=True)
        return np.where(total > 0, shifted / total, other)


def estimate_prior(p: Floats, prior: Floats) -> Floats:
    """Estimate the class prior of rows from their posteriors (rows, classes), by EM."""
    # They were derived with another class prior, that of training. Saerens, Latinne & Decaestecker,
    # Adjusting the outputs of a classifier to new a priori probabilities (2002).
    other = prior
    for _ in range(MOST_STEPS):
        before, other = other, shift(p, prior, other).mean(axis=0)
        if np.abs(other - before).max() < ENOUGH:
            break
    return other


# --- Which classes a result is about: the one that is named, or the most frequent ones -----------


SHOWN = 8  # classes that are printed and drawn


def frequent(class_count: Floats, most: int = SHOWN) -> list[int]:
    """Return the numbers of the most frequent classes, at most ``most``, in their order."""
    return sorted(np.argsort(-class_count, kind="stable")[:most].tolist())


def and_more(n: int, what: str) -> list[str]:
    """Return a line that counts the classes or levels left out; none if all are shown."""
    plural = {"class": "classes"}.get(what, f"{what}s")
    return [f"and {n:,} more {what if n == 1 else plural}"] if n > 0 else []


def number_of(classes: LabelArray, label: Label | None, default: int) -> int:
    """Return the number of a class, or the default where none is named."""
    if label is None:
        return default
    labels: list[Label] = classes.tolist()
    if label not in labels:
        more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
        some = ", ".join(map(repr, labels[:SHOWN])) + more
        raise ValueError(f"There is no class {label!r}; the classes are {some}.")
    return labels.index(label)


def spoken_for(class_count: Floats) -> int:
    """Return the class that odds are of by default: the second of two, else the most frequent."""
    return 1 if len(class_count) == 2 else int(np.argmax(class_count))
