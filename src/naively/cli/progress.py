"""Progress of long work: how much is done, how fast, and the time left; on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")


def shown(
    batches: Iterable[T],
    what: str,
    size: Callable[[T], int] = lambda _: 1,
    total: Callable[[T], int | None] = lambda _: None,
) -> Iterator[T]:
    """Yield batches, and show what has been done with them; of one alone nothing.

    Parameters
    ----------
    batches : iterable
        What is worked on, batch by batch, while this waits.
    what : str
        What is counted, in the plural: "rows".
    size : callable
        How many of them a batch holds; one each by default.
    total : callable
        How many there are in all, as a batch tells, if it does.
    """
    batches = iter(batches)
    if sys.stderr is None or not sys.stderr.isatty():
        yield from batches
        return
    done = 0
    for first in islice(batches, 1):
        yield first
        done += size(first)
    second = list(islice(batches, 1))
    if not second:
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.completed:,.0f} " + what),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None, completed=done, rate="")
        for batch in chain(second, batches):
            progress.update(task, total=total(batch))
            yield batch
            progress.advance(task, size(batch))
            speed = progress.tasks[task].speed
            progress.update(task, rate=f"{speed:,.0f} {what} a second" if speed else "")
