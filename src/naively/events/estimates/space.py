"""What values the parameters of event models may have, and how given ones are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from naively.counting.axis import Level
from naively.kernels.reference import Floats

# The least and the greatest value, and what they are called.
Space: TypeAlias = tuple[float, float, str]
REAL: Space = (-np.finfo(float).max, np.finfo(float).max, "a finite number")
PROBABILITY: Space = (0.0, 1.0, "a probability, from 0 to 1")
CHANCE: Space = (np.nextafter(0.0, 1.0), 1.0, "a probability above 0")
RATE: Space = (0.0, REAL[1], "at least 0 and finite")
POSITIVE: Space = (np.nextafter(0.0, 1.0), REAL[1], "greater than 0 and finite")
# Numbers, or a mapping from levels or words to numbers.
Given: TypeAlias = Any


def read(model: str, name: str, value: Given, space: Space) -> Floats:
    """Return the values of a parameter; a ValueError unless they are numbers of its space."""
    try:
        values = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{model} {name} must be {space[2]}, got {value!r}.") from None
    wrong = ~((values >= space[0]) & (values <= space[1]))
    if wrong.any():
        raise ValueError(f"{model} {name} must be {space[2]}, got {values[wrong].flat[0]}.")
    return values


def summed(terms: Floats, sums: Floats | float) -> Floats:
    """Return the terms of a log likelihood, summed over columns if the sums are of several."""
    return np.asarray(terms.sum(axis=-1) if np.ndim(sums) else terms)


def read_shares(
    model: str, p: Mapping[Level, float] | Sequence[float] | Floats
) -> tuple[tuple[Level, ...], Floats]:
    """Return levels, or the places of a sequence, and their probabilities, which sum to 1."""
    levels = tuple(p) if isinstance(p, Mapping) else tuple(range(np.size(p)))
    values = read(model, "p", [*p.values()] if isinstance(p, Mapping) else p, PROBABILITY)
    if values.ndim != 1 or not np.isclose(values.sum(), 1.0):
        raise ValueError(f"{model} p must be probabilities that sum to 1, got {p!r}.")
    return levels, values
