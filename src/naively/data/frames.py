"""Any table becomes rows: an array, a sparse matrix, a list, or a frame of any library."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import string_at
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.counting.labels import is_missing
from naively.data.columns import (
    EXACT,
    MOST_COLUMNS,
    NOT_A_TIME,
    TIME,
    Cells,
    Column,
    ColumnRows,
    Kind,
    MatrixRows,
    Rows,
    SparseRows,
    all_missing,
    as_objects,
    check_sparse,
    column_rows,
    join_columns,
    levels_at,
    missing_in,
    read_column,
    refuse_twice,
    unmasked,
    unusable,
)
from naively.kernels import dispatch
from naively.kernels.strings import FIRST, Strings
from naively.messages import warn

if TYPE_CHECKING:
    from nanoarrow.c_array import CArray, CArrayView
    from nanoarrow.c_schema import CSchemaView

# Rows as a user has them, which ``as_rows`` reads: an array, a SciPy matrix, a frame, a mapping of
# columns, a list of records, of lists or of texts. They have no type in common.
Table: TypeAlias = Any

TEXT = "text"  # the name of the one column of a list of texts
CELLS = {str, bytes, bool, int, float, type(None)}  # types of cells, of which most are
DISTINCT = 0.5  # a column with a greater share of distinct cells looks like words, not categories


def as_rows(X: Table, texts: bool | None = None) -> Rows:
    """Read an array, sparse matrix, frame of any library, mapping, or list of records or texts."""
    # ``texts`` says whether a list of lists of strings (or integers) is one of texts, each given by
    # its words, rather than a table. By default it is a table if all lists have the same length. If
    # their lengths differ, lists of strings are texts, and lists of integers are an error, as they
    # may be a mistake. A warning says that lists of strings were read as a table if few cells of
    # any column are equal, as they may have been meant as texts.
    match X:
        case Rows():
            return X
        case np.ndarray():
            return _array_rows(X if X.dtype.names is not None else unmasked(X))
        case _ if hasattr(X, "tocsr"):  # before mappings: SciPy's dictionary of keys is one too
            return _sparse_rows(X)
        case Mapping():
            refuse_twice(X)
            return join_columns({str(name): _column(str(name), of) for name, of in X.items()})
        case str() | bytes():
            raise TypeError(
                "Expected a table or a list of texts, got one string; wrap a text in a list, or "
                "read a file by duckdb.read_csv(path)."
            )
        case list() | tuple():
            return _list_rows(list(X), texts)
    if "pandas" in sys.modules and isinstance(X, sys.modules["pandas"].DataFrame):
        return _pandas_rows(X)
    return _foreign_rows(X)


def with_one_row(X: Table, names: Sequence[Name]) -> Table:
    """Return one row that was given alone as a table, and a table as it is."""
    if getattr(X, "ndim", 0) == 2:
        return X
    if hasattr(X, "_asdict"):
        X = X._asdict()
    elif hasattr(X, "index") and hasattr(X, "to_dict") and getattr(X, "ndim", 0) == 1:
        own = set(X.index.tolist())
        X = X.to_dict() if own and own <= set(names) else X
    if isinstance(X, Mapping):
        alone = len(X) > 0 and _are_cells(X.values()) and not hasattr(X, "tocsr")
        return [dict(X)] if alone else X
    if not isinstance(X, list | tuple) or not 1 < len(X) == len(names) or not _are_cells(X):
        return X
    if TEXT in names and all(isinstance(cell, str) for cell in X):
        return X
    return [list(X)]


def _are_cells(values: Collection[Any]) -> bool:
    return set(map(type, values)) <= CELLS or not any(
        hasattr(value, "__iter__") and not isinstance(value, str | bytes) for value in values
    )


def read_labels(y: Any) -> Any:
    """Return strings in a column of any library as Strings, and any other labels as they are."""
    if isinstance(y, np.ndarray | list | tuple | str) or y is None:
        return y
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_series(y):
        spelled = is_string(y.dtype)
    else:
        spelled = speaks_arrow(y) and ArrowStream(y).format in STRING_FORMATS
    return _column("y", y)[0] if spelled else y


# The module and the class of each table whose rows are not in memory.
ELSEWHERE = (
    ("pyspark.sql", "DataFrame"),
    ("naively.data.stream", "Stream"),
    ("collections.abc", "Iterator"),
    ("duckdb", "DuckDBPyRelation"),
    ("polars", "LazyFrame"),
    ("pyarrow", "RecordBatchReader"),
    ("pyarrow.dataset", "Dataset"),
    ("pyarrow.dataset", "Scanner"),
    ("ibis.expr.types", "Table"),
)


def elsewhere(X: Table) -> tuple[str, str] | None:
    """Return the module and the class of a table that is not in memory; None if it is."""
    for module, name in ELSEWHERE:
        made_by = sys.modules.get(module)  # what was never imported has made no table
        if made_by is not None and isinstance(X, getattr(made_by, name)):
            return module, name
    return None


def refuse_on_cluster(X: Any, what: str) -> None:
    """Raise a ValueError, which says what cannot be done, if a table is a frame of Spark."""
    if is_on_cluster(X):
        raise ValueError(f"{what}, as by X.toPandas().")


def is_on_cluster(X: Table) -> bool:
    """Whether a table is a frame of Spark, which is counted and predicted where its rows are."""
    return elsewhere(X) == ("pyspark.sql", "DataFrame")


def as_table(rows: Rows) -> Any:
    """Return rows as what ``as_rows`` reads: an array, a list of texts, or a mapping of columns."""
    columns = {name: rows.values(name) for name in rows.names}
    if list(columns) == [TEXT] and rows.kind(TEXT) == "text":
        return columns[TEXT].tolist()
    if not columns or any(isinstance(name, str) for name in columns):
        return columns
    return np.column_stack(list(columns.values()))


def _foreign_rows(X: Any) -> Rows:
    """Read a frame or series of another library: by Arrow if it speaks it, else by Narwhals."""
    import narwhals.stable.v2 as nw

    if nw.to_native(X, pass_through=True) is not X:
        return as_rows(nw.to_native(X))
    X = X.toArrow() if is_on_cluster(X) else X
    if nw.dependencies.is_pandas_series(X):
        return _series_rows(*read_series(TEXT, X))
    if speaks_arrow(X):
        stream = ArrowStream(X)
        if stream.names is None:
            return _series_rows(*stream.read_column(TEXT))
        if stream.foreign:
            frame = nw.from_native(X)
            columns = ArrowStream(frame.drop(stream.foreign).to_native()).read()
            columns |= {name: read_column(name, frame[name].to_list()) for name in stream.foreign}
            return _frame_rows({name: columns[name] for name in frame.columns}, 0)
        return _frame_rows(stream.read(), 0)
    native = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        return as_rows(native.collect())
    if hasattr(X, "__array__"):
        return _array_rows(np.asarray(X))
    raise TypeError(
        f"Cannot read a {type(X).__name__} as a table; pass an array, a sparse matrix, a frame, "
        "a mapping of columns, a list of records or a list of texts."
    )


def _frame_rows(columns: Mapping[Any, Column], length: int) -> Rows:
    """Return rows of columns; those of floats alone are a matrix."""
    if not columns:
        return ColumnRows({}, {}, length)
    cells = [cells for cells, _ in columns.values()]
    types = {np.dtype(object) if isinstance(of, Strings) else of.dtype for of in cells}
    if types <= {np.dtype(np.float32), np.dtype(np.float64)} and "boolean" not in {
        kind for _, kind in columns.values()
    }:
        matrix = np.empty((len(cells[0]), len(cells)), max(types), order="F")
        for j, column in enumerate(cells):
            matrix[:, j] = column
        return MatrixRows(matrix, tuple(columns))
    return join_columns(columns)


def _series_rows(cells: Cells, kind: Kind | None) -> Rows:
    """Return the rows of one series: texts, or else the cells of one column."""
    if kind in ("text", "string", None):
        return join_columns({TEXT: (cells, "text")})
    return join_columns({0: (cells, kind)})


def _column(name: str, column: Any) -> Column:
    """Read a column of a mapping, whatever library it comes from."""
    if isinstance(column, np.ndarray | list | tuple | str | bytes):
        return read_column(name, column)
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_series(column):
        return read_series(name, column)
    if speaks_arrow(column):
        return ArrowStream(column).read_column(name)
    return read_column(name, column)


def _array_rows(X: NDArray[Any]) -> Rows:
    """Read an array of shape (rows, columns), a structured array, or an array of texts."""
    if X.dtype.names is not None:
        return column_rows({name: X[name] for name in X.dtype.names})
    if X.ndim == 1 and X.dtype.kind in "OUT":
        cells = X.tolist()
        if _are_lists(cells):
            return column_rows({TEXT: cells})
        if _may_be_texts(cells):
            return _list_rows(cells)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead (shape {X.shape}). Reshape your data: "
            'write {"x": X} or X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one '
            "row."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: numbers must be real.")
    if X.dtype.kind in "fiub":
        return MatrixRows(X, range(X.shape[1]))
    if X.dtype.kind == "V":
        raise ValueError(f"An array of {X.dtype} cannot be read as a table.")
    return column_rows({j: X[:, j] for j in range(X.shape[1])})


def _list_rows(values: list[Any], texts: bool | None = None) -> Rows:
    """Read a list of records, of texts, or of lists."""
    if not values:
        raise ValueError("X is an empty list: there is no row in it to learn from or to predict.")
    if all(isinstance(value, Mapping) for value in values):
        names = dict.fromkeys(chain.from_iterable(values))
        refuse_twice(names)
        return column_rows({str(name): [of.get(name) for of in values] for name in names})
    if _may_be_texts(values):
        cells, wrong = values, None
        if not set(map(type, values)) <= {str, type(None)}:
            cells = [None if is_missing(value) else value for value in values]
            wrong = next((i for i, v in enumerate(cells) if not isinstance(v, str | None)), None)
        if wrong is not None:
            raise ValueError(
                f"Text {wrong} is a {type(cells[wrong]).__name__}; "
                "each must be a string or missing."
            )
        return column_rows({TEXT: cells}, {TEXT: "text"})
    if _are_lists(values) and _are_texts(values, texts):
        return column_rows({TEXT: values})
    if all(map(_is_number, values)):  # the cells of one column
        return column_rows({0: values})
    array = np.asarray(values)
    if array.dtype.kind in "OUM" and array.ndim == 2:
        array = np.array(values, dtype=object)  # keep numbers numbers beside strings
    return _array_rows(array)


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | np.number | np.bool_)


def _may_be_texts(values: list[Any]) -> bool:
    return any(isinstance(v, str) for v in values) or all(v is None for v in values)


def _are_lists(values: list[Any]) -> bool:
    """Whether each value is a list, or missing; what the lists hold is not looked at."""
    kinds = set(map(type, values)) - {type(None)}
    if not kinds or not all(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        return False
    return not any(np.ndim(row) > 1 for row in values if isinstance(row, np.ndarray))


def _are_texts(rows: list[Any], texts: bool | None) -> bool:
    """Whether lists are texts, each given by its words, rather than the rows of a table."""
    # ``texts`` decides if it is given, and else the lengths of the lists. Words are strings, or
    # integers that stand for them. Lists of one string each are a column if a string has a space.
    lengths = {None if row is None else len(row) for row in rows}
    same = len(lengths) == 1
    if lengths == {1} and any(isinstance(of[0], str) and len(of[0].split()) > 1 for of in rows):
        return False
    if texts:
        cells = (cell for row in rows if row is not None for cell in row)
        first = next(cells, "")
        if isinstance(first, str | int | np.integer) and not isinstance(first, bool):
            return True
    elif texts is None and same and _may_be_words(rows):
        warn(
            "X is a list of lists of strings, all of the same length, and is read as a table of "
            f"{len(rows[0])} columns. If each list holds the words of a text, say so by "
            '{"text": X} or event_models=Text(); a mapping of columns says that it is a '
            "table."
        )
    if same:
        return False
    if texts is False:
        raise ValueError(
            "The rows have different lengths, so they are no table; and a table was learned, "
            "no texts."
        )
    if not any(isinstance(word, str) for row in rows if row is not None for word in row):
        raise ValueError(
            "The rows have different lengths, so they are no table. If they are numbers "
            'of words, say so: {"text": rows}, or event_models="text".'
        )
    return True


def _may_be_words(rows: list[Any]) -> bool:
    """Whether lists of strings, all of the same length, have few equal cells in any column."""
    if len(rows[0]) < 2 or not all(isinstance(word, str) for row in rows for word in row):
        return False
    return all(len(set(column)) > DISTINCT * len(rows) for column in zip(*rows, strict=True))


def _sparse_rows(X: Any) -> SparseRows:
    """Read a SciPy sparse matrix of shape (rows, columns)."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: numbers must be real.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"A sparse matrix of {X.dtype} cannot be read as a table.")
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]:,} columns, and a sparse matrix of more than {MOST_COLUMNS:,} "
            "cannot be read."
        )
    check_sparse(X)
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseRows(matrix, range(matrix.shape[1]))


# --- Data frames of pandas, column by column: they speak Arrow only where PyArrow is -------------


FEW = 8  # strings, or rows
PLAIN = "int64", "float64", "bool"  # types whose cells are Python's own, as those of strings are


def _pandas_rows(frame: Any) -> Rows:
    """Read a data frame: floats of one type as they lie, all else column by column."""
    dtypes, names = frame.dtypes.tolist(), tuple(map(str, frame.columns.tolist()))
    refuse_twice(names)
    if dtypes and dtypes[0] in (np.float32, np.float64) and all(of is dtypes[0] for of in dtypes):
        return MatrixRows(frame.to_numpy(), names)
    if 0 < len(frame) <= FEW and all(map(_is_plain, dtypes)):
        try:
            cells = frame.to_numpy(object).T.tolist()  # a series for each column takes longer
        except Exception:  # noqa: BLE001  Arrow's, of bytes that are no UTF-8: said below, by column
            cells = None
        if cells is not None:
            few = zip(names, cells, strict=True)
            return _frame_rows({name: read_column(name, of) for name, of in few}, len(frame))
    every = zip(names, (series for _, series in frame.items()), strict=True)
    return _frame_rows({name: read_series(name, series) for name, series in every}, len(frame))


def _is_plain(dtype: Any) -> bool:
    return dtype.name in PLAIN if isinstance(dtype, np.dtype) else is_string(dtype)


def read_series(name: Name, series: Any) -> Column:
    """Read a series as a column of one kind, whatever its type and storage."""
    dtype, pd = series.dtype, sys.modules["pandas"]
    match dtype:
        case np.dtype() | pd.SparseDtype():
            return read_column(name, series.to_numpy())
        case pd.StringDtype() if dtype.storage == "python":
            return read_column(name, series.to_numpy(object, na_value=None))
        case pd.StringDtype() | pd.ArrowDtype():
            array = series.array.__arrow_array__()
            if len(array) <= FEW and is_string(dtype):  # a few are sooner read one by one
                with suppress(UnicodeDecodeError):
                    return read_column(name, array.to_pylist())
            from nanoarrow import c_array

            return join_parts(name, [read_array(name, c_array(of)) for of in array.chunks])
        case pd.CategoricalDtype():
            return _categories(name, series.array)
        case pd.DatetimeTZDtype():
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        case pd.PeriodDtype():  # it begins at a time
            series = series.dt.to_timestamp()
        case pd.IntervalDtype():  # whose names are levels
            return read_column(name, [None if is_missing(x) else str(x) for x in series])
        case _ if dtype.kind in "iufb":  # of a type that can be missing
            return _nullable(name, series)
    return read_column(name, series.to_numpy())


def is_string(dtype: Any) -> bool:
    """Whether a type is one of strings alone."""
    return isinstance(dtype, sys.modules["pandas"].StringDtype)


def _nullable(name: Name, series: Any) -> Column:
    """Read numbers or booleans of a type that can be missing."""
    kind = series.dtype.kind
    if not series.hasnans:
        return read_column(name, series.to_numpy(series.dtype.numpy_dtype))
    floats = series.to_numpy(np.float64, na_value=np.nan)
    if kind in "iu" and np.nanmax(np.abs(floats), initial=0) >= EXACT:
        return read_column(name, series.to_numpy(object, na_value=None))
    if all_missing(floats):
        return floats, None
    return floats, "boolean" if kind == "b" else "number"


def _categories(name: Name, array: Any) -> Column:
    """Read categories: whatever they are, a level is a string."""
    codes = np.asarray(array.codes, np.int64)
    if not (codes >= 0).any():
        return np.full(len(codes), None, object), None
    levels, _ = read_series(name, array.categories.to_series())
    return levels_at(levels, codes), "string"


# --- Arrow's columns, where they lie, by nanoarrow, from whatever speaks Arrow -------------------
#
# The PyCapsule interface (``__arrow_c_stream__``) is what pandas, Polars, PyArrow, DuckDB, Modin
# and Ibis have in common; none of them is needed here. Numbers and strings stay in its buffers.


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

    Its ``format`` is that of the one column, as Arrow names it, or "+s" of a table. ``names`` are
    the columns of a table; None of one column. ``foreign`` are those of types that Arrow does not
    have. In columns that are ``exact`` integers stay integers beside missing cells.
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
        return Strings.join(cells), kind  # type: ignore[arg-type]  # all are strings
    return np.concatenate(cells), kind  # type: ignore[arg-type]  # all are arrays


def filled(cells: Cells, kind: Kind) -> Cells:
    """Return cells that are all missing, of shape (rows,), as a column of a kind has them."""
    n = len(cells)
    match kind:
        case "string":
            return Strings.all_missing(n)
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
    # Where one word holds the digits, the words above it are only its sign.
    for row in np.flatnonzero((signed[:, 1:] != signed[:, :1] >> 63).any(axis=1)).tolist():
        floats[row] = int.from_bytes(rows[row].tobytes(), "little", signed=True) / scale
    missing = _missing(view)
    return (floats if missing is None else np.where(missing, np.nan, floats)), "number"


def _strings(name: Name, array: CArray, view: CArrayView, schema: CSchemaView) -> Column:
    """Read strings in any of Arrow's layouts; the bytes stay in place but for those of views."""
    # They become valid UTF-8, with a warning of bytes that had to be replaced.
    if not view.length:
        return Strings(np.zeros(1, np.int64), np.empty(0, np.uint8)), "string"
    missing = _missing(view)
    if schema.type == "string_view":
        views = _bytes(view.buffer(1)).reshape(-1, 16)[view.offset : view.offset + view.length]
        buffers = [_bytes(view.buffer(i)) for i in range(2, array.n_buffers - 1)]
        strings = _read_views(views, buffers, missing)
    else:
        ends = np.frombuffer(view.buffer(1), np.int32 if schema.type == "string" else np.int64)
        ends = ends[view.offset : view.offset + view.length + 1]
        strings = Strings(ends.astype(np.int64, copy=False), _bytes(view.buffer(2)), missing)
    if strings.coded is not None and not dispatch.repair_utf8(strings.coded[1])[1]:
        return strings, "string"
    strings, count = dispatch.repair_utf8(strings)
    if count:
        bytes_were = "byte of invalid UTF-8 was" if count == 1 else "bytes of invalid UTF-8 were"
        warn(f"{count} {bytes_were} replaced in column {name!r}.")
    return strings, "string"


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
