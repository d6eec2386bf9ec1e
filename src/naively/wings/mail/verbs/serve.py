"""The verb `serve`: a daemon that clients of spamd ask."""

from __future__ import annotations

import os

from naively.wings.mail.verbs.options import (
    contacts_of,
    count,
    lists_of,
    model_parser,
    named_header,
    port,
    what_is_spam,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from naively.wings.mail.verbs.parser import Parser


def parser_of(verb: str) -> Parser:
    """Return what parses the arguments."""
    parser = model_parser(
        verb,
        "Filter mail for clients of spamd (spamc, spamass-milter, Exim), until SIGTERM: then those "
        "that were accepted are answered, and the status is 0. Where it cannot be served, the "
        "status is 3. MODEL may be a folder, in which the model of the user ann is ann.naively.",
    )
    parser.add_argument("--socket", metavar="PATH", help="The Unix socket to listen on.")
    parser.add_argument("--port", type=port, metavar="N", help="The TCP port to listen on.")
    parser.add_argument(
        "--host", metavar="ADDRESS", default="localhost",
        help="Of the port: whoever reaches this address is answered; this machine only, unless "
        "given.",
    )  # fmt: skip
    parser.add_argument(
        "--allow-tell", action="store_true",
        help="Learn and forget what clients tell (spamc -L); a new model remembers its messages.",
    )  # fmt: skip
    what_is_spam(parser)
    named_header(parser)
    parser.add_argument(
        "--workers", type=count, metavar="N", default=2,
        help="How many messages are scored at a time; 2 unless given.",
    )  # fmt: skip
    parser.add_argument(
        "--clients", type=count, metavar="N", default=32,
        help="How many clients are read and answered at a time, each with 8 MiB at most; others "
        "wait. 32 unless given.",
    )  # fmt: skip
    parser.add_argument(
        "--log", metavar="FILE", help="Log a line a message there; reopened by SIGHUP."
    )
    return parser


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop, and return the exit status."""
    from naively.wings.mail.serve import Log, Models, Service, serve

    if not options.allow_tell and not os.path.exists(options.model):  # noqa: PTH110
        raise FileNotFoundError(
            f"There is no model {options.model}: make it by `naively mail learn`, or let clients "
            "do so by --allow-tell."
        )
    models = Models(options.model, options.costs, options.at_most, lists_of(options))
    settings = Service(
        models,
        contacts_of(options.contacts),
        options.allow_tell,
        options.workers,
        options.clients,
        (options.header, options.texts),
    )
    serve(settings, Log(options.log), path=options.socket, host=options.host, port=options.port)
    return 0
