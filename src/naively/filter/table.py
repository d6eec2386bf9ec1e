"""The filter's model: how many messages of each class hold each word, in one file.

The file is safetensors (a JSON header, then raw arrays): a hash table, the words sorted by hash,
so that plain Python finds one by binary search in the memory-mapped file. Words of the same hash
are sorted too, as the senders of mail could choose theirs to collide. Only counts are stored;
every weight follows from them when it is asked for.
"""

from __future__ import annotations

import json
import mmap
import sys
from array import array
from binascii import crc32
from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Arrays = Mapping[str, memoryview[Any] | array[Any]]

FORMAT = 1
KEY = "naively"  # of the header in the file's metadata, as in every model file
KIND = "filter"
CLASSES = ("ham", "spam")
ARRAYS = {  # the type of each, for safetensors and for Python
    "messages": ("F64", "d"),
    "counts": ("F64", "d"),
    "ends": ("I64", "q"),
    "hashes": ("U32", "I"),
    "words": ("U8", "B"),
}
TEMPERATURE = 1.0

Counts = tuple[float, float]  # of messages, in the order of CLASSES


class Table:
    """Counts of messages by word and class, read-only.

    Parameters
    ----------
    arrays : mapping of str to buffer
        ``messages`` (2 float64), ``counts`` (2 float64 a word), ``ends`` (int64: where in
        ``words`` each word ends), ``hashes`` (uint32, ascending), ``words`` (UTF-8).
    temperature : float
        What evidence is multiplied by (see ``naively.filter.evidence``).

    Examples
    --------
    >>> table = Table.empty().add({"prize": (0, 2), "lunch": (1, 0)}, (3, 2))
    >>> table["prize"], table["dinner"], table.messages
    ((0.0, 2.0), (0.0, 0.0), (3.0, 2.0))
    >>> sorted(table.items())
    [('lunch', (1.0, 0.0)), ('prize', (0.0, 2.0))]
    """

    def __init__(self, arrays: Arrays, temperature: float = TEMPERATURE) -> None:
        views = {name: memoryview(arrays[name]).cast("B") for name in ARRAYS}
        self.messages: Counts = tuple(views["messages"].cast("d"))  # type: ignore[assignment]
        self.temperature = temperature
        self._counts = views["counts"].cast("d")
        self._ends = views["ends"].cast("q")
        self._hashes = views["hashes"].cast("I")
        self._words = views["words"]
        n = len(self._hashes)
        fit = len(self.messages) == 2 and len(self._counts) == 2 * n and len(self._ends) == n
        if not fit or (self._ends[-1] if n else 0) != len(self._words):
            raise ValueError("its arrays do not fit together")

    @classmethod
    def empty(cls) -> Table:
        """Return the table of no messages."""
        return cls(
            {
                name: array(code, [0, 0][: 2 * (name == "messages")])
                for name, (_, code) in ARRAYS.items()
            }
        )

    def __len__(self) -> int:
        return len(self._hashes)

    def __getitem__(self, word: str) -> Counts:
        """How many messages of each class hold a word; of an unknown one, none."""
        key = word.encode("utf-8", "surrogatepass")
        i, found = self._find(crc32(key), key)
        return self._at(i) if found else (0.0, 0.0)

    def items(self) -> Iterator[tuple[str, Counts]]:
        """Iterate over words and their counts, in the order of the table."""
        for i in range(len(self)):
            yield self._word(i).decode("utf-8", "surrogatepass"), self._at(i)

    def add(self, counts: Mapping[str, Counts], messages: Counts) -> Table:
        """Return the table with these counts added; to forget, they are negative.

        A word that is left without counts is dropped: what was forgotten was never seen.

        Raises
        ------
        ValueError
            If a count would be below zero: what is taken back was not learned so.
        """
        total = _sum(self.messages, messages, "messages")
        out: dict[str, array[Any]] = {name: array(code) for name, (_, code) in ARRAYS.items()}
        out["messages"].extend(total)
        done = 0
        keys = ((word.encode("utf-8", "surrogatepass"), word) for word in counts)
        for hash_, key, word in sorted((crc32(key), key, word) for key, word in keys):
            i, found = self._find(hash_, key)
            self._copy(done, i, out)
            done = i + found
            count = _sum(self._at(i) if found else (0.0, 0.0), counts[word], word)
            if any(count):
                out["words"].frombytes(key)
                out["ends"].append(len(out["words"]))
                out["hashes"].append(hash_)
                out["counts"].extend(count)
        self._copy(done, len(self), out)
        return Table(out, self.temperature)

    def with_temperature(self, temperature: float) -> Table:
        """Return the same counts with another temperature."""
        return Table(self._arrays(), temperature)

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        arrays = self._arrays()
        ours = {"format": FORMAT, "kind": KIND, "classes": CLASSES, "temperature": self.temperature}
        header: dict[str, object] = {"__metadata__": {KEY: json.dumps(ours)}}
        begin, parts = 0, []
        for name, (dtype, code) in ARRAYS.items():
            part = memoryview(arrays[name]).cast("B").tobytes()
            items = len(part) // array(code).itemsize
            shape = [items // 2, 2] if name == "counts" else [items]
            offsets = [begin, begin + len(part)]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
            parts.append(part)
            begin += len(part)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return b"".join([len(text).to_bytes(8, "little"), text, *parts])

    @classmethod
    def from_bytes(cls, content: bytes | mmap.mmap) -> Table:
        """Return the table that `to_bytes` wrote; what it did not is a ValueError."""
        data = memoryview(content)
        size = int.from_bytes(data[:8], "little")
        try:
            header = json.loads(bytes(data[8 : 8 + size]))
            ours = json.loads(header["__metadata__"][KEY])
            if ours.get("kind") != KIND:
                raise ValueError("it is a model, but not of mail: make one by `naively learn`")
            if ours["format"] > FORMAT:
                raise ValueError("a newer version of naively made it: upgrade naively")
            arrays = {}
            for name, (dtype, _) in ARRAYS.items():
                begin, end = header[name]["data_offsets"]
                part = data[8 + size :][begin:end]
                if header[name]["dtype"] != dtype or len(part) != end - begin:
                    raise ValueError("it is cut short")
                arrays[name] = part
            return cls(arrays, float(ours["temperature"]))
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
            raise ValueError("it is damaged, or no model of mail") from error

    def _arrays(self) -> Arrays:
        return {
            "messages": array("d", self.messages),
            "counts": self._counts,
            "ends": self._ends,
            "hashes": self._hashes,
            "words": self._words,
        }

    def _word(self, i: int) -> bytes:
        return bytes(self._words[self._ends[i - 1] if i else 0 : self._ends[i]])

    def _at(self, i: int) -> Counts:
        return self._counts[2 * i], self._counts[2 * i + 1]

    def _find(self, hash_: int, word: bytes) -> tuple[int, bool]:
        """Return the place of a word, and whether it is there."""
        i = bisect_left(self._hashes, hash_)
        if i == len(self._hashes) or self._hashes[i] != hash_:
            return i, False
        end = bisect_right(self._hashes, hash_, i)
        i = bisect_left(range(end), word, i, key=self._word)
        return i, i < end and self._word(i) == word

    def _copy(self, begin: int, end: int, out: dict[str, array[Any]]) -> None:
        """Append words begin to end to arrays that are being made."""
        if begin == end:
            return
        first = self._ends[begin - 1] if begin else 0
        shift = len(out["words"]) - first
        out["words"].frombytes(self._words[first : self._ends[end - 1]])
        out["ends"].extend([e + shift for e in self._ends[begin:end]])
        out["hashes"].frombytes(self._hashes[begin:end].cast("B"))
        out["counts"].frombytes(self._counts[2 * begin : 2 * end].cast("B"))


def load(path: str) -> Table:
    """Map a model file into memory.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is no model of mail, or damaged.
    """
    if sys.byteorder != "little":
        raise ValueError("The mail filter needs a little-endian machine.")
    try:
        with open(path, "rb") as file:  # noqa: PTH123  (faster than by pathlib)
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return Table.from_bytes(content)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no model {path}: make it by `naively learn {path} --as spam|ham`."
        ) from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}.") from error


def _sum(a: Counts, b: Counts, what: str) -> Counts:
    total = a[0] + b[0], a[1] + b[1]
    for label, count in zip(CLASSES, total, strict=True):
        if count < 0:
            raise ValueError(
                f"This was not learned as {label} ({what}), so it cannot be unlearned."
            )
    return total
