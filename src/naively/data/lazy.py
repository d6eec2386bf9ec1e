"""What is not in memory is a stream: engines' tables, lazy frames, readers, iterators of tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from naively.data.arrow import ArrowStream
from naively.data.columns import Column
from naively.data.frames import Table, as_rows
from naively.data.stream import ROWS, ArrowBatches, Stream, in_pieces


def as_stream(X: Table) -> Stream | None:
    """Return a table that is not in memory as a stream; None if it is in memory.

    Parameters
    ----------
    X : table
        A DuckDB relation, a Polars LazyFrame, an Ibis table, a PyArrow dataset, scanner or
        RecordBatchReader, an iterator of tables of any kind (as ``pandas.read_csv`` gives with
        ``chunksize``), or a `Stream`.

    Notes
    -----
    A reader and an iterator can be read only once.

    Examples
    --------
    >>> import duckdb
    >>> as_stream(duckdb.sql("select 1 as a")).names
    ['a']
    """
    if isinstance(X, Stream):
        return X
    for name, read in _KNOWN.items():  # what was never imported has made no table
        module = sys.modules.get(name)
        if module is not None and (stream := read(X, module)) is not None:
            return stream
    if isinstance(X, Iterator):
        return TablesInTurn(X)
    return None


class TablesInTurn(Stream):
    """The tables of an iterator, one after another, which can be read once."""

    again = False

    def __init__(self, tables: Iterator[Table]) -> None:
        self._first = next(tables, None)
        self._rest = tables
        names = [] if self._first is None else list(map(str, as_rows(self._first).names))
        super().__init__(names, dict.fromkeys(names, ("time",)))

    def columns(self) -> Iterator[dict[str, Column]]:
        table, self._first = self._first, None
        while table is not None:
            rows = as_rows(table)
            columns = {str(name): (rows.cells(name), rows.kind(name)) for name in rows.names}
            yield from in_pieces(columns)
            table = next(self._rest, None)


def _of_duckdb(X: Any, duckdb: Any) -> Stream | None:
    if not isinstance(X, duckdb.DuckDBPyRelation):
        return None
    return ArrowBatches(lambda: X, X.columns, again=True)


def _of_polars(X: Any, polars: Any) -> Stream | None:
    if not isinstance(X, polars.LazyFrame):
        return None
    return LazyFrames(X)


class LazyFrames(Stream):
    """A lazy frame of Polars, which is collected in batches."""

    def __init__(self, frame: Any) -> None:
        names = frame.collect_schema().names()
        super().__init__(names, dict.fromkeys(names, ("time",)))
        self._frame = frame

    def columns(self) -> Iterator[dict[str, Column]]:
        for frame in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
            for columns in ArrowStream(frame):
                yield from in_pieces(columns)


def _of_arrow(X: Any, pyarrow: Any) -> Stream | None:
    if isinstance(X, pyarrow.RecordBatchReader):
        return ArrowBatches(lambda: X, X.schema.names, again=False)
    return None


def _of_dataset(X: Any, dataset: Any) -> Stream | None:
    if isinstance(X, dataset.Dataset):
        begin = lambda: X.scanner(batch_size=ROWS).to_reader()  # noqa: E731
        return ArrowBatches(begin, X.schema.names, again=True)
    if isinstance(X, dataset.Scanner):
        return ArrowBatches(X.to_reader, X.projected_schema.names, again=True)
    return None


def _of_ibis(X: Any, ibis: Any) -> Stream | None:
    if not isinstance(X, ibis.expr.types.Table):
        return None
    return ArrowBatches(lambda: X.to_pyarrow_batches(chunk_size=ROWS), X.columns, again=True)


_KNOWN: Mapping[str, Callable[[Any, Any], Stream | None]] = {
    "duckdb": _of_duckdb,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
    "pyarrow.dataset": _of_dataset,
    "ibis": _of_ibis,
}
