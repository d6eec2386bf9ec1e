"""Files and folders of files are read as one table."""

from __future__ import annotations

import difflib
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np

from naively import saving
from naively.data.columns import LEVELS, READ_AS, Column, ColumnRows, Content, Reading, column_rows
from naively.data.reading import ReadAs
from naively.data.stream import ROWS, Stream, TableInMemory
from naively.frozen import Frozen
from naively.kernels.strings import Strings
from naively.options import FileOptions
from naively.wings.files.delimited import DelimitedTable
from naively.wings.files.formats import EmptyFileError, listed
from naively.wings.files.source import (
    EXTENSIONS,
    Asked,
    ChooseColumns,
    Source,
    check_exists,
    decode,
    find,
    plain_extension,
    replaced,
    spool,
)
from naively.wings.mail.places import is_mail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively.wings.files.parquet import Connection

    Connected: TypeAlias = Callable[[Callable[[int | None], Connection]], Connection]


# --- Files are tables of any length: CSV, Parquet, JSON lines, folders of texts, and mail --------
#
# An empty field is missing. Invalid UTF-8 is repaired, with a note. Any other fault is an error
# that names the file, the line and the column, and says what to do.


SHOWN_NAMES = 20
TYPES: dict[str, Reading] = {  # that a model may expect of a column
    "number": READ_AS["number"],
    "boolean": READ_AS["boolean"],
    "string": LEVELS,
    "time": READ_AS["time"],
}
Said: TypeAlias = "Callable[[Sequence[str]], ReadAs]"


class FileColumns(Frozen, eq=True):
    """The columns of a file, by name, and one sentence about each thing that was repaired."""

    rows: ColumnRows
    notes: tuple[str, ...] = ()  # of what was repaired

    @property
    def values(self) -> dict[str, NDArray[Any]]:
        """The columns, each of shape (rows,), as arrays that people read."""
        # Numbers are float64, NaN where missing; integers are int64 if none is missing, and objects
        # if some are missing and some are no floats. Dates and times are datetime64[us] in UTC, NaT
        # where missing. Booleans are bool, or objects True, False and None. Texts are objects str
        # and None.
        return {str(name): self.rows.values(name) for name in self.rows.names}

    def __len__(self) -> int:
        return len(self.rows)


def read(
    path: str | Path,
    *,
    columns: Collection[str] | None = None,
    ignore: Collection[str] = (),
    types: Mapping[str, str | Reading] | None = None,
    format: str | None = None,  # noqa: A002  the word on the command line too
    labels: str | None = None,
    memory: int | None = None,
    file: FileOptions = FileOptions(),
    said: Said | None = None,  # what is known of the columns, by their names
) -> FileColumns:
    """Read the rows of a file, in their order, with the arguments of ``opened``."""
    with opened(
        path, columns=columns, ignore=ignore, types=types, format=format, labels=labels,
        memory=memory, file=file,
    ) as table:  # fmt: skip
        if said is not None:
            table.said = said(table.names)
        return FileColumns(table.read(), table.notes)


@contextmanager
def opened(
    path: str | Path,
    *,
    columns: Collection[str] | None = None,  # that are read; by default all
    ignore: Collection[str] = (),
    # For columns of which a model expects it, a name of ``TYPES``, or how their strings are read.
    # Names that the file does not have are passed over.
    types: Mapping[str, str | Reading] | None = None,
    format: str | None = None,  # noqa: A002  the word on the command line too
    labels: str | None = None,  # the column whose cells stay as they are written
    rows: int = ROWS,  # of a batch, at most
    memory: int | None = None,  # bytes that DuckDB may take
    file: FileOptions = FileOptions(),
) -> Iterator[Stream]:
    """Open a file, whose rows are read in batches, in memory that does not grow with the file."""
    # It is CSV, Parquet, JSON lines, a workbook, ARFF, an SQLite database, by their usual endings,
    # the texts among them also as .gz or .zst; or "-", standard input. One batch are a folder with
    # one sub-folder of texts for each class, and mail: an mbox, a Maildir, an .eml file, or a
    # folder with one of these for each class.
    wanted: dict[str, Reading] = {}
    for column, of in (types or {}).items():
        if isinstance(of, str) and of not in TYPES:
            kinds = tuple(TYPES)
            raise ValueError(f'The type of column "{column}" is {of!r}: give one of {kinds}.')
        wanted[column] = TYPES[of] if isinstance(of, str) else of
    if format is not None and format not in EXTENSIONS:
        raise ValueError(f"There is no format {format!r}: give one of {tuple(EXTENSIONS)}.")

    is_input = str(path) == "-"
    name = "standard input" if is_input else str(path)

    choose = partial(_choose, columns=columns, ignore=ignore, where=name)
    asked = Asked(choose, ignore, wanted, labels, rows, memory)
    path = Path(path)
    every = None if is_input else files_at(path)
    if every is not None and not (path.is_dir() and is_mail(path)):
        with (
            _left_out(file, [path, *every]) as bad,
            _several(every, path, columns, ignore, format, asked, file, bad) as table,
        ):
            yield table
        return
    if not is_input:
        check_exists(path)
        if format is None and is_mail(path):
            yield _mail(path, choose)
            return
        if path.is_dir():
            yield _folder(path, choose, format, file.encoding)
            return
    with (
        tempfile.TemporaryDirectory(prefix="naively-") as scratch,
        _left_out(file, [path]) as bad,
        _connecting(memory) as connected,
    ):
        source = _source(path, name, format, Path(scratch), file)
        yield _table(replace(source, left_out=bad), asked, connected)


def _table(source: Source, asked: Asked, connected: Connected) -> Stream:
    """Return the table in a file."""
    if source.format == "csv":
        return DelimitedTable(source, asked)
    if source.format == "jsonl":
        from naively.wings.files.json_rows import JsonTable  # which imports msgspec

        return JsonTable(source, asked)
    from naively.wings.files.parquet import ParquetTable, connect  # which import DuckDB

    return ParquetTable(source, asked, connected(connect))


@contextmanager
def _connecting(memory: int | None) -> Iterator[Connected]:
    """Yield what connects to DuckDB, once, where that is needed."""
    with ExitStack() as stack:

        @cache
        def connected(connect: Callable[[int | None], Connection]) -> Connection:
            return stack.enter_context(closing(connect(memory)))

        yield connected


def _left_out(file: FileOptions, inputs: Sequence[Path]) -> AbstractContextManager[BinaryIO | None]:
    """Open the file that rows that cannot be read are written to, if there is to be one."""
    if not file.left_out_to:
        return nullcontext()
    saving.check_output(file.left_out_to, inputs)
    return saving.writing(file.left_out_to)


@contextmanager
def _several(
    files: list[Path],
    root: Path,
    columns: Collection[str] | None,
    ignore: Collection[str],
    format_: str | None,
    asked: Asked,
    options: FileOptions,
    left_out: BinaryIO | None,
) -> Iterator[Stream]:
    """Open several files as one table; a column need not be in every one of them."""
    seen: dict[str, None] = {}

    def choose(names: Sequence[str]) -> list[str]:
        seen.update(dict.fromkeys(names))
        return [n for n in names if (columns is None or n in columns) and n not in ignore]

    with (
        tempfile.TemporaryDirectory(prefix="naively-") as scratch,
        _connecting(asked.memory) as connected,
    ):
        tables, partitions, empty = [], [], dict[str, EmptyFileError]()
        for i, file in enumerate(files):
            folder = Path(scratch, str(i))
            folder.mkdir()
            try:
                source = replace(find(file, format_, folder, options), left_out=left_out)
                tables.append(_table(source, asked._replace(choose=choose), connected))
                partitions.append(partition_of(file, root))
            except EmptyFileError as error:
                empty[str(file)] = error
        if not tables:
            raise next(iter(empty.values()))
        seen.update(dict.fromkeys(name for said in partitions for name in said))
        chosen = _choose(list(seen), columns, ignore, str(root))
        notes = [f"Empty files were passed over: {listed([*empty])}."] if empty else []
        yield SeveralFiles(tables, partitions, chosen, notes)


def _source(
    path: Path, name: str, format_: str | None, folder: Path, options: FileOptions
) -> Source:
    """Return the source of a path; a stream can be read only once, so it is copied."""
    if str(path) == "-":
        return spool(sys.stdin.buffer, name, format_, folder, options)
    if path.is_file():
        return find(path, format_, folder, options)
    with path.open("rb") as pipe:
        return spool(pipe, name, format_, folder, options)


def _folder(
    folder: Path, choose: ChooseColumns, format_: str | None, encoding: str | None
) -> Stream:
    if format_ is not None:
        raise ValueError(f"{folder} is a folder, not a {format_} file: name a file in it.")
    values, notes = read_folder(folder, encoding)
    return TableInMemory(column_rows({name: values[name] for name in choose(list(values))}), notes)


def _mail(path: Path, choose: ChooseColumns) -> Stream:
    from naively.wings.mail.mailbox import read_columns

    columns = read_columns(path)
    if not columns["body"]:
        raise ValueError(f"There is no message in {path}.")
    return TableInMemory(column_rows({name: columns[name] for name in choose(list(columns))}))


def _choose(
    names: Sequence[str], columns: Collection[str] | None, ignore: Collection[str], where: str
) -> list[str]:
    """Return the names of the columns to read; a name that a file does not have is an error."""
    for asked in [*(columns or ()), *ignore]:
        if asked not in names:
            close = difflib.get_close_matches(asked, names, n=SHOWN_NAMES, cutoff=0.0)
            more = f" and {len(names) - len(close)} more" if len(close) < len(names) else ""
            raise ValueError(
                f'{where} has no column "{asked}"; its columns are {", ".join(close)}{more}.'
            )
    return [name for name in names if (columns is None or name in columns) and name not in ignore]


# --- A folder of texts: one sub-folder for each class, one file for each text --------------------


def read_folder(
    folder: Path, encoding: str | None = None
) -> tuple[dict[str, NDArray[np.object_]], tuple[str, ...]]:
    """Read the texts below a folder, sorted by name, and the sub-folder each came from."""
    # Hidden files are skipped; deeper folders belong to the class above them. Without an encoding
    # texts are UTF-8, and other bytes the letters that they are in windows-1252.
    entries = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
    classes = [p for p in entries if p.is_dir()]
    strays = [p for p in entries if not p.is_dir()]
    if not classes:
        found = f"; to read a file in it, name the file: {strays[0]}" if strays else ""
        raise ValueError(
            f"The folder {folder} has no sub-folders: put the texts of each class "
            f"into a sub-folder named after the class{found}."
        )
    texts: list[str] = []
    labels: list[str] = []
    invalid = 0
    for class_folder in classes:
        within = ((file, file.relative_to(class_folder).parts) for file in class_folder.rglob("*"))
        seen = (file for file, parts in within if not any(part.startswith(".") for part in parts))
        for file in sorted(file for file in seen if file.is_file()):
            text, count = decode(file.read_bytes(), encoding, str(file))
            texts.append(text)
            labels.append(class_folder.name)
            invalid += count
    if not texts:
        raise ValueError(f"The sub-folders of {folder} are empty: there is no text to read.")
    notes = [replaced(invalid, str(folder))] if invalid else []
    if strays:
        notes.append(f"Files of {folder} outside its sub-folders were left out: {len(strays)}.")
    values = {"text": np.array(texts, object), "label": np.array(labels, object)}
    return values, tuple(notes)


# --- Several files are one table: their rows one after another, their columns by name ------------
#
# The folders that a file lies in may say more: the files in ``day=2026-11-21`` have a column
# "day".


TABLES = (".parquet", ".pq", ".csv", ".tsv", ".jsonl", ".ndjson")  # .txt may be a text of its own


def files_at(path: Path) -> list[Path] | None:
    """Return the tables at a pattern, or in a folder and its ``key=value`` folders, sorted."""
    if path.is_dir():
        return sorted(_within(path)) or None
    if path.exists() or not has_magic(str(path)):
        return None
    found = sorted(map(Path, glob(str(path), recursive=True)))  # noqa: PTH207  (any kind of path)
    if not found:
        raise FileNotFoundError(f"There is no file {path}.")
    return [file for each in found for file in (_within(each) if each.is_dir() else [each])]


def _within(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            yield from _within(entry) if "=" in entry.name else ()
        elif plain_extension(entry) in TABLES:
            yield entry


def partition_of(file: Path, root: Path) -> dict[str, str]:
    """Return what the folders between a root and a file say."""
    within = file.parent.relative_to(root) if file.is_relative_to(root) else file.parent
    pairs = (part.partition("=") for part in within.parts if "=" in part)
    return {key: value for key, _, value in pairs}


class SeveralFiles(Stream):
    """The rows of several files, one file after another."""

    def __init__(
        self,
        tables: Sequence[Stream],
        partitions: Sequence[dict[str, str]],  # what is said of each by its folders
        names: Sequence[str],
        notes: Sequence[str] = (),  # what is said of files that are not among them
    ) -> None:
        readable = {name for table in tables for name in table.readable}
        readable |= {name for partition in partitions for name in partition}
        known = {name: of for table in tables for name, of in table.known.items()}
        super().__init__(names, readable, known)
        self.contents = _agreed(tables)
        self._tables, self._partitions, self._notes = tables, partitions, tuple(notes)
        totals = [table.total for table in tables if table.total is not None]
        self.total = sum(totals) if len(totals) == len(tables) else None
        self._begins: list[int] = []  # the first row of each file that was read

    @property
    def notes(self) -> tuple[str, ...]:
        of_each = tuple(note for table in self._tables for note in table.notes)
        return self._notes + of_each + super().notes

    def columns(self) -> Iterator[dict[str, Column]]:
        self._begins, done = [], 0
        for table, partition in zip(self._tables, self._partitions, strict=True):
            self._begins.append(done)
            for columns in table.columns():
                rows = len(next(iter(columns.values()))[0])
                done += rows
                every = columns | {name: _same(text, rows) for name, text in partition.items()}
                nothing: Column = (np.full(rows, None, object), None)
                yield {name: every.get(name, nothing) for name in self.names}

    def where(self, name: str, row: int) -> tuple[str, str]:
        i = int(np.searchsorted(self._begins, row, side="right")) - 1
        return self._tables[i].where(name, row - self._begins[i])


def _agreed(tables: Sequence[Stream]) -> dict[str, Content]:
    """Return what columns are of which each table that has them says the same."""
    said: dict[str, set[Content | None]] = {}
    for table in tables:
        for name in table.names:
            said.setdefault(name, set()).add(table.contents.get(name))
    return {name: of for name, (of, *others) in said.items() if of is not None and not others}


def _same(text: str, rows: int) -> Column:
    utf8 = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    return Strings(np.arange(rows + 1) * len(utf8), np.tile(utf8, rows)), "string"
