"""Class labels are written to the header of a model file as JSON, and read as they were.

Dates are written by ISO 8601, other labels as JSON has them; their type is written beside them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from itertools import starmap

import numpy as np

from naively.counting.label_codes import plain
from naively.counting.labels import MOST_BYTES, Label, LabelArray
from naively.model.file.declared import Json, Saved, read, shown
from naively.schema.settings import Probabilities

DATES: dict[str, type[dt.date]] = {"date": dt.date, "datetime": dt.datetime}
TYPE = re.compile(r"[<>|=]?([biufUMO])(\d*)(\[\w+\])?")


def write_classes(classes: LabelArray) -> Saved:
    """Return labels of shape (classes,), and their type, as JSON has them.

    >>> write_classes(np.array([dt.date(2024, 2, 29)]))
    {'labels': ['2024-02-29'], 'dtype': 'date'}
    """
    labels: list[Json] = (classes.astype(str) if classes.dtype.kind == "M" else classes).tolist()
    dates = {type(label).__name__ for label in labels if isinstance(label, dt.date)}
    if dates:
        return {"labels": [label.isoformat() for label in labels], "dtype": dates.pop()}
    return {"labels": labels, "dtype": classes.dtype.str}


def read_classes(labels: list[Json], kind: str) -> LabelArray:
    """Return the labels that were written, of shape (classes,); each must be there once.

    >>> read_classes(["2024-02-29"], "date")
    array([datetime.date(2024, 2, 29)], dtype=object)
    """
    if any(type(label) is tuple for label in labels):
        raise ValueError("a label is a list")
    if len(set(labels)) < len(labels):
        raise ValueError("a class is there twice")
    if kind in DATES:
        labels = [DATES[kind].fromisoformat(read(str, label, "a label")) for label in labels]
        kind = "|O"
    match = TYPE.fullmatch(kind)
    if match is None:
        raise ValueError(f"labels cannot be of type {shown(kind)}")
    if match[1] == "U" and len(labels) * int(match[2] or max(map(len, labels))) * 4 > MOST_BYTES:
        raise ValueError(f"labels of type {kind} take too much memory")
    classes = np.empty(len(labels), object)
    classes[:] = labels
    try:
        classes = classes if match[1] == "O" else classes.astype(np.dtype(kind))
    except (TypeError, OverflowError) as error:
        raise ValueError(f"labels cannot be of type {kind} ({error})") from error
    if (classes.astype(str) if match[1] == "M" else classes).tolist() != labels:
        raise ValueError(f"the labels are none of type {kind}")
    if any(label != label for label in classes):  # noqa: PLR0124
        raise ValueError("a label is missing")
    return classes


def write_probabilities(prior: Probabilities) -> list[Json]:
    """Return the probabilities of the classes, in their order or by label."""
    if not isinstance(prior, Mapping):
        return [float(p) for p in prior]
    return [
        [label.isoformat(), float(p), type(label).__name__]
        if isinstance(label, dt.date)
        else [plain(label), float(p)]
        for label, p in prior.items()
    ]


def read_probabilities(saved: tuple[Json, ...]) -> list[float] | dict[Label, float]:
    """Return the probabilities that were written, by label or in the order of the classes.

    >>> read_probabilities((("a", 0.25), ("b", 0.75)))
    {'a': 0.25, 'b': 0.75}
    """
    by_label = saved and all(type(each) is tuple and len(each) in (2, 3) for each in saved)
    prior = dict(starmap(_of_label, saved)) if by_label else list(saved)
    each = list(prior.values()) if isinstance(prior, dict) else prior
    if not all(0 <= p <= 1 for p in read(tuple[float, ...], each, "class_prior")):
        raise ValueError("class_prior must be probabilities")
    return prior


def _of_label(label: Json, p: Json, date: Json = None) -> tuple[Label, float]:
    """Return a label, which may be a date, and its probability."""
    if date is None:
        return label, p
    if date not in DATES:
        raise ValueError(f"class_prior is of labels of type {shown(date)}")
    return DATES[date].fromisoformat(read(str, label, "class_prior")), p
