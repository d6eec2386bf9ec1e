"""The verb `filter`: a message on standard input is marked as spam or ham."""

from __future__ import annotations

from functools import partial

from naively.mail.passage import ERROR, pass_on
from naively.mail.verbs.options import contacts_of, cost, model_parser, probability, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from naively.mail.message import Notes
    from naively.mail.score import Verdict
    from naively.mail.table import MailTable

STATUS = {"spam": 0, "ham": 1, "unsure": 2}  # the exit status of each class, as in bogofilter
TOP = 10  # words in the header that explains


def run(options: argparse.Namespace) -> int:
    """Mark the message, and return the exit status."""
    return pass_on(partial(_filter, options), ERROR if options.exit_code else 0)


def refuse(error: Exception) -> int:
    """Write the message as it came, as the options are wrong, and return the exit status."""

    def wrong(*_: object) -> tuple[bytes, int]:
        raise error

    return pass_on(wrong)


def read_options(verb: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options, or raise a ValueError that says what is wrong with them."""
    parser = _parser(verb)
    options = parser.parse_intermixed_args(arguments)
    if options.unsure and options.unsure[0] > options.unsure[1]:
        parser.error("--unsure: the lower probability comes first")
    return options


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
        help=f"Add the {TOP} words of greatest weight, as a header.",
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
    choice.add_argument(
        "--at-most", type=share, metavar="SHARE",
        help="The share of good mail that may be taken for spam, such as 0.001: the model chooses "
        "a threshold that keeps this with a confidence of 95 %%, by its leave-one-out scores.",
    )  # fmt: skip
    return made


def _filter(options: argparse.Namespace, message: bytes, whole: bool) -> tuple[bytes, int]:
    """Return a message with the filter's headers, and the exit status.

    ``whole`` is whether these bytes are all of the message, rather than its beginning.
    """
    from naively.mail.headers import mark
    from naively.mail.table import open_table

    notes: Notes = {} if whole else {"only the beginning read": None}
    table = open_table(options.model)
    verdict = _verdict(options, table, message, notes)
    label = _decide(options, table, verdict.probability)
    headers = {"X-Naively-Class": label, "X-Naively-Probability": f"{verdict.probability:.6f}"}
    if options.explain:
        headers["X-Naively-Evidence"] = _explanation(verdict)
    if notes:
        headers["X-Naively-Note"] = ",\n ".join(notes)
    status = STATUS[label] if options.exit_code else 0
    return mark(message, headers, whole=whole), status


def _verdict(
    options: argparse.Namespace, table: MailTable, message: bytes, notes: Notes
) -> Verdict:
    """Score a message; what of it was beyond a limit is added to the notes."""
    from naively.mail.limits import WORDS
    from naively.mail.message import read_message
    from naively.mail.score import Verdict, contacts_note, words_of

    words = words_of(read_message(message, contacts_of(options.contacts), notes))
    notes |= dict.fromkeys(contacts_note(table, given=options.contacts is not None))
    if len(words) == WORDS:
        notes[f"read to {WORDS:,} different words"] = None
    return Verdict(table, words)


def _decide(options: argparse.Namespace, table: MailTable, probability: float) -> str:
    """Return the class of a message by its probability of spam: of least cost, or maybe unsure."""
    if options.at_most is not None:
        from naively.mail.judge import guaranteed

        return "spam" if probability > guaranteed(table, options.at_most) else "ham"
    if options.unsure:
        low, high = options.unsure
        return "unsure" if low < probability < high else "spam" if probability >= high else "ham"
    cost_of_lost_ham, cost_of_seen_spam = options.costs
    is_spam = probability * cost_of_seen_spam > (1 - probability) * cost_of_lost_ham
    return "spam" if is_spam else "ham"


def _explanation(verdict: Verdict) -> str:
    """Return the words that contribute most, as a folded header; it is ASCII, by RFC 2047."""
    from email.header import Header

    text = ", ".join(f"{word} {added:+.2f}" for word, added in verdict.contributions[:TOP])
    charset = "us-ascii" if text.isascii() else "utf-8"
    return Header(text, charset, 76, "X-Naively-Evidence").encode(", ", 76, "\n")
