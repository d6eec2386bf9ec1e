"""The verb `expire`: words that were not learned for long leave the model."""

from __future__ import annotations

import sys

from naively.mail.passage import say
from naively.mail.verbs.options import days, model_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from naively.mail.table import MailTable


def read_options(verb: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options, or raise a ValueError that says what is wrong with them."""
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
    return parser.parse_intermixed_args(arguments)


def run(options: argparse.Namespace) -> int:
    """Drop the words, and return the exit status."""
    from pathlib import Path

    from naively.mail.learn import changed
    from naively.mail.table import open_table, today
    from naively.messages import many

    if not Path(options.model).exists():
        open_table(options.model)  # which says that there is none
    before = [0]

    def change(table: MailTable) -> MailTable:
        before[0] = len(table)
        return table.without_words_before(max(0, today() - options.days))

    after = changed(options.model, change)
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"Dropped {many(before[0] - len(after), 'word')}; {len(after):,} are left.")
    return 0
