"""What the parameters of the drop-ins may be: each a list of kinds, of which a value is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np


@dataclass(frozen=True)
class Kind:
    """What a parameter may be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


Allowed: TypeAlias = "dict[str, Sequence[Kind]]"

NOT_NEGATIVE = Kind(
    "a number of at least 0", lambda x: isinstance(x, Real) and 0 <= float(x) < math.inf
)
COUNT = Kind("a whole number of at least 1", lambda x: isinstance(x, Integral) and int(x) >= 1)
BOOLEAN = Kind("True or False", lambda x: isinstance(x, bool | np.bool_))
ARRAY = Kind("an array", lambda x: isinstance(x, Sized) and not isinstance(x, str | Mapping))
NONE = Kind("None", lambda x: x is None)


def text(word: str) -> Kind:
    """Return the kind that only this word is of."""
    return Kind(repr(word), lambda x: isinstance(x, str) and x == word)


def check_parameters(estimator: Any, allowed: Allowed) -> None:
    """Raise an error where a parameter of an estimator is of none of its kinds.

    Examples
    --------
    >>> from naively import MultinomialNB
    >>> check_parameters(MultinomialNB(alpha="many"), {"alpha": [NOT_NEGATIVE, ARRAY]})
    Traceback (most recent call last):
    ValueError: alpha of MultinomialNB must be a number of at least 0 or an array, got 'many'.
    """
    for name, kinds in allowed.items():
        value = getattr(estimator, name)
        if not any(kind.holds(value) for kind in kinds):
            words = " or ".join(kind.words for kind in kinds)
            raise ValueError(
                f"{name} of {type(estimator).__name__} must be {words}, got {value!r}."
            )
