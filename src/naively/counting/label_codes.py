"""Codes of class labels, found in one pass: by a table of whole numbers, or by hashing.

Labels are never sorted; the few classes are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels import dispatch
from naively.kernels.strings import Strings

LabelArray: TypeAlias = "NDArray[Any]"  # of labels, of any dtype that a model file can hold

SMALL_RANGE = 1 << 16  # whole numbers this close together are encoded by a look-up table


def plain(value: Any) -> Any:
    """Return a NumPy string, boolean or number as Python's own, and anything else as it is."""
    return value.item() if isinstance(value, np.str_ | np.bool_ | np.number) else value


def encode(labels: LabelArray) -> tuple[NDArray[np.int32], LabelArray]:
    """Return the code of each label, (rows,), and the sorted classes, (classes,)."""
    whole = encode_whole(labels)
    if whole is not None:
        return whole[:2]
    if labels.dtype.kind == "O":
        return _of_objects(labels)
    kind, padded = labels.dtype.kind, labels.dtype.itemsize > 8 and labels.dtype.kind == "f"
    if kind not in "iufUM" or padded or not labels.dtype.isnative or not labels.nbytes:
        classes, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int32), classes
    # Different bytes are different labels, once -0.0 is 0.0; only the classes are sorted.
    rows = np.ascontiguousarray(labels + 0.0 if kind == "f" else labels)
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * rows.itemsize
    seen, first = dispatch.encode_strings(Strings(offsets, rows.view(np.uint8)))
    order = np.argsort(rows[first])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[seen], rows[first[order]]


def encode_whole(
    labels: LabelArray,
) -> tuple[NDArray[np.int32], LabelArray, NDArray[np.int64]] | None:
    """Encode whole numbers that are close together by a table; None if labels are others.

    Returns
    -------
    codes, classes, rows_of : ndarray of shape (rows,), (classes,) and (classes,), or None
        The code of each label, the sorted classes, and how many rows each has.

    Examples
    --------
    >>> encode_whole(np.array([7.0, 5.0, 7.0]))
    (array([1, 0, 1], dtype=int32), array([5., 7.]), array([1, 2]))
    """
    kind = labels.dtype.kind
    if kind not in "iubf" or labels.dtype.itemsize > 8 or not len(labels):
        return None
    whole: NDArray[np.integer]
    if kind == "b":
        whole = labels.view(np.int8)
    elif kind == "f":
        with np.errstate(invalid="ignore"):  # what is no such integer becomes another number
            whole = labels.astype(np.int64)
        if not (whole == labels).all():
            return None
    else:
        whole = labels
    low, high = int(whole.min()), int(whole.max())
    if high - low >= SMALL_RANGE or high > np.iinfo(np.int64).max:
        return None
    if low or kind == "u":
        whole = whole.astype(np.int64) - low
    rows_of = np.bincount(whole, minlength=high - low + 1)
    seen = rows_of > 0
    classes = (np.flatnonzero(seen) + low).astype(labels.dtype)
    codes: NDArray[np.int32] = whole.astype(np.int32)
    if not seen.all():
        codes = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]
    return codes, classes, rows_of[seen]


def encode_strings(labels: Strings) -> tuple[NDArray[np.int32], LabelArray]:
    """Return codes and classes as ``encode`` does."""
    codes, first = dispatch.encode_strings(labels)
    place, classes = _of_objects(np.array([*dispatch.take_strings(labels, first), None])[:-1])
    return place[codes], classes


def _of_objects(labels: LabelArray) -> tuple[NDArray[np.int32], LabelArray]:
    """Return codes and classes as ``encode`` does; a TypeError if classes cannot be sorted."""
    values = list(map(plain, labels.tolist()))
    distinct = list(dict.fromkeys(values))
    kinds = {type(value) for value in distinct}
    if str in kinds and len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"Labels must be of one type, uniformly strings or numbers, got {names}.")
    try:
        distinct.sort()
    except TypeError as error:
        raise TypeError(f"the labels cannot be sorted: {error}.") from error
    classes = np.empty(len(distinct), object)
    classes[:] = distinct
    if kinds and (kinds <= {str} or kinds <= {int, float, bool}):
        array = np.array(distinct)
        classes = array if keeps(array, distinct) else classes
    index = {label: code for code, label in enumerate(classes.tolist())}
    return np.fromiter(map(index.__getitem__, values), np.int32, len(values)), classes


def keeps(array: LabelArray, values: Sequence[object]) -> bool:
    r"""Whether an array holds the values: strings lose a last \0, whole numbers may be rounded."""
    if array.dtype.kind in "US":
        return all(isinstance(v, str) and not v.endswith("\0") for v in values)
    if array.dtype.kind == "f" and array.ndim == 1:
        return all(a == v for a, v in zip(array.tolist(), values, strict=True) if type(v) is int)
    return True
