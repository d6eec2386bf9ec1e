"""The layout of the filter's model file: safetensors, a JSON header and then raw arrays.

A file is input like any other: nothing in it is believed before it is looked at, and nothing is
allocated by what it says. A checksum covers all of it but the checksum itself.
"""

from __future__ import annotations

import json
from array import array
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Mapping
    from typing import Any

    Arrays = Mapping[str, memoryview[Any] | array[Any]]

FORMAT = 2
KEY = "naively"  # of the header in the file's metadata, as in every model file
KIND = "filter"
ARRAYS = {  # the type of each, for safetensors and for Python
    "messages": ("F64", "d"),
    "evidence": ("I64", "q"),
    "counts": ("F64", "d"),
    "ends": ("I64", "q"),
    "hashes": ("U32", "I"),
    "words": ("U8", "B"),
    "digests": ("U8", "B"),
}
DIGEST = 16  # bytes
BINS = 513  # of the evidence of messages, for each class
COLUMNS = {"counts": 2, "digests": DIGEST}  # of the arrays that have any
SINCE = {"evidence": 2, "digests": 2, "checksum": 2}  # the format that they came with
HEADER = 10_000  # bytes; ours have 900
UNKNOWN = "00000000"  # the checksum that the checksum is computed with


def pack(ours: Mapping[str, object], arrays: Arrays) -> bytes:
    """Return a file's content.

    Parameters
    ----------
    ours : mapping
        What the header says beside format, kind and checksum; as JSON.
    arrays : mapping of str to buffer
        Those of ``ARRAYS``.
    """
    about = {"format": FORMAT, "kind": KIND, "checksum": UNKNOWN, **ours}
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


def unpack(content: bytes | mmap.mmap) -> tuple[dict[str, Any], dict[str, memoryview[Any]]]:
    """Return what `pack` was given, of any format so far, and its number; else a ValueError."""
    data = memoryview(content)
    size = int.from_bytes(data[:8], "little")
    if not 0 < size <= min(HEADER, len(data) - 8):
        raise ValueError("it is cut short, or no model of mail")
    text = bytes(data[8 : 8 + size])
    try:
        header = _json(text)
        ours = _json(header["__metadata__"][KEY])
        if ours.get("kind") != KIND:
            raise ValueError("it is a model, but not of mail: make one by `naively learn`")
        version = ours["format"]
        if version > FORMAT:
            raise ValueError("a newer version of naively made it: upgrade naively")
        if type(version) is not int or version < 1:
            raise ValueError("it is damaged, or no model of mail")
        rest = data[8 + size :]
        arrays = _arrays(header, version, rest)
        if version >= SINCE["checksum"]:
            unmarked = _with_checksum(text, UNKNOWN, ours["checksum"])
            if ours["checksum"] != f"{crc32(rest, crc32(unmarked, crc32(data[:8]))):08x}":
                raise ValueError("it is damaged: its checksum is another")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is damaged, or no model of mail") from error
    return ours, arrays


def _json(text: bytes | str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is damaged, or no model of mail") from error


def _with_checksum(header: bytes, checksum: str, instead_of: str = UNKNOWN) -> bytes:
    before, after = (rf"\"checksum\": \"{value}\"".encode() for value in (instead_of, checksum))
    return header.replace(before, after, 1)


def _arrays(
    header: Mapping[str, Any], version: int, rest: memoryview[Any]
) -> dict[str, memoryview[Any]]:
    """Return the arrays, which follow each other without a gap and fill the file."""
    arrays = {}
    place = 0
    for name, (dtype, code) in ARRAYS.items():
        if version < SINCE.get(name, 1):
            arrays[name] = memoryview(b"")
            continue
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
