"""Tables in other files than text are copied as plain CSV, which is then read like any other.

A workbook, an ARFF file and a database say of some columns what they are, which CSV does not: that
is handed over beside the copy. A number is written so that nobody can take its point for a mark of
thousands, whatever the other columns are like.
"""

from __future__ import annotations

import csv
import datetime as dt
import difflib
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Literal, TextIO, TypeAlias

from naively.options import FileOptions
from naively.wings.files.arff import read_arff

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

    from naively.data.columns import Content

Kind: TypeAlias = Literal["excel", "arff", "sqlite"]
Cell: TypeAlias = "int | float | str | bool | bytes | dt.date | dt.time | dt.timedelta | None"
Contents: TypeAlias = "dict[str, Content]"

KINDS: dict[str, Kind] = {
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
    ".arff": "arff",
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".db3"), "sqlite"),
}
NAMED = ("arff", "sqlite")  # whose columns always have names
SQLITE, OLE, ZIP, UTF16 = b"SQLite format 3\0", b"\xd0\xcf\x11\xe0", b"PK\x03\x04", b"\xff\xfe"
WORKBOOK = re.compile(r"xl/workbook\.(xml|bin)|content\.xml")  # in a ZIP archive
EXPANSION = 200  # times its size, which a compressed file may hold; real tables hold up to 50
HARMLESS = 1 << 26  # bytes, which a compressed file of any size may hold
EXACT = 1 << 53  # below it each whole number is a float of its own


class EmptyFileError(ValueError):
    """A file in which there is nothing to read, which is passed over among others."""


def recognised(path: Path, ending: str) -> tuple[str | None, tuple[str, ...]]:
    """Return what a file is by its first bytes, or by how its name ends, and a note about it."""
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(SQLITE):
        return "sqlite", ()
    if start.startswith(OLE) or (start.startswith(ZIP) and _is_workbook(path)):
        return "excel", ()
    kind = KINDS.get(ending)
    is_text = bool(start) and (start.startswith((UTF16, UTF16[::-1])) or b"\0" not in start)
    if kind != "excel" or not is_text or start.startswith((ZIP, b"PAR1", b"\x1f\x8b")):
        return kind, ()
    if start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        raise ValueError(
            f"{path} is a page of HTML or XML, not a workbook: open it in Excel or LibreOffice, "
            "and save it as .xlsx or .csv."
        )
    return "csv", (f"{path} is not a workbook but text, and is read as CSV.",)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(WORKBOOK.fullmatch(name) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def copied(
    kind: str, path: Path, lines: Iterable[str], out: TextIO, *, name: str, options: FileOptions
) -> Copy:
    """Write a table as plain CSV without a header, row by row; lines are those of a text."""
    copy = Copy(out, name)
    if kind == "excel":
        with path.open("rb") as file:
            copy.notes = _copy_sheet(file, copy, options)
    elif kind == "sqlite":
        copy.notes = _copy_table(path, copy, options.table)
    else:
        copy.notes = _copy_arff(lines, copy)
    return copy


def numbered(columns: int) -> list[str]:
    """Return the names of columns that have none."""
    return [f"column {i}" for i in range(1, columns + 1)]


# --- The copy: cells as CSV writes them, and what the types of a column's cells say of it --------


CONTENTS: dict[type, Content] = {
    **dict.fromkeys((int, float, dt.timedelta), "number"),
    **dict.fromkeys((dt.date, dt.datetime), "time"),
    dt.time: "clock",
    bool: "truth",
}


class Copy:
    """The copy of a table."""

    def __init__(self, out: TextIO, name: str) -> None:
        # name: the name of the original in messages
        self.name = name
        self.names: list[str] = []
        self.notes: tuple[str, ...] = ()
        # All are in quotes: the csv module does not see that a lone carriage return needs them.
        self._writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        self._types: list[set[type]] = []
        self._said: Sequence[Content | None] = ()

    def begin(self, names: Iterable[Cell], said: Sequence[Content | None] = ()) -> None:
        """Take the names of the columns, of which a file may say what they are."""
        self.names = [_written(name) for name in names]
        self._types = [set() for _ in self.names]
        self._said = said

    def add(self, cells: Sequence[Cell]) -> None:
        """Write a row of cells of any types."""
        for types, cell in zip(self._types, cells, strict=True):
            if cell is not None and cell != "":
                # A float does not hold each digit of a large number, which may be a name.
                is_large = type(cell) is int and abs(cell) >= EXACT
                types.add(str if is_large else type(cell))
        self._writer.writerow(map(_written, cells))

    def contents(self) -> Contents:
        """Return what the columns are where that is known: all cells say the same."""
        every = [{CONTENTS.get(of) for of in types} for types in self._types]
        found = self._said or [next(iter(of)) if len(of) == 1 else None for of in every]
        return {name: of for name, of in zip(self.names, found, strict=True) if of is not None}


def _written(cell: Cell) -> str:
    """Return a cell as CSV has it."""
    match cell:
        case str():
            return cell
        case None:
            return ""
        case bool():
            return str(cell).lower()
        case float():
            return number(cell)
        case dt.timedelta():
            return number(cell.total_seconds())
        case dt.datetime():
            return cell.isoformat(sep=" ")
        case _:
            return str(cell)


def number(value: float) -> str:
    """Return a number with each of its digits, so that it is read as what it is anywhere."""
    # Beside columns with decimal commas 1.234 would be 1234, and 1.2340 cannot be.
    if value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    text = repr(value)
    return f"{text}0" if re.fullmatch(r"-?\d{1,3}\.\d{3}", text) else text


def _copy_arff(lines: Iterable[str], copy: Copy) -> tuple[str, ...]:
    """Write the rows of an ARFF file, whose attributes are the columns."""
    attributes, rows = read_arff(lines, copy.name)
    copy.begin([of.name for of in attributes], [of.content for of in attributes])
    weighted = 0
    for cells, has_weight in rows:
        copy.add(cells)
        weighted += has_weight
    if not weighted:
        return ()
    return (
        f"The weights in braces at the end of rows of {copy.name} were left out: {weighted:,}.",
    )


# --- A workbook, by calamine, which holds one sheet in memory ------------------------------------


PLACE = re.compile(rb"""\sr=["']([A-Z]{1,4})(\d{1,9})["']""")  # of a cell
CHUNK = 1 << 20
ROOM = 1 << 26  # cells between the first of a sheet and its last, all of which calamine makes
SPARSE = 100  # times as many as there are
HEAD = 20  # rows, among which the names of the columns are
BOOK, FORMULA = "xl/workbook.xml", re.compile(rb"<f[ >/]")
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
ARCHIVE_DAMAGE = (zipfile.BadZipFile, EOFError, zlib.error, RuntimeError, ValueError, OSError)


def _copy_sheet(file: BinaryIO, copy: Copy, options: FileOptions) -> tuple[str, ...]:
    """Write a sheet: its first row has the names, wherever it begins, or is a row."""
    of_archive = _check_archive(file, copy.name)
    with _calamine(file, copy.name) as workbook:
        sheet, notes = _chosen(workbook, copy.name, options.sheet)
        where = f'heet "{sheet.name}" of {copy.name}'
        rows = dropwhile(lambda row: not _is_filled(row[1]), enumerate(_filled_down(sheet)))
        top = list(islice(rows, HEAD))
        there = [(i, row) for i, row in top if _is_filled(row)]
        if not there:
            raise EmptyFileError(f"S{where} is empty: there is nothing to read in it.")
        head = [row for _, row in there]
        titles = _titles(head) if options.header else 0
        first, names = there[titles]
        if options.header and _in_two_rows(sheet, first, head[titles + 1 :]):
            raise ValueError(
                f"The names of the columns of s{where} are in two rows, of which the first is "
                "merged over several columns: write one name above each column."
            )
        if titles:
            notes += (f"Rows above the names of the columns of s{where}, left out: {titles}.",)
        if any(bottom > max(top, first) for (top, _), (bottom, _) in _merged(sheet)):
            notes += (f"What merged cells of s{where} hold was read in each of their rows.",)
        copy.begin(names if options.header else numbered(len(names)))
        empty = 0  # rows; those behind the last of the table are none of it
        for i, row in chain(top, rows):
            if i < first + options.header:
                continue
            if not _is_filled(row):
                empty += 1
                continue
            for _ in range(empty):
                copy.add([None] * len(row))
            empty = 0
            copy.add(row)
    return notes + of_archive


def _is_filled(row: Sequence[Cell]) -> bool:
    return any(cell != "" for cell in row)


def _merged(sheet: CalamineSheet) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the first and last place of merged cells, where the workbook tells."""
    return sheet.merged_cell_ranges or ()


def _filled_down(sheet: CalamineSheet) -> Iterator[list[Cell]]:
    """Yield the rows of a sheet; each row of merged cells has what the first of them holds."""
    left = sheet.start[1] if sheet.start else 0
    below = {
        (i, column - left)
        for (top, column), (bottom, _) in _merged(sheet)
        for i in range(top + 1, bottom + 1)
    }
    last: list[Cell] = []
    for i, row in enumerate(sheet.iter_rows()):
        last = [last[j] if (i, j) in below else cell for j, cell in enumerate(row)]
        yield last


def _titles(head: Sequence[Sequence[Cell]]) -> int:
    """Return how many of the first rows, none of them empty, are titles above the names."""
    filled = [[cell for cell in row if cell != ""] for row in head]
    for i, (row, cells) in enumerate(zip(head, filled, strict=True)):
        is_title = row[0] != "" and row[-1] == "" and 2 * len(cells) <= max(map(len, filled))
        if not is_title:
            return i if isinstance(cells[0], str) else 0
    return 0


def _in_two_rows(sheet: CalamineSheet, first: int, below: Sequence[Sequence[Cell]]) -> bool:
    """Whether a name is above several columns, each of which has a name below it."""
    left = sheet.start[1] if sheet.start else 0
    return any(
        top <= first <= bottom and a < b and all(isinstance(x, str) and x for x in row)
        for (top, a), (bottom, b) in _merged(sheet)
        for row in (of[a - left : b - left + 1] for of in below[:1])
    )


@contextmanager
def _calamine(file: BinaryIO, name: str) -> Iterator[CalamineWorkbook]:
    """Open a workbook; what calamine finds wrong with it is one sentence."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError as error:
        raise ImportError(
            f"{name} is a workbook, which is read by calamine; install it with: "
            "pip install 'naively[excel]'."
        ) from error
    try:
        with CalamineWorkbook.from_filelike(file) as workbook:
            yield workbook
    except PasswordError:
        raise ValueError(
            f"{name} is protected by a password: save it without one, or as CSV."
        ) from None
    except CalamineError as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> ValueError:
    gist = " ".join(str(error).split()) or type(error).__name__
    return ValueError(
        f"{name} is no workbook that can be read ({gist}): copy, download or save it again."
    )


def _check_archive(file: BinaryIO, name: str) -> tuple[str, ...]:
    """Return notes on a workbook, or raise a ValueError if it would take memory without end."""
    # Calamine makes all cells between the first of a sheet and the last, and ends the process where
    # it cannot.
    size = file.seek(0, 2)
    file.seek(0)
    if file.read(len(ZIP)) != ZIP:
        file.seek(0)
        return ()
    most = max(HARMLESS, EXPANSION * size)
    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
            areas = [
                _area(archive.open(part))
                for part in archive.infolist()
                if SHEET.fullmatch(part.filename) and unpacked <= most
            ]
            book = archive.read(BOOK) if BOOK in archive.namelist() and unpacked <= most else b""
    except ARCHIVE_DAMAGE as error:
        raise _damaged(name, error) from None
    file.seek(0)
    if unpacked > most:
        raise ValueError(
            f"{name} holds {unpacked / 1e9:.1f} GB, more than {EXPANSION} times its size, as bombs "
            "do: if you trust it, save it as CSV."
        )
    for height, width, cells, _, _ in areas:
        if height * width > max(ROOM, SPARSE * cells):
            raise ValueError(
                f"{name} has a sheet with few cells in {height:,} rows and {width:,} columns, too "
                "many to hold in memory: delete the cells that lie far from the table, or save it "
                "as CSV."
            )
    notes = []
    if errors := sum(area[3] for area in areas):
        notes.append(
            f"Cells of {name} hold errors, as #N/A or #DIV/0!, and are missing: {errors:,}."
        )
    if b'fullCalcOnLoad="1"' in book and any(area[4] for area in areas):
        notes.append(
            f"The formulas of {name} were not computed by the program that wrote it, and may be "
            "missing or 0: open it in Excel or LibreOffice, and save it."
        )
    return tuple(notes)


def _area(sheet: IO[bytes]) -> tuple[int, int, int, int, bool]:
    """Return the last row and column of a sheet, its cells, its errors, and whether it computes."""
    columns: set[bytes] = set()
    height = cells = errors = 0
    held, computes = b"", False
    with sheet:
        while chunk := sheet.read(CHUNK):
            found = PLACE.findall(held + chunk)
            columns.update(column for column, _ in found)
            height = max(height, *(int(row) for row in {row for _, row in found}), 0)
            cells += len(found)
            errors += chunk.count(b't="e"')
            computes |= FORMULA.search(chunk) is not None
            held = chunk[-32:]  # where a place may be cut in two
    return height, max(map(_column_number, columns), default=0), cells, errors, computes


def _column_number(letters: bytes) -> int:
    """Return the number of a column from 1 on."""
    total = 0
    for letter in letters:
        total = 26 * total + letter - ord("A") + 1
    return total


def _chosen(
    workbook: CalamineWorkbook, name: str, asked: str | None
) -> tuple[CalamineSheet, tuple[str, ...]]:
    """Return the sheet that was asked for, or else the first that is seen and not empty."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = [of for of in workbook.sheets_metadata if of.typ == SheetTypeEnum.WorkSheet]
    names = [of.name for of in sheets]
    if asked is not None:
        if asked not in names:
            raise ValueError(_no_such(name, "sheet", asked, names))
        return workbook.get_sheet_by_name(asked), ()
    seen = [of.name for of in sheets if of.visible == SheetVisibleEnum.Visible]
    filled: list[str] = []
    first = None
    for each in seen:
        sheet = workbook.get_sheet_by_name(each)
        if sheet.start is not None:
            first = first or sheet
            filled.append(each)
    if first is None:
        raise EmptyFileError(f"{name} is empty: there is nothing to read in it.")
    if len(filled) == 1:
        return first, ()
    others = listed(filled[1:])
    return first, (
        f'Sheet "{first.name}" of {name} was read, and not {others}: sheet= chooses another.',
    )


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names in a sentence."""
    shown = ", ".join(f'"{each}"' for each in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _no_such(name: str, what: str, asked: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(asked, names, n=len(names), cutoff=0.0)
    return f'{name} has no {what} "{asked}"; it has {listed(close) or "none"}.'


# --- A table of an SQLite database ---------------------------------------------------------------


def _copy_table(path: Path, copy: Copy, asked: str | None) -> tuple[str, ...]:
    """Write a table or view of a database, which nothing can change meanwhile."""
    name = copy.name
    _check_size(path, name)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            database.execute("PRAGMA trusted_schema = OFF")
            table = _table(database, name, asked)
            quoted = '"' + table.replace('"', '""') + '"'
            rows = database.execute(f"SELECT * FROM {quoted}")  # noqa: S608  quoted
            names = [column[0] for column in rows.description]
            copy.begin(names)
            for row in rows:
                if any(type(cell) is bytes for cell in row):
                    column = names[[type(cell) for cell in row].index(bytes)]
                    raise ValueError(
                        f'Column "{column}" of table "{table}" of {name} holds bytes (BLOB): make '
                        "a view without it, or with a column of text, and choose it by table=."
                    )
                copy.add(row)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # names are decoded strictly
        busy = "locked" in str(error)
        advice = "close the program that writes to it" if busy else "copy or make it again"
        raise ValueError(
            f"{name} is no SQLite database that can be read ({error}): {advice}."
        ) from None
    return ()


def _check_size(path: Path, name: str) -> None:
    """Raise a ValueError if a database was cut off: SQLite reads what is not there as zeros."""
    with path.open("rb") as file:
        head = file.read(100)
        size = file.seek(0, 2)
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    is_known = head.startswith(SQLITE) and head[24:28] == head[92:96]  # the number of pages
    if is_known and pages * (page if page > 1 else 1 << 16) > size:
        raise ValueError(
            f"{name} is no complete SQLite database that can be read: copy or download it again."
        )


def _table(database: sqlite3.Connection, name: str, asked: str | None) -> str:
    """Return the table that was asked for, or the only one."""
    found = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    tables = [table for (table,) in found]
    if asked is not None:
        if asked not in tables:
            raise ValueError(_no_such(name, "table", asked, tables))
        return asked
    if len(tables) == 1:
        return str(tables[0])
    if not tables:
        raise EmptyFileError(f"{name} has no table: there is nothing to read in it.")
    raise ValueError(f"{name} has several tables: choose one by table=; {listed(tables)}.")
