"""The kind of a column of a table, and its cells as a NumPy array of that kind.

A column of text is of the first kind that all its cells have; DuckDB is asked about every cell.
"""

# ruff: noqa: S608  all that is put into SQL here is quoted by scan.py
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from naively.data.files.scan import GUESSES, Connection, Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAT = np.iinfo(np.int64).min  # the microseconds that NumPy takes for no time
EXACT = (1 << 53) - 1  # up to here each integer is a float of its own
SAMPLE_ROWS = 2048
WIDE = 500  # columns

# A column of text is of a kind if every cell passes its check. Without the second conditions DuckDB
# would take 1_000 for a number, and 10-5-3 for a time. Texts such as 007, and integers of more
# digits than a float holds, are names of things; they are numbers only where a model expects them.
CHECKS = {
    "integer": "TRY_CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}"
    f" AND TRY_CAST({{0}} AS BIGINT) BETWEEN {-EXACT} AND {EXACT}",
    "number": "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')"
    r" AND NOT regexp_matches({0}, '^\s*[-+]?0\d')"
    r" AND NOT (regexp_full_match({0}, '\s*[-+]?\d+\s*')"
    f" AND abs(TRY_CAST({{0}} AS DOUBLE)) > {EXACT})",
    "any number": "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')",
    "boolean": "lower({0}) IN ('true', 'false')",
    "time": "TRY_CAST({0} AS TIMESTAMPTZ) IS NOT NULL"
    r" AND regexp_matches({0}, '^\d{{4}}[-/]\d\d?[-/]\d\d?')",
}
VALUES = {
    "integer": "CAST({0} AS BIGINT)",
    "number": "CAST({0} AS DOUBLE)",
    "any number": "CAST({0} AS DOUBLE)",
    "boolean": "CAST({0} AS BOOLEAN)",
    "time": "epoch_us(CAST({0} AS TIMESTAMPTZ))",
    "text": "CAST({0} AS VARCHAR)",
}

KEPT_AS = {"integer": np.int64, "time": np.int64, "number": np.float64, "boolean": np.bool_}

Kinds: TypeAlias = dict[Field, tuple[str, ...]]
Values: TypeAlias = "dict[Field, NDArray[Any]]"


def kinds_of_many(connection: Connection, table: str, kinds: Kinds) -> Kinds:
    """Return the kind of each of many columns, whose cells are checked as if in one long column.

    An expression for each column would cost DuckDB time by the square of their number.
    """
    checks = [
        f"bool_and(cell IS NULL OR coalesce({CHECKS[kind].format('cell')}, false))"
        for kind in GUESSES
    ]
    cells = ", ".join(field.sql for field in kinds)
    found = connection.execute(
        f"SELECT i, {', '.join(checks)} FROM (SELECT unnest([{cells}]) AS cell, "
        f"unnest(range({len(kinds)})) AS i FROM {table}) GROUP BY i ORDER BY i"
    ).fetchall()
    passed = [{k for k, good in zip(GUESSES, of, strict=True) if good} for _, *of in found]
    return {
        field: (next(k for k in of if k == "text" or k in passed[i]),) if passed else of[:1]
        for i, (field, of) in enumerate(kinds.items())
    }


def settle(connection: Connection, table: str, kinds: Kinds) -> tuple[Kinds, Values]:
    """Read each column as the first of its possible kinds that all its cells have.

    Returns
    -------
    kinds : dict of Field to tuple of str
        The kinds that are still possible, the one that was found first.
    values : dict of Field to ndarray of shape (rows,)
        The columns.
    """
    values: Values = {}
    while open_fields := [field for field in kinds if field not in values]:
        selected = []
        for i, field in enumerate(open_fields):
            kind = kinds[field][0]
            cell = VALUES[kind].format(field.sql)
            if len(kinds[field]) > 1:
                check = CHECKS[kind].format(field.sql)
                selected.append(f"CASE WHEN {check} THEN {cell} END AS v{i}")
                selected.append(f"{field.sql} IS NOT NULL AS given{i}")
            else:
                selected.append(f"{cell} AS v{i}")
        arrays = connection.execute(f"SELECT {', '.join(selected)} FROM {table}").fetchnumpy()
        kinds = dict(kinds)
        for i, field in enumerate(open_fields):
            column, given = arrays[f"v{i}"], arrays.get(f"given{i}")
            if given is not None and (given & np.ma.getmaskarray(column)).any():
                kinds[field] = kinds[field][1:]
            else:
                values[field] = column
    return kinds, values


def masked(cells: Sequence[Any], kind: str) -> NDArray[Any]:
    """Return cells as an array of shape (rows,) like DuckDB's own: masked where a cell is None."""
    missing = np.fromiter((cell is None for cell in cells), np.bool_, len(cells))
    dtype = KEPT_AS.get(kind, object)
    if not missing.any():
        return np.array(cells, dtype)
    default = None if dtype is object else 0
    array: NDArray[Any] = np.array([default if c is None else c for c in cells], dtype)
    return np.ma.MaskedArray(array, missing)


def filled_in(array: NDArray[Any], kind: str, *, exact: bool = False) -> NDArray[Any]:
    """Return a plain array of shape (rows,), with NaN, NaT or None in the cells that are masked.

    Integers beside a missing cell become floats, or objects if they are to be exact.
    """
    if kind == "time":
        return np.ma.filled(array.astype(np.int64), NAT).view("M8[us]")
    if not isinstance(array, np.ma.MaskedArray):
        return array
    mask = np.ma.getmaskarray(array)
    if not mask.any():
        return array.data
    if kind == "integer":
        exact = exact or bool((np.abs(array.compressed()) > EXACT).any())
    as_objects = kind in ("boolean", "text") or (kind == "integer" and exact)
    missing, dtype = (None, object) if as_objects else (np.nan, np.float64)
    filled: NDArray[Any] = array.data.astype(dtype)
    filled[mask] = missing
    return filled
