"""The file of a model: a header of JSON and raw arrays, in a safetensors file with a checksum.

The checksum, a CRC-32, is over every byte of the file, with zeros in its own place: no flipped bit
goes unseen. Any program that reads safetensors reads the arrays.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = dict[str, NDArray[Any]]

KEY = "naively"  # of the header in the file's metadata
CHECKSUM = "checksum"  # the header's first entry
UNKNOWN = "00000000"  # until the rest is there
MARK = b'{\\"checksum\\": \\"'  # what it follows, as a string of JSON in JSON
LARGEST_HEADER = 100_000_000  # bytes, of any safetensors file
DTYPES = {"F64": np.float64, "I64": np.int64, "U8": np.uint8}


def to_bytes(header: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the file of a header and arrays."""
    from safetensors.numpy import save

    text = json.dumps({CHECKSUM: UNKNOWN, **header}, default=_plain)
    content = save({name: np.ascontiguousarray(a) for name, a in arrays.items()}, {KEY: text})
    at = content.index(MARK) + len(MARK)
    return b"".join([content[:at], f"{crc32(content):08x}".encode(), content[at + len(UNKNOWN) :]])


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the header of a file and all its bytes, or say in what way it is none."""
    with path.open("rb") as file:
        text = _header(path, file)
        file.seek(0)
        content = file.read()
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its header is not JSON ({error}).") from error
    if type(header) is not dict:
        raise ValueError(f"{path} is damaged: its header is no JSON object.")
    return header, content


def check(header: dict[str, Any], content: bytes) -> None:
    """Raise a ValueError unless the checksum, where there is one, is that of all bytes."""
    saved = header.get(CHECKSUM)
    if saved is not None and saved != _checksum(content):
        raise ValueError("its checksum does not fit what it holds")


def arrays_of(content: bytes) -> Arrays:
    """Return the arrays among the bytes of a file."""
    from safetensors import SafetensorError, deserialize

    try:
        tensors = deserialize(content)  # type: ignore[no-untyped-call]  # they fill the file
    except SafetensorError as error:
        raise ValueError(f"its arrays do not fit the file ({error})") from error
    arrays: Arrays = {}
    for name, tensor in tensors:
        if tensor["dtype"] not in DTYPES:
            raise ValueError(f"array {name!r} is of type {tensor['dtype']}")
        flat = np.frombuffer(tensor["data"], DTYPES[tensor["dtype"]])
        arrays[name] = flat.reshape(tensor["shape"])
    return arrays


def _header(path: Path, file: BinaryIO) -> str:
    """Return the header's text, before anything else is read."""
    nothing = ValueError(f"{path} is not a model file, or it is damaged.")
    size = int.from_bytes(file.read(8), "little")
    if not 2 <= size <= LARGEST_HEADER:
        raise nothing
    text = file.read(size)
    if len(text) < size:
        raise nothing
    try:
        about = json.loads(text)["__metadata__"] if text.startswith(b"{") else None
    except KeyError:
        about = {}
    except (ValueError, RecursionError):
        raise nothing from None
    if about is None:
        raise nothing
    found = about.get(KEY) if isinstance(about, dict) else None
    if type(found) is not str:
        raise ValueError(f"{path} is a safetensors file, but not a model of naively.")
    return found


def _checksum(content: bytes) -> str | None:
    """Return the checksum of a file that has one."""
    at = content.find(MARK) + len(MARK)
    if at < len(MARK):
        return None
    there = memoryview(content)
    head = crc32(UNKNOWN.encode(), crc32(there[:at]))
    return f"{crc32(there[at + len(UNKNOWN) :], head):08x}"


def _plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"A model file cannot hold the {type(value).__name__} {value!r}.")
