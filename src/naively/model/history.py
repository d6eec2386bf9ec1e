"""Where a model comes from: what was learned and forgotten, when, how much, and from where."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

from naively.messages import amount
from naively.tabular import Tabular

Verb: TypeAlias = Literal["train", "update", "forget", "merge", "decay", "calibrate"]
KEPT = 100  # records; of older ones there is but the number
NAMED = 10  # files of a merge
LONGEST = 500  # characters of a source


@dataclass(frozen=True)
class Record:
    """What was done to a model."""

    verb: Verb  # what was done; "train" is ``fit``, "update" is ``partial_fit``
    when: str  # the time in UTC, by ISO 8601
    rows: float  # how many rows (their total weight) it added, took away, or was fitted to
    total: float  # how many rows the model held afterwards
    # where the rows came from: the name of a file, as it was given, or "" where rows came from
    # memory. Of a merge, the names of the files; of a decay, the factor
    source: str = ""
    # the file of the model that this was done to before it was merged into this one, or ""
    model: str = ""
    # of the bytes of that file of rows, by which it is known when it comes again; "" where rows
    # came otherwise
    digest: str = ""


@dataclass(frozen=True, repr=False)
class History(Tabular):
    """What was done to a model, the last hundred times; a row for each time, oldest first.

    Parameters
    ----------
    records : tuple of Record
        The last of them.
    earlier : int
        How many there were before these.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"]).forget([[2.0]], ["a"])
    >>> [(record.verb, record.rows, record.total) for record in nb.history_.records]
    [('train', 3.0, 3.0), ('forget', 1.0, 2.0)]
    """

    records: tuple[Record, ...] = ()
    earlier: int = 0

    def add(self, verb: Verb, rows: float, total: float, source: str = "") -> History:
        """Return the history with what was done now."""
        record = Record(verb, now(), rows, total, source[:LONGEST])
        records = [*self.records, record]
        return History(tuple(records[-KEPT:]), self.earlier + (len(records) > KEPT))

    def of(self, source: str, digest: str = "") -> History:
        """Return the history whose last record says where the rows came from."""
        if not self.records:
            return self
        *before, last = self.records
        named = replace(last, source=source[:LONGEST], digest=digest)
        return replace(self, records=(*before, named))

    def learned(self, digest: str) -> Record | None:
        """Return the record of when a file was learned, unless it was forgotten as often."""
        of_file = [record for record in self.records if digest and record.digest == digest]
        learned = [record for record in of_file if record.verb != "forget"]
        return learned[-1] if 2 * len(learned) > len(of_file) else None

    @classmethod
    def merged(cls, histories: Mapping[str, History] | Sequence[tuple[str, History]]) -> History:
        """Return what was done to models, by the names of their files, in the order of time."""
        pairs = [*histories.items()] if isinstance(histories, Mapping) else histories
        every = chain.from_iterable(
            (replace(record, model=record.model or name[:LONGEST]) for record in history.records)
            for name, history in pairs
        )
        earlier = sum(history.earlier for _, history in pairs)
        ordered = sorted(every, key=lambda record: record.when)
        return History(tuple(ordered[-KEPT:]), earlier + max(0, len(ordered) - KEPT))

    def to_dict(self) -> dict[str, list[Any]]:
        names = ("when", "verb", "rows", "total", "source", "model")
        return {name: [getattr(record, name) for record in self.records] for name in names}

    def __str__(self) -> str:
        """Return a sentence for each record, oldest first."""
        lines = [f"{self.earlier:,} earlier changes are not listed"] * (self.earlier > 0)
        return "\n".join(lines + [_said(record) for record in self.records])


def now() -> str:
    """Return the time in UTC by ISO 8601; ``SOURCE_DATE_EPOCH`` sets it, for files to be alike."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def names_of(paths: Iterable[str]) -> str:
    """Return the names of files for a record, so many at most."""
    every = list(paths)
    more = f" and {len(every) - NAMED:,} more" if len(every) > NAMED else ""
    return ", ".join(islice(every, NAMED)) + more


def _said(record: Record) -> str:
    source = f" {record.source}" * bool(record.source)
    model = f" [{record.model}]" * bool(record.model)
    return (
        f"{record.when}  {record.verb}{source}: {amount(record.rows)} rows, "
        f"{amount(record.total)} afterwards{model}"
    )
