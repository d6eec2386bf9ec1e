"""How the values of options are read, with a parser or without one."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace

from naively.wings.mail.headers import header_name, header_text
from naively.wings.mail.verdict import CLASS, NOBODY, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def lists_of(options: SimpleNamespace) -> Lists:
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


# --- The options of `filter` without a parser, which takes as long to import as a message to filter


def _file(name: str) -> str:
    """Return the name of a file; what may be an option is for the parser."""
    if name[:1] == "-":
        raise ValueError
    return name


DEFAULTS: dict[str, object] = {
    "contacts": None, "exit_code": False, "explain": False, "spam_headers": False, "unsure": None,
    "costs": (1.0, 1.0), "at_most": None, "allow": None, "block": None, "header": CLASS,
    "texts": TEXTS, "mail": [],
}  # fmt: skip
CHOICE = {"--unsure", "--costs", "--at-most"}  # of which one is given at most
VALUES: dict[str, list[Callable[[str], object]]] = {  # of each option, what reads its values
    "model": [], "--exit-code": [], "--explain": [], "--spam-headers": [], "--contacts": [_file],
    "--unsure": [probability, probability], "--costs": [cost, cost], "--at-most": [share],
    "--allow": [_file], "--block": [_file], "--header": [chosen_name],
    "--texts": [chosen_text] * len(TEXTS),
}  # fmt: skip


def read_plainly(arguments: Sequence[str]) -> SimpleNamespace | None:
    """Return the options if they are plain, or None: the parser takes as long as a message."""
    found: dict[str, object] = {}
    left = list(arguments)
    while left:
        word = left.pop(0)
        name = word if word[:1] == "-" else "model"
        kinds = VALUES.get(name)
        if kinds is None or name in found or len(left) < len(kinds):
            return None
        values, left = left[: len(kinds)], left[len(kinds) :]
        try:
            read = [kind(value) for kind, value in zip(kinds, values, strict=True)]
        except Exception:  # noqa: BLE001  the parser says what is wrong
            return None
        found[name] = word if name == "model" else read[0] if len(read) == 1 else read or True
    if "model" not in found or len(found.keys() & CHOICE) > 1:
        return None
    named = {name.removeprefix("--").replace("-", "_"): value for name, value in found.items()}
    return SimpleNamespace(**(DEFAULTS | named))
