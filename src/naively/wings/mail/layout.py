"""The layout of the filter's model file: a safetensors file of a JSON header and raw arrays.

``naively.file.container`` writes such files with NumPy, which the filter has no time to import.
A file is input like any other: each entry is checked before it is used, and no memory is
allocated by what the file says. A checksum covers all of the file but the checksum itself.
"""

from __future__ import annotations

import json
import mmap
import os
from array import array
from binascii import crc32
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Buffer

    Arrays = Mapping[str, Buffer]  # one for each name of ARRAYS
    Json = Any  # what JSON can hold
    Entries = dict[str, Json]  # of a header

FORMAT = 1
KEY = "naively"  # of the header in the file's metadata, as in every model file
KIND = "filter"
ARRAYS = {  # the type of each array, for safetensors and for Python's array module
    "messages": ("F64", "d"),  # (classes,): how many there are
    "evidence": ("F64", "d"),  # (classes * BINS,): the histogram of scores, see mail.score
    "counts": ("F64", "d"),  # (words, classes): how many messages hold the word
    "weights": ("F64", "d"),  # (digests,): how much each still counts, 1 unless counts were scaled
    "ends": ("I64", "q"),  # (words,): where each ends among the bytes of all
    "hashes": ("U32", "I"),  # (words,), ascending
    "days": ("U16", "H"),  # (words,): the day since 1970 on which each was last learned
    "learned": ("U16", "H"),  # (digests,): the day on which the message was learned
    "words": ("U8", "B"),  # UTF-8
    "digests": ("U8", "B"),  # (digests, DIGEST), ascending: of the messages that are remembered
}
DIGEST = 16  # bytes
BINS = 513  # of the histogram of scores, for each class
COLUMNS = {"counts": 2, "digests": DIGEST}  # of the arrays of two dimensions
HEADER = 10_000  # bytes of a header at most; the filter's own have 1,200
UNKNOWN = "00000000"  # stands for the checksum while it is computed


def pack(entries: Mapping[str, object], arrays: Arrays) -> bytes:
    """Return the content of a file."""
    about = {"format": FORMAT, "kind": KIND, "checksum": UNKNOWN, **entries}
    header: dict[str, object] = {"__metadata__": {KEY: json.dumps(about)}}
    begin, parts = 0, []
    for name, (dtype, code) in ARRAYS.items():
        part = memoryview(arrays[name]).cast("B").tobytes()
        items = len(part) // array(code).itemsize
        shape = [items // COLUMNS[name], COLUMNS[name]] if name in COLUMNS else [items]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + len(part)]}
        parts.append(part)
        begin += len(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    size = len(text).to_bytes(8, "little")
    content = b"".join([size, text, *parts])
    return b"".join([size, _with_checksum(text, f"{crc32(content):08x}"), *parts])


def unpack(content: bytes | mmap.mmap) -> tuple[Entries, dict[str, memoryview]]:
    """Return the header's entries and the arrays of a file."""
    data = memoryview(content)
    size = int.from_bytes(data[:8], "little")
    if not 0 < size <= min(HEADER, len(data) - 8):
        raise ValueError("it is cut short, or no model of mail")
    text = bytes(data[8 : 8 + size])
    try:
        header = _json(text)
        entries = _json(header["__metadata__"][KEY])
        if entries.get("kind") != KIND:
            raise ValueError("it is a model, but not of mail: make one by `naively mail learn`")
        version = entries["format"]
        if version > FORMAT:
            raise ValueError("a newer version of naively made it: upgrade naively")
        if type(version) is not int or version < 1:
            raise ValueError("it is damaged, or no model of mail")
        rest = data[8 + size :]
        arrays = _arrays(header, rest)
        unmarked = _with_checksum(text, UNKNOWN, entries["checksum"])
        if entries["checksum"] != f"{crc32(rest, crc32(unmarked, crc32(data[:8]))):08x}":
            raise ValueError("it is damaged: its checksum is another")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is damaged, or no model of mail") from error
    return entries, arrays


def _json(text: bytes | str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is damaged, or no model of mail") from error


def _with_checksum(header: bytes, checksum: str, instead_of: str = UNKNOWN) -> bytes:
    before, after = (rf"\"checksum\": \"{value}\"".encode() for value in (instead_of, checksum))
    return header.replace(before, after, 1)


def _arrays(header: Entries, rest: memoryview) -> dict[str, memoryview]:
    """Return the arrays, which follow each other without a gap and fill the file."""
    arrays = {}
    place = 0
    for name, (dtype, code) in ARRAYS.items():
        columns, offsets = COLUMNS.get(name, 1), header[name]["data_offsets"]
        begin, end = offsets if len(offsets) == 2 else (place, -1)
        fits = type(end) is int and begin == place <= end <= len(rest)
        if not fits or header[name]["dtype"] != dtype:
            raise ValueError("it is cut short, or damaged")
        rows, over = divmod(end - begin, columns * array(code).itemsize)
        if over or header[name]["shape"] != ([rows, columns] if name in COLUMNS else [rows]):
            raise ValueError("it is damaged: its arrays have other shapes")
        arrays[name] = rest[begin:end]
        place = end
    if place != len(rest):
        raise ValueError("it is damaged: it is longer than its arrays")
    return arrays


def is_of_mail(path: str) -> bool:
    """Whether a file begins as `pack` writes it; what else is wrong with it is not looked at."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            size = int.from_bytes(file.read(8), "little")
            about = json.loads(json.loads(file.read(min(size, HEADER)))["__metadata__"][KEY])
        return bool(about["kind"] == KIND)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def mapped(path: str) -> mmap.mmap:
    """Map a file into memory."""
    about = os.stat(path)  # noqa: PTH116  (faster than by pathlib)
    if not S_ISREG(about.st_mode):  # to open a FIFO may take forever
        raise ValueError("it is no file")
    if not about.st_size:
        raise ValueError("it is empty")
    with open(path, "rb") as file:  # noqa: PTH123
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
