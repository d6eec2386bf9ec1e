"""A setting that is chosen by itself: the one under which the other rows predict each row best.

Pseudo-counts, pretend rows, the widths of bins and bandwidths are chosen so, by the leave-one-out
likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import AnySums, SparseSums

SURE = 0.25  # nats that a choice costs if its logarithm is 1 away from where it is shrunk to


@dataclass(frozen=True)
class Between:
    """A choice among all numbers between two positive ones."""

    low: float
    high: float

    def least(self, loss: Callable[[float], Floats | float]) -> Floats:
        """Return the number of least loss, to one part in a million."""
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda log_choice: float(loss(np.exp(log_choice))),
            bounds=(np.log(self.low), np.log(self.high)),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return np.asarray(np.exp(found.x))


PSEUDO_COUNTS = Between(1e-3, 1e3)  # "auto" chooses among these


def choose(
    choices: Sequence[float] | Between,
    loss: Callable[[float], Floats | float],
    towards: float | None = None,
) -> Floats:
    """Return the choice of least leave-one-out loss: one, or (columns,) if each has its loss.

    Parameters
    ----------
    choices : sequence of float, or Between
        All of a sequence are tried, and the first of equally good ones is chosen. With ``Between``
        there is one choice for all columns.
    loss : callable
        Returns the loss of a choice in nats, a number or an array of shape (columns,).
    towards : float, optional
        What the choice is shrunk towards, because few rows determine it poorly.
    """

    def shrunk(choice: float) -> Floats | float:
        return loss(choice) + (SURE * np.log(choice / towards) ** 2 if towards else 0.0)

    if isinstance(choices, Between):
        return choices.least(shrunk)
    of_choices = np.stack([np.asarray(shrunk(choice)) for choice in choices])
    best: Floats = np.asarray(choices)[of_choices.argmin(axis=0)]
    return best


def pseudo_count_of_words(count: AnySums) -> float:
    """Return the pseudo-count under which the other words predict each single word best.

    Parameters
    ----------
    count : sums of shape (words, classes)
        How often each word came.

    Notes
    -----
    The leave-one-out likelihood of Minka, Estimating a Dirichlet distribution (2000), section 2.3,
    which needs only how many words came how often; it is weakly shrunk towards 1. Where no word
    came again it would be infinite, and each posterior the class prior, only because nothing is
    known yet. So more than Laplace's 1 takes words that came again: 1 more for each time.
    """
    total, words = count.by_class(), count.shape[0]
    stored = count.stored.high if isinstance(count, SparseSums) else count.high
    seen, often = np.unique(stored[stored > 0], return_counts=True)
    tokens = seen * often

    def loss(alpha: float) -> float:
        of_total = np.maximum(total - 1.0, 0.0) + alpha * words
        return float(total @ np.log(of_total) - tokens @ np.log(np.maximum(seen - 1, 0) + alpha))

    again = float(often @ np.maximum(seen - 1, 0))
    among = Between(PSEUDO_COUNTS.low, min(1.0 + again, PSEUDO_COUNTS.high))
    return float(choose(among, loss, towards=1.0)) if len(seen) else 1.0


def pseudo_count_of_coins(
    true: Floats, trials: Floats, times: NDArray[np.int64] | None = None
) -> float:
    """Return the pseudo-count of true and false under which the other rows predict each best.

    Parameters
    ----------
    true, trials : ndarray of shape (columns, classes)
        How many cells are true, and how many there are.
    times : ndarray of the same shape, optional
        How many equal columns each stands for; by default one.
    """
    both = np.stack([np.stack([true, trials - true]).ravel(), np.stack([trials, trials]).ravel()])
    there = both[0] > 0
    pair = both[0, there] + 1j * both[1, there]  # as complex numbers they are sorted fast
    if times is None:
        found, often = np.unique(pair, return_counts=True)
    else:
        found, place = np.unique(pair, return_inverse=True)
        often = np.bincount(place, np.tile(times, 2)[there], len(found))
    number, of = found.real, found.imag

    def loss(alpha: float) -> float:
        rest = np.maximum(number - 1.0, 0.0) + alpha
        share = rest / (np.maximum(of - 1.0, 0.0) + 2 * alpha)
        return -float((often * number) @ np.log(share))

    return float(choose(PSEUDO_COUNTS, loss, towards=1.0)) if len(number) else 1.0
