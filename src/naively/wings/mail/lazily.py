"""The standard library's `email`, and lexbor, without what one message hardly ever needs of them.

``email.utils`` imports modules for dates, for message ids and for names in other charsets, which
take longer to import than a message takes to read, and so does what lexbor logs by. They are
imported when first used.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LATER = ("calendar", "datetime", "random", "socket", "urllib.parse")
Module = type(sys)


class _Later(Module):  # type: ignore[misc, valid-type]
    """A module that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _import_without(name: str, later: dict[str, _Later]) -> None:
    """Import a module, to which others are there that are imported later; no other sees these."""
    sys.modules.update(later)
    try:
        __import__(name)
    finally:
        for each, module in later.items():
            if sys.modules.get(each) is module:
                del sys.modules[each]


def import_email() -> None:
    """Import ``email.utils`` such that what it imports is imported later, for it alone."""
    if "email.utils" in sys.modules:
        return
    import urllib

    mine = {name: _Later(name) for name in LATER if name not in sys.modules}
    if parse := mine.get("urllib.parse"):
        urllib.parse = parse  # type: ignore[attr-defined]  # as importing it does
    _import_without("email.utils", mine)


class _Logger:
    """A logger that is made when it is first asked for something."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        return getattr(import_module("logging").getLogger(self._name), what)


def import_lexbor() -> None:
    """Import ``selectolax.lexbor`` such that ``logging`` is imported when something is logged."""
    if "selectolax.lexbor" in sys.modules:
        return
    logging = _Later("logging")
    logging.getLogger = _Logger
    _import_without("selectolax.lexbor", {} if "logging" in sys.modules else {"logging": logging})
