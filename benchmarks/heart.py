"""What every kind of model answers, to be the same after a change of the inner structure.

``python -m benchmarks.heart FILE`` writes the answers, or compares with those of a file that is
there: ``git worktree add`` an earlier commit, write there, compare here. The models are those of
``tests/cases.py`` on drawn rows, and of the default, pure naive Bayes and interactions on all
tables and texts of ``NAIVELY_DATA``. It goes when the change is over. What became slower says
``make bench-compare BASE=commit``.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.cases import CASES
from tests.laws import Sample, samples

from naively import NaiveBayes

TARGETS = {"approval_polls": "grade", "nycflights_sample": "carrier", "taxis": "payment"}
KINDS: dict[str, dict[str, Any]] = {
    "default": {}, "pure": {"weights": None}, "interactions": {"interactions": "auto"},
}  # fmt: skip
ROWS, SOME = {"default": 3000, "pure": 3000, "interactions": 1000}, 200
TOLERANCE = 1e-12

Answers = dict[str, np.ndarray]


def drawn() -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the name, options, rows and labels of models of each event model."""
    for number, case in enumerate(CASES):
        found: list[Sample] = []

        @seed(0)
        @settings(
            max_examples=25,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(samples(case, least=6))
        def draw(sample: Sample) -> None:
            found.append(sample)  # noqa: B023  (called at once)

        draw()
        for i, sample in enumerate(found):
            X: Any = sample.columns
            if case.text:
                X = [text or "" for text in next(iter(X.values())).tolist()]
            presence = "ignore" if case.settings is None else case.settings.presence
            for weights in (None, "temperature", "loo"):
                options = {"event_models": case.event, "weights": weights, "presence": presence}
                yield f"{number} {case} {i} {weights}", options, X, sample.y


def tables(folder: Path) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield the name, columns and labels of each table and each set of texts, in random order."""
    rng = np.random.default_rng(0)
    for path in sorted((folder / "tables").glob("*.csv")):
        with path.open(newline="") as file:
            names, *rows = csv.reader(file)
        target = TARGETS.get(path.stem, next((n for n in TARGET_NAMES if n in names), names[-1]))
        order = rng.permutation(len(rows))[: max(ROWS.values()) + SOME]
        columns = {name: [rows[i][j] for i in order] for j, name in enumerate(names)}
        yield path.stem, columns, columns.pop(target)
    for path in sorted((folder / "text").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        some = [records[i] for i in rng.permutation(len(records))[: 800 + SOME]]
        yield path.stem.split(".")[0], [r["text"] for r in some], [str(r["label"]) for r in some]


TARGET_NAMES = ("target", "class", "Class", "survived", "income")


def answers() -> Iterator[tuple[str, np.ndarray]]:
    """Yield the joint log probabilities and posteriors of each model, by its name."""
    for name, options, X, y in drawn():
        try:
            nb = NaiveBayes(**options).fit(X, y)
            yield name, np.hstack([nb.predict_joint_log_proba(X), nb.predict_proba(X)])
        except ValueError as error:
            yield name, np.array(str(error))
    for name, X, y in tables(Path(os.environ["NAIVELY_DATA"])):
        for kind, options in KINDS.items():
            n = min(ROWS[kind], len(y) - SOME)
            if n < 50:
                n = len(y) // 2
            later = slice(n, n + SOME)
            if isinstance(X, dict):
                learned = {of: cells[:n] for of, cells in X.items()}
                asked: Any = {of: cells[later] for of, cells in X.items()}
            else:
                learned, asked = X[:n], X[later]
            nb = NaiveBayes(**options).fit(learned, y[:n])
            yield f"{name} {kind}", nb.predict_joint_log_proba(asked)
            few = asked[:3] if isinstance(X, list) else {of: c[:3] for of, c in asked.items()}
            lines = nb.explain(few).to_dict()
            yield f"{name} {kind} lines", np.array([str(of) for of in lines["column"]])
            yield f"{name} {kind} weights", np.array(lines["weight"], float)
            print(name, kind, file=sys.stderr, flush=True)


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Return how far two answers are apart, relative to their size; 0 where both are the same."""
    if a.dtype.kind == "U" or a.shape != b.shape:
        return 0.0 if a.shape == b.shape and (a == b).all() else np.inf
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    scale = max(1.0, float(np.abs(a[finite]).max(initial=0)))
    return float(np.abs(a[finite] - b[finite]).max(initial=0)) / scale


def main(path: str) -> None:
    warnings.simplefilter("ignore")
    if not Path(path).exists():
        np.savez_compressed(path, **dict(answers()))
        return
    with np.load(path) as before:
        known, worst, other = set(before.files), 0.0, 0
        for name, now in answers():
            known.discard(name)
            apart = difference(before[name], now) if name in before else np.inf
            worst = max(worst, apart)
            if apart > TOLERANCE:
                other += 1
                print(f"{name}: {apart:.2g}")
    print(f"{len(known)} answers are missing; {other} differ; at most {worst:.2g} apart")
    sys.exit(bool(known or other))


if __name__ == "__main__":
    main(sys.argv[1])
