"""What parses the arguments of each verb; argparse takes some milliseconds to import."""

from __future__ import annotations

import argparse
from functools import partial

from naively.wings.mail.verbs import options
from naively.wings.mail.verdict import CLASS, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

WHAT = {
    "filter": "Read one message on standard input and write it with the headers X-Naively-Class "
    "(spam, ham or unsure) and X-Naively-Probability (of spam). Old headers of these names are "
    "removed; the rest is unchanged. On an error the message is written unchanged; if it cannot be "
    "read or written, the status is 75. With MAIL, write a line of JSON for each of its messages; "
    "the status is 3 if one cannot be read.",
    "learn": "Learn messages. The filter's model file is made if there is none.",
    "unlearn": "Take messages back from a model file, as if they had never been learned.",
    "serve": "Filter mail for clients of spamd (spamc, spamass-milter, Exim), until SIGTERM. "
    "Accepted clients are still answered then, and the status is 0. It is 3 if the daemon cannot "
    "start. MODEL may be a folder, in which the model of the user ann is ann.naively.",
    "evaluate": "Say how good a model is on mail that it has not learned: errors at several "
    "thresholds, how well its probabilities are calibrated, and which messages it takes for the "
    "other class.",
    "export": "Write the counts of a model as text, as bogofilter's `bogoutil -d` does: a line for "
    "each word, with its messages of spam and of ham, and the day it was last learned.",
    "import": "Add counts of `naively mail export`, of bogofilter (`bogoutil -d wordlist.db`), or "
    "of SpamAssassin (`sa-learn --backup`) to a model, which is made if there is none.",
    "expire": "Drop the words, and the digests of messages, that were not learned for a number of "
    "days, so that the model stays bounded. The numbers of messages stay. Mail whose digest is "
    "dropped can no longer be unlearned.",
}
AS_WIDE = partial(argparse.HelpFormatter, width=90)  # to ask the terminal for its width costs 4 ms


class Parser(argparse.ArgumentParser):
    """A parser that raises an error, which argparse prints as mail if standard error is closed."""

    def __init__(self, verb: str, what: str) -> None:
        super().__init__(f"naively mail {verb}", None, what, formatter_class=AS_WIDE)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}. See `{self.prog} --help`.")


class _Once(argparse.Action):
    """An option with a value that may be given once, so that no value is dropped in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, "give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def parser_of(verb: str) -> Parser:
    """Return what parses the arguments of a verb."""
    parser = Parser(verb, WHAT[verb])
    parser.set_defaults(verb=verb)
    parser.add_argument("model", metavar="MODEL", help="The filter's model file.")
    if verb in ("filter", "learn", "unlearn", "serve", "evaluate"):
        parser.add_argument(
            "--contacts", metavar="FILE",
            help="An address book (vCard, or addresses in any form); being in it is evidence.",
        )  # fmt: skip
    match verb:
        case "filter":
            _add_of_filter(parser)
        case "learn" | "unlearn":
            _add_of_learn(parser, remembers=verb == "learn")
        case "serve":
            _add_of_serve(parser)
        case "evaluate":
            _add_labelled_mail(parser)
            parser.add_argument(
                "--threshold", type=options.probability, default=0.5,
                help="Above this probability a message is spam; 0.5 unless given.",
            )  # fmt: skip
            parser.add_argument(
                "--json", action="store_true", help="Write one JSON object instead."
            )
        case "import":
            parser.add_argument(
                "dump", nargs="?", metavar="FILE", help="The counts; standard input unless given."
            )
            parser.add_argument(
                "--words-of", metavar="MAIL", action="append", default=[],
                help="Mail whose words are looked up among the hashes, as SpamAssassin keeps no "
                "words.",
            )  # fmt: skip
        case "expire":
            parser.add_argument(
                "--days", type=options.days, required=True,
                help="Drop what was last learned more than this many days ago.",
            )  # fmt: skip
    return parser


def _add_of_filter(parser: Parser) -> None:
    parser.add_argument(
        "mail", nargs="*", metavar="MAIL",
        help="mbox, Maildir, .eml, or a folder of these. Default: one message on standard input.",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=options.count, metavar="N", default=None,
        help="How many processes filter MAIL; as many as there are processors unless given.",
    )  # fmt: skip
    for flag, what in {
        "--exit-code": "Exit with status 0 spam, 1 ham, 2 unsure, 3 error.",
        "--explain": "Add the ten words of greatest weight, as a header.",
        "--spam-headers": "Replace all X-Spam-* by X-Spam-Status and X-Spam-Flag, as "
        "SpamAssassin does.",
    }.items():
        parser.add_argument(flag, action="store_true", help=what)
    _add_header(parser)
    _add_what_is_spam(parser).add_argument(
        "--unsure", nargs=2, type=options.probability, metavar=("LOW", "HIGH"),
        help="Between these probabilities of spam, the class is unsure.",
    )  # fmt: skip


def _add_of_learn(parser: Parser, *, remembers: bool) -> None:
    parser.set_defaults(remember=None)
    if remembers:
        parser.add_argument(
            "--no-remember", action="store_false", dest="remember", default=None,
            help="Keep no digests of the messages of a new model: then one may be learned twice, "
            "and a correction must be unlearned first.",
        )  # fmt: skip
    _add_labelled_mail(parser)
    parser.add_argument(
        "--forwarded", action="store_true",
        help="Learn the messages that are attached to these, and not these.",
    )  # fmt: skip


def _add_of_serve(parser: Parser) -> None:
    parser.add_argument("--socket", metavar="PATH", help="The Unix socket to listen on.")
    parser.add_argument("--port", type=options.port, metavar="N", help="The TCP port to listen on.")
    parser.add_argument(
        "--host", metavar="ADDRESS", default="localhost",
        help="The address of the port; by default of this machine only. There is no password.",
    )  # fmt: skip
    parser.add_argument(
        "--allow-tell", action="store_true",
        help="Learn and forget what clients tell (spamc -L); a new model remembers its messages.",
    )  # fmt: skip
    _add_what_is_spam(parser)
    _add_header(parser)
    parser.add_argument(
        "--workers", type=options.count, metavar="N", default=2,
        help="How many messages are scored at a time; 2 unless given.",
    )  # fmt: skip
    parser.add_argument(
        "--clients", type=options.count, metavar="N", default=32,
        help="How many clients are read and answered at a time, each with 8 MiB at most; others "
        "wait. 32 unless given.",
    )  # fmt: skip
    parser.add_argument(
        "--log", metavar="FILE", help="Write a line for each message; SIGHUP reopens it."
    )


def _add_labelled_mail(parser: Parser) -> None:
    """Add what says where mail is, and of which class."""
    parser.add_argument(
        "mail", nargs="*", metavar="MAIL",
        help="mbox, Maildir, .eml, or a folder of these; without --as, a folder with a folder or "
        "mbox named spam and one named ham. Default: one message on standard input.",
    )  # fmt: skip
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--as", dest="label", choices=("spam", "ham"), help="Their class.")
    choice.add_argument("--labels", metavar="CSV", help="File names in MAIL and their classes.")


def _add_what_is_spam(parser: Parser) -> argparse._MutuallyExclusiveGroup:
    """Add what divides spam from ham, and return the options of which one is given."""
    for name, what in (("allow", "ham"), ("block", "spam")):
        parser.add_argument(
            f"--{name}", metavar="FILE",
            help=f"Senders whose mail is {what}, whatever the words say: an address or a domain a "
            "line, or a vCard file.",
        )  # fmt: skip
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--costs", nargs=2, type=options.cost, metavar=("HAM", "SPAM"), default=(1.0, 1.0),
        help="What it costs to take ham for spam, and spam for ham; equal unless given.",
    )  # fmt: skip
    choice.add_argument(
        "--at-most", type=options.share, metavar="SHARE",
        help="The share of good mail that may be taken for spam, such as 0.001: the model chooses "
        "a threshold that keeps this with a confidence of 95 %%, by its leave-one-out scores.",
    )  # fmt: skip
    return choice


def _add_header(parser: Parser) -> None:
    """Add what the header of the class is called, and what it says."""
    parser.add_argument(
        "--header", type=options.chosen_name, metavar="NAME", default=CLASS,
        help=f"The header that has the class, instead of {CLASS}: X- and what you like.",
    )  # fmt: skip
    parser.add_argument(
        "--texts", nargs=len(TEXTS), type=options.chosen_text, metavar=("SPAM", "HAM", "UNSURE"),
        default=TEXTS, help="What this header says of each class, instead of its name.",
    )  # fmt: skip
