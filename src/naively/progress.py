"""Progress of long work, on a terminal only: how much is done, how fast, and the time left."""

from __future__ import annotations

import sys
from itertools import chain, islice

from naively.messages import Verbosity

TYPE_CHECKING = False
if TYPE_CHECKING:  # the mail filter learns with progress, and has no time to import typing
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")


def with_progress(
    batches: Iterable[T],  # the batches; the caller works on each while this function waits
    what: str,  # what is counted, in the plural, such as "rows"
    size: Callable[[T], int] = lambda _: 1,  # returns how many of them a batch holds; by default 1
    total: int | None = None,  # how many there are in all
) -> Iterator[T]:
    """Yield batches, and show on a terminal how many rows are done, how fast, and the time left."""
    batches = iter(batches)
    if sys.stderr is None or not sys.stderr.isatty() or Verbosity.quiet or Verbosity.json:
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
        task = progress.add_task("", total=total, completed=done, rate="")
        for batch in chain(second, batches):
            yield batch
            progress.advance(task, size(batch))
            speed = progress.tasks[task].speed
            progress.update(task, rate=f"{speed:,.0f} {what} a second" if speed else "")
