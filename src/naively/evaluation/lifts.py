"""The evidence of a pair of columns on rows, by its counts, of which each row may be left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.counting.leave_one_out import different, one_of_each
from naively.events.lift import log_lift, log_lift_without
from naively.kernels.reference import Floats


@dataclass(frozen=True, eq=False)
class Once:
    """What is left out of the counts for each row: of a row of weight 2, which is two rows, one.

    Parameters
    ----------
    right : ndarray of shape (rows,)
        The class of each row.
    different : ndarray of float64
        The different weights that are left out.
    number : ndarray of shape (rows,)
        Which of them is that of each row.
    """

    right: NDArray[np.integer]
    different: Floats
    number: NDArray[np.int64]

    @classmethod
    def of(cls, labels: Labels, times: NDArray[np.int64]) -> Once:
        """Return it for rows that stand for so many equal ones, ``times``, of shape (rows,)."""
        once, number = np.unique(one_of_each(labels, times).weights, return_inverse=True)
        return cls(labels.codes, once, number.astype(np.int64))

    def take(self, rows: NDArray[np.int64]) -> Once:
        """Return some of the rows, by their numbers."""
        return Once(self.right[rows], self.different, self.number[rows])


def evidence_by(
    count: Floats, code: NDArray[np.int64], once: Once | None, m: float
) -> NDArray[np.float32]:
    """Return the evidence of a pair, centred over the classes: (classes, rows).

    Parameters
    ----------
    count : ndarray of shape (bins, other bins, classes)
        How often the bins come together.
    code : ndarray of shape (rows,)
        The pair of bins of each row.
    once : Once or None
        What is left out of each row; None if the rows are not counted.
    m : float
        Pretend rows of each pair of bins.
    """
    k = count.shape[2]
    if once is None:
        lift = log_lift(count, m).reshape(-1, k)
    else:
        kinds = len(once.different)
        key = (code * k + once.right) * kinds + once.number
        there, code = different(key, count.size * kinds)
        cell, kind = np.divmod(there, kinds)
        cell, right = np.divmod(cell, k)
        lift = log_lift_without(count, cell, right, once.different[kind], m)
    lift -= lift.mean(axis=1, keepdims=True)
    return lift.T.astype(np.float32).take(code, axis=1)
