"""Counts as text: the dump of bogofilter's `bogoutil`, written and read, and SpamAssassin's, read.

A dump has a line for each word: the word, how many messages of spam and of ham hold it, and the
day on which it was last learned. `.MSG_COUNT` is for all messages. bogofilter's words of headers
begin with its own abbreviations of them, and keep capitals, which are folded here. SpamAssassin's
(`sa-learn --backup`) are hashes: of its words those are known of which the hash is that of a word
in mail at hand.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha1

from naively.wings.mail.about import date_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from naively.wings.mail.table import Counts, MailTable

MESSAGES = ".MSG_COUNT"
PREFIXES = {  # of bogofilter, and the column of the same words here
    "subj": "subject", "from": "sender", "to": "recipients", "rcvd": "received", "url": "links",
}  # fmt: skip
OWN = {column: prefix for prefix, column in PREFIXES.items()}
WITHOUT = {"head", "mime", "rtrn"}  # words of bogofilter that the filter here does not have
SECONDS = 86_400  # of a day
HASH = 5  # bytes of SHA-1 that SpamAssassin keeps of a word


class Dump:
    """Counts that were read from a dump."""

    def __init__(self) -> None:
        self.counts: dict[str, Counts] = {}  # how many messages of ham, and of spam, hold a word
        self.messages: Counts = (0.0, 0.0)
        self.days: dict[str, int] = {}  # since 1970, on which each word was last learned
        self.unknown = 0  # words of the dump that are no words here

    def add(self, word: str, count: Counts, day: int) -> None:
        """Count a word, beside what differs from it in capitals only."""
        ham, spam = self.counts.get(word, (0.0, 0.0))
        self.counts[word] = ham + count[0], spam + count[1]
        self.days[word] = max(day, self.days.get(word, 0))

    def checked(self) -> Dump:
        """Return the counts, none of them above that of the messages; there must be messages."""
        if not any(self.messages):
            raise ValueError("The dump does not say how many messages its counts are of.")
        self.counts = {
            word: (min(ham, self.messages[0]), min(spam, self.messages[1]))
            for word, (ham, spam) in self.counts.items()
        }
        return self


def dump(table: MailTable) -> Iterator[str]:
    """Yield the lines of a dump that `bogoutil -l` reads, and `parse_dump` reads back."""
    ham, spam = table.messages
    yield f"{MESSAGES} {spam:.17g} {ham:.17g} {date_of(table.last_day).replace('-', '')}"
    days = (day for _, day in table.days())
    for (word, (ham, spam)), day in zip(table.items(), days, strict=True):
        column, colon, rest = word.partition(":")
        named = f"{OWN[column]}:{rest}" if colon and column in OWN else word
        yield f"{named} {spam:.17g} {ham:.17g} {date_of(day).replace('-', '')}"


def parse_dump(lines: Iterable[str]) -> Dump:
    """Read a dump of bogofilter's."""
    found = Dump()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            word, spam, ham, day = line.rstrip("\n").rsplit(" ", 3)
            count, learned = (float(ham), float(spam)), _day(day)
        except ValueError:
            raise ValueError(
                f"Line {number} is not from a dump of bogofilter: expected a word, two counts and "
                f"a day such as 20241004, got {line.strip()[:60]!r}."
            ) from None
        if not all(0 <= n < float("inf") for n in count):
            raise ValueError(f"Line {number} has counts that are no numbers of messages.")
        if word == MESSAGES:
            found.messages = count
        elif not word.startswith("."):
            prefix, colon, rest = word.partition(":")
            if colon and prefix in WITHOUT:
                found.unknown += 1
                continue
            named = f"{PREFIXES[prefix]}:{rest}" if colon and prefix in PREFIXES else word
            found.add(named.lower(), count, learned)
    return found.checked()


def parse_backup(lines: Iterable[str], words: Iterable[str]) -> Dump:
    """Read the backup of SpamAssassin's (`sa-learn --backup`), of which only hashes are words."""
    found = Dump()
    by_hash = {}
    for word in words:
        for written in (word, word.capitalize(), word.upper()):
            by_hash[_hash(written)] = word
    messages = {"num_spam": 0.0, "num_nonspam": 0.0}
    for number, line in enumerate(lines, 1):
        kind, *rest = line.split()
        try:
            if kind == "v" and rest[1] in messages:
                messages[rest[1]] = float(rest[0])
                found.messages = messages["num_nonspam"], messages["num_spam"]
            elif kind == "t":
                known = by_hash.get(rest[3])
                if known is None:
                    found.unknown += 1
                else:
                    count = float(rest[1]), float(rest[0])
                    found.add(known, count, int(rest[2]) // SECONDS)
        except (ValueError, IndexError):
            raise ValueError(
                f"Line {number} is not from a backup of SpamAssassin: {line.strip()[:60]!r}."
            ) from None
    return found.checked()


def _hash(word: str) -> str:
    """Return what SpamAssassin keeps of a word."""
    digest = sha1(word.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return digest[-HASH:].hex()


def _day(text: str) -> int:
    if int(text) == 0:
        return 0
    return int(datetime.strptime(text, "%Y%m%d").replace(tzinfo=UTC).timestamp()) // SECONDS
