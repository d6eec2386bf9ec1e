"""What the options of several verbs have in common; a parser is imported only where one is made."""

from __future__ import annotations

from math import inf

from naively.wings.mail.headers import header_name, header_text
from naively.wings.mail.verdict import CLASS, NOBODY, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from naively.wings.mail.verbs.parser import Parser
    from naively.wings.mail.verdict import Lists


def model_parser(verb: str, what: str, *, contacts: bool = True) -> Parser:
    """Return the parser of a verb that has a model and, mostly, a book of addresses."""
    from naively.wings.mail.verbs.parser import Parser

    parser = Parser(verb, what)
    parser.add_argument("model", metavar="MODEL", help="The filter's model file.")
    if contacts:
        parser.add_argument(
            "--contacts", metavar="FILE",
            help="An address book (vCard, or addresses in any form): is the sender in it?",
        )  # fmt: skip
    return parser


def labelled_mail(parser: Parser) -> None:
    """Add to a parser what says where mail is, and of which class."""
    parser.add_argument(
        "mail", nargs="*", metavar="MAIL",
        help="mbox, Maildir, .eml, or a folder of these; without --as, a folder with a folder or "
        "mbox named spam and one named ham. Default: one message on standard input.",
    )  # fmt: skip
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--as", dest="label", choices=("spam", "ham"), help="What they are.")
    choice.add_argument("--labels", metavar="CSV", help="File names in MAIL and their classes.")


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


def what_is_spam(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add to a parser what divides spam from ham, and return the options of which one is given."""
    for name, what in (("allow", "ham"), ("block", "spam")):
        parser.add_argument(
            f"--{name}", metavar="FILE",
            help=f"Senders whose mail is {what}, whatever the words say: an address or a domain a "
            "line, or a vCard file.",
        )  # fmt: skip
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--costs", nargs=2, type=cost, metavar=("HAM", "SPAM"), default=(1.0, 1.0),
        help="What it costs to take ham for spam, and spam for ham; equal unless given.",
    )  # fmt: skip
    choice.add_argument(
        "--at-most", type=share, metavar="SHARE",
        help="The share of good mail that may be taken for spam, such as 0.001: the model chooses "
        "a threshold that keeps this with a confidence of 95 %%, by its leave-one-out scores.",
    )  # fmt: skip
    return choice


def named_header(parser: argparse.ArgumentParser) -> None:
    """Add to a parser what the header of the class is called, and what it says."""
    parser.add_argument(
        "--header", type=chosen_name, metavar="NAME", default=CLASS,
        help=f"The header that has the class, instead of {CLASS}: X- and what you like.",
    )  # fmt: skip
    parser.add_argument(
        "--texts", nargs=len(TEXTS), type=chosen_text, metavar=("SPAM", "HAM", "UNSURE"),
        default=TEXTS, help="What this header says of each class, instead of its name.",
    )  # fmt: skip


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
