"""The rows that a report shows: most sure, least sure, and most wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

EACH = 3  # rows of each kind


@dataclass(frozen=True)
class Chosen:
    """A row that is shown, and why.

    Parameters
    ----------
    why : {"most sure", "least sure", "most wrong"}
        Of the rows that are right, one of the highest posterior; of all rows, one whose highest
        posterior is lowest; of the rows that are wrong, one whose right class has the lowest
        posterior.
    row : int
        Its place among the rows.
    """

    why: str
    row: int


def choose(p: Floats, right: NDArray[np.integer] | None = None, each: int = EACH) -> list[Chosen]:
    """Return rows to show, each once.

    Parameters
    ----------
    p : ndarray of shape (rows, classes)
        The posteriors.
    right : ndarray of shape (rows,), optional
        The number of each row's right class; negative where it is none of these.
    each : int
        How many rows of each kind, at most.
    """
    rows = np.arange(len(p))
    answer, confidence = p.argmax(axis=1), p.max(axis=1)
    hit = np.ones(len(p), np.bool_) if right is None else answer == right
    of_right = np.zeros(len(p))
    if right is not None:
        there = right >= 0
        of_right[there] = p[rows[there], right[there]]
    kinds = (
        ("most sure", rows[hit], -confidence),
        ("least sure", rows, confidence),
        ("most wrong", rows[~hit], of_right),
    )
    taken: set[int] = set()
    found = []
    for why, among, key in kinds:
        ordered = among[np.argsort(key[among], kind="stable")]
        some = [row for row in ordered.tolist() if row not in taken][:each]
        taken.update(some)
        found += [Chosen(why, row) for row in some]
    return found
