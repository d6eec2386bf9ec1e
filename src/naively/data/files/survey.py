"""A text file is surveyed before it is read: whether it is whole, and how large it is.

Python decompresses it, which checks the checksums of gzip as DuckDB does not. Rows are counted here
by the ends of lines outside quotes, and again as DuckDB reads them; the two counts must agree.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1 << 20
LONGEST = 1 << 26  # bytes of a line, of a row and of a cell
LIMIT = "64 MB"
RETURN, FEED, QUOTE = b'\r\n"'


@dataclass(frozen=True)
class Survey:
    """The size of a text file, in bytes and in rows.

    Parameters
    ----------
    size : int
        Bytes, decompressed.
    longest : int
        Bytes of the longest line.
    lines : int, optional
        How many rows there are, the header and empty lines included; a line that ends between
        quotes goes on in the next. None if rows were not counted.
    filled : int, optional
        How many of the rows are not empty.
    mixed : bool
        Whether lines end in several ways.
    """

    size: int = 0
    longest: int = 0
    lines: int | None = None
    filled: int | None = None
    mixed: bool = False


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
        """Count the line feeds and carriage returns of a chunk.

        Parameters
        ----------
        at : ndarray of shape (ends,)
            Their places in the file.
        byte : ndarray of shape (ends,)
            Which of the two each is.
        """
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
    r"""Count the bytes and rows of a file of lines.

    Parameters
    ----------
    file : binary file
        The file, decompressed.
    name : str
        The name of the file in messages.
    quotes : bool
        Whether a line may end between quotes and go on in the next, as in CSV.
    longest : int, optional
        How many bytes a line may have; infinity where lines mean nothing.

    Raises
    ------
    ValueError
        If a line is longer.

    Examples
    --------
    >>> survey(io.BytesIO(b'a,b\n1,"x\ny"\n\n2,z'), "t.csv", quotes=True)
    Survey(size=16, longest=4, lines=4, filled=3, mixed=False)
    """
    lines, rows = _Lines(), _Lines()
    size = quoted = 0
    for chunk in _chunks(file):
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


def recount(file: BinaryIO, delimiter: str, *, skips_empty_lines: bool) -> int:
    r"""Count the rows of CSV below the header with Python's own reader, which is exact and slow.

    The reader knows that a quote inside a field opens nothing, which the ends of lines do not tell.

    Examples
    --------
    >>> recount(io.BytesIO(b'a,b\n5" pipe,x\n\n6" pipe,y\n'), ",", skips_empty_lines=True)
    2
    """
    limit = csv.field_size_limit(LONGEST)
    try:
        with io.TextIOWrapper(file, "latin-1", newline="") as text:
            rows = csv.reader(text, delimiter=delimiter)
            return sum(bool(row) or not skips_empty_lines for row in rows) - 1
    finally:
        csv.field_size_limit(limit)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    r"""Yield a file in chunks that do not cut \r\n in two."""
    held = b""
    while chunk := file.read(CHUNK):
        chunk = held + chunk
        held = chunk[-1:] if chunk.endswith(b"\r") else b""
        yield chunk[: len(chunk) - len(held)]
    yield held
