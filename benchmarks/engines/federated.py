"""Three parties of adult, merged, beside one: ``python -m benchmarks.engines.federated``.

Each party counts 10,000 rows, and all other rows are scored. Merged are models that have their
samples of rows in memory, as after reading files of `naively train --keep-rows`, and without.
The differences are those of the probabilities from the pooled model's.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from naively import NaiveBayes, load

PARTIES = 3
ROWS = 10_000  # of each


def main() -> None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no table to measure on")
    table = pd.read_csv(Path(folder, "tables", "adult.csv"))
    table = table.iloc[np.random.default_rng(0).permutation(len(table))]
    own, rest = table[: PARTIES * ROWS], table[PARTIES * ROWS :]
    pooled = NaiveBayes().fit(own, "income")
    expected = _line("pooled", pooled, rest, None)
    models = [NaiveBayes().fit(own[i::PARTIES], "income") for i in range(PARTIES)]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "model.naively")
        for sample in (True, False):
            parties = []
            for model in models:
                model.save(path, sample=sample)
                parties.append(load(path))
            merged = parties[0]
            for party in parties[1:]:
                merged.merge(party)
            _line(f"merged, {'with' if sample else 'without'} samples", merged, rest, expected)
    _line("one party alone", models[0], rest, expected)


def _line(name: str, nb: NaiveBayes, rows: pd.DataFrame, expected: np.ndarray | None) -> np.ndarray:
    """Write how good a model is, and how far from the pooled one; return its probabilities."""
    p: np.ndarray = nb.predict_proba(rows.drop(columns="income"))
    right = np.searchsorted(nb.classes_, rows["income"].to_numpy(object).astype(str))
    loss = -np.log(p[np.arange(len(p)), right]).mean()
    said = f"accuracy {(p.argmax(axis=1) == right).mean():.4f}, log loss {loss:.4f}"
    if expected is not None:
        far = np.abs(p - expected)
        other = (p.argmax(axis=1) != expected.argmax(axis=1)).mean()
        said += f"; differs by {far.mean():.3g} (at most {far.max():.3g}), {other:.2%} of labels"
    print(f"{name}: {said}")
    return p


if __name__ == "__main__":
    main()
