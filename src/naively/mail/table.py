"""The filter's model: how many messages of each class hold each word, in one file.

The words are sorted by their hash, so that plain Python finds a word by binary search in the
memory-mapped file. Words of the same hash are sorted too, as senders of mail could choose words
that collide. Weights of evidence are not stored: they follow from the counts.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
from array import array
from binascii import crc32
from bisect import bisect_left, bisect_right
from itertools import pairwise
from math import inf, isfinite
from operator import add
from stat import S_ISREG

from naively.kernels.folding import unicode_version

TYPE_CHECKING = False


if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    Growing = dict[str, array[Any]]  # the arrays of a table that is being made, of floats or ints

CLASSES = ("ham", "spam")
TEMPERATURE = 1.0  # where there are too few messages to fit one on
COUNTED = ("messages", "counts", "ends", "hashes", "words")

Counts = tuple[float, float]  # of messages of each class, in the order of CLASSES


class MailTable:
    """Counts of messages by word and class, read-only.

    Parameters
    ----------
    arrays : mapping of str to buffer
        ``messages`` (2 float64: how many there are of each class), ``counts`` (2 float64 a word:
        how many messages of each class hold the word), ``ends`` (int64: where each word ends in
        ``words``), ``hashes`` (uint32 a word, ascending), ``words`` (UTF-8), ``evidence``
        (``BINS`` int64 a class: the histogram of scores, see ``naively.mail.score``) and
        ``digests`` (16 bytes a message, ascending; none unless messages are remembered).
    temperature : float
        What scores are multiplied by; 1 until there are enough messages to fit it on.
    remembers : bool
        Whether digests of messages are kept.
    unicode : str, optional
        The version of Unicode by which messages were split into words; by default the present one.

    Examples
    --------
    >>> table = MailTable.empty().add({"prize": (0, 2), "lunch": (1, 0)}, (3, 2))
    >>> table["prize"], table["dinner"], table.messages
    ((0.0, 2.0), (0.0, 0.0), (3.0, 2.0))
    >>> sorted(table.items())
    [('lunch', (1.0, 0.0)), ('prize', (0.0, 2.0))]
    """

    def __init__(
        self,
        arrays: Arrays,
        temperature: float = TEMPERATURE,
        *,
        remembers: bool = False,
        unicode: str | None = None,
    ) -> None:
        views = {name: memoryview(arrays[name]).cast("B") for name in ARRAYS}
        messages = views["messages"].cast("d")
        self.temperature, self.remembers = temperature, remembers
        self.unicode = unicode or unicode_version()
        self.histogram: Sequence[int] = views["evidence"].cast("q") or [0] * (2 * BINS)
        self._counts = views["counts"].cast("d")
        self._ends = views["ends"].cast("q")
        self._hashes = views["hashes"].cast("I")
        self._words = views["words"]
        self._digests = views["digests"]
        n = len(self._hashes)
        fit = len(messages) == 2 and len(self._counts) == 2 * n and len(self._ends) == n
        if (
            not fit
            or (self._ends[-1] if n else 0) != len(self._words)
            or len(self.histogram) != 2 * BINS
            or not (remembers or not self._digests)
        ):
            raise ValueError("its arrays do not fit together")
        self.messages: Counts = (messages[0], messages[1])
        if not all(0 <= count < inf for count in self.messages):
            raise ValueError("it has counts that are not numbers of messages: it is damaged")
        if not 0 < temperature < inf:
            raise ValueError("its temperature is not a positive number: it is damaged")

    @classmethod
    def empty(cls, *, remembers: bool = False) -> MailTable:
        """Return the table of no messages."""
        arrays = {name: array(code) for name, (_, code) in ARRAYS.items()}
        return cls(arrays | {"messages": array("d", [0, 0])}, remembers=remembers)

    def __len__(self) -> int:
        return len(self._hashes)

    def __getitem__(self, word: str) -> Counts:
        """Return how many messages of each class hold a word; of an unknown word, none do."""
        key = word.encode("utf-8", "surrogatepass")
        i, found = self._find(crc32(key), key)
        ham, spam = self._at(i) if found else (0.0, 0.0)
        if not (0 <= ham <= self.messages[0] and 0 <= spam <= self.messages[1]):
            raise ValueError(f"The model is damaged: {word!r} is in {ham} ham and {spam} spam.")
        return ham, spam

    def items(self) -> Iterator[tuple[str, Counts]]:
        """Iterate over words and their counts, in the order of the table."""
        for i in range(len(self)):
            yield self._word(i).decode("utf-8", "surrogatepass"), self._at(i)

    def add(self, counts: Mapping[str, Counts], messages: Counts) -> MailTable:
        """Return the table with these counts added; to forget, they are negative.

        A word that is left without counts is dropped, as if it had never been seen.

        Parameters
        ----------
        counts : mapping of str to (float, float)
            How many of the messages of each class hold each word.
        messages : (float, float)
            How many messages of each class there are.

        Raises
        ------
        ValueError
            If a count would be below zero, or above that of the messages: what is forgotten was
            not learned as this class.
        """
        total = _sum(self.messages, messages, "messages")
        out: Growing = {name: array(ARRAYS[name][1]) for name in COUNTED}
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
        for c, label in enumerate(CLASSES):
            if max(out["counts"][c::2], default=0) > total[c]:
                raise ValueError(
                    f"These were not learned as {label}, so they cannot be unlearned: a word is in "
                    "more messages than would be left."
                )
        return self._with(out)

    def add_histogram(self, histogram: Sequence[int]) -> MailTable:
        """Return the table with a histogram of scores (2 ``BINS`` counts) added to its own."""
        return self._with({"evidence": array("q", map(add, self.histogram, histogram))})

    def with_temperature(self, temperature: float) -> MailTable:
        """Return the same counts with another temperature."""
        return MailTable(
            self._arrays(), temperature, remembers=self.remembers, unicode=self.unicode
        )

    def with_digests(self, digests: Collection[bytes]) -> MailTable:
        """Return the same counts with these digests of the messages that they are of."""
        return self._with({"digests": b"".join(sorted(digests))})

    def digests(self) -> set[bytes]:
        """Return the digests of the messages that are remembered."""
        data = bytes(self._digests)
        return {data[i : i + DIGEST] for i in range(0, len(data), DIGEST)}

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        entries = {
            "classes": CLASSES, "temperature": self.temperature,
            "remembers": self.remembers, "unicode": self.unicode,
        }  # fmt: skip
        return pack(entries, self._arrays())

    @classmethod
    def from_bytes(cls, content: bytes | mmap.mmap) -> MailTable:
        """Return the table that `to_bytes` wrote; any other content is a ValueError."""
        entries, arrays = unpack(content)
        temperature = entries.get("temperature")
        remembers = entries.get("remembers")
        unicode = entries.get("unicode")
        if not isinstance(temperature, float):
            raise ValueError("it is damaged: it has no temperature")  # noqa: TRY004
        if not isinstance(remembers, bool) or not isinstance(unicode, str):
            raise ValueError("it is damaged, or no model of mail")  # noqa: TRY004
        return cls(arrays, temperature, remembers=remembers, unicode=unicode)

    def check(self) -> None:
        """Raise a ValueError if any of the arrays cannot have been written by `to_bytes`.

        The filter does not wait for this check: it checks the counts of the words that it looks up.
        """
        ends, hashes, data = self._ends.tolist(), self._hashes.tolist(), bytes(self._words)
        words = [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        alike = [i for i, (a, b) in enumerate(pairwise(hashes)) if a == b]
        right = (
            sorted([0, *ends]) == [0, *ends]
            and sorted(hashes) == hashes == list(map(crc32, words))
            and all(words[i] < words[i + 1] for i in alike)
        )
        known = [bytes(self._digests[i : i + DIGEST]) for i in range(0, len(self._digests), DIGEST)]
        if not right or known != sorted(self.digests()):
            raise ValueError("it is damaged: its words are not in order")
        counts = self._counts
        most = (max(counts[c::2], default=0) <= self.messages[c] for c in range(len(CLASSES)))
        if not (all(most) and min(counts, default=0) >= 0 and isfinite(sum(counts))):
            raise ValueError(
                "it is damaged: a word is in more messages than there are, or fewer than 0"
            )

    def _arrays(self) -> Arrays:
        return {
            "messages": array("d", self.messages),
            "evidence": array("q", self.histogram),
            "counts": self._counts,
            "ends": self._ends,
            "hashes": self._hashes,
            "words": self._words,
            "digests": self._digests,
        }

    def _with(self, arrays: Arrays) -> MailTable:
        whole = {**self._arrays(), **arrays}
        return MailTable(whole, self.temperature, remembers=self.remembers, unicode=self.unicode)

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

    def _copy(self, begin: int, end: int, out: Growing) -> None:
        """Append the words from begin to end, with their counts, to arrays that are being made."""
        if begin == end:
            return
        first = self._ends[begin - 1] if begin else 0
        shift = len(out["words"]) - first
        out["words"].frombytes(self._words[first : self._ends[end - 1]])
        out["ends"].extend([e + shift for e in self._ends[begin:end]])
        out["hashes"].frombytes(self._hashes[begin:end].cast("B"))
        out["counts"].frombytes(self._counts[2 * begin : 2 * end].cast("B"))


def open_table(path: str) -> MailTable:
    """Map a model file into memory.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, or no model of mail.
    """
    if sys.byteorder != "little":
        raise ValueError("The mail filter needs a little-endian machine.")
    try:
        return MailTable.from_bytes(_mapped(path))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no model {path}: make it by `naively mail learn {path} --as spam|ham`."
        ) from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}.") from error


def _mapped(path: str) -> mmap.mmap:
    about = os.stat(path)  # noqa: PTH116  (faster than by pathlib)
    if not S_ISREG(about.st_mode):  # to open a FIFO may take forever
        raise ValueError("it is no file")
    if not about.st_size:
        raise ValueError("it is empty")
    with open(path, "rb") as file:  # noqa: PTH123
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _sum(a: Counts, b: Counts, what: str) -> Counts:
    total = a[0] + b[0], a[1] + b[1]
    for label, count in zip(CLASSES, total, strict=True):
        if count < 0:
            raise ValueError(
                f"This was not learned as {label} ({what}), so it cannot be unlearned."
            )
    return total


# --- The layout of the filter's model file: a safetensors file of a JSON header and raw arrays ---
#
# ``naively.file.container`` writes such files with NumPy, which the filter has no time to import.
# A file is input like any other: each entry is checked before it is used, and no memory is
# allocated by what the file says. A checksum covers all of the file but the checksum itself.


if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Buffer

    Arrays = Mapping[str, Buffer]  # one for each name of ARRAYS
    Entries = dict[str, Any]  # of a header: what JSON can hold

FORMAT = 1
KEY = "naively"  # of the header in the file's metadata, as in every model file
KIND = "filter"
ARRAYS = {  # the type of each array, for safetensors and for Python's array module
    "messages": ("F64", "d"),
    "evidence": ("I64", "q"),
    "counts": ("F64", "d"),
    "ends": ("I64", "q"),
    "hashes": ("U32", "I"),
    "words": ("U8", "B"),
    "digests": ("U8", "B"),
}
DIGEST = 16  # bytes
BINS = 513  # of the histogram of scores, for each class
COLUMNS = {"counts": 2, "digests": DIGEST}  # of the arrays of two dimensions
HEADER = 10_000  # bytes of a header at most; the filter's own have 900
UNKNOWN = "00000000"  # stands for the checksum while it is computed


def pack(entries: Mapping[str, object], arrays: Arrays) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    entries : mapping
        The entries of the header beside format, kind and checksum, which JSON can hold.
    arrays : mapping of str to buffer
        One for each name of ``ARRAYS``.
    """
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
    """Return the header's entries and the arrays of a file.

    Raises
    ------
    ValueError
        If the file is damaged, or was not written by `pack`; it says what is wrong.
    """
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


def _json(text: bytes | str) -> Any:
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
