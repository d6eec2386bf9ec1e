"""Any table becomes rows: an array, a sparse matrix, a list, or a frame of any library."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.counting.labels import is_missing
from naively.data import pandas
from naively.data.arrow import STRING_FORMATS, ArrowStream, speaks_arrow
from naively.data.columns import (
    MOST_COLUMNS,
    Cells,
    Column,
    ColumnRows,
    Kind,
    MatrixRows,
    Rows,
    SparseRows,
    check_sparse,
    column_rows,
    join_columns,
    read_column,
    refuse_twice,
    unmasked,
)
from naively.kernels.strings import Strings
from naively.messages import warn

# Rows as a user has them, which ``as_rows`` reads: an array, a SciPy matrix, a frame, a mapping of
# columns, a list of records, of lists or of texts. They have no type in common.
Table: TypeAlias = Any

TEXT = "text"  # the name of the one column of a list of texts
CELLS = {str, bytes, bool, int, float, type(None)}  # types of cells, of which most are
DISTINCT = 0.5  # a column with a greater share of distinct cells looks like words, not categories


def as_rows(X: Table, texts: bool | None = None) -> Rows:
    """Read a table.

    Parameters
    ----------
    X : array, sparse matrix, frame, mapping of columns, list of records or of texts
        NumPy (two dimensions, or structured; objects and strings column by column), SciPy sparse,
        pandas, Polars, PyArrow and other frames that Narwhals knows (lazy ones are collected),
        whatever has the Arrow stream interface, ``{name: column}``, ``[{name: cell}, ...]``,
        nested lists, or strings, which make one text column.
    texts : bool, optional
        Whether a list of lists of strings (or integers) is a list of texts, each given by its
        words, rather than a table. By default it is a table if all lists have the same length. If
        their lengths differ, lists of strings are texts, and lists of integers are an error, as
        they may be a mistake. A warning says that lists of strings were read as a table if few
        cells of any column are equal, as they may have been meant as texts.

    Raises
    ------
    ValueError
        If a column cannot be read; the message names the column.
    TypeError
        If ``X`` is no table.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]]).numbers(range(2))
    array([[1., 2.],
           [3., 4.]])
    >>> as_rows([{"size": 3.0, "colour": "red"}, {"size": 4.0}]).values("colour")
    array(['red', None], dtype=object)
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray):
        return _array_rows(X if X.dtype.names is not None else unmasked(X))
    if hasattr(X, "tocsr"):  # before mappings: SciPy's dictionary of keys is one too
        return _sparse_rows(X)
    if isinstance(X, Mapping):
        refuse_twice(X)
        return join_columns({str(name): _column(str(name), column) for name, column in X.items()})
    if isinstance(X, str | bytes):
        raise TypeError("Expected a table or a list of texts, got one string; wrap it in a list.")
    if isinstance(X, list | tuple):
        return _list_rows(list(X), texts)
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
    """Return strings in a column of any library as Strings, and any other labels as they are.

    Examples
    --------
    >>> import polars as pl
    >>> read_labels(pl.Series(["a", "b"]))
    Strings(['a', 'b'])
    """
    if isinstance(y, np.ndarray | list | tuple | str) or y is None:
        return y
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_series(y):
        is_string = pandas.is_string(y.dtype)
    else:
        is_string = speaks_arrow(y) and ArrowStream(y).format in STRING_FORMATS
    return _column("y", y)[0] if is_string else y


def is_on_cluster(X: Table) -> bool:
    """Whether a table is a frame of Spark, which is counted and predicted where its rows are."""
    spark = sys.modules.get("pyspark.sql")
    return spark is not None and isinstance(X, spark.DataFrame)


def as_table(rows: Rows) -> Any:
    """Return rows as an array, a list of texts, or a mapping of columns, which ``as_rows`` reads.

    Examples
    --------
    >>> as_table(as_rows({"a": [1, 2]}))
    {'a': array([1, 2])}
    """
    columns = {name: rows.values(name) for name in rows.names}
    if list(columns) == [TEXT] and rows.kind(TEXT) == "text":
        return columns[TEXT].tolist()
    if not columns or any(isinstance(name, str) for name in columns):
        return columns
    return np.column_stack(list(columns.values()))


def _foreign_rows(X: Any) -> Rows:
    """Read a frame or series of another library: by Arrow if it speaks it, else by Narwhals."""
    if "pandas" in sys.modules and isinstance(X, sys.modules["pandas"].DataFrame):
        dtypes = X.dtypes.tolist()
        matrix = pandas.read_matrix(X, dtypes)
        return _frame_rows(pandas.read_frame(X, dtypes), len(X)) if matrix is None else matrix
    import narwhals.stable.v2 as nw

    if nw.to_native(X, pass_through=True) is not X:
        return _foreign_rows(nw.to_native(X))
    X = X.toArrow() if is_on_cluster(X) else X
    if nw.dependencies.is_pandas_series(X):
        return _series_rows(*pandas.read_series(TEXT, X))
    if speaks_arrow(X):
        stream = ArrowStream(X)
        if stream.names is None:
            return _series_rows(*stream.read_column(TEXT))
        if stream.foreign:
            return _frame_rows(_with_objects(nw.from_native(X), stream.foreign), 0)
        return _frame_rows(stream.read(), 0)
    native = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        return _foreign_rows(native.collect())
    if hasattr(X, "__array__"):
        return _array_rows(np.asarray(X))
    raise TypeError(
        f"Cannot read a {type(X).__name__} as a table; pass an array, a sparse matrix, a frame, "
        "a mapping of columns, a list of records or a list of texts."
    )


def _with_objects(frame: Any, foreign: Sequence[str]) -> dict[str, Column]:
    """Read a Narwhals data frame of which some columns have types that Arrow does not have."""
    columns = ArrowStream(frame.drop(foreign).to_native()).read()
    columns |= {name: read_column(name, frame[name].to_list()) for name in foreign}
    return {name: columns[name] for name in frame.columns}


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
        return pandas.read_series(name, column)
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
        return _record_rows(values)
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
    """Whether lists are texts, each given by its words, rather than the rows of a table.

    ``texts`` decides if it is given, and else the lengths of the lists. Words are strings, or
    integers that stand for them. Lists of one string each are a column if a string has a space.
    """
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
            '{"text": X} or event_models=Text(); that it is a table is said by a mapping of '
            "columns.",
        )
    if same:
        return False
    if texts is False:
        raise ValueError(
            "The rows have different lengths, so that they are no table; and a table was learned, "
            "no texts."
        )
    if not any(isinstance(word, str) for row in rows if row is not None for word in row):
        raise ValueError(
            "The rows have different lengths, so that they are no table. If they are numbers "
            'of words, say so: {"text": rows}, or event_models="text".'
        )
    return True


def _may_be_words(rows: list[Any]) -> bool:
    """Whether lists of strings, all of the same length, have few equal cells in any column."""
    if len(rows[0]) < 2 or not all(isinstance(word, str) for row in rows for word in row):
        return False
    return all(len(set(column)) > DISTINCT * len(rows) for column in zip(*rows, strict=True))


def _record_rows(records: list[Mapping[Any, Any]]) -> Rows:
    """Read records; a cell is missing where a record lacks its name."""
    names = dict.fromkeys(chain.from_iterable(records))
    refuse_twice(names)
    return column_rows({str(name): [record.get(name) for record in records] for name in names})


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
