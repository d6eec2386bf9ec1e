"""The verb `expire`: words that were not learned for long leave the model."""

from __future__ import annotations

import sys

from naively.messages import many
from naively.wings.mail.learn import changed
from naively.wings.mail.passage import say
from naively.wings.mail.table import open_table, today

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Drop the words, and return the exit status."""
    before = len(open_table(options.model))  # which says so if there is no model
    first = max(0, today() - options.days)
    after = changed(options.model, lambda table: table.without_words_before(first))
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"Dropped {many(before - len(after), 'word')}; {len(after):,} are left.")
    return 0
