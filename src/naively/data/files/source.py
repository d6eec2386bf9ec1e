"""One file to read: what it is called, what it holds, and how to open it when it is damaged.

A table is handed to DuckDB where it lies. Only standard input, and text that is not clean UTF-8,
goes through a copy, written as a stream.
"""

from __future__ import annotations

import difflib
import gzip
import io
import re
import shutil
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

if TYPE_CHECKING:
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
NOT_TEXT = 0.3  # more invalid bytes than this, and the file is not UTF-8 text with a few slips

Damage: TypeAlias = tuple[type[Exception], ...]
GZIP_DAMAGE: Damage = (EOFError, gzip.BadGzipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A table in a file.

    Parameters
    ----------
    path : Path
        What is opened: the user's file, or a copy of it.
    name : str
        What messages call it.
    format : str
        ``"csv"``, ``"jsonl"`` or ``"parquet"``.
    is_json_array : bool
        Whether the rows are the elements of one JSON array, rather than one on each line.
    notes : tuple of str
        What was repaired in the copy.
    repaired : bool
        Whether this is a copy with clean text.
    long_lines : bool
        Whether a line may be longer than DuckDB's default, at the price of its parallel reading.
    """

    path: Path
    name: str
    format: str
    is_json_array: bool = False
    notes: tuple[str, ...] = ()
    repaired: bool = False
    long_lines: bool = False

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


def check_exists(path: Path) -> None:
    """Raise FileNotFoundError, with the names that come close, unless the path exists."""
    if path.exists():
        return
    siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, siblings)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise FileNotFoundError(f"There is no file {path}.{hint}")


def find(path: Path, format_: str | None) -> Source:
    """Return the source at a path, after a look at its first bytes."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    known = format_ or FORMATS.get(plain.suffix.lower())
    if known is None:
        raise ValueError(
            f"The name {path} does not say what the file is: "
            f"end it in {', '.join(FORMATS)} (then also .gz or .zst), or give the format."
        )
    return _look(Source(path.absolute(), str(path), known))


def spool(stream: BinaryIO, name: str, format_: str | None, scratch: Path) -> Source:
    """Copy a stream, which can be read only once, to a file and return it as a source."""
    path = scratch / "input"
    with path.open("wb") as copy:
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
    return _look(source)


def repair(source: Source, scratch: Path) -> Source:
    """Copy a text file as UTF-8 with plain line ends, and say what was replaced."""
    path = scratch / f"repaired{EXTENSIONS[source.format]}"
    invalid = total = 0
    with source.open() as binary:
        is_utf16 = binary.read(2) in (b"\xff\xfe", b"\xfe\xff")
        binary.seek(0)
        encoding, errors = ("utf-16", "replace") if is_utf16 else ("utf-8-sig", "surrogateescape")
        text = io.TextIOWrapper(binary, encoding, errors)
        with path.open("w", encoding="utf-8", newline="") as copy:
            try:
                while chunk := text.read(CHUNK):
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
    return replace(source, path=path, notes=notes, repaired=True)


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


def _look(source: Source) -> Source:
    """Refuse a file that is empty or not text, and see whether JSON is one array."""
    if source.compressed == ".zst":
        _check_zstandard(source)
        return source
    start = _start(source)
    if not start.strip():
        raise ValueError(f"{source.name} is empty: there is nothing to read in it.")
    is_utf16 = start[:2] in (b"\xff\xfe", b"\xfe\xff")
    if source.format != "parquet" and b"\0" in start and not is_utf16:
        raise ValueError(
            f"{source.name} is not a text file: check that it is the right one and is named "
            "for what it is (.parquet, .gz)."
        )
    return replace(source, is_json_array=start.lstrip().startswith(b"["))


def _check_zstandard(source: Source) -> None:
    """Walk over the blocks of each frame (RFC 8878), as DuckDB takes a cut file for a short one."""
    with source.open() as file:

        def number(size: int) -> int:
            data = file.read(size)
            if len(data) < size:
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
                is_last, is_repeat = bool(block & 1), block >> 1 & 3 == 1
                file.seek(1 if is_repeat else block >> 3, io.SEEK_CUR)
            number(4 if descriptor & 4 else 0)
        if file.tell() > end or not end:
            raise source.truncated()
