"""Decisions from posteriors: by cost, with a right to be unsure, and under another class prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.core.kernels import Floats

Cost: TypeAlias = "Mapping[Any, Mapping[Any, float]] | Any"

UNSURE = "unsure"
ENOUGH = 1e-9  # change of a probability after which the class prior has converged
MOST_STEPS = 1000


def decide(
    p: Floats, classes: NDArray[Any], cost: Cost = None, reject: float | None = None
) -> NDArray[Any]:
    """Return the class of least expected cost, or "unsure" (see ``NaiveBayes.predict``).

    Duda, Hart & Stork, Pattern Classification (2001), section 2.2; Chow, On optimum recognition
    error and reject tradeoff (1970).
    """
    best = p.argmax(axis=1) if cost is None else (p @ cost_table(cost, classes)).argmin(axis=1)
    answer: NDArray[Any] = classes[best]
    if reject is None:
        return answer
    if not 0 <= reject <= 1:
        raise ValueError(f"reject must be a probability, from 0 to 1, got {reject}.")
    unsure: NDArray[Any] = answer.astype(object)
    unsure[p[np.arange(len(p)), best] < reject] = UNSURE
    return unsure


def cost_table(cost: Cost, classes: NDArray[Any]) -> Floats:
    """Return costs as right class × answer, from an array or a mapping of mappings."""
    labels = classes.tolist()
    if isinstance(cost, Mapping):
        named = {*cost, *(answer for of in cost.values() for answer in of)}
        unknown = [label for label in named if label not in labels]
        if unknown:
            raise ValueError(f"cost names the class {unknown[0]!r}; the classes are {labels}.")
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
    """Return posteriors under another class prior than the one that they were derived with."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shifted = p * np.where(prior > 0, other / prior, 0.0)
        total = shifted.sum(axis=1, keepdims=True)
        return np.where(total > 0, shifted / total, other)


def estimate_prior(p: Floats, prior: Floats) -> Floats:
    """Estimate the class prior of rows from their posteriors under another one, by EM.

    Saerens, Latinne & Decaestecker, Adjusting the outputs of a classifier to new a priori
    probabilities (2002).
    """
    other = prior
    for _ in range(MOST_STEPS):
        before, other = other, shift(p, prior, other).mean(axis=0)
        if np.abs(other - before).max() < ENOUGH:
            break
    return other
