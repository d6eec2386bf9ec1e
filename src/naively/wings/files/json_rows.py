"""JSON: an object is a row, on a line of its own, in an array, or under a key of another.

A record within a row becomes columns, as ``user.score``. What a column is follows from all of its
values; where they are of several types, each stays what was written.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType, defstruct

from naively.data.columns import EXACT, Column, read_column
from naively.data.stream import Stream, in_pieces
from naively.kernels.dispatch import pack_strings
from naively.kernels.splitting import LONGEST
from naively.wings.files.delimited import said_left_out
from naively.wings.files.formats import listed
from naively.wings.files.source import LIMIT, Asked, Source, plain_extension

Json: TypeAlias = Any  # what JSON holds
Row: TypeAlias = "dict[str, Json]"
Cells: TypeAlias = "list[Json]"

BLOCK = 1 << 22  # bytes of lines that are decoded together
ROW_LABEL = re.compile(r"-?\d+|\d{4}-\d\d-\d\d.*")  # as pandas has them: numbers, or times
NOT_BLANK = re.compile(r"\S")
KEY_END = re.compile(rb'"(?<![^\\]\\")\s*:(?:\s*"\s*:)?')  # no escaped quote is one, nor ":-)"
LARGE = 1 << 63  # a whole number of 64 bits is less
ROWS = msgspec.json.Decoder(dict[str, object])
ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
TYPES = {
    "integer": Annotated[int, msgspec.Meta(ge=-LARGE, le=LARGE - 1)] | None | UnsetType,
    "number": float | None | UnsetType,
    "boolean": bool | None | UnsetType,
    "text": str | None | UnsetType,
    "words": list[str] | None | UnsetType,
}
ANY, NONE = int | float | bool | str | None | UnsetType, None | UnsetType
NUMBERS = {"integer", "number", "huge"}
CONSTANTS = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
KINDS = {float: "number", bool: "boolean", str: "text"}


class JsonTable(Stream):
    """The rows of a file of JSON."""

    def __init__(self, source: Source, asked: Asked) -> None:
        try:
            self._lines = _Lines(source)
        except UnicodeDecodeError:
            self._lines = _Lines(source.decoded())
        found = self._lines.kinds
        ignored = [name for name, of in found.items() if "record" in of and name in asked.ignore]
        within = tuple(f"{name}." for name in ignored)
        texts = {name for name, of in asked.wanted.items() if of.kind == "string"}
        kinds = {
            name: _kind(of, name == asked.labels, name in texts)
            for name, of in found.items()
            if not (within and name.startswith(within))
        }
        offered = [name for name, kind in kinds.items() if kind != "record" or name in ignored]
        if not {*offered} - {""}:
            raise ValueError(
                f"{source.name} is {self._lines.what} without a column: a row is an object with "
                "named keys."
            )
        chosen = {*asked.choose(offered)}
        self._kinds = {name: kinds[name] for name in offered if name in chosen}
        for name, kind in self._kinds.items():
            if kind == "nested":
                raise ValueError(
                    f'Column "{name}" of {source.name} holds lists, records or bytes: '
                    "ignore it, or flatten it into columns of numbers or text."
                )
        self._as_written = {
            n for n, of in self._kinds.items() if of == "text" and found[n] - {"text"}
        }
        # Fractions that are labels stay as they are written, but are read as numbers.
        super().__init__(
            list(self._kinds),
            [
                name
                for name, kind in self._kinds.items()
                if kind == "text" and (name != asked.labels or found[name] & {"number"})
            ],
            {n: asked.wanted[n] for n in self._kinds if n in asked.wanted and n != asked.labels},
        )
        self.total, self._most, self._labels = self._lines.rows, asked.rows, asked.labels

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that was repaired, or is not of the kind expected."""
        return (*self._lines.notes, *super().notes)

    def columns(self) -> Iterator[dict[str, Column]]:
        if not self.names:
            return
        shape = _Shape({name: TYPES[of] for name, of in self._kinds.items()})
        is_flat = self._lines.is_flat and not self._as_written
        for number, block in self._lines.blocks():
            found = shape.cells(block) if is_flat else None
            if found is None:
                found = {name: of for name, of, _ in _cells(self._lines.decoded(number, block))}
            if self._as_written:
                written = _cells(self._lines.written(number, block))
                found |= {name: of for name, of, _ in written if name in self._as_written}
            rows = max(map(len, found.values()), default=0)
            nothing = [None] * rows
            columns = {
                name: _column(name, kind, found.get(name, nothing), is_label=name == self._labels)
                for name, kind in self._kinds.items()
            }
            if rows:
                yield from in_pieces(columns, self._most)

    def where(self, name: str, row: int) -> tuple[str, str]:
        return f'Column "{name}" of {self._lines.source.name}', f"row {row + 1}"


# --- Columns -------------------------------------------------------------------------------------


def _cells(rows: Sequence[Row], within: str = "") -> Iterator[tuple[str, Cells, bool]]:
    """Yield the name and the cells of each column, and whether records were among these."""
    # A record has columns of its own, behind that of what is none.
    for key in dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, rows)))):
        cells = [row.get(key) for row in rows]
        name, records = f"{within}{key}", []
        if dict in {*map(type, cells)}:
            records = [cell if type(cell) is dict else {} for cell in cells]
            cells = [None if type(cell) is dict else cell for cell in cells]
        yield name, cells, bool(records)
        yield from _cells(records, f"{name}.")


def _kinds_of(cells: Cells) -> set[str]:
    """Return what kinds of values there are."""
    found = set[str]()
    for of in {*map(type, cells)}:
        if of is int:
            whole = [cell for cell in cells if type(cell) is int]
            found.add("integer" if min(whole) >= -LARGE and max(whole) < LARGE else "huge")
        elif of is list:
            words = chain.from_iterable(cell for cell in cells if type(cell) is list)
            found.add("words" if {*map(type, words)} <= {str} else "nested")
        elif of in KINDS:
            found.add(KINDS[of])
    return found


def _kind(found: set[str], is_label: bool, is_text: bool) -> str:
    """Return what a column is, by the kinds of its values."""
    if found == {"record"}:
        return "record"
    if found & {"nested", "words", "record"}:
        return "words" if found == {"words"} else "nested"
    if not is_text and found in ({"integer"}, {"boolean"}):
        return next(iter(found))
    is_number = "number" in found and found <= NUMBERS and not is_label and not is_text
    return "number" if is_number else "text"


def _column(name: str, kind: str, cells: Cells, *, is_label: bool) -> Column:
    if kind == "text":
        found = pack_strings(cells)
        assert found is not None
        return found, "string" if found.any_there else None
    if kind == "integer" and is_label and None in cells:
        return np.array(cells, object), "number"
    if kind == "number" or (kind == "integer" and None in cells):
        floats = np.array(cells, np.float64)
        if kind == "number" or np.nanmax(np.abs(floats), initial=0) < EXACT:
            return floats, "number"
    return read_column(name, cells if kind == "words" or None in cells else np.array(cells))


class _Shape:
    """Rows that have these keys, with values of these types: they are decoded faster."""

    def __init__(
        self, types: Mapping[str, object], optional: Collection[str] | None = None
    ) -> None:
        # optional: the keys that some rows do not have; if it is given, no row has other keys
        self._names = {f"c{i}": name for i, name in enumerate(types)}
        self._optional = [field for field, of in self._names.items() if of in (optional or ())]
        strict = optional is not None
        fields: list[Json] = [
            (field, types[name], UNSET if strict else None)
            if not strict or field in self._optional
            else (field, types[name])
            for field, name in self._names.items()
        ]
        of = defstruct("Row", fields, rename=self._names, forbid_unknown_fields=strict,
                       kw_only=True, gc=False)  # fmt: skip
        self._decoder = msgspec.json.Decoder(of)

    def _rows(self, block: bytes) -> list[msgspec.Struct] | None:
        """Return the rows of some lines; None if one of them is of another shape."""
        try:
            rows = self._decoder.decode_lines(block)
        except (msgspec.DecodeError, RecursionError):
            return None
        return rows if _are_lines(len(rows), block) else None

    def cells(self, block: bytes) -> dict[str, Cells] | None:
        """Return the cells of each column; None if some row is of another shape."""
        rows = self._rows(block)
        if rows is None:
            return None
        return {name: list(map(attrgetter(field), rows)) for field, name in self._names.items()}

    def count(self, block: bytes) -> int | None:
        """Return how many rows there are; None if one is of another shape, or has a key twice."""
        rows = self._rows(block)
        if rows is None:
            return None
        absent = sum(list(map(attrgetter(of), rows)).count(UNSET) for of in self._optional)
        return len(rows) if _are_keys(block, len(rows) * len(self._names) - absent) else None


def _type_of(kinds: set[str]) -> object:
    """Return the type of values that make no other thing of a column."""
    if kinds == {"integer", "number"}:
        return TYPES["number"]
    if len(kinds) == 1 and kinds <= TYPES.keys():
        return TYPES[next(iter(kinds))]
    return NONE if not kinds or kinds & {"nested", "words"} else ANY


# --- Lines ---------------------------------------------------------------------------------------


class _Lines:
    """The rows of a file as lines of JSON, whatever they are in the file."""

    def __init__(self, source: Source) -> None:
        self.source, self.rows, self.notes = source, 0, source.notes
        self.kinds: dict[str, set[str]] = defaultdict(set)  # of the values of each column
        self._optional: set[str] = set()  # keys that some rows do not have
        self._bad: list[tuple[int, bytes]] = []  # lines that are left out
        self.what, self._is_known = "JSON lines", False  # whether all has been read once
        self._text: bytes | None = None  # of rows that are not the lines of the file
        head = [line for line in source.head() if line.strip()]
        if head and head[0].lstrip().startswith("["):
            self._split_array()
        elif len(head) == 1 or (head and line_fault(head[0].encode())):
            self._unwrap()
        shape = None
        for number, block in self.blocks():
            rows = None if shape is None else shape.count(block)
            if rows is None:
                rows = self._look_at(self.decoded(number, block))
                types = {name: _type_of(kinds) for name, kinds in self.kinds.items()}
                shape = _Shape(types, self._optional) if self.is_flat else None
            self.rows += rows
        self._is_known = True
        self.notes += tuple(source.says_encoding(self._strays))
        if self._bad and source.left_out is not None:
            source.left_out.writelines(line.rstrip(b"\r\n") + b"\n" for _, line in self._bad)
            self.notes += (said_left_out(source, len(self._bad), self._bad[0][0]),)

    @property
    def is_flat(self) -> bool:
        """Whether no row has a record in it, nor is bad, as far as that is known."""
        return not self._bad and not any("record" in kinds for kinds in self.kinds.values())

    def _look_at(self, rows: list[Row]) -> int:
        """Add what kinds of values rows have, and return how many rows there are."""
        names = set[str]()
        shapes, known = {*map(frozenset, rows)}, self.kinds.keys()
        if shapes:
            every, common = frozenset[str]().union(*shapes), frozenset.intersection(*shapes)
            self._optional |= (known | every) - common
            self._optional |= every - known if self.rows else set()
        for name, cells, has_records in _cells(rows):
            if name in names:
                raise ValueError(
                    f'{self.source.name} has the key "{name}" more than once, within another and '
                    "by itself: rename one."
                )
            names.add(name)
            self.kinds[name] |= _kinds_of(cells) | ({"record"} if has_records else set())
        return len(rows)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines in blocks, and the number of the first line of each."""
        number, held = 1, bytearray()
        for text in self._pieces() if self._text is None else [self._text]:
            first = text.find(b"\n")
            if len(held) - held.rfind(b"\n") + (len(text) if first < 0 else first) > LONGEST + 1:
                line = number + held.count(b"\n")
                raise ValueError(
                    f"Line {line} of {self.source.name} is longer than {LIMIT}: split it."
                )
            held += text
            end = held.rfind(b"\n") + 1
            if end and len(held) >= BLOCK:
                yield number, bytes(memoryview(held)[:end])
                number += held.count(b"\n", 0, end)
                del held[:end]
        if held:
            yield number, bytes(held)

    def _pieces(self) -> Iterator[bytes]:
        self._strays = 0  # bytes that have no character
        for text, strays in self.source.pieces():
            self._strays += strays
            yield text

    def decoded(self, number: int, block: bytes) -> list[Row]:
        """Return the rows of some lines, of which the first has a number; bad ones are left out."""
        try:
            rows = ROWS.decode_lines(block)
        except (msgspec.DecodeError, RecursionError):
            rows = []
        is_clean = self._is_known and not self._bad
        if _are_lines(len(rows), block) and (is_clean or _are_keys(block, _keys(rows))):
            return rows
        lines = block.removesuffix(b"\n").split(b"\n")
        read = rows if len(rows) == len(lines) else [None] * len(lines)
        found = map(self._row, range(number, number + len(lines)), lines, read)
        return [row for row in found if row is not None]

    def _row(self, number: int, line: bytes, row: Row | None = None) -> Row | None:
        """Return the row that a line is; None if it is empty, or bad and left out."""
        # It has been read already where the row is given.
        if not line.strip():
            return None
        try:
            row = ROWS.decode(line) if row is None else row
            if _are_keys(line, _keys(row)):
                return row
        except (msgspec.DecodeError, RecursionError):
            pass
        fault = line_fault(line)
        if not fault:
            return cast("Row", json.loads(line))
        if self.what == "JSON lines" and self.source.options.left_out_to:
            if not self._is_known:
                self._bad.append((number, line))
            return None
        raise self._wrong(number if self._text is None else self._line_of(number - 1), fault)

    def _wrong(self, line: int, fault: str) -> ValueError:
        return ValueError(
            f"Line {line} of {self.source.name} {fault}: write one object, {{...}}, a row."
        )

    def written(self, number: int, block: bytes) -> list[Row]:
        """Return the rows of some lines, in which numbers are strings, as they are written."""
        decoder = json.JSONDecoder(
            object_hook=_spelled, parse_int=str, parse_float=str, parse_constant=CONSTANTS.get
        )
        lines = enumerate(block.decode().split("\n"), number)
        return [
            decoder.decode(line) for i, line in lines if self._row(i, line.encode()) is not None
        ]

    # --- Rows that are not the lines of their file

    def _split_array(self) -> None:
        """Make each element of an array a line."""
        self.what = "a JSON array"
        text = b"".join(self._pieces())
        try:
            elements = [bytes(element) for element in ELEMENTS.decode(text)]
        except (msgspec.DecodeError, RecursionError):
            try:
                elements = [json.dumps(row).encode() for row in json.loads(text)]
            except (ValueError, RecursionError) as error:
                raise self._wrong(getattr(error, "lineno", 1), "is not JSON") from None
        if not all(element.startswith(b"{") for element in elements):
            elements = []
        self._text = b"\n".join(re.sub(rb"[\r\n]", b" ", element) for element in elements)

    def _line_of(self, place: int) -> int:
        """Return the line on which an element of an array begins."""
        text, at = b"".join(self._pieces()), 0
        for element in map(bytes, ELEMENTS.decode(text)[: place + 1]):
            at = text.index(element, at) + len(element)
        return 1 + text.count(b"\n", 0, at - len(element))

    def _unwrap(self) -> None:
        """Make rows that are in one object, or that are objects of several lines, lines."""
        text = ""
        for piece in self._pieces():
            text += piece.decode()
            if len(text) > LONGEST:
                return
        documents: list[Json] = []
        decoder, end = json.JSONDecoder(object_pairs_hook=once), 0
        try:
            while begin := NOT_BLANK.search(text, end):
                document, end = decoder.raw_decode(text, begin.start())
                documents.append(document)
        except (ValueError, LookupError, RecursionError):
            return  # what is wrong is said where it is read
        rows, how = documents, ""
        if len(documents) == 1 and isinstance(documents[0], dict):
            as_lines = plain_extension(Path(self.source.name)) in {".jsonl", ".ndjson"}
            rows, how = _table_of(documents[0], self.source.name, as_lines=as_lines)
        if {*map(type, rows)} == {dict}:
            lines = (json.dumps(row, ensure_ascii=False) for row in rows)
            self._text = "\n".join(lines).encode("utf-8", "surrogatepass")
            self.notes += (how,) * bool(how)


def _are_lines(rows: int, block: bytes) -> bool:
    """Whether there are as many rows as lines that are not empty."""
    lines = block.count(b"\n") + (block[-1:] != b"\n")
    return rows == lines or rows == sum(bool(line.strip()) for line in block.split(b"\n"))


def _are_keys(text: bytes, keys: int) -> bool:
    """Whether a text has no more keys than so many; in strings may be what looks like one."""
    return text.count(b":") <= keys or len(KEY_END.findall(text)) <= keys


def _keys(value: Json) -> int:
    """Return how many keys there are in a value, those of records within it among them."""
    if type(value) is dict:
        return len(value) + sum(_keys(of) for of in value.values() if type(of) in (dict, list))
    return sum(map(_keys, value)) if type(value) is list else 0


def _spelled(row: Row) -> Row:
    """Return a row whose truths are strings."""
    return {key: str(of).lower() if type(of) is bool else of for key, of in row.items()}


def once(pairs: list[tuple[str, Json]]) -> Row:
    """Return an object of JSON, whose keys are there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise LookupError(f'has the key "{name}" more than once')
    return found


def line_fault(line: bytes) -> str:
    """Return what is wrong with a line of JSON; an empty string if nothing is."""
    if not line.strip():
        return ""
    try:
        value = json.loads(line, object_pairs_hook=once)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return r"holds half a character (a lone \ud800 to \udfff)"
    except LookupError as error:
        return str(error)
    except (ValueError, RecursionError):
        return "is not JSON"
    return "" if isinstance(value, dict) else "is not an object"


def _table_of(of: dict[str, Json], name: str, *, as_lines: bool) -> tuple[list[Json], str]:
    """Return the rows of a table that one object holds, and a sentence about how it does."""
    types = {key: {*map(type, each)} for key, each in of.items() if type(each) is list}
    columns, data = of.get("columns"), of.get("data")
    is_split = types.get("columns") == {str} and types.get("data") == {list}
    if is_split and {*map(len, data or ())} == {len(columns or ())}:
        rows = [dict(zip(columns or (), row, strict=True)) for row in data or ()]
        return rows, f'{name} was read as a table of "columns" and "data".'
    inner = [key for key, held in types.items() if held == {dict}]
    if len(inner) == 1 and (len(of) == 1 or not as_lines):
        schema = of.get("schema")
        keys = schema.get("primaryKey") if isinstance(schema, dict) else None
        index = [each for each in keys or () if each in ("index", "level_0")]  # of pandas: no name
        rows = [{k: v for k, v in row.items() if k not in index} for row in of[inner[0]]]
        others = [*(key for key in of if key != inner[0]), *index]
        note = f'The rows of {name} are those under "{inner[0]}"'
        return rows, f"{note}; left out: {listed(others)}." if others else f"{note}."
    lists = list(of.values())
    if not as_lines and {*map(type, lists)} == {list} and len({*map(len, lists)}) == 1:
        rows = [dict(zip(of, row, strict=True)) for row in zip(*lists, strict=True)]
        return rows, f"{name} is one object of lists, which were read as columns."
    if as_lines or {*map(type, lists)} != {dict} or any(a.keys() != lists[0].keys() for a in lists):
        return [of], ""
    by_row, by_column = (all(map(ROW_LABEL.fullmatch, keys)) for keys in (of, lists[0]))
    if by_row == by_column:
        raise ValueError(
            f"{name} is one object of objects, whose keys may be columns or rows: write its rows "
            "as a list of objects (in pandas orient='records')."
        )
    rows = [{key: column[label] for key, column in of.items()} for label in lists[0]]
    how = f"{name} is one object of objects, which were read as"
    return (lists, f"{how} rows.") if by_row else (rows, f"{how} columns.")
