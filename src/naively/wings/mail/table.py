"""The filter's model: how many messages of each class hold each word, in one file.

The words are sorted by their hash, so that plain Python finds a word by binary search in the
memory-mapped file. Words of the same hash are sorted too, as senders of mail could choose words
that collide. Weights of evidence are not stored: they follow from the counts.
"""

from __future__ import annotations

import sys
from array import array
from binascii import crc32
from bisect import bisect_left, bisect_right
from itertools import chain, groupby, pairwise
from math import inf, isfinite
from operator import add
from time import time

from naively.kernels.folding import unicode_version
from naively.wings.mail.layout import ARRAYS, BINS, DIGEST, mapped, pack, unpack

TYPE_CHECKING = False


if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from naively.wings.mail.layout import Arrays, Entries

    Growing = dict[str, array[Any]]  # the arrays of a table that is being made, of floats or ints
    # Digests of messages, with the day on which each was learned and how much it still counts.
    Known = dict[bytes, tuple[int, float]]

CLASSES = ("ham", "spam")
TEMPERATURE = 1.0  # where there are too few messages to fit one on
COUNTED = ("messages", "counts", "ends", "hashes", "days", "words")
NOTHING = 1e-9  # messages: what is left of a count by rounding, where counts were scaled

Counts = tuple[float, float]  # of messages of each class, in the order of CLASSES


def today() -> int:
    """Return the day, in UTC, as days since 1970."""
    return int(time() // 86_400)


class MailTable:
    """Counts of messages by word and class, read-only."""

    def __init__(
        self,
        arrays: Arrays,
        temperature: float = TEMPERATURE,  # what scores are multiplied by
        *,
        remembers: bool = False,  # whether digests of messages are kept
        unicode: str | None = None,  # its version that split messages; by default the present one
        scaled: bool = False,  # whether counts were scaled, and messages count less than one
        expired: int = 0,  # what was last learned before this day was dropped; 0 if nothing was
    ) -> None:
        views = self._views = {name: memoryview(arrays[name]).cast("B") for name in ARRAYS}
        messages = views["messages"].cast("d")
        self.temperature, self.remembers = temperature, remembers
        self.unicode = unicode or unicode_version()
        self.scaled, self.expired = scaled, expired
        self.histogram: Sequence[float] = views["evidence"].cast("d") or [0.0] * (2 * BINS)
        self._counts = views["counts"].cast("d")
        self._ends = views["ends"].cast("q")
        self._hashes = views["hashes"].cast("I")
        self._days = views["days"].cast("H")
        self._words = views["words"]
        self._digests = views["digests"]
        self._learned = views["learned"].cast("H")
        self._weights = views["weights"].cast("d")
        n, known = len(self._hashes), len(self._learned)
        of_words = self._counts, self._ends, self._days
        of_digests = self._weights, self._digests
        lengths = [len(of) for of in (messages, self.histogram, *of_words, *of_digests)]
        fit = lengths == [2, 2 * BINS, 2 * n, n, n, known, DIGEST * known]
        if not fit or (self._ends[-1] if n else 0) != len(self._words) or (known and not remembers):
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

    def days(self) -> Iterator[tuple[str, int]]:
        """Iterate over words and the days on which they were last learned."""
        for i, day in enumerate(self._days):
            yield self._word(i).decode("utf-8", "surrogatepass"), day

    @property
    def last_day(self) -> int:
        """The day on which a message was last learned; 0 if none was."""
        return max(self._days, default=0)

    # --- counts are added, scaled, and dropped

    def add(
        self, counts: Mapping[str, Counts], messages: Counts, day: int | Mapping[str, int] = 0
    ) -> MailTable:
        """Return the table with these counts added; to forget, they are negative."""
        # day: the day on which the messages were learned, or each of the words was
        # A word that is left without counts is dropped, as if it had never been seen. From a word
        # that expired, no more is taken away than there is.
        total = _sum(self.messages, messages, "messages")
        out = _begun(total)
        done = 0
        keys = ((word.encode("utf-8", "surrogatepass"), word) for word in counts)
        for hash_, key, word in sorted((crc32(key), key, word) for key, word in keys):
            i, found = self._find(hash_, key)
            self._copy(done, i, out)
            done = i + found
            before = self._at(i) if found else (0.0, 0.0)
            count = _sum(before, counts[word], word, may_lack=self.expired > 0)
            if any(count):
                out["words"].frombytes(key)
                out["ends"].append(len(out["words"]))
                out["hashes"].append(hash_)
                out["counts"].extend(count)
                of_word = day if isinstance(day, int) else day.get(word, 0)
                out["days"].append(max(of_word, self._days[i] if found else 0))
        self._copy(done, len(self), out)
        for c, label in enumerate(CLASSES):
            most = max(out["counts"][c::2], default=0)
            if most > total[c] and not self.scaled and not self.expired:
                raise ValueError(
                    f"These were not learned as {label}, so they cannot be unlearned: a word is in "
                    "more messages than would be left."
                )
            if most > total[c]:  # by rounding, or as an expired word was taken back less often
                counted = out["counts"]
                counted[c::2] = array("d", [min(count, total[c]) for count in counted[c::2]])
        return self._with(out)

    def add_histogram(self, histogram: Sequence[float]) -> MailTable:
        """Return the table with a histogram of scores (2 ``BINS`` counts) added to its own."""
        return self._with({"evidence": array("d", map(add, self.histogram, histogram))})

    def merged(self, other: MailTable) -> MailTable:
        """Return the counts of both tables; the temperature stays."""
        if self.unicode != other.unicode:
            raise ValueError(
                f"one has the words of Unicode {self.unicode}, the other of {other.unicode}"
            )
        sum_ = self.add(dict(other.items()), other.messages, dict(other.days()))
        known = self.known()
        for digest, (day, weight) in other.known().items():
            before = known.get(digest, (0, 0.0))
            known[digest] = max(before[0], day), before[1] + weight
        both = self.remembers and other.remembers
        scaled, expired = self.scaled or other.scaled, max(self.expired, other.expired)
        sum_ = sum_._but(remembers=both, scaled=scaled, expired=expired)  # noqa: SLF001
        return sum_.with_known(known if both else {}).add_histogram(other.histogram)

    def decayed(self, factor: float) -> MailTable:
        """Return the table with all counts scaled by a factor, above 0 and at most 1."""
        if not 0 < factor <= 1:
            raise ValueError(f"A factor must be above 0 and at most 1, got {factor:g}.")
        names = "messages", "counts", "evidence", "weights"
        arrays = self._arrays()
        scaled = {
            name: array("d", [factor * n for n in memoryview(arrays[name]).cast("B").cast("d")])
            for name in names
        }
        return self._with(scaled)._but(scaled=self.scaled or factor < 1)  # noqa: SLF001

    def without_words_before(self, day: int) -> MailTable:
        """Return the table without words and digests that were last learned before a day."""
        # The numbers of messages stay, so that the shares of messages that hold a word do.
        if all(learned >= day for learned in chain(self._days, self._learned)):
            return self
        out = _begun(self.messages)
        for is_kept, places in groupby(range(len(self)), lambda i: self._days[i] >= day):
            if is_kept:
                run = [*places]
                self._copy(run[0], run[-1] + 1, out)
        known = {digest: about for digest, about in self.known().items() if about[0] >= day}
        return self._with(out).with_known(known)._but(expired=max(day, self.expired))  # noqa: SLF001

    def with_temperature(self, temperature: float) -> MailTable:
        """Return the same counts with another temperature."""
        return self._but(temperature=temperature)

    # --- the messages that are remembered

    def known(self) -> Known:
        """Return the digests of the messages that are remembered, and what is known of each."""
        data = bytes(self._digests)
        digests = (data[i : i + DIGEST] for i in range(0, len(data), DIGEST))
        return dict(zip(digests, zip(self._learned, self._weights, strict=True), strict=True))

    def with_known(self, known: Known) -> MailTable:
        """Return the same counts with these messages remembered."""
        ordered = sorted(known.items())
        return self._with(
            {
                "digests": b"".join(digest for digest, _ in ordered),
                "learned": array("H", [day for _, (day, _) in ordered]),
                "weights": array("d", [weight for _, (_, weight) in ordered]),
            }
        )

    # --- the file

    def to_bytes(self) -> bytes:
        """Return the file's content."""
        return pack({"classes": CLASSES, **self._about()}, self._arrays())

    @classmethod
    def from_bytes(cls, content: bytes | mmap.mmap) -> MailTable:
        """Return the table that `to_bytes` wrote; any other content is a ValueError."""
        entries, arrays = unpack(content)
        about: Entries = {name: entries.get(name) for name in cls.empty()._about()}  # noqa: SLF001
        if not isinstance(about["temperature"], float):
            raise ValueError("it is damaged: it has no temperature")  # noqa: TRY004
        kinds = {"remembers": bool, "unicode": str, "scaled": bool, "expired": int}
        if not all(type(about[name]) is kind for name, kind in kinds.items()):
            raise ValueError("it is damaged, or no model of mail")
        return cls(arrays, **about)

    def check(self) -> None:
        """Raise a ValueError if any of the arrays cannot have been written by `to_bytes`."""
        # The filter does not wait for this check: it checks the counts of the words that it looks
        # up.
        ends, hashes, data = self._ends.tolist(), self._hashes.tolist(), bytes(self._words)
        words = [data[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        alike = [i for i, (a, b) in enumerate(pairwise(hashes)) if a == b]
        right = (
            sorted([0, *ends]) == [0, *ends]
            and sorted(hashes) == hashes == list(map(crc32, words))
            and all(words[i] < words[i + 1] for i in alike)
        )
        known = [bytes(self._digests[i : i + DIGEST]) for i in range(0, len(self._digests), DIGEST)]
        if not right or known != sorted(set(known)):
            raise ValueError("it is damaged: its words are not in order")
        counts = self._counts
        most = (max(counts[c::2], default=0) <= self.messages[c] for c in range(len(CLASSES)))
        numbers = *counts, *self._weights, *map(abs, self.histogram)
        if not (all(most) and min(numbers, default=0) >= 0 and isfinite(sum(numbers))):
            raise ValueError(
                "it is damaged: a word is in more messages than there are, or fewer than 0"
            )

    def _arrays(self) -> Arrays:
        return {**self._views, "evidence": array("d", self.histogram)}

    def _about(self) -> Entries:
        """Return what the file's header says of the table."""
        return {
            "temperature": self.temperature, "remembers": self.remembers, "unicode": self.unicode,
            "scaled": self.scaled, "expired": self.expired,
        }  # fmt: skip

    def _with(self, arrays: Arrays) -> MailTable:
        return MailTable({**self._arrays(), **arrays}, **self._about())

    def _but(self, **about: float | bool) -> MailTable:
        arrays = self._arrays()
        if not about.get("remembers", self.remembers):
            arrays = {**arrays, "digests": b"", "learned": b"", "weights": b""}
        return MailTable(arrays, **self._about() | about)

    def _word(self, i: int) -> bytes:
        return bytes(self._words[self._ends[i - 1] if i else 0 : self._ends[i]])

    def _at(self, i: int) -> Counts:
        return self._counts[2 * i], self._counts[2 * i + 1]

    def _find(self, hash_: int, word: bytes) -> tuple[int, bool]:
        """Return the place of a word, and whether it is there."""
        i = bisect_left(self._hashes, hash_)
        if i == len(self._hashes) or self._hashes[i] != hash_:
            return i, False
        if self._word(i) == word:
            return i, True
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
        out["days"].frombytes(self._days[begin:end].cast("B"))


def open_table(path: str) -> MailTable:
    """Map a model file into memory."""
    if sys.byteorder != "little":
        raise ValueError("The mail filter needs a little-endian machine.")
    try:
        return MailTable.from_bytes(mapped(path))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"There is no model {path}: make it by `naively mail learn {path} --as spam|ham`."
        ) from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}.") from error


def _begun(messages: Counts) -> Growing:
    """Return the arrays of a table of so many messages that holds no words yet."""
    arrays: Growing = {name: array(ARRAYS[name][1]) for name in COUNTED}
    arrays["messages"].extend(messages)
    return arrays


def _sum(a: Counts, b: Counts, what: str, *, may_lack: bool = False) -> Counts:
    """Return a sum of counts, none below 0; only if it ``may_lack`` is more taken away than is."""
    total = []
    for label, before, added in zip(CLASSES, a, b, strict=True):
        count = before + added
        if count < -NOTHING and not may_lack:
            raise ValueError(
                f"This was not learned as {label} ({what}), so it cannot be unlearned."
            )
        total.append(count if count > NOTHING else 0.0)
    return total[0], total[1]
