"""Data sets with their splits, what is measured of probabilities, and trials of contenders."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

import naively
from benchmarks.accuracy import peers
from benchmarks.accuracy.peers import FIFTHS, HALVES, ONCE

# --- Labelled tables and texts from files, as they are, with the splits to measure on ------------


FEWEST = 8  # rows of a class
ENOUGH = 1_500  # rows, from which on one split by 80/20 is enough
LEAKS = {"titanic": ["alive"]}  # columns of tables that are the label under another name
PROTOCOL = "2"  # part of the key of what is kept: to be raised with any change to this file


@dataclass(frozen=True)
class Source:
    """Where a data set lies, before it is read."""

    name: str
    paths: Sequence[Path]  # one file; or of texts, the training and the test file
    label: str | None  # a column; None for the last one
    rows: int  # at most
    split: str = ONCE

    @property
    def size(self) -> int:
        """Bytes, for doing the long ones first."""
        return sum(path.stat().st_size for path in self.paths)

    @property
    def digest(self) -> str:
        """Name all that decides what is trained and tested on."""
        of = f"{PROTOCOL} {self.label} {self.rows} {self.split}{''.join(LEAKS.get(self.name, []))}"
        digest = hashlib.sha256(of.encode())
        for path in self.paths:
            digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Task:
    """Rows, their labels, and which of them to train and to test on."""

    name: str
    X: Any  # a frame as read from CSV, or a list of texts
    y: NDArray
    splits: Sequence[tuple[NDArray, NDArray]]
    rows_in_file: int
    notes: list[str] = field(default_factory=list)

    def take(self, rows: NDArray) -> Any:
        """Return some of the rows."""
        if isinstance(self.X, pd.DataFrame):
            return self.X.iloc[rows].reset_index(drop=True)
        return [self.X[row] for row in rows]


def tables(
    folder: Path, labels: Mapping[str, str], rows: int, splits: Sequence[str] = (HALVES,)
) -> list[Source]:
    """List the CSV files of a folder, each with each way of splitting it.

    The README of the folder or of its parent may name the label columns.
    """
    known = {**_readme(folder.parent), **_readme(folder), **labels}
    return [
        Source(path.stem, [path], known.get(path.stem), rows, split)
        for path in sorted(folder.glob("*.csv"))
        for split in splits
    ]


def _readme(folder: Path) -> dict[str, str]:
    """Read label columns from the Markdown table whose header says "file" and "label column"."""
    path = folder / "README.md"
    found: dict[str, str] = {}
    header: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if {"file", "label column"} <= set(cells):
            header = cells
        elif header and len(cells) == len(header):
            row = dict(zip(header, cells, strict=True))
            found[Path(row["file"]).stem] = row["label column"]
    return found


def read_table(source: Source) -> Task:
    """Read a CSV file as pandas does by default, with stratified splits."""
    table = pd.read_csv(source.paths[0])
    notes = []
    if source.label is None:
        notes.append(f"label: the last column, {table.columns[-1]!r}")
    label = source.label or table.columns[-1]
    if label not in table.columns:
        raise ValueError(f"{source.paths[0]} has no column {label!r}; name one with --label.")
    in_file = len(table)
    table = table[table[label].notna()]
    if len(table) < in_file:
        notes.append(f"{in_file - len(table)} rows without a label left out")
    y = _labels(table[label])
    keep = _common(y, notes)
    if len(keep) > source.rows:
        keep = keep[_sample(y[keep], source.rows)]
        keep = keep[_common(y[keep], notes, " of the sample")]
    leaks = table.columns.intersection(LEAKS.get(source.name, []))
    notes += [f"column {name!r} left out: it is the label" for name in leaks]
    X = table.drop(columns=[label, *leaks]).iloc[keep].reset_index(drop=True)
    y = y[keep]
    if len(np.unique(y)) < 2:
        raise ValueError(
            f"column {label!r} has fewer than two classes of {FEWEST} rows or more; name the "
            "column of labels with --label."
        )
    splits = _fifths(y) if source.split == FIFTHS else _halves(y)
    return Task(source.name, X, y, splits, in_file, notes)


def _halves(y: NDArray) -> list[tuple[NDArray, NDArray]]:
    """Return the splits of 2-fold cross-validation, repeated where rows are few."""
    repeats = 5 if len(y) <= 1_100 else 2 if len(y) <= 4_000 else 1
    return [
        split
        for seed in range(repeats)
        for split in StratifiedKFold(2, shuffle=True, random_state=seed).split(y, y)
    ]


def _fifths(y: NDArray) -> list[tuple[NDArray, NDArray]]:
    """Return splits into four fifths to train on and one to test on: three where rows are few."""
    every = np.arange(len(y))
    return [
        tuple(train_test_split(every, test_size=0.2, stratify=y, random_state=seed))
        for seed in range(1 if len(y) >= ENOUGH else 3)
    ]


def _labels(column: pd.Series) -> NDArray:
    """Return booleans and whole numbers as such, all else (strings, fractions) as strings."""
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        return values.astype(int)  # they were read as fractions because some were missing
    return values if values.dtype.kind in "biu" else values.astype(str)


def _common(y: NDArray, notes: list[str], of: str = "") -> NDArray:
    """Return the rows of classes that are not too rare to be tested."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    rare = counts < FEWEST
    if rare.any():
        names = ", ".join(
            f"{name} ({n})" for name, n in zip(classes[rare], counts[rare], strict=True)
        )
        notes.append(f"classes of fewer than {FEWEST} rows{of} left out: {names}")
    return np.flatnonzero(~rare[codes])


def _sample(y: NDArray, size: int) -> NDArray:
    """Return a stratified sample of rows, in their order."""
    some, _ = train_test_split(np.arange(len(y)), train_size=size, stratify=y, random_state=0)
    return np.sort(some)


def texts(folder: Path, rows: int) -> list[Source]:
    """List the sets of texts in JSON lines of a folder; NAME_train and NAME_test are one."""
    files = {re.sub(r"\.jsonl(\.gz)?$", "", path.name): path for path in folder.glob("*.jsonl*")}
    sources = []
    for name, path in sorted(files.items()):
        base = name.removesuffix("_train")
        if base != name and f"{base}_test" in files:
            sources.append(Source(base, [path, files[f"{base}_test"]], "label", rows))
        elif name.removesuffix("_test") + "_train" not in files:
            sources.append(Source(name, [path], "label", rows))
    return sources


def read_texts(source: Source) -> Task:
    """Read documents: subject and body, where they are told apart, or else all text.

    Training and test documents are as given, or stratified halves; at most ``rows`` to train on.
    """
    parts = [_documents(path) for path in source.paths]
    X = [text for texts, _ in parts for text in texts]
    y = np.array([label for _, labels in parts for label in labels])
    notes: list[str] = []
    if len(parts) == 2:
        train = np.arange(len(parts[0][0]))
        test = np.arange(len(train), len(X))
        notes.append("training and test documents as given")
    else:
        keep = _common(y, notes)
        train, test = train_test_split(keep, train_size=0.5, stratify=y[keep], random_state=0)
    if len(train) > source.rows:
        train = train[_sample(y[train], source.rows)]
    return Task(source.name, X, y, [(train, test)], len(X), notes)


def _documents(path: Path) -> tuple[list[str], list[str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    texts, labels = [], []
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            if "label" not in record or not {"text", "body"} & set(record):
                raise ValueError(f"{path}, line {number}: no label, or neither text nor body.")
            body = record["body"] if "body" in record else record["text"]
            texts.append("\n".join(part for part in (record.get("subject"), body) if part))
            labels.append(str(record["label"]))
    return texts, labels


# --- What is measured of predicted probabilities: accuracy, log loss, calibration error, AUC -----


CLIP = 1e-15
BINS = 15
DRAWS = 20


def measure(P: NDArray, y: NDArray) -> dict[str, float]:
    """Return all measures of probabilities (rows x classes) for the codes of true labels."""
    return {
        "accuracy": float((P.argmax(axis=1) == y).mean()),
        "log_loss": log_loss(P, y),
        "ece": ece(P, y),
        "floor": ece_floor(P),
        "auc": auc(P, y),
    }


def log_loss(P: NDArray, y: NDArray) -> float:
    """Mean of -log p(true class), with p at least 1e-15."""
    return float(-np.log(np.clip(P[np.arange(len(y)), y], CLIP, 1)).mean())


def ece(P: NDArray, y: NDArray) -> float:
    """Return the expected calibration error of the most probable class, in 15 bins of equal width.

    Guo et al. (2017), "On calibration of modern neural networks".
    """
    return _ece(P.max(axis=1), P.argmax(axis=1) == y)


def ece_floor(P: NDArray, draws: int = DRAWS) -> float:
    """Return the calibration error to expect from chance alone.

    Whether the most probable class is right is drawn with the model's own probability, so the
    model is calibrated by construction; what is left, on average, is noise of few rows.
    """
    rng = np.random.default_rng(0)
    top = P.max(axis=1)
    return float(np.mean([_ece(top, rng.random(len(top)) < top) for _ in range(draws)]))


def _ece(top: NDArray, right: NDArray) -> float:
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, weights=right - top, minlength=BINS)
    return float(np.abs(gap).sum() / len(top))


def auc(P: NDArray, y: NDArray) -> float:
    """Area under the ROC curve: each class against the rest, weighted by its rows."""
    rows = np.bincount(y, minlength=P.shape[1])
    with_both = [c for c in np.flatnonzero(rows) if rows[c] < len(y)]
    if not with_both:
        return float("nan")
    areas = [roc_auc_score(y == c, P[:, c]) for c in with_both]
    return float(np.average(areas, weights=rows[with_both]))


# --- Trial ---------------------------------------------------------------------------------------
#
# Try contenders on a data set, keeping what peers reached: only ours change between two runs.


@dataclass(frozen=True)
class Trial:
    """What a contender reached on a data set: the means over its splits, or why it did not."""

    task: str
    contender: str
    means: dict[str, float] = field(default_factory=dict)
    skipped: str = ""  # it cannot be made here
    failed: str = ""  # it was made, and raised or gave no probabilities


@dataclass(frozen=True)
class Trials:
    """All contenders on a data set."""

    name: str
    split: str
    about: str
    rows: int
    trials: Sequence[Trial]


def run(source: Source, text: bool, kept: Path | None, fresh: bool, skip: Sequence[str]) -> Trials:
    """Try all contenders on a data set, on one thread."""
    naively.set_threads(1)
    contenders = peers.ON_TEXT if text else peers.ON_TABLES
    try:
        task = read_texts(source) if text else read_table(source)
    except ValueError as error:
        return Trials(source.name, source.split, f"not measured: {error}", 0, [])
    trials = []
    with threadpool_limits(1):
        for contender in contenders:
            if contender.name in skip:
                continue
            if reason := _unfit(contender, source, task):
                trials.append(Trial(task.name, contender.name, skipped=reason))
                continue
            file = kept_in(kept, source, contender)
            if file and file.exists() and not fresh:
                trials.append(Trial(**json.loads(file.read_text())))
                continue
            trials.append(attempt(task, contender))
            if file:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(asdict(trials[-1])))
    return Trials(task.name, source.split, _about(task), task.rows_in_file, trials)


def _unfit(contender: peers.Contender, source: Source, task: Task) -> str:
    """Say why a contender cannot be tried on a data set, or ""."""
    if contender.missing:
        return f"{contender.missing} is not installed"
    if contender.split not in (None, source.split):
        return f"measured by {contender.split} only"
    if contender.classes is not None and len(np.unique(task.y)) > contender.classes:
        return f"measured on data sets of {contender.classes} classes only"
    return ""


def kept_in(kept: Path | None, source: Source, contender: peers.Contender) -> Path | None:
    """Name where the result of a peer is kept: by data, peer, and versions of its packages."""
    if kept is None or not contender.packages:
        return None
    key = json.dumps([source.digest, contender.name, contender.versions])
    return kept / f"{source.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _about(task: Task) -> str:
    train, test = task.splits[0]
    used = len(np.union1d(train, test))
    columns = "texts" if isinstance(task.X, list) else f"{task.X.shape[1]} columns"
    parts = [
        f"{used:,} of {task.rows_in_file:,} rows" if used < task.rows_in_file else f"{used:,} rows"
    ]
    parts += [columns, f"{len(np.unique(task.y[train]))} classes"]
    parts += [f"{len(task.splits)} x {len(train):,} to train on", *task.notes]
    return "; ".join(parts)


def attempt(task: Task, contender: peers.Contender) -> Trial:
    """Train and test on each split."""
    found = []
    for train, test in task.splits:
        X, X_test = task.take(train), task.take(test)
        try:
            estimator = contender.make(X)
        except TypeError as error:
            return Trial(task.name, contender.name, skipped=str(error))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # bins of equal edges, unseen categories, ...
                found.append(
                    _measures(contender, estimator, X, task.y[train], X_test, task.y[test])
                )
        except Exception as error:  # noqa: BLE001 whatever a contender raises is its result
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return Trial(task.name, contender.name, failed=reason)
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return Trial(task.name, contender.name, means)


def _measures(
    contender: peers.Contender, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any
) -> dict[str, float]:
    begin = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    if contender.probabilities:
        P = np.asarray(estimator.predict_proba(X_test), float)
    else:
        found = {"accuracy": float(np.mean(estimator.predict(X_test) == y_test))}
    predicted = time.perf_counter()
    if contender.probabilities:
        found = measure(*_aligned(P, estimator.classes_, y_test))
    if contender.assesses:
        found["assessed"] = estimator.assess().log_loss
    return {**found, "fit": fitted - begin, "predict": predicted - fitted}


def _aligned(P: Any, classes: Any, labels: Any) -> tuple[Any, Any]:
    """Return probabilities that are some, and labels as numbers of their columns."""
    if not (np.isfinite(P).all() and (P >= 0).all() and np.allclose(P.sum(axis=1), 1, atol=1e-6)):
        raise ValueError("what predict_proba returned are no probabilities")
    column = {str(label): at for at, label in enumerate(classes)}
    return P, np.array([column[str(label)] for label in labels])
