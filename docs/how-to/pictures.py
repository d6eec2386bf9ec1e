"""The pictures of the how-to pages, drawn while the documentation is built."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from naively import NaiveBayes
from naively.wings.pictures.axes import STYLE

plt.rcParams.update(STYLE)

Axes = Any


def drift() -> Axes:
    """Draw what has moved of visits of a shop: where they come from, and nothing else."""
    rng = np.random.default_rng(0)
    n = 2400
    t = np.arange(n) / n
    visits = {
        "price": rng.normal(10, 2, n).round(2),
        "from": np.where(rng.random(n) < 0.6 - 0.5 * t, "newsletter", "search"),
        "pages": rng.poisson(4, n),
    }
    pull = np.cos(np.pi * t) * (visits["price"] - 10) + 0.5 * (visits["pages"] - 4)
    bought = np.where(rng.random(n) < 1 / (1 + np.exp(-pull)), "yes", "no")
    early, late = ({name: of[half] for name, of in visits.items()} for half in (t < 0.5, t >= 0.5))
    nb = NaiveBayes().fit(early, bought[t < 0.5])
    return nb.inspect.drift(late, bought[t >= 0.5]).plot()
