"""The mail filter on the command line: `naively mail filter`, `learn` and the other verbs.

`filter` starts Python to read one message, so its arguments are parsed with the standard
library: the framework of the verbs for tables takes longer to import than a message to filter. For
the same reason only the verb that is asked for is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace

from naively.wings.mail.passage import ERROR, say
from naively.wings.mail.verbs.options import read_plainly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = {  # what each does, and the module of naively.wings.mail.verbs that does it
    "filter": ("Mark a message on standard input as spam or ham.", "filter"),
    "learn": ("Learn mail as spam or ham, for the filter.", "learn"),
    "unlearn": ("Take back mail that the filter has learned.", "learn"),
    "serve": ("Filter mail for clients of spamd, such as mail servers.", "serve"),
    "evaluate": ("Score a model on mail of known classes.", "evaluate"),
    "export": ("Write the counts of a model as text.", "counts"),
    "import": ("Add counts of bogofilter, SpamAssassin or another model.", "counts"),
    "expire": ("Drop words that were not learned for long.", "counts"),
}
STATUSES = {
    0: "Done; from `filter --exit-code`: the message is spam.",
    1: "From `filter --exit-code`: the message is ham.",
    2: "From `filter --exit-code`: the class is unsure.",
    3: "An error; one sentence on standard error says which. `filter` has written the message as "
    "it came; without --exit-code, only wrong options give 3, and all else gives 0.",
    75: "`filter` could not read or write the message: the mail agent should keep it and retry.",
    130: "Stopped by Ctrl-C.",
}
HELP = f"The spam filter; its verbs are {', '.join(VERBS)}."


def run(arguments: Sequence[str]) -> int:
    """Run the verb that comes first among the arguments, and return the exit status."""
    verb = arguments[0] if arguments else "--help"
    if verb not in VERBS:
        return _list(verb)
    module = import_module(f"naively.wings.mail.verbs.{VERBS[verb][1]}")
    try:
        options = _options(verb, arguments[1:])
    except SystemExit as stop:  # help was given
        return int(stop.code or 0)
    except Exception as error:  # noqa: BLE001  the message is written even so
        if verb == "filter":
            return int(module.refuse(error))
        say(error)
        return ERROR
    try:
        return int(module.run(options))
    except BrokenPipeError:  # nobody is there to be told
        return ERROR
    except (ValueError, OSError, ImportError, MemoryError) as error:
        say(error)
        return ERROR
    except KeyboardInterrupt:
        return 130


def _options(verb: str, arguments: Sequence[str]) -> SimpleNamespace:
    """Return the options of a verb, or raise a ValueError that says what is wrong with them."""
    options = read_plainly(arguments) if verb == "filter" else None
    if options is None:
        from naively.wings.mail.verbs.parser import parser_of

        options = parser_of(verb).parse_intermixed_args(arguments, SimpleNamespace())
    if verb == "filter" and options.unsure and options.unsure[0] > options.unsure[1]:
        raise ValueError(
            "--unsure: the lower probability comes first. See `naively mail filter --help`."
        )
    return options


def _list(verb: str) -> int:
    """List the verbs if help is wanted; what is no verb is an error."""
    if verb not in ("--help", "-h"):
        say(f"No such verb: {verb!r}. The verbs of mail are {', '.join(VERBS)}.")
        return ERROR
    from textwrap import wrap

    width = max(map(len, VERBS))
    verbs = [f"  {name:{width}}  {what}" for name, (what, _) in VERBS.items()]
    lines = ["usage: naively mail VERB MODEL ...", "", HELP, "", *verbs, "", "Exit statuses:"]
    for status, what in STATUSES.items():
        lines += wrap(what, 90, initial_indent=f"  {status:3}  ", subsequent_indent=" " * 7)
    lines += ["", "`naively mail VERB --help` says more.\n"]
    sys.stdout.write("\n".join(lines))
    return 0
