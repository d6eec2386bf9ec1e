"""An ARFF file, as Weka writes it: attributes that say what they are, and rows, dense or sparse.

See https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from naively.frozen import Frozen

if TYPE_CHECKING:
    from naively.data.columns import Content

Cell: TypeAlias = "float | str | dt.datetime | None"
Row: TypeAlias = "tuple[list[Cell], bool]"  # its cells, and whether it has a weight

# A value, and the comma, tab, brace or comment behind it. Nothing is tried twice, so that a line
# takes time in proportion to its length.
VALUE = re.compile(
    r"""[ \t]*+(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|((?:(?!\s%)[^,\t{}'"])*+))"""
    r"""[ ]*+(?:(,|\t[ \t]*+,?)|([{}])|%.*|$)"""
)
NAME = re.compile(
    r"""@attribute\s++('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^\s{'"][^\s{]*+)\s*+(.*)""",
    re.IGNORECASE,
)
SPECIAL = re.compile(r"""[\\'"%{}\t]""")  # where a row is more than values between commas
AFTER_ROW = re.compile(r"\s*+\}\s*+(?:,\s*+(\{[^{}]*+\})\s*+)?(?:%.*)?")  # of a sparse row
PLACE_OF = re.compile(r"[ \t]*+(\d{1,9})[ \t]++(?=\S)")  # of an attribute, before its value
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
SHOWN = 5  # levels
ISO = "yyyy-MM-dd'T'HH:mm:ss"  # of dates, where no other format is given
FORMAT = re.compile(r"'([^']*)'|(([A-Za-z])\3*)|.")
DIRECTIVES = {
    **dict.fromkeys(("yyyy", "y", "yyy"), "%Y"),
    "yy": "%y",
    **dict.fromkeys(("M", "MM"), "%m"),
    "MMM": "%b",
    "MMMM": "%B",
    **dict.fromkeys(("d", "dd"), "%d"),
    **dict.fromkeys(("H", "HH"), "%H"),
    **dict.fromkeys(("h", "hh"), "%I"),
    **dict.fromkeys(("m", "mm"), "%M"),
    **dict.fromkeys(("s", "ss"), "%S"),
    "SSS": "%f",
    "a": "%p",
    "Z": "%z",
}


class Attribute(Frozen, eq=True):
    """A column of an ARFF file."""

    name: str
    content: Content | None  # what it is, if the type says it
    # returns the value that is written so; a KeyError or a ValueError if it is none
    read: Callable[[str], Cell]
    what: str
    # what a sparse row means that does not hold it; None if that cannot be told
    absent: float | str | None = None


class _Line:
    """A line of an ARFF file, and where it is."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place

    def wrong(self, what: str) -> ValueError:
        """Return the error for it."""
        return ValueError(f"{self.place} {what}.")

    def values(self, at: int = 0) -> tuple[list[str | None], int]:
        """Return the values from a place on, None where one is missing, and where they end."""
        values: list[str | None] = []
        while True:
            value, more, at = self.value(at)
            values.append(value)
            if not more:
                return values, at

    def value(self, at: int) -> tuple[str | None, bool, int]:
        """Return a value, whether another follows, and where what follows begins."""
        found = VALUE.match(self.text, at)
        if found is None:
            raise self.wrong(
                "has a quote that is not closed, or is inside a value: put values with quotes, "
                "commas or braces between quotes, and a backslash before a quote in them"
            )
        single, double, bare, more, brace = found.groups()
        quoted = double if single is None else single
        at = found.end() - len(brace or "")
        if quoted is not None:
            return _unescaped(quoted), more is not None, at
        bare = bare.strip()
        return None if bare in ("", "?") else bare, more is not None, at


def read_arff(text: Iterable[str], name: str) -> tuple[list[Attribute], Iterator[Row]]:
    """Return the attributes of an ARFF file, and its rows one by one."""
    lines = _lines(text, name)
    attributes = _header(lines, name)
    rows = ((_sparse if of.text[0] == "{" else _dense)(of, attributes) for of in lines)
    return attributes, rows


def _lines(text: Iterable[str], name: str) -> Iterator[_Line]:
    """Yield the lines that are neither empty nor comments."""
    for i, line in enumerate(map(str.strip, text), 1):
        if line and line[0] != "%":
            yield _Line(line, f"Line {i} of {name}")


def _header(lines: Iterator[_Line], name: str) -> list[Attribute]:
    """Return the attributes, and leave the rows."""
    attributes: list[Attribute] = []
    for line in lines:
        word = line.text.split(maxsplit=1)[0].lower()
        if word == "@data":
            if not attributes:
                raise line.wrong("begins the rows, but no @attribute is above it")
            return attributes
        if word == "@attribute":
            attributes.append(_attribute(line))
        elif word != "@relation":
            raise line.wrong("is neither @relation, @attribute nor @data, nor a comment (%)")
    raise ValueError(f"{name} has no line @data, so that it has no rows: check that it is ARFF.")


def _attribute(line: _Line) -> Attribute:
    """Return the attribute that a line declares."""
    found = NAME.match(line.text)
    if found is None:
        raise line.wrong("declares no attribute: write @attribute, its name and its type")
    name, type_ = found.groups()
    if name[0] in "'\"":
        name = _unescaped(name[1:-1])
    word = type_.split(maxsplit=1)[0].lower() if type_ else ""
    if word.startswith("{"):
        return _nominal(line, name, found.start(2) + 1)
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "number", _number, "a number", 0.0)
    if word == "string":
        return Attribute(name, None, str, "a string")
    if word == "date":
        written, _ = _Line(type_[len(word) :], line.place).values()
        return _date(line, name, written[0] or ISO)
    if word == "relational":
        raise line.wrong(f'declares "{name}", a relational attribute: flatten it into columns')
    raise line.wrong(
        f'declares "{name}" to be {word or "of no type"}: write numeric, string, date or {{a, b}}'
    )


def _nominal(line: _Line, name: str, at: int) -> Attribute:
    values, end = line.values(at)
    if line.text[end : end + 1] != "}":
        raise line.wrong(f'has no }} behind the values of "{name}"')
    levels = {value: value for value in values if value is not None}
    shown = ", ".join([*levels][:SHOWN]) + (", ..." if len(levels) > SHOWN else "")
    what = f"one of {shown}"
    return Attribute(name, "levels", levels.__getitem__, what, next(iter(levels), None))


def _number(text: str) -> float | None:
    if text.lower() == "nan":
        return None
    if not NUMERAL.fullmatch(text) or math.isinf(float(text)):
        raise ValueError(text)
    return float(text)


def _date(line: _Line, name: str, written: str) -> Attribute:
    """Return an attribute of times in a format of Java's."""

    def directive(found: re.Match[str]) -> str:
        literal, letters = found[1], found[2]
        if letters is None:
            return (found[0] if literal is None else literal or "'").replace("%", "%%")
        if letters not in DIRECTIVES:
            raise line.wrong(
                f'declares "{name}" to be dates as {written!r}, of which {letters!r} is not known '
                "here: write them as yyyy-MM-dd HH:mm:ss"
            )
        return DIRECTIVES[letters]

    directives = FORMAT.sub(directive, written)

    def read(text: str) -> dt.datetime:
        return dt.datetime.strptime(text, directives)  # noqa: DTZ007  %z says the zone

    return Attribute(name, "time", read, f"a date as {written}")


def _unescaped(text: str) -> str:
    """Return a quoted value as it is meant."""

    def meant(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) > 1 else ESCAPES.get(escape, escape)

    return ESCAPED.sub(meant, text)


def _dense(line: _Line, attributes: Sequence[Attribute]) -> Row:
    """Return the cells of a row with a value of each attribute, and whether it has a weight."""
    text, has_weight = line.text, False
    if SPECIAL.search(text) is None:
        values = [None if of in ("", "?") else of for of in map(str.strip, text.split(","))]
    else:
        values, end = line.values()
        if text[end : end + 1] == "{" and text[:end].rstrip()[-1:] == ",":
            _check_weight(line, text[end:])
            values, has_weight = values[:-1], True
        elif text[end : end + 1]:
            raise line.wrong("has a brace inside a value: put the value between quotes")
    if len(values) != len(attributes):
        raise line.wrong(
            f"has {len(values):,} values, and there are {len(attributes):,} attributes: add or "
            "remove some, or put values that hold commas between quotes"
        )
    pairs = zip(attributes, values, strict=True)
    return [None if of is None else _cell(line, each, of) for each, of in pairs], has_weight


def _sparse(line: _Line, attributes: Sequence[Attribute]) -> Row:
    """Return the cells of a row that names the attributes it holds, and whether it has a weight."""
    cells: list[Cell] = [each.absent for each in attributes]
    unknown = {i for i, each in enumerate(attributes) if each.absent is None}
    held: set[int] = set()
    at, more = 1, re.match(r"\{\s*\}", line.text) is None
    while more:
        place = PLACE_OF.match(line.text, at)
        i = int(place[1]) if place else len(attributes)
        if place is None or i >= len(attributes) or i in held:
            raise line.wrong(
                "is no sparse row: write {number value, ...}, of numbers from 0 to "
                f"{len(attributes) - 1}, each once"
            )
        value, more, at = line.value(place.end())
        cells[i] = None if value is None else _cell(line, attributes[i], value)
        held.add(i)
    rest = AFTER_ROW.fullmatch(line.text, at)
    if rest is None:
        raise line.wrong("is no sparse row: after its last value there is a } and nothing else")
    if rest[1]:
        _check_weight(line, rest[1])
    if unknown - held:
        name = attributes[min(unknown - held)].name
        raise line.wrong(
            f'leaves out "{name}", of which no value can be left out: write it in every row, as ? '
            "where it is not known"
        )
    return cells, bool(rest[1])


def _check_weight(line: _Line, braces: str) -> None:
    found = re.match(r"\{\s*([^{}\s]+)\s*\}", braces)
    if found is None or not NUMERAL.fullmatch(found[1]):
        raise line.wrong("has braces at its end that hold no weight, as {0.5} does")


def _cell(line: _Line, attribute: Attribute, value: str) -> Cell:
    try:
        return attribute.read(value)
    except (KeyError, ValueError):
        raise line.wrong(
            f'has {value[:40]!r} in "{attribute.name}", where {attribute.what} is expected'
        ) from None
