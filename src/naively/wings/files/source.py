"""Where a file is and what is in it: its format, its bytes, and its text as clean UTF-8."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias, cast

from naively.frozen import Frozen
from naively.kernels.encodings import Guess, guess, with_letters
from naively.kernels.splitting import LONGEST
from naively.options import FileOptions
from naively.saving import copying
from naively.wings.files import formats
from naively.wings.files.formats import EXPANSION, HARMLESS

if TYPE_CHECKING:
    from naively.data.columns import Content, Reading

# --- A file to read: its name, its format, and what was said of it -------------------------------


FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **formats.KINDS,
}
EXTENSIONS = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet"}
COMPRESSIONS = (".gz", ".zst")
CHUNK = 1 << 20
SHORT = 1 << 12  # bytes of the beginning of a file
HEAD_LINES = 100
UTF16 = b"\xff\xfe", b"\xfe\xff"
LIMIT = "64 MB"  # which LONGEST is
LONG = 1 << 20  # bytes of a row
ChooseColumns: TypeAlias = Callable[[Sequence[str]], list[str]]  # from all names to those to read


class Asked(NamedTuple):
    """What is asked of a file."""

    choose: ChooseColumns
    ignore: Collection[str]  # names of columns that are not read
    wanted: Mapping[str, Reading]  # how the cells of columns are read of which it is known
    labels: str | None  # the column whose cells are read as they are written
    rows: int  # of a batch at most
    memory: int | None  # how many bytes may be taken for reading


class Source(Frozen, eq=True):
    """A table in a file."""

    path: Path  # the file that is opened: the user's, or a copy of it
    name: str  # the name of the file in messages
    format: str  # "csv", "jsonl" or "parquet"; before it is copied also what formats copies
    notes: tuple[str, ...] = ()  # sentences about what was repaired
    options: FileOptions = FileOptions()
    encoding: str = ""  # of the text; empty for UTF-8, in which no byte may be wrong
    guessed: Guess | None = None  # how the encoding was found, unless it is known
    # the names of the columns, of a copy as plain CSV, which has no header
    names: tuple[str, ...] = ()
    copy_of: str = ""  # what the file is of which this is such a copy; else an empty string
    # what columns are, as far as the file itself says it
    contents: Mapping[str, Content] = field(default_factory=dict)
    left_out: BinaryIO | None = None  # takes the rows that cannot be read

    @property
    def compressed(self) -> str:
        """Return ``".gz"``, ``".zst"`` or an empty string."""
        extension = self.path.suffix.lower()
        return extension if extension in COMPRESSIONS else ""

    def open(self) -> BinaryIO:
        """Open the bytes, decompressed."""
        if self.compressed == ".gz":
            return cast("BinaryIO", gzip.open(self.path, "rb"))
        if self.compressed == ".zst":
            return cast("BinaryIO", _zstandard().open(self.path, "rb"))
        return self.path.open("rb")

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in chunks, decompressed; what is cut off, or a bomb, is refused."""
        most = max(HARMLESS, EXPANSION * self.path.stat().st_size)
        size = 0
        try:
            with self.open() as file:
                while chunk := file.read(CHUNK):
                    if self.compressed and size > most:
                        unpack = "gunzip" if self.compressed == ".gz" else "zstd -d"
                        raise ValueError(
                            f"{self.name} holds more than {EXPANSION} times its size, as bombs do: "
                            f"if you trust it, unpack it with {unpack}, and give the plain file."
                        )
                    yield chunk
                    size += len(chunk)
        except self._damage:
            raise ValueError(
                f"{self.name} is not a complete {self.compressed} file: copy or download it again."
            ) from None

    @property
    def _damage(self) -> tuple[type[Exception], ...]:
        """What is raised where a compressed file is damaged."""
        more = (_zstandard().ZstdError,) if self.compressed == ".zst" else ()
        return (EOFError, gzip.BadGzipFile, zlib.error, *more)

    def start(self) -> bytes:
        """Return the first bytes, without a byte order mark of UTF-8."""
        return next(self.chunks(), b"")[:SHORT].removeprefix(codecs.BOM_UTF8)

    # --- The text, in pieces of clean UTF-8, and how many of the bytes of each were wrong

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield the text as UTF-8, in pieces, and how many bytes of each had no character."""
        decoded = self._checked() if self.encoding == "" else self._decoded()
        is_first = True
        for text, strays in decoded:
            own = text.removeprefix(codecs.BOM_UTF8) if is_first else text
            if own:
                yield own, strays
            is_first = False

    def _checked(self) -> Iterator[tuple[bytes, int]]:
        """Yield the bytes as they are; a UnicodeDecodeError says that they are not UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        for chunk in self.chunks():
            decoder.decode(chunk)
            yield chunk, 0
        decoder.decode(b"", final=True)

    def _decoded(self) -> Iterator[tuple[bytes, int]]:
        errors = "strict" if self.guessed is None else "surrogateescape"
        decoder = codecs.getincrementaldecoder(self.encoding)(errors)
        ends = io.IncrementalNewlineDecoder(None, translate=False)
        line = 1
        try:
            for chunk in self.chunks():
                text, strays = with_letters(ends.decode(decoder.decode(chunk)))
                yield text.encode("utf-8", "replace"), strays
                line += _ends(text)
            text, strays = with_letters(ends.decode(decoder.decode(b"", final=True), final=True))
            yield text.encode("utf-8", "replace"), strays
        except UnicodeDecodeError as error:
            raise _not_of(self.encoding, error, self.name, line) from None

    def head(self) -> list[str]:
        """Return the first lines: 100 at most, and no more bytes than a row may have."""
        text, most = b"", HEAD_LINES + (self.options.skip or 0)
        for piece, _ in self.pieces():
            text += piece
            if len(text) > LONGEST or text.count(b"\n") + text.count(b"\r") > 2 * most:
                break
        return list(islice(io.StringIO(text.decode("utf-8", "ignore"), newline=""), most))

    def lines(self) -> Iterator[str]:
        """Yield the lines, with their ends; one that is too long is refused."""
        held, number = b"", 1
        for piece, _ in self.pieces():
            *whole, held = (held + piece).splitlines(keepends=True) or [b""]
            if len(whole[0] if whole else held) > LONGEST:
                raise ValueError(f"Line {number} of {self.name} is longer than {LIMIT}: split it.")
            for line in whole:
                yield line.decode()
            number += len(whole)
        if held:
            yield held.decode()

    def decoded(self) -> Source:
        """Return the source with the encoding that its text is in, which is not clean UTF-8."""
        if self.options.encoding is not None:
            return replace(self, encoding=self.options.encoding)
        found = guess(self.chunks())
        if not found.is_text:
            raise ValueError(
                f"{self.name} is not a text file: check that it is the right one, or say its "
                "encoding=."
            )
        return replace(self, encoding=found.encoding, guessed=found)

    def says_encoding(self, strays: int) -> Iterator[str]:
        """Yield what is said of the encoding, in which so many bytes have no character."""
        found = self.guessed
        if found is None or not found.strays:
            return
        if found.encoding == "utf-8":
            yield replaced(found.strays, self.name)
            return
        also = f" ({strays} of its bytes are none: they were read as windows-1252)"
        note = f"{self.name} is not UTF-8: it was read as {found.title}{also if strays else ''}"
        yield f"{note}; if letters look wrong, say encoding=."


def _zstandard() -> ModuleType:
    """Return the module that reads .zst, which Python has itself from 3.14 on."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def _not_of(encoding: str, error: UnicodeDecodeError, name: str, line: int) -> ValueError:
    """Return the error for a byte that an encoding does not have, in text from a line on."""
    line += _ends(error.object[: error.start].decode(encoding, "ignore"))
    return ValueError(
        f"Line {line} of {name} has a byte (0x{error.object[error.start]:02x}) that is not in "
        f"{encoding}: give another encoding=, or mend it."
    )


def _ends(text: str) -> int:
    """Return how many ends of lines are in a text."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


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


# --- What the file at a path is, by its name and its first bytes ----------------------------------


def find(path: Path, format_: str | None, scratch: Path, options: FileOptions) -> Source:
    """Return the source at a path, whose format follows from its name."""
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
    start = source.start()
    begin = start.lstrip()
    if begin.startswith(b"PAR1"):
        return replace(source, format="parquet")
    kind, _ = formats.recognised(source.path, "")
    if kind is not None:
        return replace(source, format=kind)
    is_text = (
        source.options.encoding is not None
        or start[:2] in UTF16
        or (b"\0" not in start and guess([start]).is_text)
    )
    if named and not (begin and is_text):
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


def _look(source: Source, scratch: Path) -> Source:
    """Return a source of which the encoding is known, or else is taken for UTF-8."""
    start = source.start()
    is_array = source.format == "jsonl" and len(start) < SHORT
    if not start.strip(b"[ \t\r\n]" if is_array else None):
        raise formats.EmptyFileError(f"{source.name} is empty: there is nothing to read in it.")
    if source.format == "parquet":
        return source
    given = source.options.encoding
    if source.format in formats.KINDS.values():
        encoding = given or "" if source.format == "arff" else ""
        try:
            return _copied(replace(source, encoding=encoding), scratch)
        except UnicodeDecodeError:
            return _copied(source.decoded(), scratch)
    is_marked = start[:2] in UTF16
    if b"\0" in start and not is_marked and given is None:
        raise ValueError(
            f"{source.name} is not a text file: check that it is the right one and is named "
            "for what it is (.parquet, .gz)."
        )
    if given is not None and codecs.lookup(given).name != "utf-8":
        return replace(source, encoding=given)
    return replace(source, encoding="utf-16") if is_marked else source


def _copied(source: Source, scratch: Path) -> Source:
    """Return a copy as plain CSV of a table in another format."""
    if source.compressed and source.format != "arff":
        raise ValueError(f"{source.name} is compressed: unpack it, and give the plain file.")
    path, options = scratch / "copy.csv", source.options
    with (
        copying(path, f"a copy of {source.name}") as copy,
        io.TextIOWrapper(copy, "utf-8", "surrogateescape", newline="") as out,
    ):
        of = source.format, source.path, source.lines(), out
        found = formats.copied(*of, name=source.name, options=options)
    return replace(
        source,
        path=path,
        format="csv",
        names=tuple(found.names),
        contents=found.contents(),
        notes=(*source.notes, *found.notes, *source.says_encoding(0)),
        copy_of=source.format,
        encoding="",
        guessed=None,
        options=replace(
            options, encoding=None, header=options.header or source.format in formats.NAMED
        ),
    )
