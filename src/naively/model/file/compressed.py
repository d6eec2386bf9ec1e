"""A model file whose name ends in ``.gz`` is compressed; ``gunzip`` makes the plain file of it.

Half of a model of texts is words, and most of its counts are 1, so that about a third is left. A
compressed file can hold a thousand times its size, and who loads a stranger's file should not run
out of memory; so that there is a bound, which is looked at when a file is written too.
"""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO

SUFFIX = ".gz"
MAGIC = b"\x1f\x8b"
LEVEL = 6
RATIO = 100  # times the size of the file
HARMLESS = 1 << 23  # bytes, which a file of any size may hold; as JSON they take 30 times that


def compressed(path: str | PathLike[str], content: bytes) -> bytes:
    """Return what a file of this name holds: the content, or the content compressed.

    Raises
    ------
    ValueError
        If it would be compressed so well that it could not be loaded.
    """
    if not str(fspath(path)).endswith(SUFFIX):
        return content
    short = gzip.compress(content, LEVEL, mtime=0)
    if len(content) > _most(len(short)):
        raise ValueError(
            f"{path} would hold more than {RATIO} times its size, and be refused as a bomb when it "
            f"is loaded; choose a name without {SUFFIX}."
        )
    return short


def uncompressed(path: Path, file: BinaryIO) -> BinaryIO:
    """Return an open file as it is, or what it holds if it is compressed, at its beginning.

    Raises
    ------
    ValueError
        If it is compressed, and cut short, damaged, or holds more than the bound.
    """
    magic = file.read(len(MAGIC))
    file.seek(0)
    if magic != MAGIC:
        return file
    most = _most(path.stat().st_size)
    try:
        content = gzip.GzipFile(fileobj=file).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {error}.") from error
    if len(content) > most:
        raise ValueError(
            f"{path} holds more than {RATIO} times its size, as bombs do: if you trust it, "
            "unpack it with gunzip, and load the plain file."
        )
    return BytesIO(content)


def _most(size: int) -> int:
    """Return how many bytes a compressed file of this size may hold."""
    return max(HARMLESS, RATIO * size)
