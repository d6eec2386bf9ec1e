"""What is checked before anything is learned or asked: labels, weights, whether it is fitted."""

from __future__ import annotations

from collections.abc import Sized
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from naively.counting.labels import (
    LabelArray,
    Labels,
    RowWeight,
    Target,
    encode_labels,
)
from naively.data.frames import read_labels
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.messages import warn

ENOUGH_ROWS, OWN_CLASS = 20, 0.5  # rows, of which more classes than this share are a mistake


Seed: TypeAlias = "int | np.random.Generator | None"  # of random choices


def check_is_fitted(estimator: object) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned.

    Scikit-learn, which takes long to import, is imported only to say no.
    """
    if "model_" not in getattr(estimator, "__dict__", ()):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator)


def plain_labels(y: Target, sample_weight: RowWeight) -> Labels | None:
    """Encode labels that scikit-learn takes as they are; None of those that it is to look at.

    These are an array of whole numbers, booleans or strings, a column of any library that is read
    as one, and a list of strings. That they are is found as they are encoded, once.

    Examples
    --------
    >>> plain_labels(np.array([2, 1, 2]), None).classes
    array([1, 2])
    >>> plain_labels(np.array([2.5, 1.0]), None)  # None: scikit-learn says what is wrong
    """
    if not isinstance(y, np.ndarray | list) and hasattr(y, "to_numpy"):
        y = read_labels(y)
        y = y if isinstance(y, Strings) else y.to_numpy()
    if isinstance(y, list):
        if not y or not isinstance(y[0], str):
            return None
    elif not isinstance(y, Strings) and not (type(y) is np.ndarray and y.dtype.kind in "biufUO"):
        return None
    try:
        labels = encode_labels(y, sample_weight)
    except (ValueError, TypeError):
        return None
    kind = labels.classes.dtype.kind
    of_objects = isinstance(y, np.ndarray) and y.dtype.kind == "O" and kind != "U"
    if of_objects or kind not in "biufU" or (isinstance(y, np.ndarray) and y.ndim != 1):
        return None
    fractions = kind == "f" and bool((labels.classes != np.rint(labels.classes)).any())
    return None if fractions else labels


def is_single(dtype: DTypeLike) -> bool:
    """Whether results are to be of float32; a ValueError if of anything but that or float64."""
    if dtype is np.float64:
        return False
    asked = np.dtype(dtype)
    if asked not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {asked}.")
    return bool(asked == np.float32)


def check_some_weight(weight: Floats) -> None:
    """Raise a ValueError if none of the rows or classes has any weight."""
    if not weight.any():
        raise ValueError("There is nothing to learn: all sample weights are zero.")


def check_classification(columns: Sized, rows: int, classes: LabelArray) -> None:
    """Refuse what can only be a mistake, in the words that scikit-learn's checks expect.

    Parameters
    ----------
    columns : sized
        The columns of the table.
    rows : int
        How many labelled rows there are.
    classes : ndarray of shape (classes,)
        Their classes.
    """
    if not len(columns):
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    if classes.dtype.kind == "f" and (classes != np.rint(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Labels are fractions; a class must be a whole number "
            "or a string."
        )
    if rows >= ENOUGH_ROWS and len(classes) > OWN_CLASS * rows:
        warn(
            f"Nearly every row has a class of its own ({len(classes):,} classes in {rows:,} "
            "rows): is the target an identifier, or a number to be estimated?"
        )
