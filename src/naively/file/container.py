"""The bytes of a model file: a JSON header and raw arrays, with a checksum, maybe compressed."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields, is_dataclass
from io import SEEK_END, BytesIO
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from naively.file.header import Json, Saved, shown

if TYPE_CHECKING:
    from pathlib import Path

# --- The file of a model: a JSON header and raw arrays, in a safetensors file with a checksum --
#
# The checksum is the CRC-32 of all bytes of the file, with zeros in its own place, so that a
# flipped bit anywhere is noticed. A program that reads safetensors reads the arrays.


Array: TypeAlias = NDArray[Any]  # of floats, whole numbers, codes or bytes
Arrays: TypeAlias = dict[str, Array]

KEY = "naively"  # of the header in the file's metadata
CHECKSUM = "checksum"  # the header's first entry
UNKNOWN = "00000000"  # stands for the checksum while it is computed
MARK = b'{\\"checksum\\": \\"'  # what the checksum follows: the header is a string within JSON
LARGEST_HEADER = 100_000_000  # bytes, of any safetensors file
DTYPES: dict[str, type[np.generic]] = {
    "U8": np.uint8,
    "I8": np.int8,
    "U16": np.uint16,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "F64": np.float64,
}
INTEGERS = [dtype for dtype in DTYPES.values() if issubclass(dtype, np.integer)]  # narrow to wide
KINDS = {"f": np.float64, "i": np.int64, "c": np.int32, "u": np.uint8}


def to_bytes(header: Saved, arrays: Arrays) -> bytes:
    """Return the content of a file with this header and these arrays."""
    from safetensors.numpy import save

    text = json.dumps({CHECKSUM: UNKNOWN, **header}, default=_plain)
    content = save(
        {name: np.ascontiguousarray(_narrow(a)) for name, a in arrays.items()}, {KEY: text}
    )
    at = content.index(MARK) + len(MARK)
    return b"".join([content[:at], f"{crc32(content):08x}".encode(), content[at + len(UNKNOWN) :]])


def read(path: Path) -> tuple[Saved, bytes]:
    """Return the header of a model file, and all its bytes (see ``read_open``)."""
    with path.open("rb") as file:
        return read_open(path, file)


def read_open(name: object, file: BinaryIO) -> tuple[Saved, bytes]:
    """Return the header of an open model file, and all its bytes."""
    # name: what messages call the file; file: at its beginning, and perhaps compressed
    file = uncompressed(name, file)
    text = _header(name, file)
    file.seek(0)
    content = file.read()
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is damaged: its header is not JSON ({error}).") from error
    if type(header) is not dict:
        raise ValueError(f"{name} is damaged: its header is no JSON object.")
    return header, content


def check(header: Saved, content: bytes) -> None:
    """Raise a ValueError unless the checksum is that of all bytes."""
    if header.get(CHECKSUM) != _checksum(content):
        raise ValueError("its checksum does not fit what it holds")


def arrays_of(content: bytes) -> Arrays:
    """Return the arrays in the content of a file, by name."""
    from safetensors import SafetensorError, deserialize

    try:
        # Safetensors checks that the arrays fill the file.
        tensors = deserialize(content)  # type: ignore[no-untyped-call]  # it has no types
    except SafetensorError as error:
        raise ValueError(f"its arrays do not fit the file ({error})") from error
    arrays: Arrays = {}
    for name, tensor in tensors:
        if tensor["dtype"] not in DTYPES:
            raise ValueError(f"array {name!r} is of type {tensor['dtype']}")
        flat = np.frombuffer(tensor["data"], DTYPES[tensor["dtype"]])
        arrays[name] = flat.reshape(tensor["shape"])
    return arrays


class UnreadArrays:
    """The arrays of a file that nothing has read yet; each is taken once."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def take(self, name: str, kind: str = "f", shape: tuple[int, ...] | None = None) -> Array:
        """Return an array of floats "f", integers "i", codes "c" (in 32 bits) or bytes "u"."""
        # In the file whole numbers may be of a narrower type. Where a shape is given, the array has
        # that shape.
        array = self._arrays.pop(name, None)
        if array is None:
            raise ValueError(f"there is no array {shown(name)}, or it is used twice")
        if not np.can_cast(array.dtype, KINDS[kind]):
            raise ValueError(f"array {shown(name)} is of type {array.dtype}")
        if shape is not None and array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape} instead of {shape}")
        return array.astype(KINDS[kind], copy=False)

    def check_empty(self) -> None:
        """Raise a ValueError if an array is left that nothing has taken."""
        if self._arrays:
            raise ValueError(f"nothing uses the array {shown(next(iter(self._arrays)))}")


def _header(name: object, file: BinaryIO) -> str:
    """Return the text of the header, before anything else of the file is read."""
    nothing = ValueError(f"{name} is not a model file, or it is damaged.")
    size = int.from_bytes(file.read(8), "little")
    text = file.read(size) if size <= LARGEST_HEADER else b""
    if not text.startswith(b"{") or len(text) < size:
        raise nothing
    try:
        metadata = json.loads(text).get("__metadata__")
    except (ValueError, RecursionError):
        raise nothing from None
    found = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(found, str):
        raise ValueError(f"{name} is a safetensors file, but not a model of naively.")  # noqa: TRY004
    return found


def _checksum(content: bytes) -> str | None:
    """Return the checksum that a file of this content has; None if it has no place for one."""
    begin = content.find(MARK) + len(MARK)
    if begin < len(MARK):
        return None
    whole = memoryview(content)
    head = crc32(UNKNOWN.encode(), crc32(whole[:begin]))
    return f"{crc32(whole[begin + len(UNKNOWN) :], head):08x}"


def _narrow(array: Array) -> Array:
    """Return whole numbers in the narrowest type that holds them, and other arrays as they are."""
    if not array.size:
        return array.astype(INTEGERS[0])
    least, most = array.min(), array.max()
    for dtype in INTEGERS:
        limits, narrower = np.iinfo(dtype), np.dtype(dtype).itemsize < array.itemsize
        if narrower and limits.min <= least and most <= limits.max:
            narrow = array.astype(dtype)
            # For floats, neither a fraction nor the sign of a zero is lost.
            return narrow if narrow.astype(array.dtype).tobytes() == array.tobytes() else array
    return array


def _plain(value: object) -> Json:
    """Return numbers and arrays of NumPy as Python's own, and a dataclass by its fields."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if is_dataclass(value):
        name = type(value).__name__
        return {"name": name, **{of.name: getattr(value, of.name) for of in fields(value)}}
    raise TypeError(f"A model file cannot hold the {type(value).__name__} {value!r}.")


# --- A model file named ``.gz`` is compressed; ``gunzip`` makes the plain file of it -------------
#
# Half of a model of texts is words, and most of its counts are 1, so that about a third is left. A
# compressed file can hold a thousand times its size, and who loads a stranger's file should not
# run out of memory; so that there is a bound, which is looked at when a file is written too.


SUFFIX = ".gz"
MAGIC = b"\x1f\x8b"
LEVEL = 6
RATIO = 100  # times the size of the file
HARMLESS = 1 << 23  # bytes, which a file of any size may hold; as JSON they take 30 times that


def compressed(path: str | PathLike[str], content: bytes) -> bytes:
    """Return what a file of this name holds: the content, or the content compressed."""
    if not str(fspath(path)).endswith(SUFFIX):
        return content
    short = gzip.compress(content, LEVEL, mtime=0)
    if len(content) > _most(len(short)):
        raise ValueError(
            f"{path} would hold more than {RATIO} times its size, and be refused as a bomb when it "
            f"is loaded; choose a name without {SUFFIX}."
        )
    return short


def uncompressed(name: object, file: BinaryIO) -> BinaryIO:
    """Return an open file as it is, or what it holds if it is compressed, at its beginning."""
    magic = file.read(len(MAGIC))
    file.seek(0)
    if magic != MAGIC:
        return file
    most = _most(file.seek(0, SEEK_END))
    file.seek(0)
    try:
        content = gzip.GzipFile(fileobj=file).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is damaged: {error}.") from error
    if len(content) > most:
        raise ValueError(
            f"{name} holds more than {RATIO} times its size, as bombs do: if you trust it, "
            "unpack it with gunzip, and load the plain file."
        )
    return BytesIO(content)


def _most(size: int) -> int:
    """Return how many bytes a compressed file of this size may hold."""
    return max(HARMLESS, RATIO * size)
