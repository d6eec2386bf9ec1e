"""Hints of the lectures' exercises: a page asks for one by a line ``<!-- hint: 1.3 -->``.

They stand in ``naively.lectures``, whose ``check`` gives them to who has not got it yet.
"""

from __future__ import annotations

import re
from typing import Any

from naively import lectures

LINE = re.compile(r"^<!-- hint: (\d\.\d+) -->$", re.MULTILINE)


def folded(hint: str) -> str:
    """Return a hint that is seen when it is asked for."""
    return f"<details>\n<summary>Hint</summary>\n\n{hint}\n\n</details>"


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Put the hints into the text of a page."""
    source[0] = LINE.sub(lambda found: folded(lectures.hint(found[1])), source[0])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
