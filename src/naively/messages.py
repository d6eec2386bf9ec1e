r"""What is said on standard error, progress among it, and text that a terminal may safely show.

A label, a column, a level or a file's name can hold any character. A character that a terminal
would obey is shown by its escape instead: ``\x1b`` for the one that begins a terminal's commands.
No library is imported before it is needed, as the mail filter writes messages too.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from itertools import chain, islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")

# These are control characters, ends of lines and paragraphs, characters that turn the direction of
# writing, and bytes that were not UTF-8.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text on one line, with escapes for the characters that a terminal would obey.

    Examples
    --------
    >>> print(visible("a\tb\x1b[31m :smiley: [/] é 👩‍🔬"))
    a\tb\x1b[31m :smiley: [/] é 👩‍🔬
    """
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def tell(*lines: object) -> None:
    """Write lines on standard error, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write("".join(f"{visible(str(line))}\n" for line in lines))


def say(message: object) -> None:
    """Write one sentence on standard error, about what is wrong or was repaired."""
    tell(f"naively: {message}")


def with_progress(
    batches: Iterable[T],
    what: str,
    size: Callable[[T], int] = lambda _: 1,
    total: Callable[[T], int | None] = lambda _: None,
) -> Iterator[T]:
    """Yield batches, and show on a terminal how many rows are done, how fast, and the time left.

    Nothing is shown where standard error is no terminal, and nothing of a single batch.

    Parameters
    ----------
    batches : iterable
        The batches; the caller works on each while this function waits.
    what : str
        What is counted, in the plural, such as "rows".
    size : callable
        Returns how many of them a batch holds; by default 1.
    total : callable
        Returns how many there are in all, if a batch tells, else None.
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


class Shown(ABC):
    """An object whose ``repr`` is what it prints; a dataclass of this kind needs ``repr=False``."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        import html

        return f"<pre>{html.escape(str(self))}</pre>"
