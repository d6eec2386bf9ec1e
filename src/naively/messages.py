r"""What is said on standard error, and what objects and data show to a terminal: text.

A label, a column, a level or a name of a file can hold anything. What a terminal would obey is
shown instead: ``\x1b`` for the character that begins its commands. No library is imported here, as
the mail filter speaks too.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod

# Control characters, ends of lines and paragraphs, those that turn the direction of writing, and
# what was no UTF-8.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text with all that a terminal would obey as Python writes it, on one line.

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


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called naively: the line that is named is the first that is not in it."""
    import inspect
    import warnings

    depth, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "naively":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


class Shown(ABC):
    """An object that is shown as it is printed. Its dataclass needs ``repr=False``."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        import html

        return f"<pre>{html.escape(str(self))}</pre>"
