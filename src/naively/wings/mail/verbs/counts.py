"""The verbs `export`, `import` and `expire`: counts are written, added and dropped."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

from naively.messages import many
from naively.wings.mail.exchange import Dump, dump, parse_backup, parse_dump
from naively.wings.mail.learn import changed, refitted
from naively.wings.mail.mailbox import read_messages
from naively.wings.mail.message import decode, read_message
from naively.wings.mail.passage import say
from naively.wings.mail.score import words_of
from naively.wings.mail.table import open_table, today
from naively.wings.mail.verbs.options import text_of


def run(options: SimpleNamespace) -> int:
    """Write, add or drop counts, and return the exit status."""
    {"export": _export, "import": _import, "expire": _expire}[options.verb](options)
    return 0


def _export(options: SimpleNamespace) -> None:
    out = sys.stdout.buffer
    for line in dump(open_table(options.model)):
        out.write(f"{line}\n".encode("utf-8", "surrogatepass"))
    out.flush()


def _import(options: SimpleNamespace) -> None:
    found = _read(options)
    if not found.counts:
        raise ValueError("There are no words in what was given, so that nothing was imported.")
    more = found.counts, found.messages, found.days
    changed(options.model, lambda table: refitted(table.add(*more)))
    if found.unknown:
        say(f"Note: {many(found.unknown, 'word')} of it are no words here, and were passed over.")


def _expire(options: SimpleNamespace) -> None:
    before = len(open_table(options.model))  # which says so if there is no model
    first = max(0, today() - options.days)
    after = changed(options.model, lambda table: table.without_words_before(first))
    if sys.stderr is not None and sys.stderr.isatty():
        say(f"Dropped {many(before - len(after), 'word')}; {len(after):,} are left.")


def _read(options: SimpleNamespace) -> Dump:
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
    mail = chain.from_iterable(read_messages(Path(path)) for path in options.words_of)
    words = chain.from_iterable(words_of({"body": read_message(raw)["body"]}) for raw in mail)
    return parse_backup(filter(None, lines), words)
