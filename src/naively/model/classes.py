"""Which classes a result is about: the one that is named, or the most frequent ones."""

from __future__ import annotations

import numpy as np

from naively.counting.labels import Label, LabelArray
from naively.kernels.reference import Floats

SHOWN = 8  # classes that are printed and drawn


def frequent(class_count: Floats, most: int = SHOWN) -> list[int]:
    """Return the numbers of the most frequent classes, at most ``most``, in their order."""
    return sorted(np.argsort(-class_count, kind="stable")[:most].tolist())


def and_more(n: int, what: str) -> list[str]:
    """Say how many more classes or levels there are, if there are.

    Examples
    --------
    >>> and_more(1, "class"), and_more(1200, "level"), and_more(0, "class")
    (['and 1 more class'], ['and 1,200 more levels'], [])
    """
    plural = {"class": "classes"}.get(what, f"{what}s")
    return [f"and {n:,} more {what if n == 1 else plural}"] if n > 0 else []


def number_of(classes: LabelArray, label: Label | None, default: int) -> int:
    """Return the number of a class, or the default where none is named.

    Raises
    ------
    ValueError
        If there is no such class; it lists those that there are.
    """
    if label is None:
        return default
    labels: list[Label] = classes.tolist()
    if label not in labels:
        more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
        some = ", ".join(map(repr, labels[:SHOWN])) + more
        raise ValueError(f"There is no class {label!r}; the classes are {some}.")
    return labels.index(label)


def spoken_for(class_count: Floats) -> int:
    """Return the class that odds are of by default: the second of two, else the most frequent."""
    return 1 if len(class_count) == 2 else int(np.argmax(class_count))
