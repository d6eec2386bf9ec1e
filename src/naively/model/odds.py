"""The weight of evidence of an item: how much it changes the log odds of a class.

Good, Probability and the weighing of evidence (1950). This is the only place where a class is
compared with several others at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from naively.kernels.reference import Floats


@dataclass(frozen=True, eq=False)
class Odds:
    """The odds of a class against some others, which are taken as one class.

    Parameters
    ----------
    start : ndarray of shape (classes,)
        What the scores of the classes begin with: their log priors, and a bias if one was fitted.
    c : int
        The class that is spoken for.
    rivals : sequence of int, optional
        The classes that it is compared with; by default all others.

    Notes
    -----
    The weight of evidence of an item is log p(item | c) - log p(item | rivals), where
    p(item | rivals) is the mean of p(item | r), weighted by the share that r has of the rivals at
    the start. So the log odds with the item alone are ``prior`` and its weight. Rivals that have
    no share at all count alike. What is impossible in the class and in its rivals weighs 0.

    Examples
    --------
    >>> odds = Odds(np.log([0.5, 0.25, 0.25]), 0)
    >>> odds.weight(np.log([[0.4, 0.1, 0.3]])).round(4)  # log 2: .4 against the mean of .1 and .3
    array([0.6931])
    """

    start: Floats
    c: int
    rivals: Sequence[int] | None = None

    @property
    def others(self) -> list[int]:
        """The classes that it is compared with."""
        every = range(len(self.start)) if self.rivals is None else self.rivals
        return [r for r in every if r != self.c]

    @property
    def prior(self) -> float:
        """The log odds before anything is seen."""
        return float(self.start[self.c] - np.logaddexp.reduce(self.start[self.others]))

    def weight(self, log_p: Floats) -> Floats:
        """Return the weight of evidence of items, (items,), from (items, classes), in nats."""
        others = np.array(self.others, np.int64)
        if not len(others):
            return np.zeros(len(log_p))
        of = self.start[others]
        share = np.exp(of - of.max()) if np.isfinite(of.max()) else np.ones(len(of))
        others, share = others[share > 0], share[share > 0] / share.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = log_p[:, others]
            most = rest.max(axis=1)
            most = np.where(np.isfinite(most), most, 0.0)
            log_rest = np.log(np.exp(rest - most[:, None]) @ share) + most
            weight: Floats = log_p[:, self.c] - log_rest
        return np.nan_to_num(weight, nan=0.0, posinf=np.inf, neginf=-np.inf)
