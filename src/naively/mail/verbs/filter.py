"""The verb `filter`: a message on standard input is marked as spam or ham."""

from __future__ import annotations

from functools import partial
from math import inf
from types import SimpleNamespace

from naively.mail.passage import ERROR, pass_on
from naively.mail.verbs.options import contacts_of, cost, model_parser, probability

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from naively.mail.message import Notes

STATUS = {"spam": 0, "ham": 1, "unsure": 2}  # the exit status of each class, as in bogofilter


def run(options: argparse.Namespace) -> int:
    """Mark the message, and return the exit status."""
    return pass_on(partial(_filter, options), ERROR if options.exit_code else 0)


def refuse(error: Exception) -> int:
    """Write the message as it came, as the options are wrong, and return the exit status."""

    def wrong(*_: object) -> tuple[bytes, int]:
        raise error

    return pass_on(wrong)


def read_options(verb: str, arguments: Sequence[str]) -> Any:
    """Return the options, or raise a ValueError that says what is wrong with them."""
    options: Any = _read_plainly(arguments)
    if options is None:
        parser = _parser(verb)
        options = parser.parse_intermixed_args(arguments)
    if options.unsure and options.unsure[0] > options.unsure[1]:
        raise ValueError(
            f"--unsure: the lower probability comes first. See `naively mail {verb} --help`."
        )
    return options


def _file(name: str) -> str:
    """Return the name of a file; what may be an option is for the parser."""
    if name[:1] == "-":
        raise ValueError
    return name


DEFAULTS = {
    "contacts": None, "exit_code": False, "explain": False, "spam_headers": False, "unsure": None,
    "costs": (1.0, 1.0),
}  # fmt: skip
VALUES = {  # of each option, what reads its values
    "--exit-code": [], "--explain": [], "--spam-headers": [], "--contacts": [_file],
    "--unsure": [probability, probability], "--costs": [cost, cost],
}  # fmt: skip


def _read_plainly(arguments: Sequence[str]) -> SimpleNamespace | None:
    """Return the options if they are plain, or None: the parser takes as long as a message."""
    found: dict[str, object] = {}
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, kinds = (word, VALUES.get(word)) if word[:1] == "-" else ("model", [])
        values, left = left[: len(kinds or [])], left[len(kinds or []) :]
        if kinds is None or name in found or len(values) < len(kinds):
            return None
        try:
            read = [kind(value) for kind, value in zip(kinds, values, strict=True)]
        except Exception:  # noqa: BLE001  the parser says what is wrong
            return None
        found[name] = word if name == "model" else read[0] if len(read) == 1 else read or True
    if "model" not in found or ("--unsure" in found and "--costs" in found):
        return None
    named = {name.removeprefix("--").replace("-", "_"): value for name, value in found.items()}
    return SimpleNamespace(**(DEFAULTS | named))


def _parser(verb: str) -> argparse.ArgumentParser:
    made = model_parser(
        verb,
        "Read one message on standard input and write it out with the headers X-Naively-Class "
        "(spam, ham or unsure) and X-Naively-Probability (that it is spam), without any of these "
        "names that it came with, and otherwise unchanged. On an error the message is written as "
        "it came; where it could not be read or written, the status is 75.",
    )
    made.add_argument(
        "--exit-code",
        action="store_true",
        help="Exit with status 0 spam, 1 ham, 2 unsure, 3 error.",
    )
    made.add_argument(
        "--explain",
        action="store_true",
        help="Add the ten words of greatest weight, as a header.",
    )
    made.add_argument(
        "--spam-headers",
        action="store_true",
        help="Add X-Spam-Status and X-Spam-Flag, as SpamAssassin does, in place of all X-Spam-*.",
    )
    choice = made.add_mutually_exclusive_group()
    choice.add_argument(
        "--unsure", nargs=2, type=probability, metavar=("LOW", "HIGH"),
        help="Between these probabilities of spam, the class is unsure.",
    )  # fmt: skip
    choice.add_argument(
        "--costs", nargs=2, type=cost, metavar=("HAM", "SPAM"), default=(1.0, 1.0),
        help="What it costs to take ham for spam, and spam for ham; equal unless given.",
    )  # fmt: skip
    return made


def _filter(options: argparse.Namespace, message: bytes, whole: bool) -> tuple[bytes, int]:
    """Return a message with the filter's headers, and the exit status.

    ``whole`` is whether these bytes are all of the message, rather than its beginning.
    """
    from naively.mail.lazily import import_email

    import_email()
    from naively.mail.headers import mark
    from naively.mail.judge import headers_of, judge, score_and_threshold, spam_headers
    from naively.mail.table import open_table

    notes: Notes = {} if whole else {"only the beginning read": None}
    verdict, _ = judge(message, open_table(options.model), contacts_of(options.contacts), notes)
    label, threshold = decide(options, verdict.probability)
    headers = headers_of(label, verdict, notes, explain=options.explain)
    if options.spam_headers:
        is_spam = label == "spam"
        texts = score_and_threshold(verdict.log_odds, threshold, is_spam=is_spam)
        headers |= spam_headers(*texts, is_spam=is_spam)
    status = STATUS[label] if options.exit_code else 0
    return mark(message, headers, whole=whole), status


def decide(options: argparse.Namespace, probability: float) -> tuple[str, float]:
    """Return the class of a message by its probability of spam, and the log odds that spam has.

    The class is that of least cost, or maybe unsure.
    """
    from naively.mail.judge import is_spam, threshold_of

    if options.unsure:
        low, high = options.unsure
        label = "unsure" if low < probability < high else "spam" if probability >= high else "ham"
        return label, threshold_of((high, 1 - high)) if 0 < high < 1 else (2 * high - 1) * inf
    label = "spam" if is_spam(probability, options.costs) else "ham"
    return label, threshold_of(options.costs)
