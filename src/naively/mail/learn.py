"""Messages are learned and unlearned under a lock, so no process loses what another learned."""

from __future__ import annotations

from binascii import crc32
from pathlib import Path

from naively import saving
from naively.kernels.folding import unicode_version
from naively.mail.message import CONTACTS
from naively.mail.score import ENOUGH, fit_temperature, leave_one_out_histogram, words_of
from naively.mail.table import CLASSES, DIGEST, TEMPERATURE, MailTable, open_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    Row = Mapping[str, str | bool]

SAMPLE = 2000  # messages of a batch whose leave-one-out scores are counted, for the temperature
PATIENCE = 60.0  # seconds to wait for another process that learns; a batch takes it a few


class Done:
    """What became of the messages of a batch.

    Attributes
    ----------
    n : int
        How many were learned, or unlearned.
    again : int
        How many were passed over, as they had been learned, or unlearned, before.
    empty : int
        How many were passed over, as there are no words in them.
    """

    def __init__(self) -> None:
        self.n = self.again = self.empty = 0


def learn(
    path: str, rows: Iterable[tuple[Row, str]], *, forget: bool = False, remember: bool = False
) -> Done:
    """Learn messages, or unlearn them, in a model file, which is made if it is not there.

    Where there are enough messages of both classes, the temperature is fitted on them. Unlearning a
    batch leaves the file as it was before the batch, to the byte, if nothing was learned in
    between; else its counts are those without the batch.

    Parameters
    ----------
    path : str
        The model file.
    rows : iterable of (mapping, str)
        Messages, as ``read_message`` makes them, and the class of each.
    forget : bool
        Whether the messages are unlearned.
    remember : bool
        Whether digests of the messages are kept, from the first message on: then no message is
        learned twice, and none is unlearned that was not learned.

    Raises
    ------
    ValueError
        If a message that is unlearned was not learned, or if the file has learned messages
        without remembering them; nothing is changed.
    TimeoutError
        If another process has been learning for a minute.
    """
    file = Path(path)
    table = _table(file, remember=remember)
    batch = _Batch(table.digests() if table.remembers else None, forget=forget)
    for row, label in rows:
        batch.add(row, label)
    with saving.locked(path, PATIENCE):
        table = _table(file, remember=remember)
        try:
            table.check()
        except ValueError as error:
            raise ValueError(f"{path} cannot be used: {error}.") from error
        if batch.done.n:
            # A new file can be read by its owner only, as it holds the words of their mail.
            saving.save(path, _corrected(table, batch).to_bytes(), private=True)
    return batch.done


class _Batch:
    """The counts of some messages, and a sample of these that does not depend on their order."""

    def __init__(self, known: Collection[bytes] | None, *, forget: bool) -> None:
        self.known, self.forget = known, forget
        self.counts: dict[str, list[float]] = {}
        self.messages = [0.0, 0.0]
        self.digests: set[bytes] = set()
        self.done = Done()
        self._sample: list[tuple[int, int, list[str]]] = []

    def add(self, row: Row, label: str) -> None:
        """Count a message, unless it has no words or is known to have been counted before."""
        if label not in CLASSES:
            raise ValueError(f"The classes of mail are spam and ham; there is mail of {label!r}.")
        c, words = CLASSES.index(label), words_of(row)
        if all(word.startswith(f"{CONTACTS}:") for word in words):
            self.done.empty += 1
            return
        if self.known is not None:
            digest = digest_of(row, label)
            if self.forget and digest not in self.known:
                raise ValueError(
                    f"The message {_name(row)} was not learned as {label}, so it cannot be "
                    "unlearned; nothing was."
                )
            if digest in self.digests or (not self.forget and digest in self.known):
                self.done.again += 1
                return
            self.digests.add(digest)
        sign = -1 if self.forget else 1
        self.messages[c] += sign
        for word in words:
            self.counts.setdefault(word, [0.0, 0.0])[c] += sign
        self._sample.append((crc32("\n".join(words).encode("utf-8", "surrogatepass")), c, words))
        if len(self._sample) == 2 * SAMPLE:
            self._sample = sorted(self._sample)[:SAMPLE]
        self.done.n += 1

    def sample(self) -> list[tuple[list[str], int]]:
        """Return up to SAMPLE messages if there are enough of each class, else none."""
        sample = [(words, c) for _, c, words in sorted(self._sample)[:SAMPLE]]
        spam = sum(c for _, c in sample)
        return sample if min(spam, len(sample) - spam) >= ENOUGH else []


def _corrected(old: MailTable, batch: _Batch) -> MailTable:
    """Return the table with a batch learned, or unlearned."""
    if (batch.known is not None) != old.remembers or batch.digests & old.digests() != (
        batch.digests if batch.forget else set()
    ):
        raise ValueError("Another has learned some of these messages just now; try again.")
    counts = {word: (ham, spam) for word, (ham, spam) in batch.counts.items()}
    new = old.add(counts, (batch.messages[0], batch.messages[1]))
    if batch.known is not None:
        new = new.with_digests(old.digests() ^ batch.digests)
    if sample := batch.sample():
        # The table that holds the batch scores it, either way: what was added is taken back.
        histogram = leave_one_out_histogram(old if batch.forget else new, sample)
        new = new.add_histogram([-n for n in histogram] if batch.forget else histogram)
    if not any(new.messages):
        new = new.add_histogram([-n for n in new.histogram])
    return new.with_temperature(fit_temperature(new.histogram, new.messages) or TEMPERATURE)


def _table(file: Path, *, remember: bool) -> MailTable:
    """Return the table in a file, or an empty one if there is no file."""
    table = open_table(str(file)) if file.exists() else MailTable.empty()
    here = unicode_version()
    if table.unicode != here:
        raise ValueError(
            f"{file.name} has the words of Unicode {table.unicode}, and this version of naively "
            f"has those of {here}: learn the mail again, in a new file."
        )
    if not remember or table.remembers:
        return table
    if any(table.messages):
        raise ValueError(
            f"{file.name} has learned mail without remembering it: begin a new model to remember."
        )
    return MailTable.empty(remembers=True)


def digest_of(row: Row, label: str) -> bytes:
    r"""Return the digest of a message, which is the same after it was delivered and filed.

    Examples
    --------
    >>> digest_of({"body": "one\r\ntwo"}, "ham") == digest_of({"body": "one\ntwo"}, "ham")
    True
    """
    from hashlib import blake2b

    texts = [label, *(f"{column}:{' '.join(str(text).split())}" for column, text in row.items())]
    whole = "\n".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=DIGEST).digest()


def _name(row: Row) -> str:
    """Return what an error calls a message: its id, or else its subject."""
    name = " ".join(str(row.get("message_id") or row.get("subject") or "").split())
    return name[:100] or "without a subject"
