"""A file to read: its name, its format, and a repaired copy where it is damaged.

DuckDB reads a table in place. Only standard input, and text that is not clean UTF-8, is copied
first, as a stream.
"""

from __future__ import annotations

import difflib
import gzip
import io
import re
import shutil
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias, cast

from naively.data.files.survey import LONGEST, Survey, survey
from naively.saving import copying

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
EXTENSIONS = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet"}
COMPRESSIONS = (".gz", ".zst")
CHUNK = 1 << 20
LONG = 1 << 20  # bytes of a line, half of DuckDB's default for the longest
ZSTANDARD_BLOCK = 1 << 17  # bytes of a block at most
EXPANSION = 200  # times its size, which a compressed file may hold; real tables hold up to 50
HARMLESS = 1 << 26  # bytes, which a compressed file of any size may hold
NOT_TEXT = 0.3  # a file with a greater share of invalid bytes is not UTF-8 text

Damage: TypeAlias = tuple[type[Exception], ...]
Ends: TypeAlias = Literal["kept", "outside quotes", "plain"]
GZIP_DAMAGE: Damage = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A table in a file.

    Parameters
    ----------
    path : Path
        The file that is opened: the user's, or a copy of it.
    name : str
        The name of the file in messages.
    format : str
        ``"csv"``, ``"jsonl"`` or ``"parquet"``.
    is_json_array : bool
        Whether the rows are the elements of one JSON array, rather than one on each line.
    notes : tuple of str
        Sentences about what was repaired in the copy.
    repaired, plain_ends : bool
        Whether this is a copy with clean text, and one whose lines all end alike.
    long_lines : bool
        Whether a line may be longer than DuckDB's default, at the price of its parallel reading.
    survey : Survey
        How large the text is, and how many rows it has.
    """

    path: Path
    name: str
    format: str
    is_json_array: bool = False
    notes: tuple[str, ...] = ()
    repaired: bool = False
    plain_ends: bool = False
    long_lines: bool = False
    survey: Survey = Survey()  # noqa: RUF009  frozen

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
    """Return how the name of a file ends, in small letters, before it was compressed.

    Examples
    --------
    >>> import pathlib
    >>> plain_extension(pathlib.Path("t.CSV.gz"))
    '.csv'
    """
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return plain.suffix.lower()


def find(path: Path, format_: str | None, scratch: Path) -> Source:
    """Return the source at a path, repaired if need be; its format follows from its name."""
    known = format_ or FORMATS.get(plain_extension(path))
    if known is None:
        raise ValueError(
            f"The name {path} does not say what the file is: "
            f"end it in {', '.join(FORMATS)} (then also .gz or .zst), or give the format."
        )
    return _look(Source(path.absolute(), str(path), known), scratch)


def spool(stream: BinaryIO, name: str, format_: str | None, scratch: Path) -> Source:
    """Copy a stream, which can be read only once, to a file and return it as a source."""
    path = scratch / "input"
    with copying(path, f"a copy of {name}") as copy:
        shutil.copyfileobj(stream, copy, CHUNK)
    with path.open("rb") as copy:
        is_gzip = copy.read(2) == b"\x1f\x8b"
    if is_gzip:
        path = path.rename(f"{path}.gz")
    source = Source(path, name, format_ or "csv")
    if format_ is None:
        start = _start(source).lstrip()
        if start.startswith((b"{", b"[")):
            source = replace(source, format="jsonl")
        elif start.startswith(b"PAR1"):
            source = replace(source, format="parquet")
    return _look(source, scratch)


def repair(source: Source, scratch: Path, ends: Ends = "kept") -> Source:
    r"""Return a copy of a text file as clean UTF-8, with a note about what was replaced.

    Ends of lines are kept, or become \n: those outside quotes, or all if quotes are not in pairs.
    """
    path = scratch / f"repaired{len(list(scratch.iterdir()))}{EXTENSIONS[source.format]}"
    invalid = total = 0
    with source.open() as binary:
        is_utf16 = binary.read(2) in (b"\xff\xfe", b"\xfe\xff")
        binary.seek(0)
        encoding, errors = ("utf-16", "replace") if is_utf16 else ("utf-8-sig", "surrogateescape")
        newline = None if ends == "plain" else ""
        text = io.TextIOWrapper(binary, encoding, errors, newline=newline)
        with (
            copying(path, f"a copy of {source.name}") as file,
            io.TextIOWrapper(file, "utf-8", newline="") as copy,
        ):
            try:
                chunks = iter(lambda: text.read(CHUNK), "")
                for chunk in _plain_outside_quotes(chunks) if ends == "outside quotes" else chunks:
                    clean, count = _replace_escapes(chunk)
                    copy.write(clean)
                    invalid, total = invalid + count, total + len(chunk)
            except GZIP_DAMAGE:
                raise source.truncated() from None
    if invalid > NOT_TEXT * total:
        raise ValueError(
            f"{source.name} is not UTF-8 text ({invalid} invalid bytes): "
            "convert it to UTF-8, or check that it is the right file."
        )
    notes = (replaced(invalid, source.name),) if invalid else ()
    repaired = replace(source, path=path, notes=source.notes + notes, repaired=True)
    return replace(repaired, plain_ends=ends == "plain").surveyed()


def _plain_outside_quotes(chunks: Iterator[str]) -> Iterator[str]:
    r"""Replace \r\n and \r outside quotes by \n, in text whose quotes are in pairs.

    Examples
    --------
    >>> "".join(_plain_outside_quotes(iter(['a\r', '\n"b\r', '\n"\r', 'c\r'])))
    'a\n"b\r\n"\nc\n'
    """
    held, quoted = "", 0
    for chunk in chunks:
        parts = (held + chunk.removesuffix("\r")).split('"')
        held = "\r" if chunk.endswith("\r") else ""
        for i in range(quoted, len(parts), 2):
            parts[i] = parts[i].replace("\r\n", "\n").replace("\r", "\n")
        quoted = (quoted + len(parts) - 1) % 2
        yield '"'.join(parts)
    yield held and "\n"


def decode(text: bytes) -> tuple[str, int]:
    r"""Decode UTF-8, each invalid byte as U+FFFD, and count these.

    Examples
    --------
    >>> decode(b"caf\xe9")
    ('caf�', 1)
    """
    return _replace_escapes(text.decode("utf-8-sig", "surrogateescape"))


def replaced(count: int, where: str) -> str:
    """Return the sentence that says how many bytes were replaced.

    Examples
    --------
    >>> replaced(1, "mails.csv")
    '1 byte of invalid UTF-8 was replaced in mails.csv.'
    """
    bytes_were = "byte of invalid UTF-8 was" if count == 1 else "bytes of invalid UTF-8 were"
    return f"{count} {bytes_were} replaced in {where}."


def _replace_escapes(text: str) -> tuple[str, int]:
    return re.subn("[\udc80-\udcff]", "\ufffd", text)


def _start(source: Source) -> bytes:
    try:
        with source.open() as file:
            return file.read(4096).removeprefix(b"\xef\xbb\xbf")
    except GZIP_DAMAGE:
        raise source.truncated() from None


def _look(source: Source, scratch: Path) -> Source:
    """Return a source whose lines end alike, or raise a ValueError if it is empty or not text."""
    start = b"" if source.compressed == ".zst" else _start(source)
    if source.compressed != ".zst" and not start.strip():
        raise ValueError(f"{source.name} is empty: there is nothing to read in it.")
    if source.format == "parquet":
        return source
    is_utf16 = start[:2] in (b"\xff\xfe", b"\xfe\xff")
    if b"\0" in start and not is_utf16:
        raise ValueError(
            f"{source.name} is not a text file: check that it is the right one and is named "
            "for what it is (.parquet, .gz)."
        )
    if is_utf16:
        return repair(source, scratch, "outside quotes" if source.format == "csv" else "kept")
    source = replace(source, is_json_array=start.lstrip().startswith(b"[")).surveyed()
    if source.format == "csv" and source.survey.mixed:
        return repair(source, scratch, "outside quotes")
    return source


def _zstandard_size(source: Source) -> int:
    """Return how many bytes the blocks of a Zstandard file hold at most (RFC 8878).

    A compressed block does not say how many it holds. The walk over all blocks also shows whether
    the file was cut short, which DuckDB does not notice; DuckDB checks the checksums of frames.
    """
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
