"""Arrow's columns are read where they lie, by nanoarrow, from whatever speaks Arrow.

The PyCapsule interface (``__arrow_c_stream__``) is what pandas, Polars, PyArrow, DuckDB, Modin and
Ibis have in common; none of them is needed here. Numbers and strings stay in Arrow's buffers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ctypes import string_at
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.data.columns import (
    EXACT,
    NOT_A_TIME,
    TIME,
    Cells,
    Column,
    Kind,
    all_missing,
    as_objects,
    levels_at,
    missing_in,
    read_column,
    refuse_twice,
    unusable,
)
from naively.kernels import dispatch
from naively.kernels.strings import FIRST, Strings
from naively.messages import warn

if TYPE_CHECKING:
    from nanoarrow.c_array import CArray, CArrayView
    from nanoarrow.c_schema import CSchemaView

Flags = NDArray[np.bool_]

STRING_FORMATS = ("u", "U", "vu")
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MICROSECONDS = 10**6
DAY = 86_400 * MICROSECONDS


class BrokenStreamError(ValueError):
    """A stream of Arrow cannot be read to its end; ``message`` is all that its maker says."""

    def __init__(self, error: RuntimeError) -> None:
        self.message = re.sub(r"^ArrowArrayStream::\w+\(\) failed \(\d+\): ", "", str(error))
        line = self.message.strip().split("\n")[0].strip(" .")
        super().__init__(f"The table cannot be read to its end: {line}.")


class ArrowStream:
    """The batches of a table, or of one column, which can be read once.

    Parameters
    ----------
    X : object with ``__arrow_c_stream__`` or ``__arrow_c_array__``
        A table or a column.
    exact : collection of str
        Columns in which integers stay integers beside missing cells.

    Attributes
    ----------
    names : list of str, or None
        The columns of a table; None of one column, which has no name.
    format : str
        The format of the one column, as Arrow names it; "+s" of a table.
    foreign : list of str
        Columns of types that Arrow does not have, as integers of 128 bits and Python objects.

    Raises
    ------
    ValueError
        If two columns have one name, or the stream cannot be read to its end.
    """

    def __init__(self, X: Any, exact: Collection[str] = ()) -> None:
        import nanoarrow as na

        self._exact = exact
        self._batches: Iterable[CArray]
        try:
            if hasattr(X, "__arrow_c_stream__"):
                self._batches = stream = na.c_array_stream(X)
                schema = stream.get_schema()
            else:  # as it is: nanoarrow cannot make a stream of string views
                self._batches = [array := na.c_array(X)]
                schema = array.schema
        except RuntimeError as error:
            raise BrokenStreamError(error) from None
        self.format = schema.format
        self.names = [child.name for child in schema.children] if schema.format == "+s" else None
        refuse_twice(self.names or ())
        own = ("_", "w:")  # a library's own format; bytes, by which Polars points to objects
        self.foreign = [child.name for child in schema.children if child.format.startswith(own)]

    def __iter__(self) -> Iterator[dict[str, Column]]:
        """Yield the columns of each batch of a table."""
        for batch in self._arrays():
            # A batch is a struct: its offset and its missing rows are those of every column.
            missing = _missing(batch.view()) if batch.null_count else None
            columns = {}
            for name, array in zip(self.names or (), batch.children, strict=True):
                column = read_array(name, array, exact=name in self._exact)
                if batch.offset or array.length != batch.length:
                    cells, kind = column
                    column = cells[batch.offset : batch.offset + batch.length], kind
                columns[name] = column if missing is None else _without(column, missing)
            yield columns

    def read(self) -> dict[str, Column]:
        """Return the columns of all batches of a table."""
        batches = list(self)
        return {name: join_parts(name, [of[name] for of in batches]) for name in self.names or ()}

    def read_column(self, name: Name) -> Column:
        """Return the one column, by a name to be used in messages."""
        return join_parts(name, [read_array(name, array) for array in self._arrays()])

    def _arrays(self) -> Iterator[CArray]:
        try:
            yield from self._batches
        except RuntimeError as error:
            raise BrokenStreamError(error) from None


def speaks_arrow(X: Any) -> bool:
    """Whether an object is a table or a column by the PyCapsule interface."""
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def read_array(name: Name, array: CArray, *, exact: bool = False) -> Column:
    """Read one array as a column of shape (rows,)."""
    from nanoarrow.c_schema import c_schema_view

    try:
        schema = c_schema_view(array.schema)
    except RuntimeError:  # of a library's own type
        raise unusable(name, f"values of type {array.schema.format!r}") from None
    if schema.type == "na":  # of which some libraries write a buffer that there should not be
        return np.full(array.length, None, object), None
    view = array.view()
    if schema.type == "dictionary":
        return _dictionary(name, array, view, exact=exact)
    read = _READERS.get(schema.type)
    if read is None:
        raise unusable(name, f"{schema.type.replace('_', ' ')} values")
    if exact and read is _numbers:
        return _numbers(name, array, view, schema, exact=True)
    cells, kind = read(name, array, view, schema)
    return cells, None if view.length and view.null_count == view.length else kind


def join_parts(name: Name, parts: list[Column]) -> Column:
    """Join the parts of a column, each of shape (rows,), which are of one kind or missing."""
    if len(parts) == 1:
        return parts[0]
    kinds = dict.fromkeys(kind for _, kind in parts if kind is not None)
    if len(kinds) > 1:
        raise ValueError(
            f"Column {name!r} holds {' and '.join(f'{kind}s' for kind in kinds)} in different "
            "batches; make it all of one kind."
        )
    kind = next(iter(kinds), None)
    if kind is None:
        return np.full(sum(len(cells) for cells, _ in parts), None, object), None
    cells = [filled(cells, kind) if of is None else cells for cells, of in parts]
    if isinstance(cells[0], Strings):
        return Strings.join([part for part in cells if isinstance(part, Strings)]), kind
    return np.concatenate(cells), kind  # type: ignore[arg-type]  # all are arrays


def filled(cells: Cells, kind: Kind) -> Cells:
    """Return cells that are all missing, of shape (rows,), as a column of a kind has them."""
    n = len(cells)
    match kind:
        case "string":
            return Strings(np.zeros(n + 1, np.int64), np.empty(0, np.uint8), np.ones(n, np.bool_))
        case "time":
            return np.full(n, NOT_A_TIME)
        case "text":
            return np.full(n, None, object)
    return np.full(n, np.nan)


def _without(column: Column, missing: Flags) -> Column:
    """Return a column without the cells of some rows, whose ``missing``, (rows,), is true."""
    cells, kind = column
    if kind is None:
        return column
    if missing.all():
        return np.full(len(missing), None, object), None
    if isinstance(cells, Strings):
        return cells.without(missing), kind
    if kind == "time":
        return np.where(missing, NOT_A_TIME, cells), kind
    if cells.dtype.kind in "iu" and np.abs(cells[~missing].astype(np.float64)).max() > EXACT:
        cells = cells.astype(object)
    if cells.dtype == object:
        cells = cells.copy()
        cells[missing] = None
        return cells, kind
    return np.where(missing, np.nan, cells), kind


def _missing(view: CArrayView) -> Flags | None:
    """Return which rows are missing, of shape (rows,); None if none is."""
    validity = view.buffer(0)
    if not validity.size_bytes or not view.null_count:
        return None
    return ~_bits(np.asarray(validity), view)


def _bits(packed: NDArray[np.uint8], view: CArrayView) -> Flags:
    """Return the bits of the rows of an array, of shape (rows,)."""
    first = view.offset // 8
    within = view.offset - 8 * first
    end = first + (within + view.length + 7) // 8
    flags = np.unpackbits(packed[first:end], count=within + view.length, bitorder="little")
    return flags[within:].view(np.bool_)


def _data(view: CArrayView, dtype: Any = None) -> NDArray[Any]:
    """Return the values of an array, of shape (rows,), as they lie in Arrow's buffer."""
    if not view.length:
        return np.empty(0, dtype or np.float64)
    values = np.frombuffer(view.buffer(1), _DTYPES[view.storage_type])
    return values[view.offset : view.offset + view.length]


def _numbers(
    _name: Name, _array: CArray, view: CArrayView, _schema: CSchemaView, *, exact: bool = False
) -> Column:
    """Read integers and floats; an integer beside a missing one is a float, where one can be."""
    values, missing = _data(view), _missing(view)
    if values.dtype == np.float16:
        values = values.astype(np.float64)
    if missing is None:
        return values, None if values.dtype.kind == "f" and all_missing(values) else "number"
    if values.dtype.kind == "f":
        floats = np.where(missing, np.asarray(np.nan, values.dtype), values)
        return floats, None if all_missing(floats) else "number"
    there = values[~missing]
    if exact or (len(there) and max(abs(int(there.min())), abs(int(there.max()))) > EXACT):
        integers = values.astype(object)
        integers[missing] = None
        return integers, "number" if len(there) else None
    return np.where(missing, np.nan, values.astype(np.float64)), "number"


def _booleans(_name: Name, _array: CArray, view: CArrayView, _schema: CSchemaView) -> Column:
    values = _bits(np.asarray(view.buffer(1)), view) if view.length else np.empty(0, np.bool_)
    missing = _missing(view)
    return (values if missing is None else np.where(missing, np.nan, values)), "boolean"


def _decimals(_name: Name, array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    """Read decimals, whose digits are a little-endian integer of 4 to 32 bytes, as floats."""
    digits, width = array.schema.format[2:].split(","), int(schema.type[7:]) // 8
    first, scale = width * view.offset, 10 ** int(digits[1])
    # By its address, as nanoarrow gives no bytes of 4 or 8; there is none of an empty array.
    packed = string_at(array.buffers[1] + first, width * view.length) if view.length else b""
    rows = np.frombuffer(packed, np.uint8).reshape(-1, width)
    word: type[np.signedinteger[Any]] = np.int32 if width == 4 else np.int64
    signed = rows.view(word)
    floats = signed[:, 0] / scale
    # Of digits that one word holds, the words above it are only its sign.
    for row in np.flatnonzero((signed[:, 1:] != signed[:, :1] >> 63).any(axis=1)).tolist():
        floats[row] = int.from_bytes(rows[row].tobytes(), "little", signed=True) / scale
    missing = _missing(view)
    return (floats if missing is None else np.where(missing, np.nan, floats)), "number"


def _strings(name: Name, array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    return _checked(name, _read_strings(array, view, schema.type)), "string"


def _read_strings(array: CArray, view: CArrayView, layout: str) -> Strings:
    """Read strings in any of Arrow's layouts; the bytes stay in place but for those of views."""
    missing = _missing(view)
    if not view.length:
        return Strings(np.zeros(1, np.int64), np.empty(0, np.uint8))
    if layout == "string_view":
        views = _bytes(view.buffer(1)).reshape(-1, 16)[view.offset : view.offset + view.length]
        buffers = [_bytes(view.buffer(i)) for i in range(2, array.n_buffers - 1)]
        return _read_views(views, buffers, missing)
    ends = np.frombuffer(view.buffer(1), np.int32 if layout == "string" else np.int64)
    ends = ends[view.offset : view.offset + view.length + 1]
    return Strings(ends.astype(np.int64, copy=False), _bytes(view.buffer(2)), missing)


def _read_views(
    views: NDArray[np.uint8], buffers: list[NDArray[np.uint8]], missing: Flags | None
) -> Strings:
    """Read string views; strings that repeat become codes without being joined."""
    if len(views) > FIRST[0]:
        begin = None if missing is None else missing[: FIRST[-1]]
        if dispatch.pack_views(views[: FIRST[-1]], buffers, begin).repeat:
            codes, first = dispatch.encode_views(views, buffers, missing)
            return Strings.of_levels(codes, dispatch.pack_views(views[first], buffers), first)
    return dispatch.pack_views(views, buffers, missing)


def _bytes(buffer: Any) -> NDArray[np.uint8]:
    return np.frombuffer(buffer, np.uint8) if buffer.size_bytes else np.empty(0, np.uint8)


def _checked(name: Name, strings: Strings) -> Strings:
    """Return strings of valid UTF-8, and warn of bytes that had to be replaced."""
    if strings.coded is not None and not dispatch.repair_utf8(strings.coded[1])[1]:
        return strings
    strings, count = dispatch.repair_utf8(strings)
    if count:
        bytes_were = "byte of invalid UTF-8 was" if count == 1 else "bytes of invalid UTF-8 were"
        warn(f"{count} {bytes_were} replaced in column {name!r}.")
    return strings


def _times(_name: Name, _array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    """Read dates and times as microseconds since 1970; those with a zone are in UTC already."""
    values = _data(view, np.int64).astype(np.int64)
    if schema.type == "date32":
        moments = values * DAY
    else:
        per_second = PER_SECOND["ms" if schema.type == "date64" else schema.time_unit]
        if per_second <= MICROSECONDS:
            moments = values * (MICROSECONDS // per_second)
        else:
            moments = values // (per_second // MICROSECONDS)
    missing = _missing(view)
    if missing is not None:
        moments[missing] = NOT_A_TIME.astype(np.int64)
    return moments.view(TIME), "time"


def _seconds(_name: Name, _array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    """Read durations, and times of day, as seconds."""
    seconds = _data(view, np.int64) / PER_SECOND[schema.time_unit]
    missing = _missing(view)
    return (seconds if missing is None else np.where(missing, np.nan, seconds)), "number"


def _lists(name: Name, array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    """Read lists, which are texts given by their words."""
    words = as_objects(*read_array(name, array.child(0))).tolist()
    if schema.type == "fixed_size_list":
        ends = schema.fixed_size * np.arange(view.offset, view.offset + view.length + 1)
    else:
        ends = _bytes(view.buffer(1)).view(np.int32 if schema.type == "list" else np.int64)
        ends = ends[view.offset : view.offset + view.length + 1]
    lists: list[Any] = [words[a:b] for a, b in pairwise(ends.tolist())]
    for row in () if (missing := _missing(view)) is None else np.flatnonzero(missing):
        lists[row] = None
    return read_column(name, lists)


def _dictionary(name: Name, array: CArray, view: CArrayView, *, exact: bool) -> Column:
    """Read cells by their places among different ones, of whatever kind these are."""
    cells, kind = read_array(name, array.dictionary, exact=exact)
    codes, missing = _data(view, np.int64).astype(np.int64), _missing(view)
    if missing is not None:
        codes[missing] = -1
    if kind is None or not (codes >= 0).any():
        return np.full(view.length, None, object), None
    if isinstance(cells, Strings):
        return levels_at(cells, codes), kind
    some, kind = _without((cells[codes], kind), codes < 0)
    return some, None if missing_in(some).all() else kind


_DTYPES: Mapping[str, Any] = {  # of the types that are stored as numbers
    **{name: np.dtype(name) for bits in (8, 16, 32, 64) for name in (f"int{bits}", f"uint{bits}")},
    "half_float": np.dtype("f2"),
    "float": np.dtype("f4"),
    "double": np.dtype("f8"),
}
_Reader = Callable[[Name, "CArray", "CArrayView", "CSchemaView"], Column]
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys((f"int{bits}" for bits in (8, 16, 32, 64)), _numbers),
    **dict.fromkeys((f"uint{bits}" for bits in (8, 16, 32, 64)), _numbers),
    **dict.fromkeys(("half_float", "float", "double"), _numbers),
    **dict.fromkeys((f"decimal{bits}" for bits in (32, 64, 128, 256)), _decimals),
    "bool": _booleans,
    **dict.fromkeys(("string", "large_string", "string_view"), _strings),
    **dict.fromkeys(("date32", "date64", "timestamp"), _times),
    **dict.fromkeys(("time32", "time64", "duration"), _seconds),
    **dict.fromkeys(("list", "large_list", "fixed_size_list"), _lists),
}
