"""Labelled tables and texts from files, as they are, with the splits to measure on."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

FEWEST = 8  # rows of a class
ENOUGH = 1_500  # rows, from which on one split by 80/20 is enough
HALVES, FIFTHS, ONCE = "2-fold", "80/20", "once"  # how rows are split; texts are split once
SPLITS = (HALVES, FIFTHS)  # of tables
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
        digest = hashlib.sha256(f"{PROTOCOL} {self.label} {self.rows} {self.split}".encode())
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
    X = table.drop(columns=label).iloc[keep].reset_index(drop=True)
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
