"""How the values of options are read, with a parser or without one."""

from __future__ import annotations

from math import inf

from naively.wings.mail.headers import header_name, header_text
from naively.wings.mail.verdict import NOBODY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from naively.wings.mail.verdict import Lists


def text_of(path: str) -> str:
    """Return the text of a file."""
    from naively.wings.mail.message import decode

    with open(path, "rb") as file:  # noqa: PTH123
        return decode(file.read())


def contacts_of(path: str | None) -> frozenset[str] | None:
    """Return the addresses in an address book, if one is given."""
    if path is None:
        return None
    from naively.wings.mail.message import read_contacts

    return read_contacts(text_of(path))


def lists_of(options: argparse.Namespace) -> Lists:
    """Return the senders that are allowed, and those that are blocked."""
    if options.allow is None and options.block is None:
        return NOBODY
    from naively.wings.mail.lists import read_list

    allow, block = (
        frozenset() if path is None else read_list(text_of(path), path)
        for path in (options.allow, options.block)
    )
    return allow, block


def _checked(check: Callable[[str], str]) -> Callable[[str], str]:
    """Return what reads a text that was given as an option, which is checked."""

    def read(text: str) -> str:
        try:
            return check(text)
        except ValueError as error:
            raise _refused(str(error).rstrip(".")) from None

    return read


def _number(
    name: str, kind: Callable[[str], float], is_one: Callable[[float], bool], refused: str
) -> Callable[[str], float]:
    """Return what reads a number that was given as an option, and what argparse calls it."""

    def read(text: str) -> float:
        value = kind(text)
        if not is_one(value):
            raise _refused(f"{text} {refused}")
        return value

    read.__name__ = name
    return read


def _refused(why: str) -> Exception:
    from argparse import ArgumentTypeError

    return ArgumentTypeError(why)


chosen_name, chosen_text = _checked(header_name), _checked(header_text)
probability = _number(
    "probability", float, lambda p: 0 <= p <= 1, "is no probability: give one from 0 to 1"
)
share = _number("share", float, lambda p: 0 < p < 1, "is no share: give a number between 0 and 1")
cost = _number("cost", float, lambda of: 0 < of < inf, "is no cost: give a number above 0")
days = _number("days", int, lambda n: n > 0, "days is no time: give a whole number above 0")
count = _number(  # of processes, threads or clients
    "count", int, lambda n: 0 < n <= 1000, "is too few or too many: give a number from 1 to 1000"
)
port = _number("port", int, lambda n: 0 <= n < 1 << 16, "is no port: give one from 0 to 65535")
