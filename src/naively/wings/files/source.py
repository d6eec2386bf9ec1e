"""Where a file is and what is in it, and what is wrong with one that cannot be read."""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np

from naively.options import FileOptions
from naively.wings.files import formats
from naively.wings.files.dialects import LONGEST, CsvDialect, long_fields
from naively.wings.files.formats import EXPANSION, HARMLESS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from naively.data.columns import Content, Reading

# --- A text file is surveyed before it is read: whether it is whole, and how large it is ---------
#
# Python decompresses it, which checks the checksums of gzip as DuckDB does not. Rows are counted
# here by the ends of lines outside quotes, and again as DuckDB reads them; the two counts must
# agree.


CHUNK = 1 << 20
LIMIT = "64 MB"
Json: TypeAlias = Any  # what JSON holds
ChooseColumns: TypeAlias = Callable[[Sequence[str]], list[str]]  # from all names to those to read


class Asked(NamedTuple):
    """What is asked of a file."""

    choose: ChooseColumns
    wanted: Mapping[str, Reading]  # how the cells of columns are read of which it is known
    labels: str | None  # the column whose cells are read as they are written
    rows: int  # of a batch at most
    memory: int | None  # how many bytes may be taken for reading


RETURN, FEED, QUOTE = b'\r\n"'


@dataclass(frozen=True)
class Survey:
    """The size of a text file, in bytes and in rows."""

    size: int = 0  # Bytes, decompressed
    longest: int = 0  # bytes of the longest line
    # the number of rows, with the header and empty lines; a line that ends between quotes goes on
    # in the next. None if rows were not counted
    lines: int | None = None
    filled: int | None = None  # how many of the rows are not empty
    mixed: bool = False  # whether lines end in several ways


class _Lines:
    """The lines of a file so far: how many end in each way, and the longest."""

    def __init__(self) -> None:
        self.begin = 0  # of the line that is not at its end yet
        self.filled = self.longest = 0
        self.ends = {b"\n": 0, b"\r": 0, b"\r\n": 0}

    @property
    def total(self) -> int:
        return sum(self.ends.values())

    def add(self, at: NDArray[np.int64], byte: NDArray[np.uint8]) -> None:
        """Count the line feeds and carriage returns of a chunk."""
        if not len(at):
            return
        lengths = np.diff(at, prepend=self.begin - 1) - 1
        is_return = byte == RETURN
        pairs = int((is_return[:-1] & ~is_return[1:] & (lengths[1:] == 0)).sum())
        returns = int(is_return.sum())
        self.ends[b"\r\n"] += pairs
        self.ends[b"\r"] += returns - pairs
        self.ends[b"\n"] += len(byte) - returns - pairs
        self.filled += int((lengths > 0).sum())
        self.longest = max(self.longest, int(lengths.max()))
        self.begin = int(at[-1]) + 1


def survey(file: BinaryIO, name: str, *, quotes: bool, longest: float = LONGEST) -> Survey:
    """Count the bytes and rows of a file of lines."""
    lines, rows = _Lines(), _Lines()
    size = quoted = 0
    for chunk in chunks_of(file):
        cells = np.frombuffer(chunk, np.uint8)
        is_mark = (cells == FEED) | (cells == RETURN)
        if quotes:
            is_mark |= cells == QUOTE
        at = np.flatnonzero(is_mark)
        byte, at = cells[at], at + size
        size += len(chunk)
        is_end = byte != QUOTE
        line = lines.total + 1
        lines.add(at[is_end], byte[is_end])
        if max(lines.longest, size - lines.begin) > longest:
            raise ValueError(f"Line {line} of {name} is longer than {LIMIT}: split it.")
        inside = (np.cumsum(~is_end) + quoted) & 1
        quoted = int(inside[-1]) if len(inside) else quoted
        is_end &= inside == 0
        rows.add(at[is_end], byte[is_end])
    is_open = size > rows.begin
    return Survey(
        size,
        max(lines.longest, size - lines.begin),
        rows.total + is_open,
        rows.filled + is_open,
        sum(map(bool, rows.ends.values())) > 1,
    )


def recount(file: BinaryIO, delimiter: str, *, skips_empty_lines: bool, header: bool = True) -> int:
    """Count the rows of CSV with Python's own reader, which is exact and slow."""
    # The reader knows that a quote inside a field opens nothing, which the ends of lines do not
    # tell.
    with (
        long_fields(),
        io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="") as text,
    ):
        rows = csv.reader(text, delimiter=delimiter)
        return sum(bool(row) or not skips_empty_lines for row in rows) - header


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    r"""Yield a file in chunks that do not cut \r\n in two."""
    held = b""
    while chunk := file.read(CHUNK):
        chunk = held + chunk
        held = chunk[-1:] if chunk.endswith(b"\r") else b""
        yield chunk[: len(chunk) - len(held)]
    yield held


# --- A file to read: its name, its format, and what was said of it -------------------------------


FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **formats.KINDS,
}
EXTENSIONS = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet"}
COMPRESSIONS = (".gz", ".zst")
SHORT = 1 << 12  # bytes of the beginning of a file
LONG = 1 << 20  # bytes of a line, half of DuckDB's default for the longest
ZSTANDARD_BLOCK = 1 << 17  # bytes of a block at most

Damage: TypeAlias = tuple[type[Exception], ...]
GZIP_DAMAGE: Damage = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A table in a file."""

    path: Path  # the file that is opened: the user's, or a copy of it
    name: str  # the name of the file in messages
    format: str  # "csv", "jsonl" or "parquet"; before it is copied also what formats copies
    # whether the rows are the elements of one JSON array, rather than one on each line
    is_json_array: bool = False
    notes: tuple[str, ...] = ()  # sentences about what was repaired in the copy
    # whether this is a copy with clean text, and one whose lines all end alike
    repaired: bool = False
    plain_ends: bool = False
    # whether a line may be longer than DuckDB's default, at the price of its parallel reading
    long_lines: bool = False
    survey: Survey = Survey()  # how large the text is, and how many rows it has
    options: FileOptions = FileOptions()
    # the delimiter that the first line of the file said, a line which the copy does not have
    delimiter: str = ""
    # the names of the columns, of a copy as plain CSV, which has no header
    names: tuple[str, ...] = ()
    written_as: tuple[Source, CsvDialect] | None = None  # what such a copy was made of
    copy_of: str = ""  # what the file is of which this is such a copy; else an empty string
    # what columns are, as far as the file itself says it
    contents: Mapping[str, Content] = field(default_factory=dict)
    left_out: BinaryIO | None = None  # takes the rows that cannot be read

    @property
    def named(self) -> bool:
        """Whether the first row of the text is no row, but the names of the columns."""
        return self.format == "csv" and self.options.header and self.written_as is None

    @property
    def compressed(self) -> str:
        """Return ``".gz"``, ``".zst"`` or an empty string."""
        extension = self.path.suffix.lower()
        return extension if extension in COMPRESSIONS else ""

    def open(self) -> BinaryIO:
        """Open the bytes, decompressed."""
        if self.compressed == ".gz":
            return cast("BinaryIO", gzip.open(self.path, "rb"))
        return self.path.open("rb")

    def truncated(self) -> ValueError:
        """Return the error for a compressed file that ends too early."""
        return ValueError(
            f"{self.name} is not a complete {self.compressed} file: copy or download it again."
        )

    def surveyed(self) -> Source:
        """Return the same source with a survey of all its bytes (see ``Survey``)."""
        if self.format == "parquet":
            return self
        if self.compressed == ".zst":
            size = _zstandard_size(self)
            self._check_expansion(size)
            return replace(self, survey=Survey(size), long_lines=True)
        longest = float("inf") if self.is_json_array else LONGEST
        try:
            with self.open() as file:
                found = survey(file, self.name, quotes=self.format == "csv", longest=longest)
        except GZIP_DAMAGE:
            raise self.truncated() from None
        self._check_expansion(found.size)
        if self.is_json_array:
            return replace(self, survey=Survey(found.size))
        # DuckDB drops an unquoted last line that is longer than its buffer, without a word.
        return replace(self, survey=found, long_lines=found.longest > LONG)

    def _check_expansion(self, size: int) -> None:
        """Raise a ValueError if a compressed file holds so much that it may be a bomb."""
        if self.compressed and size > max(HARMLESS, EXPANSION * self.path.stat().st_size):
            unpack = "gunzip" if self.compressed == ".gz" else "zstd -d"
            raise ValueError(
                f"{self.name} holds {size / 1e9:.1f} GB, more than {EXPANSION} times its size, as "
                f"bombs do: if you trust it, unpack it with {unpack}, and give the plain file."
            )


def check_exists(path: Path) -> None:
    """Raise a FileNotFoundError, which suggests similar names, unless the path exists."""
    if path.exists():
        return
    siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, siblings)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise FileNotFoundError(f"There is no file {path}.{hint}")


def plain_extension(path: Path) -> str:
    """Return how the name of a file ends, in small letters, before it was compressed."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return plain.suffix.lower()


def start_of(source: Source) -> bytes:
    """Return the first bytes of a source, without a byte order mark of UTF-8."""
    try:
        with source.open() as file:
            return file.read(SHORT).removeprefix(b"\xef\xbb\xbf")
    except GZIP_DAMAGE:
        raise source.truncated() from None


def _zstandard_size(source: Source) -> int:
    """Return how many bytes the blocks of a Zstandard file hold at most (RFC 8878)."""
    # A compressed block does not say how many it holds. The walk over all blocks also shows whether
    # the file was cut short, which DuckDB does not notice; DuckDB checks the checksums of frames.
    size = 0
    with source.open() as file:

        def number(length: int) -> int:
            data = file.read(length)
            if len(data) < length:
                raise source.truncated()
            return int.from_bytes(data, "little")

        end = file.seek(0, io.SEEK_END)
        file.seek(0)
        while file.tell() < end:
            magic = number(4)
            if magic & 0xFFFFFFF0 == 0x184D2A50:  # a skippable frame
                file.seek(number(4), io.SEEK_CUR)
                continue
            if magic != 0xFD2FB528:
                raise source.truncated()
            descriptor = number(1)
            single_segment = descriptor >> 5 & 1
            window, dictionary = 1 - single_segment, (0, 1, 2, 4)[descriptor & 3]
            content_size = (single_segment, 2, 4, 8)[descriptor >> 6]
            number(window + dictionary + content_size)
            is_last = False
            while not is_last:
                block = number(3)
                is_last, kind, length = bool(block & 1), block >> 1 & 3, block >> 3
                size += ZSTANDARD_BLOCK if kind == 2 else length
                file.seek(1 if kind == 1 else length, io.SEEK_CUR)
            number(4 if descriptor & 4 else 0)
        if file.tell() > end or not end:
            raise source.truncated()
    return size


# --- A fault of a file is said in one sentence: where it is, and what to do ----------------------
#
# DuckDB's own messages are pages long, and count rows where an editor counts lines.


# These are patterns of DuckDB's messages, and what is said of a line of CSV instead.
BROKEN_QUOTE = (
    'has a quote (") that is never closed or has text after it: close it, and write a quote inside '
    'a field as "", or say quote= or escape='
)
WRONG_WIDTH = (
    "has a number of fields ({found}) that is not the header's ({expected}): add or remove fields, "
    'or put those that hold the delimiter between quotes (")'
)
CSV_FAULTS = {
    "unterminated quote": BROKEN_QUOTE,
    r"Expected Number of Columns: (?P<expected>\d+) Found: (?P<found>\d+)": WRONG_WIDTH,
    "(?i)maximum line size": f"is longer than {LIMIT}: split it",
}


def readable_error(source: Source, message: str) -> ValueError:
    """Return the error to raise where DuckDB has raised one about a source."""
    if re.search("Out of Memory|could not allocate|failed to alloc", message):
        return ValueError(
            f"{source.name} cannot be read in the memory that there is, or that its limit "
            "leaves to reading: give more."
        )
    if source.compressed and message.startswith("IO Error"):
        return source.truncated()
    if source.format == "csv":
        return ValueError(_csv_fault(source, message))
    if source.format == "jsonl":
        return ValueError(_jsonl_fault(source, message))
    return ValueError(
        f"{source.name} is not a complete Parquet file ({_gist(message)}): "
        "copy, download or write it again."
    )


def line_of(source: Source, record: int, *, skips_empty_lines: bool = False) -> int:
    """Return the line on which a record of CSV begins; both count from 1, the header included."""
    if source.compressed == ".zst":
        return record  # Python reads this compression from 3.14 on only
    with source.open() as file:
        seen, is_quoted = 0, False
        for number, line in enumerate(file, 1):
            if not is_quoted and (line.strip(b"\r\n") or not skips_empty_lines):
                seen += 1
                if seen == record:
                    return number + bool(source.delimiter)
            is_quoted ^= line.count(b'"') % 2 == 1
    return record


def csv_fault(name: str, line: int, is_broken: bool, found: int, expected: int) -> str:
    """Return the sentence about a record of CSV whose quotes are broken, or that is too wide."""
    fault = BROKEN_QUOTE if is_broken else WRONG_WIDTH.format(found=found, expected=expected)
    return f"Line {line} of {name} {fault}."


def _csv_fault(source: Source, message: str) -> str:
    """Return the sentence about a CSV file."""
    record = re.search(r"CSV Error on Line: (\d+)", message)
    for pattern, fault in CSV_FAULTS.items():
        found = re.search(pattern, message)
        if found and record:
            line = line_of(source, int(record[1]))
            return f"Line {line} of {source.name} {fault.format(**found.groupdict())}."
    return (
        f"{source.name} cannot be read as CSV ({_gist(message)}): check that it is the right file."
    )


def _jsonl_fault(source: Source, message: str) -> str:
    """Return the sentence about a file of JSON lines, or of a JSON array."""
    kind = "a JSON array" if source.is_json_array else "JSON lines"
    try:
        fault = "" if source.compressed == ".zst" else _json_fault(source)
    except GZIP_DAMAGE:
        return str(source.truncated())
    if not fault and "non-record" in message:
        return f"{source.name} is {kind} without a column: a row is an object with named keys."
    if fault:
        return f"{fault}: write one object, {{...}}, a row."
    return f"{source.name} cannot be read as {kind} ({_gist(message)}): check its objects."


def _json_fault(source: Source) -> str:
    """Return the line and the fault that Python finds, as DuckDB does not count lines well."""
    with source.open() as file:
        if source.is_json_array:
            try:
                json.load(file)
            except ValueError as error:
                line = getattr(error, "lineno", 1)
                return f"Line {line} of {source.name} is not JSON"
            return ""
        for number, line in enumerate(file, 1):
            fault = line_fault(line)
            if fault:
                return f"Line {number} of {source.name} {fault}"
    return ""


def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
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


def _gist(message: str) -> str:
    """Return the first line of DuckDB's message, without its class and the path."""
    line = re.sub(r"^[\w -]*Error: ", "", message.strip().splitlines()[0])
    return re.sub(r"""(?i:file) ["'][^"']*["']""", "the file", line).strip(" .")
