"""A table that reports are written about, and data that a page must not obey."""

from __future__ import annotations

import numpy as np
import pandas as pd

from naively import NaiveBayes

HOSTILE = [
    "<script>window.pwned = 1</script>", "<img src=x onerror='window.pwned = 1'>",
    "</script><script>window.pwned = 1</script>", "javascript:window.pwned=1", "\x1b[31mred\x1b[0m",
    "\u202egnirts a\u202c", "مرحبا", "${title} $x$ {{7*7}} &amp;",
]  # fmt: skip


def table(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    a, b = rng.integers(2, size=(2, n))
    found = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0).round(2),
            "colour": rng.choice(["red", "green", "blue"], n),
            "both": np.where(a == b, "same", "other"),
            "a": np.where(a, "yes", "no"),
            "b": np.where((a ^ (y == 1)) > 0, "up", "down"),
            "wet": rng.random(n) < 0.2 + 0.3 * y,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 60, n), "D"),
            "y": np.array(["ham", "spam", "unsure"])[y],
        }
    )
    found.loc[::7, "size"] = np.nan
    return found


def with_holes(found: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Take cells out of all columns but the label, more of them where it is "ham"."""
    rng = np.random.default_rng(seed)
    found = found.astype({"wet": object})
    often = np.where(found["y"] == "ham", 0.3, 0.1)
    for name in found.columns.drop("y"):
        found.loc[rng.random(len(found)) < often, name] = np.nan if name == "size" else None
    return found


def with_interactions() -> NaiveBayes:
    """A model in which several columns have a say together."""
    nb = NaiveBayes(interactions="auto").fit(table(), "y")
    assert nb.weights_ is not None
    assert nb.weights_.linear.is_of_several
    return nb
