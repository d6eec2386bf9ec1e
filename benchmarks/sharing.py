"""What sharing a model costs: ``python -m benchmarks.sharing merged`` (or ``noise``)."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from naively import NaiveBayes, Text, load

# --- Three parties of adult, merged, beside one: ``python -m benchmarks.sharing merged`` -------
#
# Each party counts 10,000 rows, and all other rows are scored. Merged are models that have their
# samples of rows in memory, as after reading files of `naively train --keep-rows`, and without.
# The differences are those of the probabilities from the pooled model's.


PARTIES = 3
ROWS = 10_000  # of each


def federated() -> None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no table to measure on")
    table = pd.read_csv(Path(folder, "tables", "adult.csv"))
    table = table.iloc[np.random.default_rng(0).permutation(len(table))]
    own, rest = table[: PARTIES * ROWS], table[PARTIES * ROWS :]
    pooled = NaiveBayes().fit(own, "income")
    expected = _differences("pooled", pooled, rest, None)
    models = [NaiveBayes().fit(own[i::PARTIES], "income") for i in range(PARTIES)]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "model.naively")
        for sample in (True, False):
            parties = []
            for model in models:
                model.save(path, keep_rows=sample)
                parties.append(load(path))
            merged = parties[0]
            for party in parties[1:]:
                merged.merge(party)
            _differences(
                f"merged, {'with' if sample else 'without'} samples", merged, rest, expected
            )
    _differences("one party alone", models[0], rest, expected)


def _differences(
    name: str, nb: NaiveBayes, rows: pd.DataFrame, expected: np.ndarray | None
) -> np.ndarray:
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


# --- Noise ---------------------------------------------------------------------------------------
#
# Accuracy and log loss by epsilon, on adult and on SMS: ``python -m benchmarks.sharing noise``.
#
# Four fifths of the rows are counted. CALIBRATION of the others are the receiver's, and the rest
# is scored. Each line is the mean over ROUNDS draws of the noise (from the seeds 0, 1, ...), at
# DELTA. "as received" is the noisy model without weights, "calibrated" the same with weights that
# were fitted to the receiver's rows. The first line of each table is the same model without noise.
# Texts are learned as the first WORDS different words of each.


EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
ROUNDS = 5
CALIBRATION = 500
WORDS = 20


def noise() -> None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        sys.exit("NAIVELY_DATA is not set: no table and no texts to measure on")
    table = pd.read_csv(Path(folder, "tables", "adult.csv"))
    print(f"delta {DELTA:g}, means of {ROUNDS} draws\n")
    _write("adult", NaiveBayes(weights=None), table.drop(columns="income"), table["income"])
    with gzip.open(Path(folder, "text", "sms_spam.jsonl.gz"), "rt", encoding="utf-8") as lines:
        sms = pd.DataFrame(map(json.loads, lines))
    text = Text(binary=True, max_tokens=WORDS)
    _write("SMS", NaiveBayes({"text": text}, weights=None), sms[["text"]], sms["label"])


def _write(name: str, nb: NaiveBayes, X: pd.DataFrame, y: pd.Series[str]) -> None:
    """Write the table of one data set, in Markdown."""
    order = np.random.default_rng(0).permutation(len(X))
    own, rest = np.split(order, [len(X) * 4 // 5])
    received, test = rest[:CALIBRATION], rest[CALIBRATION:]
    nb.fit(X.iloc[own], y.iloc[own])
    most = y.iloc[test].value_counts(normalize=True).max()
    print(f"{name}: {len(own):,} rows, {most:.3f} of the others are of the most frequent class\n")
    print("| epsilon | noise | kept from | as received | log loss | calibrated | log loss |")
    print("|---|---|---|---|---|---|---|")
    known, held_out = (X.iloc[received], y.iloc[received]), (X.iloc[test], y.iloc[test])
    plain = _scores(nb, *held_out)
    fitted = NaiveBayes(nb.event_models, weights=None).fit(X.iloc[own], y.iloc[own])
    _line("none", "0", "1", [*plain, *_scores(fitted.calibrate(*known), *held_out)])
    for epsilon in EPSILONS:
        found = []
        for seed in range(ROUNDS):
            noisy = nb.export.with_noise(epsilon, DELTA, random_state=seed)
            (noise,) = noisy.noise_
            found.append([*_scores(noisy, *held_out), *_scores(noisy.calibrate(*known), *held_out)])
        means: list[float] = np.mean(found, axis=0).tolist()
        _line(f"{epsilon:g}", f"{noise.deviation:.3g}", str(noise.threshold), means)
    print()


def _scores(nb: NaiveBayes, X: pd.DataFrame, y: pd.Series[str]) -> tuple[float, float]:
    """Return accuracy and log loss."""
    p: NDArray[np.float64] = nb.predict_proba(X)
    right = np.searchsorted(nb.classes_, y.to_numpy(object).astype(str))
    loss = -np.log(np.maximum(p[np.arange(len(p)), right], 1e-15)).mean()
    return float((p.argmax(axis=1) == right).mean()), float(loss)


def _line(*of: Any) -> None:
    *names, numbers = of
    shown: Sequence[str] = [*names, *(f"{number:.3f}" for number in numbers)]
    print(f"| {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    noise() if sys.argv[1:] == ["noise"] else federated()
