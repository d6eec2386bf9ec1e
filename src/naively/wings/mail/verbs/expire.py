"""The verb `expire`: words that were not learned for long leave the model."""

from __future__ import annotations

import sys

from naively.messages import many
from naively.wings.mail.learn import changed
from naively.wings.mail.passage import say
from naively.wings.mail.table import open_table, today
from naively.wings.mail.verbs.options import days, model_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from naively.wings.mail.verbs.parser import Parser


def parser_of(verb: str) -> Parser:
    """Return what parses the arguments."""
    parser = model_parser(
        verb,
        "Drop the words, and the digests of messages, that were not learned for a number of days, "
        "so that the model stays bounded. The numbers of messages stay. Mail whose digest is "
        "dropped can no longer be unlearned.",
        contacts=False,
    )
    parser.add_argument(
        "--days", type=days, required=True, help="What was last learned before so many days goes."
    )
    return parser


def run(options: argparse.Namespace) -> int:
    """Drop the words, and return the exit status."""
    before = len(open_table(options.model))  # which says so if there is no model
    first = max(0, today() - options.days)
    after = changed(options.model, lambda table: table.without_words_before(first))
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"Dropped {many(before - len(after), 'word')}; {len(after):,} are left.")
    return 0
