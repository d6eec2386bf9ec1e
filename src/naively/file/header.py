"""What the header of a model file holds, declared as types, and how JSON is read as them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from naively.counting.axis import Level
from naively.data.columns import Kind, Reading
from naively.data.reading import Forms
from naively.events import Beta, Dirichlet
from naively.frozen import Frozen
from naively.model.counted import AddedNoise
from naively.model.model import Sought
from naively.options import Weighting
from naively.schema.schema import Missing, MissingAs, TimePart
from naively.terms.functions import Combined

FORMAT = 1

SavedName: TypeAlias = str | int | TimePart | Missing | MissingAs
Columnar: TypeAlias = range | tuple[SavedName, ...]  # numbered columns, or their names
SavedColumns: TypeAlias = int | tuple[SavedName, ...]  # how many numbered columns, or their names


class SavedClasses(Frozen, eq=True):
    """The class labels as JSON has them, and the type of their array."""

    labels: tuple[Level, ...]
    dtype: str  # of NumPy; or "date" or "datetime", whose labels are written by ISO 8601


class SavedAxis(Frozen, eq=True):
    """The names of the rows of a group's tables; words and cells are arrays."""

    kind: Literal["words", "levels", "cells", "columns"]
    columns: SavedColumns
    levels: tuple[tuple[Level, ...], ...] = ()


class SavedKey(Frozen, eq=True):
    """What a group is known by (see ``GroupKey``)."""

    event: str
    options: Saved
    kind: Kind
    column: str | int | None = None
    analyser: Saved | None = None


class SavedGroup(Frozen, eq=True):
    """The columns of one event model."""

    arrays: str  # what the names of the group's arrays begin with
    event: str
    options: Saved
    kind: Kind
    columns: SavedColumns
    statistics: tuple[str, ...]
    axis: SavedAxis
    column: str | int | None = None
    analyser: Saved | None = None


FunctionKind: TypeAlias = Literal["line", "step", "above", "is", "there"]
SavedCell: TypeAlias = SavedName | Combined


class SavedLinear(Frozen, eq=True):
    """The terms and rules of a linear part; all numbers are arrays."""

    # the group, the column and the kind of each; the level of a step, and all that it is among
    terms: tuple[tuple[int, SavedCell, FunctionKind, Level | None, tuple[Level, ...]], ...]
    # the group and the column of each; the levels for one of which it holds, or None where it holds
    # from an edge on; the side of a missing cell; and the levels for which it does not hold, none
    # where these are all others
    conditions: tuple[tuple[int, SavedCell, tuple[Level, ...] | None, int, tuple[Level, ...]], ...]
    rules: tuple[tuple[int, ...], ...]  # the numbers of the conditions of each rule
    ridge: float  # of the slopes


class SavedWeights(Frozen, eq=True):
    """Which parts have weights, by group, column and band; the weights themselves are arrays."""

    of: tuple[tuple[int, SavedName | None, int | None], ...]
    usual: float
    rows: float
    how: Weighting
    groups: tuple[SavedKey, ...]
    linear: SavedLinear | None
    rows_per_weight: tuple[float, ...]  # one for each class; none where they are 1
    # How many rows what the columns say is worth beside rows that came more than once; which these
    # are is in arrays.
    seen: float | None = None


class SavedSample(Frozen, eq=True):
    """A sample of the rows that were learned: in how many batches; their cells are arrays."""

    seed: int
    seen: int  # rows that the sample was drawn from
    batches: int


class SavedHeldOut(Frozen, eq=True):
    """How probable the right classes of held-out rows were; how often is in arrays."""

    left: float  # the share of the rows learned then that still are


class Header(Frozen, eq=True):
    """All of a model but its arrays."""

    checksum: str
    format: int
    classes: SavedClasses
    settings: Saved  # those of the model, but for the class prior
    class_prior: Literal["data", "uniform"] | tuple[Level, ...] | Beta | Dirichlet
    columns: int | tuple[str | int, ...]  # of the table: none follows from others
    groups: tuple[SavedGroup, ...]
    version: str
    free: tuple[str | int, ...]
    weights: SavedWeights | None
    notes: tuple[tuple[str | int, str], ...]
    provenance: Saved
    sample: SavedSample | None = None
    noise: tuple[AddedNoise, ...] = ()
    sought: Sought | None = None
    held_out: SavedHeldOut | None = None
    readings: tuple[tuple[str | int, Reading], ...] = ()
    newest: float | None = None  # the time of the newest row, where rows fade
    unicode: str | None = None  # the version by which texts are split, if there are any


class NewerError(ValueError):
    """A file was made by a newer version of naively."""


def check_format(saved: Saved) -> None:
    """Raise an error unless this version of naively reads the format of a file."""
    number = read(int, saved.get("format"), "format")
    if number > FORMAT:
        version = read(str, saved.get("version", "unknown"), "version")
        raise NewerError(
            f"has format {number}, made by a newer version of naively ({version}); this one reads "
            f"up to {FORMAT}. Upgrade naively."
        )
    if number < 1:
        raise ValueError(f"there is no format {number}")


# --- Values of JSON are read as types declare them, and anything else in a file is an error ----
#
# The fields of a dataclass are the schema: what a file may hold is declared once, where it is
# used.


T = TypeVar("T")
Json: TypeAlias = Any  # null, a boolean, a number, a string, or a list or an object of these
Saved: TypeAlias = dict[str, Json]  # an object
Hint: TypeAlias = object  # what an annotation says: a type, or several

NAMES: dict[Hint, str] = {
    NoneType: "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
}
SCALARS = (str, bool, int, float)
LONGEST = 60  # of a value in a message, in characters


@contextmanager
def at(where: str) -> Iterator[None]:
    """Say in the message of a ValueError where in the file the fault is."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def read(hint: type[T], value: Json, where: str) -> T:
    """Return a value of JSON as this type, or raise a ValueError that says where the value is."""
    # A list becomes a tuple, and an object a dataclass, which must have a field for each entry. A
    # number must be finite, and an integer fit into 64 bits. Level stands for a string, a boolean
    # or a number, or a list of these: the level of a column, or a label.
    return cast("T", _read(hint, value, where))


def read_fields(
    of: type[T], value: Json, where: str, names: Mapping[str, Hint] | None = None
) -> dict[str, object]:
    """Return the fields of a dataclass that an object gives, each as its type."""
    if not isinstance(value, dict):
        raise _wrong(where, value, "an object")
    hints = _hints(of, tuple((names or {}).items()))  # type: ignore[arg-type]  # hashable
    unknown = next((name for name in value if name not in hints), None)
    if unknown is not None:
        raise ValueError(f"{where} has no {shown(unknown)}")
    for field in fields(of):  # type: ignore[arg-type]  # it is a dataclass
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in value:
            raise ValueError(f"{where} lacks {field.name!r}")
    return {name: _read(hints[name], part, f"{where}.{name}") for name, part in value.items()}


def shown(value: Json) -> str:
    """Return a value for a message, cut short."""
    match value:
        case list() | tuple():
            return f"a list of {len(value):,}"
        case dict():
            return f"an object of {len(value):,} entries"
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case int() if abs(value) >= 10**LONGEST:
            return "a very large number"
    text = repr(value[:LONGEST] if isinstance(value, str) else value)
    return text if len(text) < LONGEST else f"{text[: LONGEST - 1]}..."


@lru_cache
def _hints(of: type, names: tuple[tuple[str, Hint], ...]) -> dict[str, Hint]:
    hints = get_type_hints(of, localns=dict(names))
    if of is Reading:
        hints["forms"] = Forms | None  # which no file of columns may name
    return {field.name: hints[field.name] for field in fields(of)}


def _read(hint: Hint, value: Json, where: str) -> object:
    """Return a value of JSON as a type, or as the first of several types that fits."""
    if get_origin(hint) in (Union, UnionType):
        hints = get_args(hint)
        hint = next((each for each in hints if _fits(each, value)), None)
        if hint is None:
            raise _wrong(where, value, _several(list(map(_name, hints))))
    if not _fits(hint, value):
        raise _wrong(where, value, _name(hint))
    if is_dataclass(hint):
        of: Any = hint
        # The entry of its name tells a dataclass from others that fit, unless it has such a field.
        tagged = all(field.name != "name" for field in fields(of))
        parts = {name: part for name, part in value.items() if not (tagged and name == "name")}
        return of(**read_fields(of, parts, where))
    if hint is int and not -(2**63) <= value < 2**63:
        raise ValueError(f"{where} is {shown(value)}, which has no place in 64 bits")
    if hint is float and not abs(value) <= sys.float_info.max:
        raise ValueError(f"{where} is {shown(value)}, which is not finite")
    return _read_list(hint, value, where) if type(value) is list else value


def _read_list(hint: Hint, value: list[Json], where: str) -> tuple[object, ...]:
    """Return a list as a tuple, each entry of which is of the type that the hint gives it."""
    args = get_args(hint) or (hint,)
    if get_origin(hint) is tuple and args[-1] is not ...:
        if len(value) != len(args):
            raise ValueError(f"{where} has {len(value):,} entries instead of {len(args)}")
        return tuple(map(_read, args, value, [where] * len(args)))
    of = args[0]
    if of is Level and set(map(type, value)) <= set(SCALARS):  # a million levels at once
        return tuple(value)
    return tuple(_read(of, part, f"{where}[{i}]") for i, part in enumerate(value))


def _fits(hint: Hint, value: Json) -> bool:
    """Whether a value is of this type; what lists and objects hold is not looked at."""
    origin, kind = get_origin(hint), type(value)
    if hint is Level:
        return kind in SCALARS or (kind is list and all(type(part) in SCALARS for part in value))
    if origin is Literal:
        return kind is str and value in get_args(hint)
    if is_dataclass(hint):
        name = _class_name(hint)
        return kind is dict and value.get("name", name) == name
    if origin is tuple or _is(origin, Sequence):
        return kind is list
    if hint is dict or _is(origin, Mapping):
        return kind is dict
    return kind is hint or (hint is float and kind is int)


def _is(origin: Hint, what: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, what)


def _class_name(hint: Any) -> str:
    return str(hint.__name__)


def _name(hint: Hint) -> str:
    """Return what a message calls a type."""
    if get_origin(hint) is Literal:
        return _several([repr(value) for value in get_args(hint)])
    if is_dataclass(hint):
        return f"an object ({_class_name(hint)})"
    if hint is Level:
        return "a level"
    if hint is dict or _is(get_origin(hint), Mapping):
        return "an object"
    return NAMES.get(hint, "a list")


def _several(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _wrong(where: str, value: Json, expected: str) -> ValueError:
    return ValueError(f"{where} is {shown(value)}, not {expected}")
