"""The verbs `export` and `import`: the counts of a model as text, and those of other filters."""

from __future__ import annotations

import sys
from pathlib import Path

from naively.messages import many
from naively.wings.mail.exchange import Dump, dump, parse_backup, parse_dump
from naively.wings.mail.learn import changed, refitted
from naively.wings.mail.mailbox import read_messages
from naively.wings.mail.message import decode, read_message
from naively.wings.mail.passage import say
from naively.wings.mail.score import words_of
from naively.wings.mail.table import MailTable, open_table
from naively.wings.mail.verbs.options import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence


def run(options: argparse.Namespace) -> int:
    """Write the counts, or add them, and return the exit status."""
    if "dump" in options:
        return _import(options)
    out = sys.stdout.buffer
    for line in dump(open_table(options.model)):
        out.write(f"{line}\n".encode("utf-8", "surrogatepass"))
    out.flush()
    return 0


def _import(options: argparse.Namespace) -> int:
    found = _read(options)
    if not found.counts:
        raise ValueError("There are no words in what was given, so that nothing was imported.")

    def change(table: MailTable) -> MailTable:
        return refitted(table.add(found.counts, found.messages, found.days))

    changed(options.model, change)
    if found.unknown:
        say(f"Note: {many(found.unknown, 'word')} of it are no words here, and were passed over.")
    return 0


def _read(options: argparse.Namespace) -> Dump:
    text = decode(sys.stdin.buffer.read()) if options.dump is None else text_of(options.dump)
    lines = text.split("\n")
    if not lines[0].startswith("v\t"):  # as a backup of SpamAssassin's does
        if options.words_of:
            raise ValueError("--words-of is for a backup of SpamAssassin; leave it out.")
        return parse_dump(lines)
    if not options.words_of:
        raise ValueError(
            "SpamAssassin keeps hashes of its words only; name mail that has them: --words-of MAIL."
        )
    return parse_backup(filter(None, lines), _words(options.words_of))


def _words(paths: Sequence[str]) -> Iterator[str]:
    """Yield the words of the bodies of some mail."""
    for path in paths:
        for raw in read_messages(Path(path)):
            yield from words_of({"body": read_message(raw)["body"]})
