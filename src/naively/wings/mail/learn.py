"""Messages are learned and unlearned under a lock, so no process loses what another learned."""

from __future__ import annotations

from binascii import crc32
from pathlib import Path

from naively import saving
from naively.kernels.folding import unicode_version
from naively.wings.mail.layout import DIGEST
from naively.wings.mail.message import CONTACTS
from naively.wings.mail.score import (
    ENOUGH,
    contacts_note,
    fit_temperature,
    leave_one_out_histogram,
    words_of,
)
from naively.wings.mail.table import CLASSES, TEMPERATURE, MailTable, open_table, today

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from naively.wings.mail.table import Known

    Row = Mapping[str, str | bool]
    Wish = tuple[Row, str | None]  # a message, and its class; None to forget it as what it is


SAMPLE = 2000  # messages of a batch whose leave-one-out scores are counted, for the temperature
PATIENCE = 60.0  # seconds to wait for another process that learns; a batch takes it a few


class Done:
    """What became of the messages of a batch."""

    def __init__(self) -> None:
        # How many were learned (or unlearned); had been before, and were passed over; had been as
        # the other class; have no words.
        self.n = self.again = self.moved = self.empty = 0
        self.notes: list[str] = []


def learn(
    path: str,
    rows: Iterable[tuple[Row, str]],
    *,
    forget: bool = False,
    remember: bool | None = None,
) -> Done:
    """Learn messages, or unlearn them, in a model file, which is made if it is not there."""
    # A message that is remembered as of the other class is moved. Where there are enough messages
    # of both classes, the temperature is fitted on them. Unlearning a batch leaves the file as it
    # was before the batch, to the byte, if nothing was learned in between and the batch was learned
    # on the day on which its words had been learned before; else its counts are those without the
    # batch.
    table = _table(Path(path), remember=remember)
    batch = MailBatch(table.known() if table.remembers else None, forget=forget)
    given: set[bool] = set()
    for row, label in rows:
        batch.add(row, label)
        given.add(CONTACTS in row)
    if forget and table.scaled and not table.remembers and batch.done.n:
        raise ValueError(
            f"{path} has been decayed and remembers no messages, so it is unknown how much "
            "these still count; nothing was unlearned."
        )

    def change(table: MailTable) -> MailTable:
        batch.done.notes += _notes(table, batch, given)
        return corrected(table, batch) if batch.done.n else table

    changed(path, change, remember=remember)
    return batch.done


def changed(
    path: str, change: Callable[[MailTable], MailTable], *, remember: bool | None = None
) -> MailTable:
    """Replace the table in a file by what ``change`` makes of it, under the lock of the file."""
    with saving.locked(path, PATIENCE):
        table = _table(Path(path), remember=remember)
        try:
            table.check()
        except ValueError as error:
            raise ValueError(f"{path} cannot be used: {error}.") from error
        new = change(table)
        if new is not table:
            # A new file can be read by its owner only, as it holds the words of their mail.
            saving.save(path, new.to_bytes(), private=True)
    return new


class MailBatch:
    """The counts of some messages, and a sample of these that does not depend on their order."""

    def __init__(self, known: Known | None, *, forget: bool) -> None:
        self.known, self.forget = known, forget
        self.counts: dict[str, list[float]] = {}
        self.messages = [0.0, 0.0]
        self.added: set[bytes] = set()  # digests that are remembered from now on
        self.dropped: set[bytes] = set()  # and those that no longer are
        self.done = Done()
        self._sample: list[tuple[int, int, list[str]]] = []

    def add(self, row: Row, label: str) -> None:
        """Count a message, unless it has no words or is known to have been counted before."""
        if label not in CLASSES:
            raise ValueError(f"The classes of mail are spam and ham; there is mail of {label!r}.")
        c, words = CLASSES.index(label), words_of(row)
        if all(word.startswith(f"{CONTACTS}:") for word in words):
            self.done.empty += 1
            return None
        if self.known is not None:
            digest = digest_of(row, label)
            if self.forget and digest not in self.known:
                raise ValueError(
                    f"The message {name_of(row)} was not learned as {label}, so it cannot be "
                    "unlearned; nothing was."
                )
            before = (self.dropped,) if self.forget else (self.added, self.known)
            if any(digest in of for of in before):
                self.done.again += 1
                return None
            if self.forget:
                return self.count(words, c, -self._drop(digest))
            other = digest_of(row, CLASSES[1 - c])
            if other in self.added:
                raise ValueError(f"The message {name_of(row)} was given as spam and as ham.")
            if other in self.known:
                self.count(words, 1 - c, -self._drop(other))
                self.done.n -= 1
                self.done.moved += 1
            self.added.add(digest)
        self.count(words, c, -1.0 if self.forget else 1.0)
        return None

    def _drop(self, digest: bytes) -> float:
        """Drop the digest of a message, and return how much the message still counts."""
        assert self.known is not None
        self.dropped.add(digest)
        return self.known[digest][1]

    def count(self, words: list[str], c: int, weight: float) -> None:
        """Add the words of a message of a class to the counts, or take them away."""
        self.messages[c] += weight
        for word in words:
            self.counts.setdefault(word, [0.0, 0.0])[c] += weight
        if self.forget or weight > 0:
            entry = crc32("\n".join(words).encode("utf-8", "surrogatepass")), c, words
            self._sample.append(entry)
        if len(self._sample) == 2 * SAMPLE:
            self._sample = sorted(self._sample)[:SAMPLE]
        self.done.n += 1

    def sample(self) -> list[tuple[list[str], int]]:
        """Return up to SAMPLE messages if there are enough of each class, else none."""
        sample = [(words, c) for _, c, words in sorted(self._sample)[:SAMPLE]]
        spam = sum(c for _, c in sample)
        return sample if min(spam, len(sample) - spam) >= ENOUGH else []


def corrected(old: MailTable, batch: MailBatch) -> MailTable:
    """Return the table with a batch learned, or unlearned."""
    known = old.known()
    if (batch.known is not None) != old.remembers or not (
        known.keys() >= batch.dropped and known.keys().isdisjoint(batch.added)
    ):
        raise ValueError("Another has learned some of these messages just now; try again.")
    counts = {word: (ham, spam) for word, (ham, spam) in batch.counts.items()}
    day = 0 if batch.forget else today()
    new = old.add(counts, (batch.messages[0], batch.messages[1]), day)
    if batch.known is not None:
        kept = {digest: about for digest, about in known.items() if digest not in batch.dropped}
        new = new.with_known(kept | dict.fromkeys(batch.added, (day, 1.0)))
    if sample := batch.sample():
        # The table that holds the batch scores it, either way: what was added is taken back.
        histogram = leave_one_out_histogram(old if batch.forget else new, sample)
        new = new.add_histogram([-n for n in histogram] if batch.forget else histogram)
    if not any(new.messages):
        new = new.add_histogram([-n for n in new.histogram])
    return refitted(new)


def refitted(table: MailTable) -> MailTable:
    """Return the table with the temperature that fits its histogram of scores."""
    return table.with_temperature(fit_temperature(table.histogram, table.messages) or TEMPERATURE)


def _notes(table: MailTable, batch: MailBatch, given: set[bool]) -> list[str]:
    """Return sentences about what is not exact, or not as it was learned before."""
    notes = []
    taken = [word for word, counts in batch.counts.items() if min(counts) < 0]
    lacking = sum(not any(table[word]) for word in taken) if table.expired else 0
    if lacking:
        notes.append(
            f"{lacking:,} words of what is taken back had expired; nothing is taken from them."
        )
    if any(table.messages) and given and not batch.forget:
        notes += contacts_note(table, given=True in given)
    return notes


def _table(file: Path, *, remember: bool | None) -> MailTable:
    """Return the table in a file, or an empty one if there is no file."""
    if not file.exists():
        return MailTable.empty(remembers=remember is not False)
    table = open_table(str(file))
    here = unicode_version()
    if table.unicode != here:
        raise ValueError(
            f"{file.name} has the words of Unicode {table.unicode}, and this version of naively "
            f"has those of {here}: learn the mail again, in a new file."
        )
    if remember is None or remember == table.remembers:
        return table
    if any(table.messages):
        does, otherwise = ("without", "to") if remember else ("while", "not to")
        raise ValueError(
            f"{file.name} has learned mail {does} remembering it: begin a new model {otherwise} "
            "remember."
        )
    return MailTable.empty(remembers=remember)


def digest_of(row: Row, label: str) -> bytes:
    """Return the digest of a message of a class; it is the same before and after delivery."""
    from hashlib import blake2b

    texts = [label, *(f"{column}:{' '.join(str(text).split())}" for column, text in row.items())]
    whole = "\n".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=DIGEST).digest()


def name_of(row: Row) -> str:
    """Return what a message is called: its id, or else its subject."""
    name = " ".join(str(row.get("message_id") or row.get("subject") or "").split())
    return name[:100] or "without a subject"


# --- Messages that several clients tell are learned and forgotten by one write of the file --------


def tell(path: str, wishes: Sequence[Wish]) -> list[bool]:
    """Learn and forget messages in the order in which they were told, and replace the file once."""
    # The file is made if it is not there, and then remembers its messages. A message that is
    # remembered as of the other class is moved.
    done: list[bool] = []

    def change(table: MailTable) -> MailTable:
        for run in _runs(wishes):
            table = _told(table, run, done)
        return table

    changed(path, change)
    return done


def _runs(wishes: Sequence[Wish]) -> Iterator[list[Wish]]:
    """Yield runs of wishes: all are learned or all forgotten, and no message comes twice."""
    run: list[Wish] = []
    seen: set[bytes] = set()
    for row, label in wishes:
        key = digest_of(row, "")
        if run and (key in seen or (label is None) != (run[0][1] is None)):
            yield run
            run, seen = [], set()
        run.append((row, label))
        seen.add(key)
    yield run


def _told(table: MailTable, run: Sequence[Wish], done: list[bool]) -> MailTable:
    """Return the table after a run of wishes; whether each changed it is added to ``done``."""
    forget = bool(run) and run[0][1] is None
    if forget and not table.remembers:
        raise ValueError(
            "The model does not remember its messages, so the class of a forgotten one is unknown: "
            "use `naively mail unlearn`, which says the class."
        )
    known = table.known() if table.remembers else None
    batch = MailBatch(known, forget=forget)
    for row, label in run:
        before = batch.done.n
        if label is not None:
            batch.add(row, label)
        else:
            for each in CLASSES:
                if known is not None and digest_of(row, each) in known:
                    batch.add(row, each)
        done.append(batch.done.n > before)
    return corrected(table, batch) if batch.done.n else table
