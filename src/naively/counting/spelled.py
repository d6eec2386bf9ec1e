"""Labels that are spelled as text, as the classes that they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from naively.counting.labels import LabelArray


def as_classes(labels: LabelArray, classes: LabelArray) -> LabelArray:
    """Return the classes that labels written as text stand for, of the shape of the labels.

    Classes may be numbers, booleans or times, which a text file can only spell. A text that spells
    a value of their kind becomes it, even if it is no class; any other text stays as it is.

    Examples
    --------
    >>> as_classes(np.array(["true", "False", None], object), np.array([False, True]))
    array([True, False, None], dtype=object)
    >>> as_classes(np.array(["1", "2.0", "007", "8", "new"], object), np.array([1, 2, 7]))
    array([1, 2, 7, 8, 'new'], dtype=object)
    >>> as_classes(np.array(["1"], object), np.array(["1.0"]))
    array(['1'], dtype=object)
    """
    learned = classes.tolist()
    written = [label for label in set(labels.tolist()) if isinstance(label, str)]
    if not written or any(isinstance(label, str) for label in learned):
        return labels
    if classes.dtype.kind == "M":
        meant = {text: _spelled(text, lambda t: classes.dtype.type(t, "us")) for text in written}
    else:
        known = {label: label for label in learned}
        values = {text: _spelled(text, _truth, int, float) for text in written}
        meant = {text: known.get(value, value) for text, value in values.items()}
    found = np.empty(len(labels), object)
    found[:] = [meant.get(label, label) for label in labels.tolist()]
    return found


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


def _spelled(text: str, *readers: Callable[[str], object]) -> object:
    """Return what the first reader that can read a text makes of it, or else the text."""
    for read in readers:
        try:
            return read(text)
        except (KeyError, ValueError):
            continue
    return text
