"""Model files taken apart, changed, and put together again with a checksum that fits."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import load
from naively.file import container

Arrays = dict[str, np.ndarray]
Change = Callable[[dict[str, Any], Arrays], object]  # of a header and arrays, in place
MEMORY = 100_000_000  # bytes, beside what is loaded anyway


def apart(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header of a model file, without its checksum, and its arrays.

    Whole numbers are floats, which hold whatever a test writes; bytes of words are bytes.
    """
    header, content = container.read(path)
    header.pop(container.CHECKSUM, None)
    wide = {
        name: array if array.itemsize == 8 or name.endswith("/words") else array.astype(np.float64)
        for name, array in container.arrays_of(content).items()
    }
    return header, wide


def rewrite(path: Path, change: Change) -> None:
    """Change the header or the arrays of a model file."""
    header, arrays = apart(path)
    change(header, arrays)
    path.write_bytes(container.to_bytes(header, arrays))


def change_of(end: str, change: Callable[[Any], Any], begin: str = "") -> Change:
    """Change, in place or for another, the first array whose name begins and ends so."""

    def change_it(_: Any, arrays: Arrays) -> None:
        names = (name for name in sorted(arrays) if name.startswith(begin))
        name = next(name for name in names if name.endswith(end))
        found = arrays[name].copy()
        changed = change(found)
        arrays[name] = np.ascontiguousarray(found if changed is None else changed)

    return change_it


def first(end: str, *values: float, begin: str = "") -> Change:
    """Change the first numbers of the first array whose name begins and ends so."""
    return change_of(end, lambda of: of.flat.__setitem__(slice(len(values)), values), begin)


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value within a value of JSON."""
    parts: Any = enumerate(value) if isinstance(value, list) else ()
    parts = value.items() if isinstance(value, dict) else parts
    inner = [found for key, part in parts for found in paths(part, (*at, key))]
    return [at, *inner] if at else inner


def put(value: Any, at: tuple[Any, ...], new: Any) -> None:
    """Replace what is there."""
    for key in at[:-1]:
        value = value[key]
    value[at[-1]] = json.loads(json.dumps(new))


def outcome(verb: Callable[[], Any]) -> tuple[Any, str | None]:
    """Return what a verb returns, or what it says is wrong."""
    try:
        return verb(), None
    except ValueError as error:
        return None, str(error)


def is_sentence(said: str) -> bool:
    """Whether a message is one sentence, and not a long one."""
    return len(said) < 600 and "\n" not in said and said.endswith(".")


@contextmanager
def in_little_memory() -> Iterator[None]:
    """Check that at no time much memory is taken."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


def assert_refused(path: Path, why: str) -> None:
    """Check that a model file is refused in one sentence, which says why it is damaged."""
    with in_little_memory(), pytest.raises(ValueError, match=why) as e:
        load(path)
    said = str(e.value)
    assert said.startswith(f"{path} is damaged: ")
    assert is_sentence(said)
