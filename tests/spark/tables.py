"""Tables that are learned on one machine and on Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

WORDS = [f"w{i}" for i in range(20)]


def mixed(n: int = 400, seed: int = 0) -> pa.Table:
    """Return numbers, strings, booleans, times, sets and missing cells, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["high", "low", "mid"], n, p=[0.5, 0.3, 0.2])
    high = y == "high"
    hours = rng.integers(0, 24 * 90, n)
    moments = np.datetime64("2026-01-01", "us") + hours * np.timedelta64(1, "h")
    return pa.table(
        {
            "size.in cm": np.where(rng.random(n) < 0.1, np.nan, rng.normal(2.0 * high, 1)),
            "count": pa.array(rng.poisson(3 + high), pa.int32()),
            "flag": pa.array(rng.random(n) < 0.3 + 0.4 * high, mask=rng.random(n) < 0.1),
            "zero_one": pa.array((rng.random(n) < 0.5).astype(np.int64)),
            "colour": pa.array(
                np.where(high, "red", rng.choice(["green", "blue"], n)), mask=rng.random(n) < 0.1
            ),
            "when": moments,
            "written": pa.array(moments.astype(str), mask=rng.random(n) < 0.1),
            "price": pa.array(np.round(rng.gamma(2, 3, n), 2)).cast(pa.decimal128(12, 2)),
            "nothing": pa.nulls(n, pa.string()),
            "w": rng.integers(0, 4, n) / 2,
            "y": y,
        }
    )


def texts(n: int = 300, seed: int = 0) -> pa.Table:
    """Return a table of mail: two columns of texts, and who it is from."""
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.4

    def text(words: int, bad: bool) -> str:
        p = np.where(np.arange(len(WORDS)) > 9, 3.0 if bad else 1.0, 2.0)
        drawn = rng.choice(WORDS, words, p=p / p.sum())
        return " ".join([*drawn, f"no{rng.integers(10**6)}"])

    return pa.table(
        {
            "subject": [text(4, bad) for bad in spam],
            "body": [None if rng.random() < 0.05 else text(30, bad) for bad in spam],
            "from": rng.choice(["ann", "bob", "eve"], n),
            "y": np.where(spam, "spam", "ham"),
        }
    )
