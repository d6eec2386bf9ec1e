"""How aims are told: what contenders reached on many data sets, in one number, beside a bound."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import numpy as np

Values = Mapping[str, float]  # of a measure, by data set
NOTHING = 1e-3  # a log loss that is as good as 0


def ratio(ours: Values, theirs: Values) -> float:
    """Geometric mean of ratios, over the data sets that both have.

    A log loss counts as 0.001 at least: below, a ratio says nothing that matters, and one table
    that a peer solves would outweigh all others.
    """
    both = [name for name in ours if name in theirs]
    logs = [np.log(max(ours[name], NOTHING) / max(theirs[name], NOTHING)) for name in both]
    return float(np.exp(np.mean(logs))) if logs else float("nan")


def share(less: Values, more: Values | float) -> float:
    """Share of data sets where the one is at most the other, or a bound."""
    bound = dict.fromkeys(less, more) if isinstance(more, int | float) else more
    both = [less[name] <= bound[name] for name in less if name in bound]
    return float(np.mean(both)) if both else float("nan")


def gain(ours: Values, theirs: Values) -> float:
    """Mean of differences, over the data sets that both have."""
    both = [ours[name] - theirs[name] for name in ours if name in theirs]
    return float(np.mean(both)) if both else float("nan")


def times(ours: Values, theirs: Values) -> float:
    """Median of ratios, over the data sets that both have."""
    both = [ours[name] / theirs[name] for name in ours if name in theirs]
    return median(both) if both else float("nan")


def worse(ours: Values, theirs: Values, share: float) -> list[str]:
    """Name the data sets where a log loss is greater by more than this share, from 0.001 on."""
    bound = {name: (1 + share) * max(loss, NOTHING) for name, loss in theirs.items()}
    return sorted(name for name in ours if name in bound and ours[name] > bound[name])


def lowered(values: Values, by: float) -> Values:
    return {name: value - by for name, value in values.items()}


def at_most(name: str, value: float, aim: float) -> str:
    return _told(name, value, f"at most {aim:g}", value <= aim)


def at_least(name: str, value: float, aim: float) -> str:
    return _told(name, value, f"at least {aim:g}", value >= aim)


def _told(name: str, value: float, aim: str, reached: bool) -> str:
    verdict = "not measured" if np.isnan(value) else "reached" if reached else "missed"
    return f"{name}: {value:.3f} (aim: {aim}; {verdict})"
