"""Class labels and row weights, as numbers of classes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.double_double import Sums, scatter
from naively.kernels.reference import hash_numbers
from naively.kernels.strings import Strings
from naively.options import means_copies

# --- Class labels: encoded once, as indices into the sorted classes ------------------------------


Label: TypeAlias = str | float | dt.date  # the name of a class; a float may be a bool or an int
# The labels of some rows as a user has them, of shape (rows,), which ``encode_labels`` reads: an
# array, a list, or a column of any frame, which have no type in common.
Target: TypeAlias = Any
RowWeight: TypeAlias = "ArrayLike | None"  # of shape (rows,), or one for all rows; None is 1

UNORDERED = (set, frozenset, dict)
COLLECTIONS = (list, tuple, np.ndarray, *UNORDERED)
SEVERAL = (
    "and a row has one label; for several at once use scikit-learn's OneVsRestClassifier, and of "
    "indicators of one class each take argmax(axis=1)"
)
NO_LABEL = -1  # scikit-learn's sign of it
MOST_BYTES = 1 << 26  # of an array of string labels, each stored as long as the longest
LEAST_WEIGHT, MOST_WEIGHT = 1e-100, 1e100  # of a row; beyond, products over- or underflow


MOST_TIMES = 2.0**53  # that a row is there, so that it is counted exactly
OF_EQUAL_ROWS = np.uint64(0)  # the group of a row until its cells are known, of which it is then
EQUAL = 1e-9  # shares that differ by so much, or less, are the same but for rounding
MANY_CLASSES = 500  # a table of so many is larger than most rows, and too few rows are of each


@dataclass(frozen=True, eq=False)
class Labels:
    """The class of each row, with the row's weight."""

    codes: NDArray[np.int32]  # (rows,): index of each row's class
    classes: LabelArray  # (classes,): the classes, sorted
    # (rows,): finite and at least 0; by default 1 for each row.
    weight: NDArray[np.float64] | None = None
    # (classes,): how many rows each class has, if that was found on the way.
    rows_of: NDArray[np.int64] | None = None
    # (rows,): how many equal rows each row is, all of which the weight is of; by default one.
    frequency: NDArray[np.int64] | None = None
    # (rows,): a number for the group that each row belongs to, such as a customer or a patient. The
    # rows of a group are left out together.
    group: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def none(cls, rows: int, classes: LabelArray) -> Labels:
        """Return labels that stand in for rows whose class is not known and not used."""
        return cls(np.zeros(rows, np.int32), classes)

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        """Return the labels of all parts, which have the same classes."""
        codes = np.concatenate([part.codes for part in parts])
        weight = group = None
        if any(part.weight is not None for part in parts):
            weight = np.concatenate([part.weights for part in parts])
        if all(part.group is not None for part in parts):
            group = np.concatenate([part.group for part in parts if part.group is not None])
        return cls(codes, parts[0].classes, weight, group=group)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Labels:
        """Return the labels of a selection of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        frequency = None if self.frequency is None else self.frequency[rows]
        group = None if self.group is None else self.group[rows]
        return Labels(self.codes[rows], self.classes, weight, None, frequency, group)

    def among(self, classes: LabelArray) -> Labels:
        """Return the same labels, numbered among other classes; a ValueError if one is none."""
        place = {label: i for i, label in enumerate(classes.tolist())}
        places = np.array([place.get(label, -1) for label in self.classes.tolist()], np.int32)
        codes = places[self.codes]
        if (codes < 0).any():
            label = self.classes[self.codes[np.argmin(codes)]].tolist()
            raise ValueError(f"The class {label!r} was never learned.")
        return replace(self, codes=codes, classes=classes, rows_of=None)

    def times(self, factor: NDArray[np.float64] | None) -> Labels:
        """Return the labels with the weights of each class times its factor, (classes,)."""
        if factor is None:
            return self
        return replace(self, weight=self.weights * factor[self.codes])

    def scaled(self, factor: float) -> Labels:
        """Return the labels with all weights times a factor."""
        return replace(self, weight=self.weights * factor)

    def standing_for(self, count: NDArray[np.float64]) -> Labels:
        """Return the labels of rows that stand for others: each for as many as are of its class."""
        # ``count``, (classes,), is what all rows of each class weigh; these keep their weight.
        k = len(self.classes)
        drawn = np.bincount(self.codes, self.weights, k)
        there = drawn > 0
        every = np.divide(np.maximum(count, 0.0), drawn, out=np.zeros(k), where=there)
        if not every[there].any() or np.ptp(every[there]) <= EQUAL * every.max():
            return self
        every *= drawn.sum() / float(every @ drawn)
        return replace(self, weight=self.weights * every[self.codes])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each row, of shape (rows,); 1 where none was given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def by_class(self) -> Sums:
        """Return the total weight of each class, of shape (classes,)."""
        k = len(self.classes)
        if self.weight is None:
            known = self.rows_of
            return Sums(np.bincount(self.codes, minlength=k) if known is None else known)
        cell = self.codes.astype(np.int64)
        return Sums(*scatter(cell, np.ones(len(cell)), self.weight, (1, k)))[0]

    def one_hot(self) -> NDArray[np.float64]:
        """Return rows × classes: the row's weight at its class, else 0."""
        table = np.zeros((len(self), len(self.classes)))
        table[np.arange(len(self)), self.codes] = 1.0 if self.weight is None else self.weight
        return table


class Beside(Frozen, eq=True):
    """What is said of rows beside their labels: of each row, or by the name of a column."""

    sample_weight: Target = None  # (rows,): what each row weighs, finite and at least 0
    frequencies: Target = None  # (rows,): how many equal rows each row is, a whole number
    # (rows,): the group that each row belongs to; "copies" are those of equal rows.
    groups: Target = None
    given: dict[str, Target] = field(init=False, repr=False, compare=False)  # by its name
    # What is the name of a column, by its own.
    columns: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = {name: of for name, of in vars(self).items() if of is not None}
        named = {name: of for name, of in given.items() if isinstance(of, str)}
        columns = {name: of for name, of in named.items() if not means_copies(name, of)}
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "columns", columns)

    def encode(self, y: Target, first: int = 0) -> Labels:
        """Encode labels with what is said of their rows, none of which is a column any more."""
        labels = encode_labels(y, self.sample_weight, first)
        if self.frequencies is not None:
            frequency = check_frequencies(self.frequencies, len(labels), first)
            weight = labels.weights * frequency
            labels = replace(labels, weight=weight, frequency=np.maximum(frequency, 1))
        if self.groups is not None:
            labels = replace(labels, group=encode_groups(self.groups, len(labels), first))
        return labels


NOTHING_BESIDE = Beside()


def check_frequencies(given: Target, rows: int, first: int = 0) -> NDArray[np.int64]:
    """Return how many equal rows each row is, (rows,), or raise a ValueError that names the row."""
    values = given.to_numpy() if hasattr(given, "to_numpy") else given
    try:
        frequency = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        frequency = np.full(rows, np.nan)
    if frequency.shape != (rows,):
        raise ValueError(f"frequencies must have shape ({rows},), got {frequency.shape}.")
    wrong = ~((frequency >= 0) & (frequency == np.rint(frequency)) & (frequency < MOST_TIMES))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "frequencies must be whole numbers, how many equal rows each row is, but row "
            f"{first + row} has {plain(values[row])}; other weights are given as sample_weight."
        )
    return frequency.astype(np.int64)


def encode_groups(given: Target, rows: int, first: int = 0) -> NDArray[np.uint64]:
    """Return the number of each row's group, (rows,), or raise a ValueError that names the row."""
    if means_copies("groups", given):
        return np.full(rows, OF_EQUAL_ROWS)
    groups = _packed(given)
    if isinstance(groups, Strings):
        shape, missing = (len(groups),), groups.missing
    else:
        groups = _as_array(groups)
        shape, missing = groups.shape, missing_among(groups.ravel())
    if shape != (rows,):
        raise ValueError(f"groups must have shape ({rows},), got {shape}.")
    if missing is not None and missing.any():
        row = first + int(np.flatnonzero(missing)[0])
        raise ValueError(f"Row {row} has no group; give each row one, if need be of its own.")
    if isinstance(groups, Strings):
        names, codes = [*groups.different], groups.encoded[0]
    else:
        codes, found = encode(groups)
        if found.dtype.kind in "biuf" and (found >= -(2**53)).all() and (found <= 2**53).all():
            return hash_numbers(found.astype(np.float64))[codes]  # all at once, as each alone
        names = found.tolist()
    return np.array([*map(hash_cell, names)], np.uint64)[codes]


def hash_cell(cell: object) -> int:
    """Return the hash of a level, a text, a label or a group."""
    if isinstance(cell, int | float) and -(2**53) <= cell <= 2**53:
        return int(hash_numbers(np.array([cell], np.float64))[0])
    text = cell if isinstance(cell, str) else repr(cell)
    utf8 = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(utf8, digest_size=8).digest())


def encode_labels(
    y: Target,  # (rows,): whole numbers, truths, strings, floats or dates, as a model file holds
    sample_weight: RowWeight = None,
    first: int = 0,  # the number of the first row, in messages
) -> Labels:
    """Encode labels; a missing label is a ValueError that names the row."""
    y, rows_of = _packed(y), None
    if isinstance(y, Strings):
        if y.missing is not None:
            _refuse_missing(y.missing, first)
        place, different = y.encoded
        of_different, classes = _of_values([*y.take(different)])
        codes = of_different[place]
        _refuse_what_no_file_holds(classes)
    elif (whole := encode_whole(labels := _one_a_row(y))) is not None:
        codes, classes, rows_of = whole
    else:
        if labels.dtype.kind in "OfM":
            _refuse_missing(missing_among(labels), first)
        if labels.dtype.kind == "f" and np.isinf(labels).any():
            raise ValueError("y holds an infinite label; labels must be finite.")
        codes, classes = _encode(labels)
        _refuse_what_no_file_holds(classes)
    weight = None if sample_weight is None else check_weight(sample_weight, len(codes), first)
    return Labels(codes, classes, weight, rows_of)


def encode_some_labels(
    y: Target, sample_weight: RowWeight = None
) -> tuple[Labels, NDArray[np.int64]]:
    """Encode the labels that are not missing; return them and the numbers of their rows."""
    # Where no label is missing, the whole number -1 stands for none, as in scikit-learn.
    labels = np.array([*y, None])[:-1] if isinstance(y, Strings) else _one_a_row(y)
    missing = missing_among(labels)
    if labels.dtype.kind == "i" and not missing.any():
        missing = labels == NO_LABEL
    there = np.flatnonzero(~missing)
    weight = check_weight(sample_weight, len(labels))
    return encode_labels(labels[there], None if weight is None else weight[there]), there


def union_classes(a: LabelArray, b: LabelArray) -> LabelArray:
    """Return the classes of both, each once, sorted; a TypeError if they cannot be."""
    if a.dtype == b.dtype and len(a) == len(b) and bool((a == b).all()):
        return a
    if len(a) and len(b) and a.dtype.kind != b.dtype.kind:  # as objects nothing is rounded
        both = np.concatenate([a.astype(object), b.astype(object)])
        kinds = sorted({"str" if isinstance(x, str) else type(x).__name__ for x in both})
        if "str" in kinds and len(kinds) > 1:
            raise TypeError(f"class labels must be of one type, got {' and '.join(kinds)}.")
        return encode(both)[1]
    return encode(np.concatenate([a, b]))[1] if len(a) and len(b) else (a if len(a) else b)


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):  # pandas' NA, Decimal's sNaN: neither equal nor different
        return True
    except ValueError:  # an array in a cell, which another check refuses
        return False


def check_weight(weight: RowWeight, rows: int, first: int = 0) -> NDArray[np.float64] | None:
    """Return the sample weights, (rows,), or raise a ValueError that names the row."""
    if weight is None:
        return None
    w = np.ma.filled(np.ma.asarray(weight).astype(np.float64), np.nan)
    if w.ndim == 0:
        w = np.full(rows, float(w))
    if w.shape != (rows,):
        raise ValueError(f"sample_weight must have shape ({rows},), got {w.shape}.")
    wrong = ~((w == 0) | ((w >= LEAST_WEIGHT) & (w <= MOST_WEIGHT)))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        most = f", and between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g} if it is not 0"
        raise ValueError(
            "sample_weight must be finite and at least 0"
            f"{most if 0 < w[row] < np.inf else ''}, but row {first + row} has {w[row]}."
        )
    return np.ascontiguousarray(w)


def _packed(y: Target) -> Target:
    """Return strings in a list or an array as Strings, and anything else as it is."""
    cells = y
    if isinstance(y, np.ndarray):
        if y.ndim != 1 or y.dtype.kind != "O" or isinstance(y, np.ma.MaskedArray):
            return y
    elif not isinstance(y, list | tuple) or not y:
        return y
    strings = dispatch.pack_strings(cells)
    return y if strings is None or strings.missing is not None else strings


def _one_a_row(y: Target) -> LabelArray:
    if hasattr(y, "tocsr"):
        raise ValueError(f"y is a sparse matrix of indicators, {SEVERAL}.")
    labels = y if isinstance(y, np.ndarray) else _as_array(y)
    if isinstance(labels, np.ma.MaskedArray):
        masked, labels = np.ma.getmaskarray(labels), np.asarray(labels.data)
        if masked.any():
            labels = labels.astype(object)
            labels[masked] = None
    if labels.dtype.kind == "T":  # NumPy's StringDType, which may hold missing values
        labels = labels.astype(object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"y must have one label a row, got an array of shape {labels.shape}, {SEVERAL}."
        )
    if labels.dtype.kind == "O":
        refuse_several(labels)
    return labels


def refuse_several(labels: Target) -> None:
    """Raise a ValueError if a row has several labels, or none in a list of its own."""
    for label in labels:
        if isinstance(label, COLLECTIONS) and (isinstance(label, UNORDERED) or len(label) != 1):
            raise ValueError(f"y holds a {type(label).__name__} of labels, {SEVERAL}.")


def _as_array(y: Target) -> LabelArray:
    """Make an array that keeps None, and strings beside it, as they are."""
    if hasattr(y, "to_pylist"):  # PyArrow's to_numpy refuses strings and nulls by default
        y = y.to_pylist()
    values = y.to_numpy() if hasattr(y, "to_numpy") else y
    if hasattr(values, "__array__"):
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        return values
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"y must have one label a row, got {values!r}.") from None
    refuse_several(values)
    if not any(v is None for v in values):
        array = np.asarray(values)
        if keeps(array, values):
            return array
    array = np.empty(len(values), object)
    array[:] = values
    return array


def missing_among(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the values that are None, NaN, NaT or pandas' NA, (rows,)."""
    match values.dtype.kind:
        case "f":
            return np.asarray(np.isnan(values))
        case "M":
            return np.asarray(np.isnat(values))
        case "O":
            return np.fromiter(map(is_missing, values.tolist()), np.bool_, len(values))
    return np.zeros(len(values), np.bool_)


def _refuse_missing(missing: NDArray[np.bool_], first: int) -> None:
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        more = int(missing.sum()) - 1
        others = f" (and {more} more)" if more else ""
        raise ValueError(
            f"Row {first + row}{others} has no label; y must not contain NaN or None. (With "
            "semi_supervised=True such rows are learned from too.)"
        )


def _refuse_what_no_file_holds(classes: LabelArray) -> None:
    """Raise an error if a model of these classes could not be saved and loaded again."""
    kind, name = classes.dtype.kind, str(classes.dtype)
    savable = kind in "biuUM" or (kind == "f" and classes.dtype.itemsize <= 8)
    if kind == "O":
        kinds = (type(label) for label in classes.tolist())
        dates = dt.date, dt.datetime
        wrong = [of for of in kinds if not (issubclass(of, str | int | float) or of in dates)]
        savable, name = not wrong, wrong[0].__name__ if wrong else name
    if not savable:
        raise TypeError(
            f"Labels of type {name} cannot be kept in a model file; make them strings, numbers or "
            "dates."
        )
    if kind == "U" and classes.nbytes > MOST_BYTES:
        raise ValueError(
            f"The longest of the {len(classes):,} labels has {classes.dtype.itemsize // 4:,} "
            "characters; is y a column of texts? Labels are names of classes."
        )


# --- Labels that are spelled as text, as the classes that they stand for -------------------------


def as_classes(labels: LabelArray, classes: LabelArray) -> LabelArray:
    """Return the classes that labels written as text stand for, of the shape of the labels."""
    # A text that spells a value of their kind becomes it, even if it is no class; any other text
    # stays as it is.
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


# --- Codes of class labels, found in one pass: by a table of whole numbers, or by hashing --------
#
# Labels are never sorted; the few classes are.


LabelArray: TypeAlias = "NDArray[Any]"  # of labels, of any dtype that a model file can hold

SMALL_RANGE = 1 << 16  # whole numbers this close together are encoded by a look-up table


def plain(value: Any) -> Any:
    """Return a NumPy string, boolean or number as Python's own, and anything else as it is."""
    return value.item() if isinstance(value, np.str_ | np.bool_ | np.number) else value


def plain_cell(cell: object) -> Any:
    """Return a scalar of NumPy as Python's own, and anything else as it is."""
    return cell.item() if isinstance(cell, np.generic) else cell


def encode(labels: LabelArray) -> tuple[NDArray[np.int32], LabelArray]:
    """Return the code of each label, (rows,), and the sorted classes, (classes,)."""
    whole = encode_whole(labels)
    return _encode(labels) if whole is None else whole[:2]


def _encode(labels: LabelArray) -> tuple[NDArray[np.int32], LabelArray]:
    """Return what ``encode`` does for labels that are no whole numbers close together."""
    if labels.dtype.kind == "O":
        return _of_values(list(map(plain, labels.tolist())))
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
    """Encode whole numbers that are close together by a table; None if labels are others."""
    # With the codes come the sorted classes, and how many rows each has, (classes,).
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


def _of_values(values: list[Any]) -> tuple[NDArray[np.int32], LabelArray]:
    """Return codes and classes as ``encode`` does; a TypeError if classes cannot be sorted."""
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
