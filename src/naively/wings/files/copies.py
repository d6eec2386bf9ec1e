"""What is not plain CSV or JSON in UTF-8 is written again as such, with a note of it."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from naively.kernels.encodings import Guess, guess, with_letters
from naively.options import FileOptions
from naively.saving import copying
from naively.wings.files import formats
from naively.wings.files.dialects import (
    LONGEST,
    ROW_NAME,
    CsvDialect,
    Look,
    Record,
    Records,
    csv_dialect,
    is_bad,
    long_fields,
    look,
    others,
    speaks_for,
)
from naively.wings.files.source import (
    CHUNK,
    EXTENSIONS,
    FORMATS,
    GZIP_DAMAGE,
    SHORT,
    Json,
    Source,
    chunks_of,
    csv_fault,
    line_fault,
    once,
    plain_extension,
    start_of,
)

# --- A file to read: its name, its format, and a copy of it where it is not plain ----------------
#
# DuckDB reads a table in place. Standard input, and text that is not plain, is copied first, as a
# stream: once to be clean UTF-8, and again where it is written in a dialect of CSV of its own.


UTF16 = b"\xff\xfe", b"\xfe\xff"
SAID_DELIMITER = re.compile(r"sep=([,;|:^~#\t])(\r\n|[\r\n]|$)", re.IGNORECASE)  # as Excel writes
NOT_BLANK = re.compile(r"\S")
ROW_LABEL = re.compile(r"-?\d+|\d{4}-\d\d-\d\d.*")  # as pandas has them: numbers, or times
HEAD_LINES = 100
FEW = 0.1  # of the rows, which are bad ones; if there are more, it may be another dialect
LONGEST_NAME = 1 << 17  # characters of the name of a column

Ends: TypeAlias = Literal["kept", "outside quotes", "plain"]


def find(path: Path, format_: str | None, scratch: Path, options: FileOptions) -> Source:
    """Return the source at a path, repaired if need be; its format follows from its name."""
    ending = plain_extension(path)
    of_start, notes = formats.recognised(path, ending) if format_ is None else (None, ())
    known = format_ or of_start or FORMATS.get(ending)
    source = Source(path.absolute(), str(path), known or "csv", notes=notes, options=options)
    return _look(source if known else _by_content(source, named=True), scratch)


def spool(
    stream: BinaryIO, name: str, format_: str | None, scratch: Path, options: FileOptions
) -> Source:
    """Copy a stream, which can be read only once, to a file and return it as a source."""
    path = scratch / "input"
    with copying(path, f"a copy of {name}") as copy:
        shutil.copyfileobj(stream, copy, CHUNK)
    with path.open("rb") as copy:
        is_gzip = copy.read(2) == b"\x1f\x8b"
    if is_gzip:
        path = path.rename(f"{path}.gz")
    source = Source(path, name, format_ or "csv", options=options)
    return _look(_by_content(source, named=False) if format_ is None else source, scratch)


def _by_content(source: Source, *, named: bool) -> Source:
    """Return a source whose name does not tell its format, with the one that its start tells."""
    start = b"" if source.compressed == ".zst" else start_of(source)
    begin = start.lstrip()
    if begin.startswith(b"PAR1"):
        return replace(source, format="parquet")
    kind, _ = formats.recognised(source.path, "")
    if kind is not None:
        return replace(source, format=kind)
    if named and (not begin or not _is_text(start, source.options)):
        raise ValueError(
            f"The name {source.name} does not say what the file is: "
            f"end it in {', '.join(FORMATS)} (then also .gz or .zst), or give the format."
        )
    is_json = begin.startswith((b"{", b"["))
    kind = "JSON" if is_json else "CSV"
    note = f"The name {source.name} does not say what the file is: it was read as {kind}."
    return replace(
        source, format="jsonl" if is_json else "csv", notes=source.notes + (note,) * named
    )


def _is_text(start: bytes, options: FileOptions) -> bool:
    if options.encoding is not None or start[:2] in UTF16:
        return True
    return b"\0" not in start and guess([start]).is_text


def _look(source: Source, scratch: Path) -> Source:
    """Return a source whose lines end alike, or raise a ValueError if it is empty or not text."""
    is_zst = source.compressed == ".zst"
    start = b"" if is_zst else start_of(source)
    is_array = source.format == "jsonl" and len(start) < SHORT
    if not is_zst and not start.strip(b"[ \t\r\n]" if is_array else None):
        raise formats.EmptyFileError(f"{source.name} is empty: there is nothing to read in it.")
    if source.format == "parquet":
        return source
    if source.format in formats.KINDS.values():
        return _copied(source, scratch)
    options = source.options
    if is_zst and (options.encoding is not None or options.is_dialect):
        raise ValueError(
            f"{source.name} cannot be read with these options, but for delimiter= and "
            "header=False: unpack it with zstd -d, and give the plain file."
        )
    is_marked = start[:2] in UTF16
    if b"\0" in start and not is_marked and options.encoding is None:
        raise ValueError(
            f"{source.name} is not a text file: check that it is the right one and is named "
            "for what it is (.parquet, .gz)."
        )
    is_other = options.encoding is not None and codecs.lookup(options.encoding).name != "utf-8"
    if is_marked or is_other:
        return repair(source, scratch, "outside quotes" if source.format == "csv" else "kept")
    source = replace(source, is_json_array=start.lstrip().startswith(b"[")).surveyed()
    if source.format == "jsonl" and not is_zst and not source.is_json_array:
        return _unwrapped(source, scratch)
    says_delimiter = SAID_DELIMITER.match(start[:8].decode("latin-1"))
    if source.format == "csv" and (source.survey.mixed or says_delimiter):
        return repair(source, scratch, "outside quotes")
    return source


def _copied(source: Source, scratch: Path) -> Source:
    """Return a copy as plain CSV of a table in another format."""
    if source.compressed == ".zst" or (source.compressed and source.format != "arff"):
        raise ValueError(f"{source.name} is compressed: unpack it, and give the plain file.")
    if source.format == "arff":
        source.surveyed()  # a bomb, or a line without end, is refused before it is copied
    path, options = scratch / "copy.csv", source.options
    with (
        copying(path, f"a copy of {source.name}") as copy,
        io.TextIOWrapper(copy, "utf-8", "surrogateescape", newline="") as out,
        source.open() as file,
    ):
        of = source.format, source.path, file, out
        found = formats.copied(*of, name=source.name, options=options)
    written = replace(
        source,
        path=path,
        format="csv",
        names=found.names,
        contents=found.contents,
        notes=source.notes + found.notes,
        copy_of=source.format,
        written_as=(source, CsvDialect()),
        options=replace(options, header=options.header or source.format in formats.NAMED),
        delimiter=",",
        plain_ends=True,
    )
    is_other = source.format == "arff" and options.encoding is not None
    return repair(written, scratch) if is_other else written.surveyed()


# --- A copy as clean UTF-8 -----------------------------------------------------------------------


def repair(source: Source, scratch: Path, ends: Ends = "kept") -> Source:
    """Return a copy of a text file as clean UTF-8, with a note of what was not."""
    # A first line that says the delimiter, as sep=; does, is left out.
    # Ends of lines are kept, or become \n: those outside quotes, or all if quotes are not in pairs.
    path = _free(scratch, source)
    encoding, found = _encoding(source)
    text = _decoded(source, encoding, strict=found is None, plain=ends == "plain")
    first = next(text, "").removeprefix("\ufeff")
    is_first = source.format == "csv" and not source.repaired and source.written_as is None
    said = SAID_DELIMITER.match(first) if is_first else None
    text = chain([first[said.end() :] if said else first], text)
    strays = 0
    with (
        copying(path, f"a copy of {source.name}") as file,
        io.TextIOWrapper(file, "utf-8", newline="") as copy,
    ):
        for chunk in _plain_outside_quotes(text) if ends == "outside quotes" else text:
            clean, count = with_letters(chunk)
            copy.write(clean)
            strays += count
    notes = _notes(source.name, found, strays)
    repaired = replace(source, path=path, notes=source.notes + notes, repaired=True)
    repaired = replace(repaired, plain_ends=ends == "plain")
    if said:
        repaired = replace(repaired, delimiter=said[1])
    begin = start_of(repaired).lstrip()
    return replace(repaired, is_json_array=begin.startswith(b"[")).surveyed()


def _free(scratch: Path, source: Source) -> Path:
    """Return the path of a new file for a copy."""
    return scratch / f"copy{len(list(scratch.iterdir()))}{EXTENSIONS[source.format]}"


def _encoding(source: Source) -> tuple[str, Guess | None]:
    """Return the encoding of a source, and how it was guessed unless it is known."""
    if source.repaired:
        return "utf-8", None
    if source.options.encoding is not None:
        return source.options.encoding, None
    if start_of(source)[:2] in UTF16:
        return "utf-16", None
    try:
        with source.open() as file:
            found = guess(chunks_of(file))
    except GZIP_DAMAGE:
        raise source.truncated() from None
    if not found.is_text:
        raise ValueError(
            f"{source.name} is not a text file: check that it is the right one, or say its "
            "encoding=."
        )
    return found.encoding, found


def _decoded(source: Source, encoding: str, *, strict: bool, plain: bool) -> Iterator[str]:
    r"""Yield the text of a source in pieces, which do not cut \r\n in two."""
    errors = "strict" if strict else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    ends = io.IncrementalNewlineDecoder(None, translate=plain)
    line = 1
    try:
        with source.open() as file:
            for chunk in iter(lambda: file.read(CHUNK), b""):
                text = ends.decode(decoder.decode(chunk))
                yield text
                line += _ends(text)
            yield ends.decode(decoder.decode(b"", final=True), final=True)
    except GZIP_DAMAGE:
        raise source.truncated() from None
    except UnicodeDecodeError as error:
        raise _not_of(encoding, error, source.name, line) from None


def _not_of(encoding: str, error: UnicodeDecodeError, name: str, line: int) -> ValueError:
    """Return the error for a byte that an encoding does not have, in text from a line on."""
    line += _ends(error.object[: error.start].decode(encoding, "ignore"))
    return ValueError(
        f"Line {line} of {name} has a byte (0x{error.object[error.start]:02x}) that is none of "
        f"{encoding}: give another encoding=, or mend it."
    )


def _ends(text: str) -> int:
    """Return how many ends of lines are in a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _notes(name: str, found: Guess | None, strays: int) -> tuple[str, ...]:
    if found is None or not found.strays:
        return ()
    if found.encoding == "utf-8":
        return (replaced(found.strays, name),)
    also = f" ({strays} of its bytes are none: they were read as windows-1252)" if strays else ""
    note = f"{name} is not UTF-8: it was read as {found.title}{also}"
    return (f"{note}; if letters look wrong, say encoding=.",)


def _plain_outside_quotes(chunks: Iterable[str]) -> Iterator[str]:
    r"""Replace \r\n and \r outside quotes by \n, in text whose quotes are in pairs."""
    held, quoted = "", 0
    for chunk in chunks:
        parts = (held + chunk.removesuffix("\r")).split('"')
        held = "\r" if chunk.endswith("\r") else ""
        for i in range(quoted, len(parts), 2):
            parts[i] = parts[i].replace("\r\n", "\n").replace("\r", "\n")
        quoted = (quoted + len(parts) - 1) % 2
        yield '"'.join(parts)
    yield held and "\n"


def decode(text: bytes, encoding: str | None = None, name: str = "") -> tuple[str, int]:
    """Decode UTF-8, each other byte as its letter in windows-1252, and count these."""
    # With an encoding, which is of the file of this name, a byte that it does not have is an error.
    if encoding is not None:
        try:
            return text.decode(encoding).removeprefix("\ufeff"), 0
        except UnicodeDecodeError as error:
            raise _not_of(encoding, error, name, 1) from None
    return with_letters(text.decode("utf-8-sig", "surrogateescape"))


def replaced(count: int, where: str) -> str:
    """Return the sentence that says how many bytes were not UTF-8."""
    bytes_are, were = ("byte", "is not UTF-8, and was") if count == 1 else (
        "bytes", "are not UTF-8, and were"
    )  # fmt: skip
    return f"{count} {bytes_are} of {where} {were} read as windows-1252."


# --- A copy of a table in a dialect of its own, as plain CSV without a header --------------------


def write_again(source: Source, scratch: Path) -> Source:
    """Return a copy of a text table as plain CSV, without its header, whose names it holds."""
    with long_fields():
        seen = _chosen(source)
        names = _named(source, seen)
        path = _free(scratch, source)
        with (
            copying(path, f"a copy of {source.name}") as file,
            io.TextIOWrapper(file, "utf-8", newline="") as copy,
        ):
            rows = _Rows(source, seen.dialect, len(names))
            # All are in quotes: the csv module does not see that a lone carriage return needs them.
            csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    options = source.options
    notes = [*_said_of(source.name, seen.dialect, rows, options)]
    if options.left_out_to and rows.first is not None:
        notes.append(_left_out(source.name, rows.bad, rows.first, options))
    written = replace(
        source,
        path=path,
        names=tuple(names),
        written_as=(source, seen.dialect),
        delimiter=",",
        notes=source.notes + tuple(notes),
        plain_ends=True,
        repaired=True,
    )
    return written.surveyed()


def line_of_row(source: Source, row: int) -> int:
    """Return the line on which a row of a copy begins in the file that it was made of."""
    assert source.written_as is not None
    original, dialect = source.written_as
    with long_fields():
        rows = _Rows(replace(original, left_out=None), dialect, len(source.names))
        next(islice(rows, row, None), None)
    return rows.line + bool(original.delimiter)


class _Rows:
    """The rows of a table but its header; those that cannot be read are left out."""

    def __init__(self, source: Source, dialect: CsvDialect, width: int) -> None:
        self._source, self._width = source, width
        self._records = Records(lines_of(source), dialect)
        self._named = source.options.header
        self.line = self.bad = 0
        self.first: int | None = None  # the line of the first one that was left out

    @property
    def comments(self) -> int:
        return self._records.comments

    def __iter__(self) -> Iterator[list[str]]:
        is_row = not self._named
        for record in self._records:
            self.line = record.line
            if not is_row:  # the header, and empty lines above it
                is_row = bool(record.fields)
            elif is_bad(record, self._width):
                self._leave_out(record)
            elif record.fields or self._width == 1:
                yield record.fields or [""]

    def _leave_out(self, record: Record) -> None:
        self.bad += 1
        self.first = self.first or record.line + bool(self._source.delimiter)
        if self._source.left_out is not None:
            text = "".join(record.lines).rstrip("\r\n")
            self._source.left_out.write(f"{text}\n".encode())


def lines_of(source: Source) -> Iterator[str]:
    """Yield the lines of a source in UTF-8, with their ends."""
    with source.open() as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as text:
        yield from text


def head_of(source: Source) -> list[str]:
    """Return the first lines: 100 at most, and no more characters than a row may have."""
    head: list[str] = []
    size = 0
    for line in islice(lines_of(source), HEAD_LINES):
        head.append(line)
        size += len(line)
        if size >= LONGEST:
            break
    return head


def may_be_by_blanks(source: Source) -> bool:
    """Whether blanks may be between the fields of a file, whose name does not say another thing."""
    return plain_extension(Path(source.name)) not in {".csv", ".tsv"}


def _chosen(source: Source) -> Look:
    """Return the dialect by which a table can be read, or in which the fewest rows cannot be."""
    options, head = source.options, head_of(source)
    of, _ = csv_dialect(head, options, source.delimiter, by_blanks=may_be_by_blanks(source))
    seen = look(lines_of(source), of, every=False)
    if seen.first is not None and of.delimiter == " " and options.delimiter is None:
        of, _ = csv_dialect(head, options, by_blanks=False)  # blanks do not split every line
        seen = look(lines_of(source), of, every=False)
    if seen.first is None:
        return seen
    if options.left_out_to:
        seen = look(lines_of(source), of, every=True)
        if seen.header and seen.bad <= FEW * seen.rows:
            return seen
    tried = [seen]
    assert seen.first is not None
    if options.quote is None and options.escape is None:
        tried += _tried(source, head, of, "".join([*head, *seen.first.lines]))
    if tried[-1].first is None:
        return tried[-1]
    if not options.left_out_to:
        raise _fault(source, seen)
    every = [look(lines_of(source), each.dialect, every=True) for each in tried]
    best = min(every, key=lambda each: each.bad if each.header else float("inf"))
    if not best.header:
        raise _fault(source, seen)
    return best


def _tried(source: Source, head: list[str], of: CsvDialect, text: str) -> Iterator[Look]:
    """Yield what the dialects read that a text may be of, up to one that reads every row."""
    for other in others(of, text):
        asked = replace(source.options, quote=other.quote, escape=other.escape)
        so, _ = csv_dialect(head, asked, source.delimiter, by_blanks=False)
        so = replace(so, comment=of.comment, above=of.above, blanks=other.blanks)
        if not speaks_for(lines_of(source), so):
            continue
        seen = look(lines_of(source), so, every=False)
        if len(seen.header) == 1 and source.options.delimiter is None:
            continue  # by a delimiter that it does not have any file is a table of one column
        yield seen
        if seen.first is None:
            return


def _named(source: Source, seen: Look) -> list[str]:
    """Return the names of the columns."""
    if not seen.header:
        raise formats.EmptyFileError(f"{source.name} has no rows: there is nothing to read in it.")
    if not source.options.header:
        return formats.numbered(len(seen.header))
    if max(map(len, seen.header)) > LONGEST_NAME:
        raise unreadable_names(source)
    return [ROW_NAME] * seen.dialect.row_names + seen.header


def check_plain(source: Source, dialect: CsvDialect, rows: list[list[str]]) -> None:
    """Raise a ValueError for a file that is not plain CSV and that Python cannot decompress."""
    if not dialect.is_plain:
        raise ValueError(
            f"{source.name} is not plain CSV, and {source.compressed} is not unpacked here: unpack "
            "it with zstd -d, and give the plain file."
        )
    if not rows:
        raise unreadable_names(source)


def unreadable_names(source: Source) -> ValueError:
    """Return the error for a header that cannot be read."""
    return ValueError(
        f'The column names of {source.name} are too long, or have a quote (") that is never '
        "closed: check that it is a CSV file with a header."
    )


def _fault(source: Source, seen: Look) -> ValueError:
    """Return the error for a record that cannot be read."""
    assert seen.first is not None
    if not seen.header and source.options.header:
        return unreadable_names(source)
    record = seen.first
    line = record.line + bool(source.delimiter)
    width = len(seen.header) + seen.dialect.row_names
    return ValueError(csv_fault(source.name, line, record.is_broken, len(record.fields), width))


def _said_of(name: str, dialect: CsvDialect, rows: _Rows, options: FileOptions) -> Iterator[str]:
    """Yield a sentence about each thing of a dialect that was not said."""
    if dialect.comment and options.comment is None:
        lines, were = ("1 line", "begins {} and was") if rows.comments == 1 else (
            f"{rows.comments:,} lines", "begin {} and were"
        )  # fmt: skip
        sign = f"with {dialect.comment}"
        yield (
            f"{lines} of {name} {were.format(sign)} left out: if that is wrong, say comment='none'."
        )
    if dialect.delimiter == " " and options.delimiter is None:
        yield f"{name} was read with blanks between its fields (delimiter='blank')."
    said = [f"quote={dialect.quote or 'none'!r}"] * (dialect.quote != '"')
    said += [f"escape={dialect.escape!r}"] * (dialect.escape != "")
    if said and options.quote is options.escape is None:
        yield f"{name} is not plain CSV: it was read with {' '.join(said)}."
    if dialect.blanks:
        yield f"The blanks after the delimiters of {name} were left out."
    if dialect.row_names:
        yield (
            f"The header of {name} has one name fewer than its rows have fields: the first column "
            f'is called "{ROW_NAME}".'
        )


def _left_out(name: str, count: int, line: int, options: FileOptions) -> str:
    rows_were = "1 row of {} was" if count == 1 else f"{count:,} rows of {{}} were"
    which = "it is" if count == 1 else "the first is"
    return (
        f"{rows_were.format(name)} left out and written to {options.left_out_to}; {which} line "
        f"{line:,}."
    )


def _unwrapped(source: Source, scratch: Path) -> Source:
    """Return a copy as JSON lines of a file whose rows are not its lines; else the source."""
    documents: list[Json] = []
    try:
        first = next((line for line in lines_of(source) if line.strip()), "").encode()
        is_one = source.survey.filled == 1
        if source.survey.size > LONGEST or not (is_one or line_fault(first)):
            return source
        text, end = "".join(lines_of(source)), 0
        decoder = json.JSONDecoder(object_pairs_hook=once)
        while begin := NOT_BLANK.search(text, end):
            document, end = decoder.raw_decode(text, begin.start())
            documents.append(document)
    except (ValueError, RecursionError):  # what is wrong is said where it is read
        return source
    rows, how = documents, ""
    if len(documents) == 1 and isinstance(documents[0], dict):
        as_lines = plain_extension(Path(source.name)) in {".jsonl", ".ndjson"}
        rows, how = _table_of(documents[0], source.name, as_lines=as_lines)
    if (is_one and not how and len(documents) == 1) or {*map(type, rows)} != {dict}:
        return source
    path = _free(scratch, source)
    with copying(path, f"a copy of {source.name}") as copy:
        copy.writelines(f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows)
    return replace(source, path=path, notes=(*source.notes, *filter(None, [how]))).surveyed()


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
        return rows, f"{note}; left out: {formats.listed(others)}." if others else f"{note}."
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


def without_bad_lines(source: Source, scratch: Path) -> Source:
    """Return a copy of JSON lines without those that are no object, which are written elsewhere."""
    deque(lines_of(source), maxlen=0)  # text that is not UTF-8 is repaired before any line is bad
    path = _free(scratch, source)
    bad, first = 0, 0
    with source.open() as lines, copying(path, f"a copy of {source.name}") as copy:
        for number, line in enumerate(lines, 1):
            if not line_fault(line):
                copy.write(line)
                continue
            bad, first = bad + 1, first or number
            if source.left_out is not None:
                source.left_out.write(line.rstrip(b"\r\n") + b"\n")
    notes = (_left_out(source.name, bad, first, source.options),) if bad else ()
    written = replace(
        source, path=path, notes=source.notes + notes, written_as=(source, CsvDialect())
    )
    return written.surveyed()
