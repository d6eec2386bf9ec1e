"""What a model takes as rows in JSON: their schema, and rows that are read by it.

A row is an object of cells by the names of the columns; of a model whose columns have no names, an
array of cells; of one that knows a text alone, also that text. What a cell may be follows from what
the column was taken for. How a cell is read never depends on the rows that it comes with.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from sys import float_info
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from naively.counting.axis import Level, Levels, Name, title
from naively.data.columns import (
    READ_AS,
    Cells,
    ColumnRows,
    Kind,
    Reading,
    column_rows,
    missing_column,
    read_column,
)
from naively.data.reading import odd_words, with_readings
from naively.frozen import Frozen
from naively.kernels.strings import Strings
from naively.messages import shortened
from naively.model.model import Model
from naively.schema.schema import Schema, list_names

Value: TypeAlias = Any  # what JSON holds
Json: TypeAlias = dict[str, Value]  # an object
Type: TypeAlias = Any  # a type of a cell, as msgspec reads types

TIME = "2026-11-21T10:30:00Z"
EXAMPLES = 10  # levels of a column that its schema names
LONGEST = 40  # characters of a cell that a sentence shows
NUMBER: Type = Annotated[float, Meta(ge=-float_info.max, le=float_info.max)]
OF_KIND: dict[Kind | None, tuple[Type, str]] = {  # what JSON has for a column, and its name
    "number": (NUMBER, "a number"),
    "boolean": (bool, "true or false"),
    "time": (str, f"a time, such as {TIME}"),
    "string": (str, "a string"),
    "text": (str, "a text"),
    None: (bool | NUMBER | str, "a cell"),
}
COMPOUND: dict[type, str] = {list: "an array", dict: "an object"}
EXAMPLE: dict[Kind | None, Value] = {"number": 1.5, "boolean": True, "time": TIME, "text": "a text"}
IN_UTC = Meta(
    description="A time; without a zone it is in UTC.",
    examples=[TIME],
    extra_json_schema={"format": "date-time"},
)


class RequestError(ValueError):
    """A request that is not answered, with a status of HTTP and a sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def parse(body: bytes | bytearray) -> Value:
    """Return what JSON holds, in which no number is infinite and no key is there twice."""
    try:
        return json.loads(body, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise RequestError(400, "The request is JSON that is nested too deeply.") from None
    except ValueError as error:
        raise RequestError(400, f"The request is not JSON: {str(error).rstrip('.')}.") from None


def _object(pairs: list[tuple[str, Value]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {_shown(twice)} twice")
    return found


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


class RowColumn(Frozen, eq=True):
    """A column of a model, and what its cells may be in JSON."""

    name: Name
    # what it was learned as; None where it was missing throughout, or may hold anything
    kind: Kind | None
    reading: Reading | None = None  # how its strings are read, where they stand for something else
    levels: tuple[Level, ...] = ()  # some that are known, as examples

    @cached_property
    def cell_type(self) -> Type:
        """What a cell may be: it is read by it, and JSON Schema is written from it."""
        of_kind = OF_KIND[self.kind][0] | None
        if self.kind == "time":
            return Annotated[of_kind, IN_UTC]
        if self.kind == "text":
            return Annotated[of_kind, Meta(description="A text.")]
        examples = [*self.levels, *self._words][:EXAMPLES] or None
        if self.reading is None:
            return Annotated[of_kind, Meta(examples=examples)]
        about = f"{OF_KIND[self.reading.kind][1].capitalize()}, or as a string."
        return Annotated[of_kind | str, Meta(description=about, examples=examples)]

    @property
    def _words(self) -> tuple[str, ...]:
        """The words that stand in place of values."""
        return () if self.reading is None else self.reading.words or ()

    def read(self, cells: list[Value]) -> tuple[Cells, Kind | None, Strings | None]:
        """Return cells of these types as a model takes them, their kind, and words among them."""
        types = set(map(type, cells)) - {type(None)}
        if self.kind is None:
            return np.array(cells, object), "string" if types else None, None
        if self.reading is None or str not in types:
            return *read_column(self.name, cells), None
        written = [cell if type(cell) is str else None for cell in cells]
        strings = column_rows({self.name: written}, {self.name: "string"})
        read = with_readings(strings, {self.name: self.reading})
        words = read.words.get(self.name)
        if words is not None:
            count, row = odd_words(words, self.reading)
            if count:
                raise self.refused(row, cells[row])
        values = read.cells(self.name)
        if types > {str}:
            given = np.array([np.nan if c is None or type(c) is str else c for c in cells], float)
            there = np.array([type(cell) is str for cell in cells])
            values = np.where(there, read.numbers([self.name])[:, 0], given)
        return values, self.reading.kind, words

    def refused(self, row: int, cell: Value) -> RequestError:
        """Return an error that says what was expected instead of a cell."""
        expected = OF_KIND[self.kind][1]
        if self._words:
            expected += f", or one of {', '.join(map(_shown, self._words[:EXAMPLES]))}"
        why = f"expected {expected}, got {COMPOUND.get(type(cell)) or _shown(cell)}"
        if type(cell) in (int, float) and self.kind in ("number", None):
            why = "too large a number"
        return RequestError(422, f"Row {row}, column {_shown(title(self.name))}: {why}.")


class RowForm:
    """What the rows of a model are in JSON."""

    def __init__(
        self, model: Model, *, strict: bool = False, left_out: Collection[str] = ()
    ) -> None:
        # strict: whether a key that is no column is refused, rather than ignored and noted;
        # left_out: keys that are ignored without a note: the label, and what training left out
        self.strict, self.left_out = strict, frozenset(left_out)
        schema: Schema = model.view.schema
        levels = _levels_of(model)
        self.columns = [_column(schema, name, levels.get(name, ())) for name in schema.order]
        self.named = any(isinstance(name, str) for name in schema.order)
        self.known = {str(name) for name in schema.order}
        fields = [(f"of_{j}", list[of.cell_type]) for j, of in enumerate(self.columns)]  # type: ignore[name-defined]
        self.cells = msgspec.defstruct("Cells", fields, array_like=True)  # of each column
        self.of_text = self.named and [of.kind for of in self.columns] == ["text"]

    @property
    def schema(self) -> Json:
        """What JSON Schema says of a row."""
        cells, _ = msgspec.json.schema_components([column.cell_type for column in self.columns])
        if not self.named:
            n = len(cells)
            return {"type": "array", "prefixItems": cells, "minItems": n, "maxItems": n}
        of = {str(column.name): cell for column, cell in zip(self.columns, cells, strict=True)}
        row = {"type": "object", "properties": of, "additionalProperties": not self.strict}
        return {"anyOf": [row, {"type": "string"}]} if self.of_text else row

    @property
    def example(self) -> Value:
        """A row that is taken."""
        cells = [next(iter(of.levels), EXAMPLE.get(of.kind)) for of in self.columns]
        names = (str(of.name) for of in self.columns)
        return dict(zip(names, cells, strict=True)) if self.named else cells

    @property
    def empty(self) -> Value:
        """A row whose cells are all missing."""
        return {} if self.named else [None] * len(self.columns)

    def read(self, given: Value, most: int | None = None) -> tuple[ColumnRows, list[str]]:
        """Return the rows of a request, and notes on what was ignored."""
        # given: a row, or a list of rows; most: how many rows are taken
        one = type(given) is not list
        if not (one or self.named):  # a list of cells is one row, too
            one = bool(given) and type(given[0]) is not list
        rows = [given] if one else given
        if most is not None and len(rows) > most:
            why = f"The request has {len(rows):,} rows, and at most {most:,} are taken."
            raise RequestError(413, why)
        notes: list[str] = []
        if self.named:
            rows = [self._as_object(i, row) for i, row in enumerate(rows)]
            notes = self._unknown(rows)
            cells = [[row.get(str(of.name)) for row in rows] for of in self.columns]
        else:
            n = len(self.columns)
            for i, row in enumerate(rows):
                if type(row) is not list:
                    raise RequestError(422, f"Row {i} is not an array of {n:,} cells.")
                if len(row) != n:
                    has = f"has {len(row):,} cells, and there are {n:,} columns"
                    raise RequestError(422, f"Row {i} {has}.")
            cells = [[row[j] for row in rows] for j in range(n)]
        try:
            msgspec.convert(cells, self.cells)
        except msgspec.ValidationError as error:  # its path is, say, $[column][row]
            j, i = map(int, re.findall(r"\[(\d+)\]", str(error)))
            raise self.columns[j].refused(i, cells[j][i]) from None
        read = {of.name: of.read(own) for of, own in zip(self.columns, cells, strict=True)}
        found = ColumnRows(
            {name: values for name, (values, _, _) in read.items()},
            {name: kind for name, (_, kind, _) in read.items()},
            len(rows),
            {of.name: of.reading for of in self.columns if of.reading is not None},
            {name: words for name, (_, _, words) in read.items() if words is not None},
        )
        return found, notes

    def _as_object(self, i: int, row: Value) -> Json:
        match row:
            case dict():
                return row
            case str() if self.of_text:
                return {str(self.columns[0].name): row}
            case str():
                why = "a text, which only a model of one column of texts takes; give an object"
            case _:
                why = "not an object of cells by the names of their columns"
        raise RequestError(422, f"Row {i} is {why}.")

    def _unknown(self, rows: Sequence[Json]) -> list[str]:
        """Return a note on keys that are no columns, or refuse them."""
        unknown: dict[str, None] = {}  # in the order in which they come
        for i, row in enumerate(rows):
            if row.keys() <= self.known:
                continue
            others = row.keys() - self.known
            if self.strict or len(others) == len(row):
                first = next(name for name in row if name in others)
                names = [str(of.name) for of in self.columns]
                said = missing_column(shortened(first, LONGEST), names)
                raise RequestError(422, f"Row {i}: {said}")
            others -= self.left_out
            unknown |= dict.fromkeys(name for name in row if name in others)
        if not unknown:
            return []
        listed = list_names([shortened(name, LONGEST) for name in unknown])
        return [f"Column {listed} was not learned: ignored."]


def _column(schema: Schema, name: Name, levels: tuple[Level, ...]) -> RowColumn:
    """Return what the cells of a column may be."""
    group = schema.columns.get(name)
    if group is None or group.event.layout == "rows":  # what is one event with others is anything
        return RowColumn(name, None)
    kind, reading = group.kind, schema.readings.get(name)
    if kind == "time":
        reading = reading or READ_AS["time"]
    elif reading is not None:
        # Plain numbers are numbers in JSON, however a file wrote them; levels stay as they are
        # written, and the model finds the marks among them.
        is_plain = reading.content == "number" and reading.words == () and not reading.scaled
        reading = None if reading.is_levels or is_plain else reading
    return RowColumn(name, kind, reading, levels if kind in ("number", "string") else ())


def _levels_of(model: Model) -> dict[Name, tuple[Level, ...]]:
    """Return some levels of each column that has them, the most frequent first."""
    found: dict[Name, tuple[Level, ...]] = {}
    for group in model.view.schema.groups:
        block = model.view.tally.blocks[group.key]
        axis = block.axis
        if not isinstance(axis, Levels) or group.derived or group.kind == "word":
            continue
        sums = next(of for statistic, of in block.sums.items() if statistic not in axis.shared)
        count = np.asarray(sums.by_row())
        for name, levels, first in zip(axis.columns, axis.levels, axis.first, strict=False):
            order = np.argsort(-count[first : first + len(levels)], kind="stable")[:EXAMPLES]
            found[name] = tuple(levels[i] for i in order.tolist())
    return found


def _shown(cell: Value) -> str:
    """Return a cell or a name as a sentence shows it."""
    if isinstance(cell, str):
        return json.dumps(shortened(cell, LONGEST))
    return shortened(json.dumps(cell), LONGEST)
