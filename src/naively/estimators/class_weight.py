"""There is no ``class_weight``, and who asks for it is told what to say instead.

Scikit-learn reads the options of an estimator from its ``__init__``, which must not take others. So
what takes them is around ``__init__`` and ``fit``, and has their signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import signature
from typing import Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

SENTENCE = (
    "Naive Bayes has no class_weight: weights that only change how much each class counts are a "
    "class prior; say {}, or give the probability of each class."
)


def without_class_weight(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method say what to do in place of the keyword ``class_weight``.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> NaiveBayes(class_weight="balanced")
    Traceback (most recent call last):
    TypeError: Naive Bayes has no class_weight: ...; say class_prior='uniform' ...
    """

    @wraps(verb)
    def checked(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        if "class_weight" in options:
            raise TypeError(no_class_weight(type(self)))
        return verb(self, *args, **options)

    return checked


def no_class_weight(kind: type) -> str:
    """Return what to say instead, in the words of the options that a class has."""
    return SENTENCE.format(_instead(signature(kind.__init__).parameters.keys()))  # type: ignore[misc]


def _instead(options: Collection[str]) -> str:
    """Return the option that makes all classes count alike."""
    if "fit_prior" in options:
        return "fit_prior=False for classes that count alike (NaiveBayes: class_prior='uniform')"
    if "priors" in options:
        return (
            "priors=[1 / k] * k for k classes that count alike (NaiveBayes: class_prior='uniform')"
        )
    return "class_prior='uniform' for classes that count alike"
