"""The general verbs, of the model of a mail filter: show, report, diff, merge, decay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from naively import saving
from naively.messages import amount, tell
from naively.wings.cli import shared
from naively.wings.cli.options import Format
from naively.wings.mail import about
from naively.wings.mail.about import judged_of
from naively.wings.mail.learn import changed, refitted
from naively.wings.mail.mailbox import read_labelled
from naively.wings.mail.table import MailTable, open_table
from naively.wings.report.mail import write_mail_report


def show(path: str, top: int, form: Format | None) -> None:
    """Say what a model of mail has learned, and write its strongest words."""
    table = open_table(path)
    tell(*about.facts(table))
    names = ["class", "word", "ham", "spam", "weight"]
    shared.write(names, map(list, about.strongest(table, top)), form)


def report(path: str, mail: str | None, to: str) -> None:
    """Write the page about a model of mail, and how good it is on some mail."""
    table, judged = open_table(path), None
    if mail is not None:
        if not Path(mail).exists():
            raise FileNotFoundError(f"There is no mail at {mail}.")
        judged = judged_of(table, read_labelled(Path(mail)))
    page = write_mail_report(table, judged, Path(path).name)
    page.save(to)
    tell(f"Wrote {to}: {len(page.html.encode()):,} bytes.")


def diff(before: str, after: str, top: int, form: Format | None) -> None:
    """Write the words whose weights changed most from one model of mail to another."""
    old, new = open_table(before), open_table(after)
    ham, spam = (b - a for a, b in zip(old.messages, new.messages, strict=True))
    words = len(new) - len(old)
    more = [f"{'+' * (n >= 0)}{amount(n)}" for n in (ham, spam)]
    tell(f"{more[0]} good mails, {more[1]} of spam, {words:+,} words.")
    names = ["word", "ham", "spam", "ham after", "spam after", "weight", "weight after"]
    shared.write(names, map(list, about.differences(old, new, top)), form)


def merge(paths: Sequence[str], to: str) -> None:
    """Write the model of the mail that several models have learned."""
    first, *others = paths
    merged = open_table(first)
    for path in others:
        other = open_table(path)
        twice = len(merged.known().keys() & other.known().keys())
        if twice:
            tell(f"Note: {twice:,} messages of {path} were learned before; they count twice.")
        if merged.remembers != other.remembers:
            tell(f"Note: {path} and {first} do not both remember messages, so that {to} does not.")
        try:
            merged = merged.merged(other)
        except ValueError as error:
            raise ValueError(f"{first} and {path}: {error}.") from error
    saving.save(to, refitted(merged).to_bytes(), private=True)


def decay(path: str, factor: float, to: str | None) -> None:
    """Scale the counts of a model of mail."""

    def scaled(table: MailTable) -> MailTable:
        return refitted(table.decayed(factor))

    if to is None or to == path:
        changed(path, scaled)
    else:
        saving.save(to, scaled(open_table(path)).to_bytes(), private=True)
