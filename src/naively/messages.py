r"""What is said on standard error, and text that a terminal may safely show.

A label, a column, a level or a file's name can hold any character. A character that a terminal
would obey is shown by its escape instead: ``\x1b`` for the one that begins a terminal's commands.
The command line may be asked for errors alone, or for a line of JSON for each message.
No library is imported here, as the mail filter writes messages too.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # the mail filter has no time to import typing
    from collections.abc import Callable
    from typing import ClassVar, Literal, TypeAlias

    Level: TypeAlias = Literal["note", "warning", "error"]

# These are control characters, ends of lines and paragraphs, characters that turn the direction of
# writing, and bytes that were not UTF-8.
OBEYED = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # compiled when first used


def visible(text: str) -> str:
    """Return a text on one line, with escapes for the characters that a terminal would obey."""
    return re.sub(OBEYED, lambda found: found[0].encode("unicode_escape").decode(), text)


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters: of a longer one the beginning, and "…"."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def many(n: int, what: str) -> str:
    """Return a count in words; the noun has an s unless the count is 1."""
    return f"{n:,} {what}{'s' * (n != 1)}"


class Verbosity:
    """How messages are written in this process."""

    quiet = False  # whether only errors are
    json = False  # whether each is a line of JSON: {"level": "note", "message": "..."}
    written: ClassVar[Callable[[str], str]] = (
        str  # names options as they are written where messages are read
    )


def amount(n: float) -> str:
    """Return how many there are of what is counted, whole where weights make it a part."""
    return f"{n:,.0f}" if abs(n) < 1e15 else f"{n:.3g}"


def tell(*lines: object, level: Level = "note", begin: str = "", **facts: object) -> None:
    """Write lines on standard error, if there is one; in JSON with the facts that they tell."""
    if sys.stderr is None or (Verbosity.quiet and level != "error"):
        return
    shown = (visible(Verbosity.written(str(line))) for line in lines)
    if Verbosity.json:
        import json

        told = (
            json.dumps({"level": level, "message": line, **facts}, ensure_ascii=False)
            for line in shown
        )
    else:
        told = (part for line in shown for part in _on_lines(f"{begin}{line}"))
    with suppress(BrokenPipeError):  # that nobody reads it must not stop the work
        sys.stderr.write("".join(f"{line}\n" for line in told))


def _on_lines(text: str) -> list[str]:
    """Return a message as lines that a terminal shows without breaking a word."""
    if not sys.stderr.isatty():
        return [text]
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text) or [text]


def say(message: object, level: Level = "note") -> None:
    """Write one sentence on standard error, about what is wrong or was repaired."""
    tell(message, level=level, begin="naively: warning: " if level == "warning" else "naively: ")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called naively: the line that is named is the first that is not in it."""
    import inspect
    import warnings

    depth, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "naively":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


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
