"""Merging models of many words, beside reading them from disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.timing import compare
from naively import NaiveBayes, load

WORDS = 300_000  # in all; each model has about 100,000 of them
ROWS, LENGTH = 1_800, 170


def measure(folder: Path, models: int, rounds: int) -> None:
    """Read the files of so many models, and merge the models at once."""
    paths = _write(folder, models)
    learned = [load(path) for path in paths]
    words = np.mean([len(block.axis) for nb in learned for block in nb.tally_.blocks.values()])
    compare(
        f"{models} models of {words:,.0f} words: read, merge",
        lambda: [load(path) for path in paths],
        lambda: load(paths[0]).merge(*learned[1:]),
        rounds,
    )


def _write(folder: Path, models: int) -> list[Path]:
    """Write models of texts, whose words are as frequent as words are."""
    words = np.array([np.base_repr(i * 7919 + 10**7, 36).lower() for i in range(WORDS)])
    p = 1 / (np.arange(WORDS) + 200.0)
    p /= p.sum()
    paths = []
    for i in range(models):
        rng = np.random.default_rng(i)
        texts = [" ".join(words[row]) for row in rng.choice(WORDS, (ROWS, LENGTH), p=p)]
        y = rng.choice(["ham", "spam"], ROWS)
        paths.append(folder / f"{i}.naively")
        NaiveBayes(text="words", weights=None).fit(texts, y).save(paths[-1])
    return paths
