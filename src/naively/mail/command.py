"""The mail filter on the command line: `naively mail filter`, `learn` and `unlearn`.

`filter` starts Python to read one message, so its arguments are parsed with the standard
library: the framework of the other verbs takes longer to import than a message to filter.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from naively import messages
from naively.mail.limits import BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO, NoReturn

    from naively.mail.message import Notes
    from naively.mail.score import Verdict


VERBS = {
    "filter": "Mark a message on standard input as spam or ham.",
    "learn": "Learn mail as spam or ham, for the filter.",
    "unlearn": "Take back mail that the filter has learned.",
}
HELP = "The spam filter: mail filter, mail learn, mail unlearn."
STATUS = {"spam": 0, "ham": 1, "unsure": 2}  # the exit status of each class, as in bogofilter
TOP = 10  # words in the header that explains


def run(arguments: Sequence[str]) -> int:
    """Run the verb that comes first among the arguments, and return the exit status."""
    verb = arguments[0] if arguments else "--help"
    if verb not in PARSERS:
        return _list(verb)
    try:
        options = _parse(verb, arguments[1:])
    except SystemExit as stop:  # help was given
        return int(stop.code or 0)
    except Exception as error:  # noqa: BLE001  the message is written even so
        wrong = error

        def refuse(*_: object) -> tuple[bytes, int]:
            raise wrong

        if verb == "filter":
            return pass_on(refuse)
        say(error)
        return ERROR
    if verb == "filter":
        return pass_on(partial(_filter, options), ERROR if options.exit_code else 0)
    try:
        return _learn(options, forget=verb == "unlearn")
    except (ValueError, OSError, ImportError, MemoryError) as error:
        say(error)
        return ERROR
    except KeyboardInterrupt:
        return 130


def _list(verb: str) -> int:
    """List the verbs if help is wanted; what is no verb is an error."""
    if verb not in ("--help", "-h"):
        say(f"No such verb: {verb!r}. The verbs of mail are {', '.join(VERBS)}.")
        return ERROR
    width = max(map(len, VERBS))
    verbs = [f"  {name:{width}}  {what}" for name, what in VERBS.items()]
    lines = ["usage: naively mail VERB MODEL ...", "", HELP, "", *verbs, ""]
    lines.append("`naively mail VERB --help` says more.\n")
    sys.stdout.write("\n".join(lines))
    return 0


def _parse(verb: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a verb, or raise a ValueError that says what is wrong with them."""
    parser = PARSERS[verb]()
    options = parser.parse_intermixed_args(arguments)
    if verb == "filter" and options.unsure and options.unsure[0] > options.unsure[1]:
        parser.error("--unsure: the lower probability comes first")
    return options


def _filter(options: argparse.Namespace, message: bytes, whole: bool) -> tuple[bytes, int]:
    """Return a message with the filter's headers, and the exit status.

    ``whole`` is whether these bytes are all of the message, rather than its beginning.
    """
    from naively.mail.headers import mark

    notes: Notes = {} if whole else {"only the beginning read": None}
    verdict = _verdict(options, message, notes)
    label = _decide(options, verdict.probability)
    headers = {"X-Naively-Class": label, "X-Naively-Probability": f"{verdict.probability:.6f}"}
    if options.explain:
        headers["X-Naively-Evidence"] = _explanation(verdict)
    if notes:
        headers["X-Naively-Note"] = ",\n ".join(notes)
    status = STATUS[label] if options.exit_code else 0
    return mark(message, headers, whole=whole), status


def _verdict(options: argparse.Namespace, message: bytes, notes: Notes) -> Verdict:
    """Score a message; what of it was beyond a limit is added to the notes."""
    from naively.mail.limits import WORDS
    from naively.mail.message import read_message
    from naively.mail.score import Verdict, words_of
    from naively.mail.table import open_table

    words = words_of(read_message(message, _contacts(options.contacts), notes))
    if len(words) == WORDS:
        notes[f"read to {WORDS:,} different words"] = None
    return Verdict(open_table(options.model), words)


def _decide(options: argparse.Namespace, probability: float) -> str:
    """Return the class of a message by its probability of spam: of least cost, or maybe unsure."""
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


def _learn(options: argparse.Namespace, *, forget: bool) -> int:
    """Learn or unlearn mail, say what was passed over, and return the exit status."""
    import warnings

    from naively import saving
    from naively.mail.learn import learn
    from naively.messages import many
    from naively.progress import with_progress

    warnings.showwarning = lambda message, *_, **__: say(message)
    read = [options.labels, options.contacts, *(options.mail or [saving.STANDARD_INPUT])]
    saving.check_output(options.model, filter(None, read))
    rows = with_progress(_rows(options), "messages") if options.mail else _rows(options)
    remember = not forget and options.remember
    done = learn(options.model, rows, forget=forget, remember=remember)
    did = "unlearned" if forget else "learned"
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"{did.capitalize()} {many(done.n, 'message')}.")
    if done.empty:
        say(f"Not {did}, as there are no words in them: {many(done.empty, 'message')}.")
    if done.again:
        already = "were given twice" if forget else "had been learned already"
        say(f"Not {did}, as they {already}: {many(done.again, 'message')}.")
    return 0


def _rows(options: argparse.Namespace) -> Iterator[tuple[dict[str, str | bool], str]]:
    from naively.mail.message import read_message

    contacts = _contacts(options.contacts)
    for raw, label in _messages(options):
        yield read_message(raw, contacts), label


def _messages(options: argparse.Namespace) -> Iterator[tuple[bytes, str]]:
    """Yield each message to learn, as it was received, with its class."""
    if not options.mail:
        if options.label is None:
            raise ValueError("Say what the message on standard input is: --as spam or --as ham.")
        yield sys.stdin.buffer.read(), options.label
        return
    from pathlib import Path

    from naively.mail.mailbox import read_labelled, read_messages

    for name in options.mail:
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"There is no mail at {path}.")
        if options.label is None:
            yield from read_labelled(path, options.labels and Path(options.labels))
        else:
            yield from ((raw, options.label) for raw in read_messages(path))


def _contacts(path: str | None) -> frozenset[str] | None:
    """Return the addresses in an address book, if one is given."""
    if path is None:
        return None
    from naively.mail.message import decode, read_contacts

    with open(path, "rb") as file:  # noqa: PTH123
        return read_contacts(decode(file.read()))


class _Parser(argparse.ArgumentParser):
    """A parser that raises an error, which argparse prints as mail if standard error is closed."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}. See `{self.prog} --help`.")


def _filter_parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments of `filter`."""
    parser = _parser(
        "filter",
        "Read one message on standard input and write it out with the headers X-Naively-Class "
        "(spam, ham or unsure) and X-Naively-Probability (that it is spam), without any of these "
        "names that it came with, and otherwise unchanged. On an error the message is written as "
        "it came; where it could not be read or written, the status is 75.",
    )
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="Exit with status 0 spam, 1 ham, 2 unsure, 3 error.",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help=f"Add the {TOP} words of greatest weight, as a header.",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--unsure", nargs=2, type=_probability, metavar=("LOW", "HIGH"),
        help="Between these probabilities of spam, the class is unsure.",
    )  # fmt: skip
    choice.add_argument(
        "--costs", nargs=2, type=_cost, metavar=("HAM", "SPAM"), default=(1.0, 1.0),
        help="What it costs to take ham for spam, and spam for ham; equal unless given.",
    )  # fmt: skip
    return parser


def _learn_parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments of `learn`."""
    parser = _mail_parser(
        "learn", "Add messages to the filter's model file, which is made if it is not there."
    )
    parser.add_argument(
        "--remember", action="store_true",
        help="Keep digests of the messages, from the first on: none is then learned twice, and "
        "none unlearned that was not learned.",
    )  # fmt: skip
    return parser


def _unlearn_parser() -> argparse.ArgumentParser:
    return _mail_parser(
        "unlearn", "Take messages back from a model file, as if they had never been learned."
    )


def _mail_parser(verb: str, what: str) -> argparse.ArgumentParser:
    """Return the parser of what `learn` and `unlearn` have in common."""
    parser = _parser(verb, what)
    parser.add_argument(
        "mail", nargs="*", metavar="MAIL",
        help="mbox, Maildir, .eml, or a folder of these; without --as, a folder with a folder or "
        "mbox named spam and one named ham. Default: one message on standard input.",
    )  # fmt: skip
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--as", dest="label", choices=("spam", "ham"), help="What they are.")
    choice.add_argument("--labels", metavar="CSV", help="File names in MAIL and their classes.")
    return parser


def _parser(verb: str, what: str) -> argparse.ArgumentParser:
    parser = _Parser(f"naively mail {verb}", None, what, formatter_class=_help)
    parser.register("action", None, _Once)
    parser.add_argument("model", metavar="MODEL", help="The filter's model file.")
    parser.add_argument(
        "--contacts", metavar="FILE",
        help="An address book (vCard, or addresses in any form): is the sender in it?",
    )  # fmt: skip
    return parser


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


def _help(prog: str) -> argparse.HelpFormatter:
    """Return what formats help, for a fixed width: to ask the terminal for its width costs 4 ms."""
    return argparse.HelpFormatter(prog, width=90)


def _probability(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no probability: give one from 0 to 1")
    return value


def _cost(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no cost: give a number above 0")
    return value


PARSERS = {"filter": _filter_parser, "learn": _learn_parser, "unlearn": _unlearn_parser}


# --- A message passes from standard input to standard output, whatever goes wrong on its way -----
#
# The exit statuses are those of bogofilter (0 spam, 1 ham, 2 unsure, 3 an error, which leaves the
# message unchanged), and one of sysexits.h: 75 asks the mail agent to keep the message and to try
# again, as it could not be read or written.


ERROR = 3
TRY_AGAIN = 75  # EX_TEMPFAIL
CHUNK = 1 << 16


def pass_on(change: Callable[[bytes, bool], tuple[bytes, int]], failed: int = ERROR) -> int:
    """Copy standard input to standard output, with its beginning changed, if that can be done.

    Parameters
    ----------
    change : callable
        Takes the message, or its first ``limits.BYTES`` bytes, and whether these are all of it;
        returns what is written instead of them, and the exit status. What it raises is said on
        standard error.
    failed : int
        The exit status if ``change`` raises; the message is then written as it came.

    Returns
    -------
    status : int
        The exit status.
    """
    held: list[bytes] = []
    try:
        source = sys.stdin.buffer  # closed, it is None
        size = _hold(source, held)
    except MemoryError as error:  # what is held can still be passed on, and the rest copied
        say(error)
        size = None
    except BaseException as error:  # noqa: BLE001  nothing was written: nothing is lost
        say(error, "The message could not be read")
        return TRY_AGAIN
    status = failed
    if size is not None:
        try:
            out, status = change(b"".join(held), size < BYTES)
            held = [out]
        except BaseException as error:  # noqa: BLE001  no mail may be lost to an error
            say(error)
    try:
        target = sys.stdout.buffer
        for piece in held:
            target.write(piece)
        while piece := source.read(CHUNK):
            target.write(piece)
        target.flush()
    except BaseException as error:  # noqa: BLE001
        say(error, "The message could not be written")
        return TRY_AGAIN
    return status


def say(error: object, what: str = "") -> None:
    """Say on standard error what went wrong, or is to be noted, if it can be written to."""
    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        text = "There is not enough memory for this."
    elif isinstance(error, RecursionError):
        text = "This is nested too deep."
    try:
        messages.say(f"{what}: {text}" if what else text)
        sys.stderr.flush()
    except Exception:  # noqa: BLE001, S110  standard error is closed, or full
        pass


def _hold(source: BinaryIO, held: list[bytes]) -> int:
    """Read the beginning of a message into a list, and return how many bytes it has."""
    size = 0
    while size < BYTES and (piece := source.read(min(CHUNK, BYTES - size))):
        held.append(piece)
        size += len(piece)
    return size
