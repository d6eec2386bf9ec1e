"""Messages that several clients tell are learned and forgotten by one write of the file."""

from __future__ import annotations

from naively.wings.mail.learn import MailBatch, changed, corrected, digest_of
from naively.wings.mail.table import CLASSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from naively.wings.mail.table import MailTable

    Row = Mapping[str, str | bool]
    Wish = tuple[Row, str | None]  # a message, and its class; None to forget it as what it is


def tell(path: str, wishes: Sequence[Wish]) -> list[bool]:
    """Learn and forget messages in the order in which they were told, and replace the file once."""
    # path: the model file, which is made if it is not there, and then remembers its messages;
    # wishes: messages, as read_message makes them, with their classes; None forgets one
    # A message that is remembered as of the other class is moved. To forget is to take back a
    # message as what it was learned, if it was.
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
            "The model does not remember its messages, so that nobody knows as what to forget one: "
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
